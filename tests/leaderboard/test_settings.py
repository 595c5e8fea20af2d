"""Every setting is documented for operators, and nothing is documented that is not there."""

from __future__ import annotations

import re

from django.conf import settings
from django.core.checks import run_checks

ROOT = settings.BASE_DIR


def names_read() -> set[str]:
    text = (ROOT / "leaderboard" / "settings.py").read_text()
    return {f"PLUMBLINE_{name}" for name in re.findall(r'env\.\w+\(\s*"([A-Z0-9_]+)"', text)}


def test_every_setting_is_in_the_example_and_the_other_way_round():
    documented = set(re.findall(r"^#? ?(PLUMBLINE_[A-Z0-9_]+)=", (ROOT / "deploy" / "env.example").read_text(), re.M))
    assert names_read() == documented


def test_the_environment_is_read_in_the_settings_alone():
    for app in ("submissions", "evaluation", "leaderboard"):
        for path in (ROOT / app).rglob("*.py"):
            text = path.read_text()
            allowed = {"settings.py", "celery.py", "wsgi.py", "run.py", "client.py"}
            assert path.name in allowed or "os.environ" not in text, f"{path} reads the environment"


def test_a_cluster_without_a_secret_key_is_an_error_with_a_hint(settings):
    settings.DATABASE_URL, settings.SECRET_KEY_GIVEN = "postgres://", False
    found = [error for error in run_checks() if error.id == "plumbline.E001"]
    assert found and "PLUMBLINE_SECRET_KEY" in found[0].hint


def test_a_heartbeat_slower_than_half_the_lease_is_an_error(settings):
    settings.LEASE_SECONDS, settings.HEARTBEAT_SECONDS = 5.0, 4.0
    assert "plumbline.E004" in {error.id for error in run_checks()}


def test_an_unknown_choice_is_an_error(settings):
    settings.CREATE_CHALLENGES = "everyone"
    assert "plumbline.E003" in {error.id for error in run_checks()}


def test_no_page_may_be_given_another_base_address(client, db):
    assert "base-uri 'none'" in client.get("/")["Content-Security-Policy"]

"""Every setting is documented for operators, nothing is documented that is not there, and what cannot be read is one sentence."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from leaderboard.service import health
from tests.support import processes

ROOT = settings.BASE_DIR
SETTINGS = ROOT / "leaderboard" / "settings.py"


def kinds_read() -> dict[str, set[str]]:
    """The methods that read each setting."""
    found = defaultdict(set)
    for kind, name in re.findall(r'env\.(?!refuse)(\w+)\(\s*"([A-Z0-9_]+)"', SETTINGS.read_text()):
        found[f"PLUMBLINE_{name}"].add(kind)
    return found


def names_read() -> set[str]:
    return set(kinds_read())


# What no setting of a kind takes.
WRONG = {
    "flag": ["perhaps", "2", ""],
    "integer": ["abc", "1.5", "-1", "", "99999999999999999999"],
    "decimal": ["abc", "nan", "inf", "-0.1", ""],
    "price": ["abc", "-1", "nan", "1.00005"],
    "prices": ["vision", "vision=1", "=1/2", "vision=1/-2"],
    "web_addresses": ["boards.example.org", "ftp://boards.example.org"],
    "choice": ["everything", ""],
    "rate": ["many", "60", "10/0s", "0/h", "60/1.5h", ""],
    "account_rates": ["many", "30/m/planet", "30/m/ip;5/m/key", "0/m/ip"],
    "matching": ["My Bucket", "a/b"],
    "hosts": ["https://boards.example.org", "boards.example.org:443", ""],
    "origins": ["boards.example.org", "https://"],
    "sender": ["nobody", ""],
    "folder": ["/dev/null/below"],
    "file": [str(ROOT)],
    "web_address": ["boards.example.org", "ftp://boards.example.org", "http://[::1", "http://host:99999"],
    "redis": ["http://u:geheim@host", "redis://:geheim@host:port/0", "redis://:geheim@host/first", "redis:///geheim", "host:6379"],
    "postgres": ["mysql://u:geheim@host/name", "postgres://u:geheim@host:port/name", "postgres://u:geheim@host", "geheim"],
    "mailer": [
        "smpt://u:geheim@mail:25",
        "smtp://u:geheim@mail:port",
        "smtp://u:geheim@mail/?tsl=True",
        "smtp://",
        "geheim",
        "smtp://u:geheim@mail/?tls=True&ssl=True",
    ],
}
# Numbers that a number's own kind would take.
OUT_OF_RANGE = {
    "LEASE_SECONDS": ["0.5"],
    "HEARTBEAT_SECONDS": ["0"],
    "SWEEP_SECONDS": ["0"],
    "MAX_ATTEMPTS": ["0"],
    "PART_SAMPLES": ["0"],
    "PART_SECONDS": ["0"],
    "CHILD_MEMORY_MB": ["64"],
    "CHILD_SECONDS": ["0"],
    "READ_SECONDS": ["0"],
    "UPLOAD_PART_BYTES": ["1"],
    "UPLOAD_HOURS": ["0"],
    "UPLOAD_IDLE_MINUTES": ["0"],
    "PAGES_AT_ONCE": ["0"],
    "UPLOAD_MAX_BYTES": ["0"],
    "KEEP_REJECTED_DAYS": ["1e9"],
    "KEEP_SNAPSHOT_DAYS": ["1e9"],
    "KEEP_DRAWN_DAYS": ["1e9"],
    "LINK_SECONDS": ["604801"],
    "JUDGE_TIMEOUT": ["0"],
    "JUDGE_PARALLEL": ["0"],
    "JUDGE_MAX_TOKENS": ["0"],
    "S3_BUCKET": ["x"],
}
# Any text is one of these.
ANY_TEXT = {
    "SECRET_KEY",
    "S3_REGION",
    "S3_ACCESS_KEY",
    "S3_SECRET_KEY",
    "METRICS_TOKEN",
    "JUDGE_KEY",
    "JUDGE_MODEL",
    "JUDGE_CURRENCY",
    "MACHINE",
}
KIND = {name: next(iter(kinds - {"text"}), "text") for name, kinds in kinds_read().items()}
WRONG_VALUES = {name: [*WRONG.get(kind, []), *OUT_OF_RANGE.get(name.removeprefix("PLUMBLINE_"), [])] for name, kind in KIND.items()}


@pytest.fixture
def bare(monkeypatch, tmp_path) -> Path:
    """The environment of an installation that sets nothing but its home."""
    for name in [name for name in os.environ if name.startswith("PLUMBLINE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path))
    return tmp_path


def test_every_setting_has_a_kind_that_refuses_something_or_is_any_text():
    assert set(KIND.values()) - set(WRONG) <= {"text", "texts"}
    assert {name.removeprefix("PLUMBLINE_") for name, kind in KIND.items() if kind == "text"} == ANY_TEXT


def sentences() -> dict[str, str]:
    """Sentences of the settings on the environment as it is, by the variable that is wrong."""
    try:
        runpy.run_path(str(SETTINGS))
    except SystemExit as ended:
        return {re.match(r"PLUMBLINE_\w+", line)[0]: line for line in ended.code.splitlines()}
    return {}


@pytest.mark.parametrize("n", range(max(map(len, WRONG_VALUES.values()))))
def test_settings_that_cannot_be_read_are_a_sentence_each_with_name_value_and_example(n, bare, monkeypatch):
    """The nth wrong value of every setting, all at once."""
    given = {name: values[n] for name, values in WRONG_VALUES.items() if n < len(values)}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    said = sentences()
    assert set(said) == set(given)
    for name, sentence in said.items():
        assert re.fullmatch(rf"{name}(='.*'| \(a secret, not shown\)) is not [^\n]+ {name}=[^\n]+", sentence)
        assert "geheim" not in sentence and (repr(given[name]) in sentence or "a secret" in sentence)


def test_who_writes_what_the_sentences_say_gets_no_others(bare, monkeypatch):
    wrong = {name: values[0] for name, values in WRONG_VALUES.items() if values}
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    said = sentences()
    for name in wrong:
        made = KIND[name] in ("folder", "file")
        monkeypatch.setenv(name, str(bare / "made" / name) if made else said[name].rpartition(f"{name}=")[2])
    assert sentences() == {}


def test_a_home_that_cannot_be_used_is_one_sentence(bare, monkeypatch):
    (bare / "secret_key").mkdir()
    with pytest.raises(SystemExit, match=r"^PLUMBLINE_HOME='.*' is not a folder that this process can use \(Is a directory\); write"):
        runpy.run_path(str(SETTINGS))


PROGRAMS = {
    "manage.py": ["manage.py", "sweep"],
    "worker": ["-m", "celery", "--quiet", "-A", "evaluation.celery", "worker", "-P", "solo", "-Q", "cpu"],
    "web": ["-m", "leaderboard.server", "--port", "0"],
}


def ended(*programs: str, **env: str) -> dict[str, str]:
    """Last output of these programs, which are started together and end with an error."""
    started = {}
    for name in programs:
        env = {**os.environ, **env}
        command = [sys.executable, "-W", "ignore", *PROGRAMS[name]]
        started[name] = subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = {name: process.communicate(timeout=240)[0] for name, process in started.items()}
    assert {key: process for key, process in started.items() if process.returncode != 1} == {}, said
    assert [key for key, text in said.items() if "Traceback" in text] == [], said
    return said


def test_every_program_ends_with_the_sentence(bare):
    for text in ended(*PROGRAMS, PLUMBLINE_LEASE_SECONDS="abc").values():
        assert text.startswith("PLUMBLINE_LEASE_SECONDS='abc' ") and "86400" in text


def test_a_database_without_tables_is_one_sentence_of_every_program(bare):
    for text in ended(*PROGRAMS, PLUMBLINE_STATIC_ROOT=str(processes.STATIC_ROOT)).values():
        assert f"{bare}/plumbline.sqlite3" in text and "`manage.py migrate`" in text


def test_every_setting_is_in_the_example_and_the_other_way_round():
    documented = set(re.findall(r"^#? ?(PLUMBLINE_[A-Z0-9_]+)=", (ROOT / "deploy" / "env.example").read_text(), re.M))
    assert names_read() == documented


COMMANDS = (ROOT / "submissions" / "client" / "command.py", ROOT / "leaderboard" / "package" / "command.py")  # of people's own machines
EXAMPLES = ROOT / "leaderboard" / "api" / "examples.py"  # which writes what people's own programs read
# The environment inside a sandbox, and that of whoever runs a metric program of their own.
PROGRAMS_OWN = (ROOT / "evaluation" / "programs" / "guest" / "launcher.py", ROOT / "evaluation" / "programs" / "program.py")


def test_the_environment_is_read_in_the_settings_alone():
    for app in ("submissions", "evaluation", "leaderboard"):
        for path in (ROOT / app).rglob("*.py"):
            text = path.read_text()
            allowed = {"settings.py", "celery.py", "wsgi.py", "run.py"}
            its_own = path.name in allowed or path in (*COMMANDS, EXAMPLES, *PROGRAMS_OWN)
            assert its_own or "os.environ" not in text, f"{path} reads the environment"


def test_a_cluster_without_a_secret_key_is_an_error_with_a_hint(settings):
    settings.DATABASE_URL, settings.SECRET_KEY_GIVEN = "postgres://", False
    found = [error for error in run_checks() if error.id == "plumbline.E001"]
    assert found and "PLUMBLINE_SECRET_KEY" in found[0].hint


def test_a_heartbeat_slower_than_half_the_lease_is_an_error(settings):
    settings.LEASE_SECONDS, settings.HEARTBEAT_SECONDS = 5.0, 4.0
    assert "plumbline.E004" in {error.id for error in run_checks()}


def test_no_page_may_be_given_another_base_address(client, db):
    assert "base-uri 'none'" in client.get("/")["Content-Security-Policy"]


def test_a_database_that_stopped_within_squashed_migrations_hears_which_code_finishes_them(db):
    newest = MigrationLoader(connection).graph.leaf_nodes("leaderboard")[0]
    for missing in (("leaderboard", "0013_rater_kept_from"), newest):
        MigrationRecorder(connection).record_unapplied(*missing)
    sentence = r"has the migration leaderboard\.0012_fill_tallies but not 0013_rater_kept_from; .*[Cc]heck out commit a68cd70"
    with pytest.raises(SystemCheckError, match=f"(?s){sentence}"):
        call_command("migrate", skip_checks=False, verbosity=0)
    with pytest.raises(health.Unready, match=sentence):
        health.probe_database()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"HTTPS": False, "HSTS_SUBDOMAINS": True}, {"plumbline.E010"}),
        ({"HTTPS": False, "HTTPS_REDIRECT": True, "BEHIND_PROXY": True}, {"plumbline.E010"}),
        ({"HTTPS": True, "HSTS_PRELOAD": True}, {"plumbline.E011"}),
        ({"HTTPS": True, "HTTPS_REDIRECT": True, "BEHIND_PROXY": False}, {"plumbline.E012"}),
        ({"HTTPS": True, "HTTPS_REDIRECT": True, "BEHIND_PROXY": True, "HSTS_SUBDOMAINS": True, "HSTS_PRELOAD": True}, set()),
    ],
)
def test_doors_that_would_not_open_are_errors_with_a_hint(settings, values, expected):
    for name, value in values.items():
        setattr(settings, name, value)
    ours = [error for error in run_checks() if error.id in {f"plumbline.E{n:03}" for n in (10, 11, 12)}]
    assert {error.id for error in ours} == expected and [error for error in ours if "PLUMBLINE_" not in error.hint] == []


def test_http_is_redirected_where_that_is_asked_for_but_not_for_what_watches(client, db, settings):
    settings.SECURE_SSL_REDIRECT, settings.SECURE_PROXY_SSL_HEADER = True, ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = settings.SECURE_HSTS_PRELOAD = True
    assert client.get("/challenges/?page=2").headers["Location"] == "https://testserver/challenges/?page=2"
    assert client.get("/-/health").status_code == 200
    secure = client.get("/challenges/", headers={"X-Forwarded-Proto": "https"})
    assert secure.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains; preload"


def test_what_somebody_who_is_logged_in_is_shown_stays_in_no_cache(client, db, people, phase):
    paths = [
        "/",
        "/challenges/",
        f"/challenges/{phase.challenge.slug}/",
        f"/challenges/{phase.challenge.slug}/{phase.slug}/",
        "/docs/",
        "/nothing/",
    ]
    assert [path for path in paths if "no-store" in client.get(path).headers.get("Cache-Control", "")] == []
    client.force_login(people.owner)
    for path in paths:
        assert client.get(path).headers["Cache-Control"] == "private, no-store", path
    client.logout()
    assert "no-store" not in client.get("/").headers.get("Cache-Control", "")

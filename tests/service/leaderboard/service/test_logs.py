"""Real programs and requests in the log: what is JSON, what finished work was about, and under which id a request is known."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys

import pytest
from django.conf import settings

from tests.pure.leaderboard.service.test_logs import Kept
from tests.support import processes


def test_every_line_of_a_program_is_json_where_it_is_asked_for(tmp_path):
    """The sweeper on a database that does not answer, and the web server on the same."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PLUMBLINE_")}
    env = bare | {
        "PLUMBLINE_HOME": str(tmp_path),
        "PLUMBLINE_LOG_FORMAT": "json",
        "PLUMBLINE_SQLITE": str(tmp_path / "nowhere" / "x.sqlite3"),
        "PLUMBLINE_STATIC_ROOT": str(processes.STATIC_ROOT),
    }
    command = [sys.executable, "manage.py", "sweep", "--once", "--skip-checks"]
    sweeper = subprocess.run(command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=240)
    assert sweeper.returncode != 0
    command = [sys.executable, "-W", "ignore", "-m", "leaderboard.server", "--port", "0"]
    web = subprocess.Popen(command, env=env, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    for line in web.stdout:
        said.append(line)
        if "Started worker-1" in line:
            break
    web.terminate()
    said += web.communicate(timeout=60)[0].splitlines()
    assert [line for line in said if not line.startswith("{")] == [], said
    events = [json.loads(line)["event"] for line in said]
    assert "the database does not answer; it is asked again when it is needed" in events
    assert "Shutting down granian" in events
    assert any(line.startswith("{") for line in sweeper.stdout.splitlines() + sweeper.stderr.splitlines())


@pytest.mark.django_db
@pytest.mark.own_parts
def test_finished_work_is_a_line_with_all_that_it_was_about(scored, caplog):
    caplog.set_level(logging.INFO)
    entry = scored()
    done = [record.msg for record in caplog.records if isinstance(record.msg, dict) and "became" in record.msg]
    checked, *parts = done
    where = f"{entry.phase.challenge.slug}/{entry.phase.slug}"
    assert checked["event"] == "entry checked" and checked["became"] == "scoring" and checked["entry"] == entry.pk
    assert len(parts) == 4 and {part["event"] for part in parts} == {"part scored"}
    for part in parts:
        assert part["entry"] == entry.pk and part["phase"] == where and part["attempt"] == 1 and part["became"] == "done"
        assert part["seconds"] >= 0 and part["worker"].endswith(f":{os.getpid()}") and len(part["metric"]) == 3


@pytest.mark.django_db
class TestRequestIds:
    def test_an_answer_says_under_which_id_the_log_knows_it(self, client):
        kept = Kept("json")
        logging.getLogger().addHandler(kept)
        try:
            answer = client.get("/nothing-here/")
        finally:
            logging.getLogger().removeHandler(kept)
        known = answer["X-Request-ID"]
        (line,) = (json.loads(line) for line in kept.lines if "django.request" in line)
        assert line["event"] == "Not Found: /nothing-here/" and line["request_id"] == known, "Django's line has it too"
        assert len(known) == 32 and known in answer.content.decode()
        problem = client.get("/api/v1/nothing-here")
        assert problem.json()["request_id"] == problem["X-Request-ID"] != known

    def test_an_id_is_taken_from_a_proxy_only_and_only_if_it_looks_like_one(self, client, settings):
        given = {"headers": {"x-request-id": "trace-1234.abc"}}
        assert client.get("/-/health", **given)["X-Request-ID"] != "trace-1234.abc"
        settings.BEHIND_PROXY = True
        assert client.get("/-/health", **given)["X-Request-ID"] == "trace-1234.abc"
        for wrong in ("short", "x" * 65, "with space 123", "<script>alert(1)", "a\u00fc234567", ""):
            taken = client.get("/-/health", headers={"x-request-id": wrong})["X-Request-ID"]
            assert taken != wrong and len(taken) == 32

    def test_what_broke_and_what_changed_something_is_logged_under_it_without_secrets_of_the_address(self, client, caplog, monkeypatch):
        caplog.set_level(logging.INFO)
        client.get("/")
        answer = client.post("/accounts/login/", {"login": "nobody", "password": "wrong"})
        (line,) = [record.msg for record in caplog.records if isinstance(record.msg, dict) and record.msg["event"] == "request"]
        assert line["request_id"] == answer["X-Request-ID"] and line["status"] == 200 and line["route"] == "accounts/login/"
        assert client.post("/teams/join/a-secret-of-somebody/").status_code in (302, 404)
        assert not [record for record in caplog.records if isinstance(record.msg, dict) and "a-secret" in str(record.msg)]

    def test_an_error_of_ours_shows_it_to_the_person_and_the_operator(self, client, caplog, monkeypatch):
        client.raise_request_exception = False
        monkeypatch.setattr("leaderboard.service.health.PROBES", None)
        answer = client.get("/-/ready")
        assert answer.status_code == 500 and answer["X-Request-ID"] in answer.content.decode()
        lines = [record.msg for record in caplog.records if isinstance(record.msg, dict) and record.msg["event"] == "request"]
        assert lines and lines[-1]["status"] == 500 and lines[-1]["request_id"] == answer["X-Request-ID"]

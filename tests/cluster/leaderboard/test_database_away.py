"""A PostgreSQL that restarts or hangs below a web server with kept connections."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import httpx
import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection, connections
from django.test import Client

from leaderboard.models import Study
from leaderboard.server import THREADS
from leaderboard.service.database_timeouts import own_connection
from tests.environment import free_port
from tests.support.leaderboard.studies.live import making
from tests.support.postgres_server import PostgresServer
from tests.support.processes import START_SECONDS, STATIC_ROOT, environment, wait_until

RATERS = 6

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not settings.DATABASE_URL, reason="SQLite has no server that could hang"),
]


@dataclass
class WebServer:
    """One web process on a PostgreSQL of its own, and a person who is logged in there."""

    url: str
    cookies: dict[str, str]

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(self.url + path, cookies=self.cookies, headers=headers, timeout=60)

    def at_once(self, path: str, n: int = THREADS) -> Counter[int]:
        """Statuses of as many requests at the same moment."""
        with ThreadPoolExecutor(THREADS) as pool:
            return Counter(answer.status_code for answer in pool.map(self.get, [path] * n))


def seconds(statement: int) -> pytest.MarkDecorator:
    """The web server's limit on a statement."""
    return pytest.mark.parametrize("web", [statement], indirect=True)


@pytest.fixture
def study(phase, people) -> Study:
    return making.live(phase, people.organizer, making.entries(phase, people))


@pytest.fixture
def web(study, people, postgres: PostgresServer, request) -> Iterator[WebServer]:
    client = Client()
    client.force_login(people.owner)
    postgres.copy(environment()["PLUMBLINE_DATABASE_URL"])
    env = environment(PLUMBLINE_STATEMENT_SECONDS=str(request.param), PLUMBLINE_STATIC_ROOT=str(STATIC_ROOT))
    env["PLUMBLINE_DATABASE_URL"] = postgres.url
    port = free_port()
    server = WebServer(f"http://127.0.0.1:{port}", {name: morsel.value for name, morsel in client.cookies.items()})
    command = [sys.executable, "-m", "leaderboard.server", "--port", str(port)]
    process = subprocess.Popen(command, env=env, cwd=settings.BASE_DIR)

    def answers() -> bool:
        assert process.poll() is None, "the web server has ended"
        try:
            return server.get("/-/health").status_code == 200
        except httpx.TransportError:
            return False

    try:
        wait_until(answers, START_SECONDS, "an answer of the web server")
        yield server
    finally:
        process.terminate()
        process.wait(60)


@seconds(30)
def test_after_a_restart_no_kept_connection_answers_with_an_error(web, postgres):
    assert web.at_once("/accounts/email/") == {200: THREADS}, "each thread has a connection now"
    postgres.restart()
    assert web.at_once("/accounts/email/", 60) == {200: 60}


@seconds(30)
def test_answers_of_raters_are_each_taken_once_while_the_database_restarts_and_hangs(web, postgres, study):
    """As the rating page does: what the server could not take is sent again."""
    met: Counter[int] = Counter()

    def send(rater: httpx.Client, path: str, content: dict | None = None) -> dict:
        while True:
            answer = rater.get(path) if content is None else rater.post(path, json=content)
            met[answer.status_code] += 1
            if answer.status_code != 503:
                return answer.json()
            time.sleep(0.2)

    def join() -> httpx.Client:
        rater = httpx.Client(base_url=f"{web.url}/rate/{study.key}/", headers={"accept": "application/json"}, timeout=120)
        rater.get("join/")  # its form brings the token
        rater.headers["X-CSRFToken"] = rater.cookies["csrftoken"]
        assert rater.post("join/", data={"agree": "yes"}).status_code == 302
        return rater

    def rate(rater: httpx.Client) -> int:
        state, sent = send(rater, "next"), 0
        while not state["done"]:
            answers = making.same_answer(study, "left")
            state = send(rater, "answer", {"question": state["question"]["id"], "answers": answers, "seconds": 1.5})
            sent += 1
            time.sleep(0.3)
        rater.close()
        return sent

    joined = [join() for _ in range(RATERS)]
    with ThreadPoolExecutor(RATERS) as pool:
        raters = [pool.submit(rate, rater) for rater in joined]
        for act in (postgres.restart, postgres.freeze, partial(time.sleep, 12), postgres.thaw, postgres.restart):
            act()
            time.sleep(0.5)
        sent = sum(one.result() for one in raters)
    with psycopg.connect(postgres.url) as other:
        stored = other.execute("SELECT count(*), count(DISTINCT question_id) FROM leaderboard_studyvote").fetchone()
    assert stored == (sent, sent) and sent == 12 * RATERS
    assert set(met) == {200, 503}, met


@seconds(60)
def test_requests_end_while_the_database_hangs_and_go_on_after_it(web, postgres):
    assert web.at_once("/accounts/email/") == {200: THREADS}
    postgres.freeze()
    begun = time.monotonic()
    ready = web.get("/-/ready")
    assert ready.status_code == 503 and time.monotonic() - begun < 5 and set(ready.json()["failed"]) == {"database"}
    assert web.at_once("/accounts/email/") == {503: THREADS} and time.monotonic() - begun < 60, "no kept connection is waited for"
    page, told = web.get("/accounts/email/"), web.get("/api/v1/challenges")
    assert page.status_code == told.status_code == 503
    assert page.headers["Refresh"] == page.headers["Retry-After"] == "5"
    assert told.json()["code"] == "database"
    postgres.thaw()
    postgres.wait()
    assert web.at_once("/accounts/email/", 60) == {200: 60}


@seconds(2)
def test_a_statement_that_takes_too_long_is_ended_in_web_processes_alone(web, postgres):
    with psycopg.connect(postgres.url, autocommit=True) as other, other.transaction():
        other.execute("LOCK TABLE submissions_challenge")
        assert web.get("/api/v1/challenges").status_code == 503
    assert web.get("/api/v1/challenges").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",), "a command, and this test, may take as long as they need"


def test_readiness_is_asked_over_a_connection_of_its_own(postgres, monkeypatch):
    kept = connections["default"]
    monkeypatch.setitem(kept.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(kept.settings_dict, "PORT", str(postgres.port))
    monkeypatch.setitem(kept.settings_dict, "NAME", "postgres")
    with own_connection(1.0):
        assert connections["default"] is not kept
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('port')")
            assert cursor.fetchone() == (str(postgres.port),)
        postgres.freeze()
        for _ in range(2):
            with pytest.raises(OperationalError), connection.cursor() as cursor:
                cursor.execute("SELECT 1")
    assert connections["default"] is kept
    with pytest.raises(OperationalError), own_connection(1.0):
        pass
    assert connections["default"] is kept


def test_a_connection_that_has_ended_is_replaced_at_the_next_step_of_the_sweeper(monkeypatch):
    from leaderboard.management.commands import sweep

    def end_connection() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    seen = []
    monkeypatch.setattr(sweep, "ROUND", {"end": end_connection, "ask": lambda: seen.append(list(settings_of_database()))})
    with pytest.raises(OperationalError):
        call_command("sweep", "--once")
    sweep.Command()._round(sweep.ROUND)
    assert seen == [["1"]]


def settings_of_database() -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT '1'")
        yield cursor.fetchone()[0]

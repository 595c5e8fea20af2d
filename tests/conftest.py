"""Fixtures for every test: services that must or may answer, people, a challenge that runs."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import socket
import ssl
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import copy
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import hypothesis
import pytest
import pytest_django.plugin
from _pytest import fixtures, runner
from django.test import client
from django.test.utils import ContextList
from playwright.sync_api import expect
from whitenoise.middleware import WhiteNoiseMiddleware

from evaluation.programs import sandbox
from tests import ROOT, environment
from tests.alone import FAILED_KEY
from tests.support import pages
from tests.support.examples import examples
from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.small_disk import mounted
from tests.support.stack import with_room
from tests.support.tabs import Tabs

REQUIRED = {name for name in os.environ.get("PLUMBLINE_REQUIRE", "").split(",") if name}
# Debian's headless shell takes half the processor time of the whole browser, which does as well where it alone is there.
CHROMIUM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"


def pytest_configure() -> None:
    """Switch off what would make tests slow, or fail where the machine is."""
    from django.conf import settings

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # How long an example or a page takes says how busy the machine is. CI tries the same examples each time, so that what it
    # refuses can be found again; elsewhere they are new ones.
    too_slow = [hypothesis.HealthCheck.too_slow]
    usual = examples(100)
    hypothesis.settings.register_profile("plumbline", usual, derandomize=bool(REQUIRED), suppress_health_check=too_slow)
    hypothesis.settings.load_profile("plumbline")
    expect.set_options(timeout=60_000)
    os.fsync = lambda file: None  # files of tests need not outlive the machine
    gc.disable()
    compact_pages()
    let_readiness_see_rows()
    make_middleware_once()
    find_static_files_once()
    ssl.create_default_context = functools.cache(ssl.create_default_context)  # a client of HTTP would read all authorities' anew
    ask_for_fewer_fixtures()


def ask_for_fewer_fixtures() -> None:
    """Half of an empty test's time goes to fixtures that every test asks for. Those of pytest-django that serve markers and a setting that
    no test here has are left out; and the signature of `request`, which has no parameters, is not read for each of the others."""
    for name in (
        "_django_set_urlconf",
        "_django_isolate_apps",
        "_fail_for_invalid_template_variable",
        "_template_string_if_invalid_marker",
        "_django_clear_site_cache",
    ):
        delattr(pytest_django.plugin, name)
    names = fixtures.getfuncargnames
    fixtures.getfuncargnames = lambda function, **given: () if given["name"] == "request" else names(function, **given)


def pytest_collection_finish() -> None:
    """Freeze what has been loaded by now: looking for garbage among it took a quarter of the time that collecting did. A test makes
    thousands of objects for each one that another refers back to, so garbage is looked for less often."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    return with_room(lambda: runner.pytest_runtest_protocol(item, nextitem))


# Whole challenges, workers that break or are elsewhere, and judges with real processes: for each change on the cluster profile, on the
# other at night.
CLUSTER_ALONE = {
    "cluster/evaluation/test_broken_on_purpose.py",
    "cluster/evaluation/test_full_disk.py",
    "cluster/evaluation/test_gpu_parts.py",
    "cluster/evaluation/test_losses.py",
    "cluster/evaluation/test_redis_shared.py",
    "cluster/evaluation/test_redis_stopped.py",
    "cluster/evaluation/work",
    "cluster/leaderboard/studies",
    "cluster/leaderboard/test_generated_objects.py",
    "cluster/leaderboard/test_mesh_challenge.py",
    "cluster/leaderboard/test_render_challenge.py",
    "cluster/leaderboard/test_scene_pages.py",
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip, on the cluster profile, code alone and pages in a browser, which are the same on both; on the embedded one CLUSTER_ALONE,
    unless a folder or file is asked for."""
    if not collection_path.is_relative_to(ROOT / "tests"):
        return None
    path = collection_path.relative_to(ROOT / "tests").as_posix()
    if environment.CLUSTER:
        return True if path.partition("/")[0] in {"pure", "browser"} else None
    return True if path in CLUSTER_ALONE and config.args == config.getini("testpaths") else None


def compact_pages() -> None:
    """Let every test client give pages without the whitespace of their templates' lines."""
    request = client.Client.request

    def compact(self: client.Client, **given: Any) -> Any:
        response = request(self, **given)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and not response.streaming and "Content-Encoding" not in response.headers:
            response.content = pages.compact(response.content.decode(response.charset)).encode(response.charset)
        return response

    client.Client.request = compact

    def keep_first(store: dict[str, Any], template: Any, context: Any, **sent: Any) -> None:
        name = template.name or ""
        is_part = "/parts/" in name or name.startswith("django/")  # which has the fields of forms
        if "context" not in store or (store["is_of_part"] and not is_part):
            store["context"], store["is_of_part"] = ContextList([copy(context)]), is_part

    # A client would copy the context of every template and of all that it includes; tests ask for the page's own. A part may be drawn
    # before its page is.
    client.store_rendered_templates = keep_first


def let_readiness_see_rows() -> None:
    """Let readiness be asked over the connection of a test whose rows are in a transaction: no other one sees them."""
    from django.db import connection

    from leaderboard.service import database_timeouts

    own_connection = database_timeouts.own_connection
    database_timeouts.own_connection = lambda seconds: nullcontext() if connection.in_atomic_block else own_connection(seconds)


def make_middleware_once() -> None:
    """Let clients share one chain of middleware, as the requests to a server do, where a test changes no setting."""
    from django.conf import settings

    load, usual, chains = client.ClientHandler.load_middleware, settings._wrapped, []

    def share(self: client.ClientHandler, is_async: bool = False) -> None:
        if settings._wrapped is not usual:
            load(self, is_async)
            return
        if not chains:
            load(self, is_async)
            chains.append(self._middleware_chain)
        self._middleware_chain = chains[0]

    client.ClientHandler.load_middleware = share


def find_static_files_once() -> None:
    """Look once for the files of the apps and of plotly: each client has a handler of its own, which would look at every one."""
    look, found = WhiteNoiseMiddleware.add_files_from_finders, {}

    def remember(self: WhiteNoiseMiddleware) -> None:
        key = (self.static_prefix, self.max_age)
        if key not in found:
            look(self)
            found[key] = dict(self.files)
        self.files |= found[key]

    WhiteNoiseMiddleware.add_files_from_finders = remember


# Each of a minute or more, below this folder.
LONGEST = ("browser/leaderboard/test_access.py", "pure/evaluation/programs/test_escapes.py", "service/leaderboard/test_routes.py")
PROFILE_FIXTURES = {"db", "transactional_db", "live_server", "s3_files", "s3_server", "redis"}


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name of a parameter that is a file's bytes: they may hold the second at which the file was made, and then each
    process of a run would collect other tests."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > 40 else None


def pytest_collection_modifyitems(config, items) -> None:
    """Order tests so that long ones begin first and no process ends alone; on the cluster profile keep only what touches its services."""
    if environment.CLUSTER:
        apart = [it for it in items if not (PROFILE_FIXTURES & set(it.fixturenames) or it.get_closest_marker("django_db"))]
        config.hook.pytest_deselected(items=apart)
        items[:] = [it for it in items if it not in apart]
    order = ["nightly", "cluster", "browser", "service", "pure"]

    @functools.cache
    def turn(path: Path) -> tuple[bool, int]:
        inner = path.relative_to(Path(__file__).parent)
        return inner.as_posix() not in LONGEST, order.index(inner.parts[0])

    items.sort(key=lambda item: turn(item.path))


def pytest_terminal_summary(terminalreporter, config) -> None:
    """Print what each folder took; write what failed in this run for `tests.alone`."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.split("/")[1]] += report.duration
    terminalreporter.write_line("seconds by folder: " + ", ".join(f"{name} {spent:.0f}" for name, spent in seconds.most_common()))
    if getattr(config, "cache", None) is not None:
        reports = [report for key in ("failed", "error") for report in terminalreporter.stats.get(key, ())]
        config.cache.set(FAILED_KEY, sorted({report.nodeid for report in reports}))


def _port_answers(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname, parts.port or 0), timeout=1):
            return True
    except OSError:
        return False


def _has_moto() -> bool:
    try:
        import moto.server  # noqa: F401
    except ImportError:
        return False
    return True


PROBES: dict[str, Callable[[], bool]] = {
    "postgres": lambda: _port_answers(environment.POSTGRES_URL),
    "redis": lambda: _port_answers(environment.REDIS_URL),
    "s3": _has_moto,
    "browser": lambda: shutil.which(CHROMIUM) is not None,
    "sandbox": lambda: not sandbox.bubblewrap_refusal(),
    "faketime": lambda: any(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")),
    "curl": lambda: shutil.which("curl") is not None,
    "git": lambda: shutil.which("git") is not None and (ROOT / ".git").exists(),
}


def need(name: str) -> None:
    """Skip the test, by name, where a service does not answer; fail where it must."""
    if PROBES[name]():
        return
    if name in REQUIRED:
        pytest.fail(f"{name} must answer here (PLUMBLINE_REQUIRE) and does not")
    pytest.skip(f"{name} does not answer on this machine")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real test data, from PLUMBLINE_DATA."""
    folder = os.environ.get("PLUMBLINE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PLUMBLINE_DATA does not name the folder with the real test data")
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def s3_server() -> str:
    """The address of an S3 server of this test process."""
    need("s3")
    return os.environ.get("PLUMBLINE_S3_ENDPOINT") or environment.start_s3()


@pytest.fixture
def redis(tmp_path) -> Iterator[RedisServer]:
    """A Redis of the test's own, to be killed."""
    if shutil.which("redis-server") is None:
        if "redis" in REQUIRED:
            pytest.fail("redis must answer here (PLUMBLINE_REQUIRE) and redis-server is not installed")
        pytest.skip("redis-server is not on this machine")
    server = RedisServer(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL of the test's own, to be stopped and restarted."""
    if missing := PostgresServer.missing():
        if "postgres" in REQUIRED:
            pytest.fail(f"postgres must answer here (PLUMBLINE_REQUIRE) and {missing}")
        pytest.skip(missing)
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A file system of 8 MB of the test's own, to be filled."""
    with mounted(tmp_path / "small") as folder:
        yield folder


@pytest.fixture(scope="session")
def browser():
    """Chromium, headless."""
    need("browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def _tabs(browser) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def tabs(_tabs) -> Iterator[Tabs]:
    """Tabs of this test for pages of a static site; they are closed after it."""
    yield _tabs
    _tabs.clear()


@pytest.fixture
def page(browser):
    """A page of a fresh browser profile, 1440 px wide."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture(autouse=True)
def _as_at_first(request):
    """Workers of tests try no columns, which takes minutes for networks, but where a test is marked `acceptance_tests`. Rate limits are
    counted in the cache, and processes remember rows by their numbers, which the next test gives to others."""
    uses_database = request.node.get_closest_marker("django_db") is not None or "db" in request.fixturenames
    if uses_database and request.node.get_closest_marker("acceptance_tests") is None:
        from evaluation.work import suites

        patch = request.getfixturevalue("monkeypatch")
        patch.setattr(suites, "acceptance_test_once", lambda worker, overdue=False: False)
    if "db" in request.fixturenames or "transactional_db" in request.fixturenames:
        from django.core.cache import cache

        request.getfixturevalue("transactional_db" if "transactional_db" in request.fixturenames else "db")
        cache.clear()
        from evaluation.models import program
        from evaluation.work import attempts, missing_weights
        from leaderboard.service.page_cache import PARTS

        missing_weights._left.clear()
        attempts._storage_away_until = 0.0
        program.forget()
        PARTS.clear()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings):
    """Each process' database is a copy of one that was migrated once."""
    from tests.support.databases import template

    template.copy_into_settings()


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """SQLite's file is that copy and goes with the process' home; PostgreSQL copies while it creates the database."""
    return not environment.CLUSTER


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup):
    """On the cluster profile, the bucket too."""
    if environment.CLUSTER:
        import boto3

        client = boto3.client(
            "s3",
            endpoint_url=os.environ["PLUMBLINE_S3_ENDPOINT"],
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        client.create_bucket(Bucket=os.environ["PLUMBLINE_S3_BUCKET"])


@pytest.fixture(scope="module")
def rows_of_module(django_db_setup, django_db_blocker) -> Iterator[None]:
    """A transaction around all tests of a file: each finds what the file's fixtures stored, and undoes what it does itself."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def challenge(db):
    from tests.support.factories import ChallengeFactory

    return ChallengeFactory()


@pytest.fixture
def phase(challenge):
    """Open, public, four gable houses as reference, three metrics."""
    from tests.support.factories import PhaseFactory, give_reference

    phase = PhaseFactory(challenge=challenge)
    give_reference(phase)
    return phase


@pytest.fixture
def people(challenge):
    """People around the challenge, by their part in it."""
    from tests.support.people import People

    return People.around(challenge)


@pytest.fixture
def references(phase):
    """The phase's reference items, parsed."""
    from submissions.formats.wireframe.wireframe_files import unpack
    from submissions.storage import stored_files

    return unpack(stored_files.store().read(phase.references.get().key))


@pytest.fixture
def scored(request, phase, people, references, django_capture_on_commit_callbacks):
    """`scored(scale=0.1, team=..., method_name=...)`: an entry sent and scored by the real worker, in one part, which its child computes
    for the first test that sends it. Where a test is marked `own_parts`, in as many parts as the service makes, all computed for it."""
    from evaluation.models import part_plan
    from evaluation.work.worker import drain
    from tests.support.evaluation.kept_answers import kept_answers
    from tests.support.factories import archive, perturbed, received

    def send(scale: float = 0.1, team=None, seed: int = 0, items=None, **values):
        items = items if items is not None else perturbed(references, scale, seed)
        entry = received(phase, team or people.team, archive(items), user=people.owner, **values)
        if request.node.get_closest_marker("own_parts") is not None:
            drain()
        else:
            with kept_answers(), mock.patch.object(part_plan, "LEAST_RUNS", 1):
                drain()
        entry.refresh_from_db()
        return entry

    return send


@pytest.fixture
def ships(monkeypatch):
    """`ships(table, ...)`: the shipped tables of one metric; no others ship in this test."""
    from evaluation.properties import bundled_tables

    kept: dict[str, list] = {}
    monkeypatch.setattr(bundled_tables, "tables", lambda fingerprint: kept.get(fingerprint, []))
    return lambda *tables: kept.update({tables[0].fingerprint: list(tables)})


@pytest.fixture
def local_files(settings, tmp_path):
    """A folder of this test's own, on the cluster profile too: parts then come through the service."""
    from submissions.storage import stored_files

    settings.HOME, settings.S3_BUCKET = tmp_path, ""
    return stored_files.store()


@pytest.fixture
def s3_files(settings, tmp_path, s3_server):
    """A bucket of this test's own."""
    from submissions.storage import stored_files

    settings.HOME, settings.S3_BUCKET = tmp_path, f"test-{uuid.uuid4().hex[:12]}"
    settings.S3_ENDPOINT = settings.S3_PUBLIC_ENDPOINT = s3_server
    settings.S3_ACCESS_KEY = settings.S3_SECRET_KEY = "test"
    store = stored_files.store()
    store.client.create_bucket(Bucket=settings.S3_BUCKET)
    return store

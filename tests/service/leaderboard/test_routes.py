"""Every address × every person × every method, against one table; an address missing from it fails.

Everybody walks the table itself on the embedded profile. Methods that stand in no line, tokens, the admin and the cluster profile are
walked by those with most rights, at night by everybody."""

from __future__ import annotations

import gzip
import json
import logging
import os
import posixpath
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache as cache_of_process
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.cache import cache
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, resolve

from evaluation.work.worker import drain
from leaderboard.api.service import api
from submissions.models import ApiToken, Scope
from tests import environment
from tests.support.factories import ChallengeFactory, PhaseFactory, give_reference
from tests.support.full_database import full_database
from tests.support.leaderboard import routes_console as console
from tests.support.leaderboard import routes_table as table
from tests.support.leaderboard.routes_scene import set_scene
from tests.support.people import People

pytestmark = pytest.mark.django_db
REFUSED = "lnxm"  # what a method that stands in no line must meet
# Nobody else may do what none of these may: enough where the method, the token or the database is asked about more than the person.
WITH_MOST_RIGHTS = ("anonymous", "owner", "organizer", "staff")
WRITES = ("INSERT", "UPDATE", "CREATE TABLE")  # what needs room in a database
AT_NIGHT = "PLUMBLINE_EVERYBODY" in os.environ
SOME = table.PEOPLE if AT_NIGHT else WITH_MOST_RIGHTS


@dataclass(frozen=True)
class Line:
    method: str
    address: str  # with names in braces
    outcomes: str  # one letter a person

    def path(self, names: Mapping) -> str:
        return self.address.format_map(names)


def lines(text: str) -> list[Line]:
    return [Line(*line.split()) for line in text.strip().splitlines() if line.strip()]


API = lines(table.API)
BODIES = table.BODIES | console.BODIES
ALL = lines(table.PAGES + table.ENTRIES + console.CONSOLE + table.RATING + table.ACCOUNTS) + API


@pytest.fixture(scope="module")
def scene(rows_of_module) -> tuple[People, dict]:
    """The people and what they walk through, made once: each test undoes what it does, as each request does."""
    phase = PhaseFactory(challenge=ChallengeFactory())
    give_reference(phase)
    people = People.around(phase.challenge)
    return people, set_scene(phase, people, drain)


@pytest.fixture
def people(scene) -> People:
    return scene[0]


@pytest.fixture
def unlimited(settings) -> Iterator[None]:
    """No limits of rates, a cache in memory, and no log of refusals."""
    settings.CACHES = {"default": {"BACKEND": "tests.support.memory_cache.MemoryCache"}}
    settings.ACCOUNT_RATE_LIMITS = False
    logging.getLogger("django.request").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("django.request").setLevel(logging.NOTSET)


@pytest.fixture
def names(scene, unlimited) -> dict:
    return scene[1]


def client_of(person: str, people, by_token: bool = False) -> Client:
    user = people.users()[person]
    if not user.is_authenticated:
        return Client(raise_request_exception=False)
    if by_token:
        key = ApiToken.make(user, "walks the routes", scopes=list(Scope))[1]
        return Client(raise_request_exception=False, headers={"authorization": f"Bearer {key}"})
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def ask(client: Client, line: Line, names: dict, method: str | None = None, keep_cache: bool = False) -> HttpResponse:
    """One request, whose effects are undone."""
    method = method or line.method
    body = BODIES.get(line.address, {}) if method == line.method else {}
    body = {name: value.format_map(names) if isinstance(value, str) else value for name, value in body.items()}
    cookies = client.cookies.copy()
    if not keep_cache:
        cache.clear()
    with transaction.atomic():
        path = line.path(names)
        if path.startswith("/api/") and method != "GET":
            response = client.generic(method, path, json.dumps(body), content_type="application/json")
        elif method == "POST":
            response = client.post(path, body)
        else:
            response = client.generic(method, path)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response


def route_of(line: Line, names: Mapping) -> str:
    return resolve(line.path(names).split("?")[0]).route


def outcome(response: HttpResponse) -> str:
    status = response.status_code
    if status in (301, 302, 303, 307, 308):
        return "l" if response["Location"].startswith("/accounts/login/") else "y"
    if status in (200, 201, 202, 204, 400, 409, 411, 413, 422):
        return "y"
    return {401: "l", 403: "n", 404: "x", 405: "m"}.get(status, f"[{status}]")


def outcomes_of(line: Line, persons: Iterable[str]) -> str:
    """Letters of a line for these people, in their order."""
    return "".join(line.outcomes[table.PEOPLE.index(person)] for person in persons)


def differences(
    found: list[Line], names: dict, people, read: dict[str, bytes], *, by_token: bool = False, writing: set[Line] | None = None
) -> list[str]:
    """Answers to the people of `read` at the lines' own methods that differ from the table. All that they get to read is added to it, and
    the lines where a request writes to the database are added to `writing`."""
    clients = {person: client_of(person, people, by_token) for person in read}
    wrong, written = [], set() if writing is None else writing

    def note_writes(execute: Callable, sql: str, *rest: Any) -> Any:
        if sql.startswith(WRITES):
            written.add(line)
        return execute(sql, *rest)

    for line in found:
        met = {}
        # Who may see most asks first, and all of one cache: what it keeps of somebody's page must reach nobody who may not see that.
        for person in reversed(read):
            with connection.execute_wrapper(note_writes):
                response = ask(clients[person], line, names, keep_cache=line.method == "GET" and bool(met))
            met[person] = outcome(response)
            if line.method == "GET" and response.status_code == 200 and not table.GIVEN.search(line.address):
                read[person] += b"".join(response.streaming_content) if response.streaming else response.content
        expected, outcomes = outcomes_of(line, read), "".join(met[person] for person in read)
        if outcomes != expected:
            wrong.append(f"{line.method} {line.address}: the table says {expected} of {', '.join(read)}, met {outcomes}")
    return wrong


def leaks(read: dict[str, bytes]) -> list[str]:
    """Secrets that somebody read who may not, or did not read who may (then the scene has lost it)."""
    wrong = []
    for word, who in (line.split() for line in table.SECRETS.strip().splitlines()):
        met = {person: "y" if word.encode() in contents else "-" for person, contents in read.items()}
        if any(letter != who[table.PEOPLE.index(person)] for person, letter in met.items()):
            wrong.append(f"{word}: the table says {who} of {', '.join(table.PEOPLE)}, was read by {met}")
    return wrong


def unlisted(names: dict, people) -> list[str]:
    """Methods in no line of an address that somebody was not refused."""
    said = {(line.address.split("?")[0], line.method): line for line in ALL}
    clients = {person: client_of(person, people) for person in SOME}
    one_each = {route_of(line, names): line for line in reversed(ALL)}
    wrong = []
    for line in one_each.values():
        address = line.address.split("?")[0]
        foreign = line.address.startswith(table.FOREIGN)
        allowed = [outcomes_of(one, SOME) for (other, _), one in said.items() if foreign and other == address]
        for method in table.METHODS:
            if (address, method) in said:
                continue
            for i, person in reversed([*enumerate(SOME)]):
                met = outcome(ask(clients[person], line, names, method))
                if met not in REFUSED and not any(one[i] == met for one in allowed):
                    wrong.append(f"{method} {line.address} stands in no line, {person} met {met}")
                if met == "m" and not AT_NIGHT:  # the address has no such method, whoever asks
                    break
    return wrong


def nothing_in(wrong: list[str]) -> None:
    assert not wrong, "\n".join(wrong)


def no_room(execute: Callable, sql: str, params: Any, many: bool, context: dict) -> Any:
    if sql.startswith(WRITES):
        said = sqlite3.OperationalError("database or disk is full")
        said.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise OperationalError(str(said)) from said
    return execute(sql, params, many, context)


def changed_by_a_full_database(found: list[Line], names: dict, people) -> list[str]:
    """Answers, to whoever may most, that a full database changes to something else than service unavailable.

    PostgreSQL is filled by triggers. SQLite would read all tables' definitions again at each request that is undone in a transaction with
    new triggers, so its error is raised before each write; `test_outages.py` has it from SQLite itself.
    """
    full = full_database() if connection.vendor == "postgresql" else connection.execute_wrapper(no_room)
    by_rights = [person for person in ("staff", "organizer", "owner", "anonymous") if person in SOME]
    met: defaultdict[str, list[str]] = defaultdict(list)
    clients = {person: client_of(person, people) for person in by_rights}
    with full:
        for line in found:
            person = next((one for one in by_rights if outcomes_of(line, [one]) == "y"), "anonymous")
            response = ask(clients[person], line, names)
            what = outcome(response)
            met[what if what == "[503]" else "as ever" if what == outcomes_of(line, [person]) else what].append(
                f"{line.method} {line.address}"
            )
            if what == "[503]":
                assert response["Retry-After"] == "30", line
    assert len(met["[503]"]) > 50 and met["as ever"]
    return [f"{what}: {address}" for what, addresses in met.items() if what not in {"as ever", "[503]"} for address in addresses]


def test_everybody_meets_what_the_table_says_and_comes_upon_no_secret(names, people):
    # What a person may do is decided by the same code on both databases; that every page and act works there is asked here.
    read, writing = dict.fromkeys(SOME if environment.CLUSTER else table.PEOPLE, b""), set[Line]()
    nothing_in(differences(ALL, names, people, read, writing=writing))
    nothing_in(leaks(read))
    # What wrote nothing for anybody needs no room.
    nothing_in(changed_by_a_full_database([line for line in ALL if line in writing], names, people))


def test_with_a_token_everybody_meets_the_same_at_the_api(names, people):
    nothing_in(differences(API, names, people, dict.fromkeys(SOME, b""), by_token=True))


def test_what_the_table_does_not_say_is_refused(names, people):
    nothing_in(unlisted(names, people))


# --- what the pages weigh -----------------------------------------------------------------------

# Of a page with all that it loads by itself, compressed, before anybody asks for an interactive chart or a mesh in 3D.
MAX_BYTES = 300_000
LOADED = re.compile(r'<(?:script|link|img)\b[^>]*?\b(?:src|href)="/static/([^"]+)"')
# What a page fetches besides when it is opened: the data of views, and pictures that wait for nothing.
FETCHED = re.compile(r'<(?:div\b[^>]*?\bdata-(?:src|meshes|meshes-b)|img\b(?![^>]*loading="lazy")[^>]*?\bsrc)="(/(?!static/)[^"]+)"')
IMPORTED = re.compile(r'^import .* from "(\..*)";$', re.MULTILINE)


@cache_of_process
def weight(name: str) -> int:
    """Bytes of a static file as it is sent, and of the modules that it imports."""
    contents = Path(finders.find(name)).read_bytes()
    imported = IMPORTED.findall(contents.decode()) if name.endswith(".js") else []
    own = len(contents) if name.endswith(".png") else len(gzip.compress(contents))
    return own + sum(weight(posixpath.normpath(posixpath.join(posixpath.dirname(name), other))) for other in imported)


def test_every_public_page_is_light_and_has_its_charts_drawn(names, people):
    weights, drawn, fetched = {}, 0, 0
    for line in ALL:
        if line.method != "GET" or line.outcomes[0] != "y":
            continue
        response = ask(client_of("anonymous", people), line, names)
        if response.status_code != 200 or not response["Content-Type"].startswith("text/html"):
            continue
        page = response.content.decode()
        charts = page.count('<svg class="chart')
        shown = page.count("data-figure=") + page.count('<figure class="scatter">')  # those to explore, and those to look at alone
        assert charts == shown, f"{line.address} has a chart that the server did not draw"
        drawn += charts
        weights[line.address] = len(gzip.compress(response.content)) + sum(map(weight, set(LOADED.findall(page))))
        for address in {unescape(address) for address in FETCHED.findall(page)}:
            data = client_of("anonymous", people).get(address)
            weights[line.address] += len(gzip.compress(b"".join(data.streaming_content) if data.streaming else data.content))
            fetched += data.status_code == 200
        # A surface can be of any size, so it waits until somebody asks for it.
        assert 'data-meshes="' not in page, f"{line.address} loads meshes by itself"
    assert fetched >= 2
    assert len(weights) > 40 and drawn >= 5
    nothing_in([f"{address}: {size:,} bytes" for address, size in weights.items() if size >= MAX_BYTES])


# --- the table is complete ---------------------------------------------------------------------


def patterns(found: list, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every route of the service and its pattern, the admin's apart."""
    for one in found:
        route = before + str(one.pattern).removeprefix("^" if before else "")  # as `resolve` names it
        if isinstance(one, URLResolver):
            if one.namespace != "admin":
                yield from patterns(one.url_patterns, route)
        else:
            yield route, one


def test_every_route_and_every_operation_stands_in_the_table():
    names = defaultdict(lambda: "11111111")  # slug, number and digest alike
    walked = {route_of(line, names) for line in ALL}
    methods = {(route_of(line, names), line.method) for line in API}
    missing = []
    for route, _ in patterns(get_resolver().url_patterns):
        if route not in walked:
            missing.append(route)
    schema = api.get_openapi_schema()["paths"]
    operations = [(route_of(Line("", path, ""), names), method.upper()) for path, found in schema.items() for method in found]
    assert len(operations) >= 49
    missing += [f"{method} {route}" for route, method in operations if (route, method) not in methods]
    nothing_in(missing)


def test_the_admin_is_for_staff_only(people):
    clients = {person: client_of(person, people) for person in SOME}
    admin = next(one for one in get_resolver().url_patterns if getattr(one, "namespace", "") == "admin")
    for path in sorted(_concrete(admin.url_patterns, "/admin/")):
        for person, client in clients.items():
            status = client.get(path).status_code
            assert status < 500 and (person == "staff" or status in (302, 403, 404)), (path, person, status)


def _concrete(found: list, before: str) -> Iterator[str]:
    for one in found:
        route = before + re.sub(r"<[^>]+>|\(\?P<[^>]+>[^)]*\)", "1", str(one.pattern)).strip("^$")
        if isinstance(one, URLResolver):
            yield from _concrete(one.url_patterns, route)
        else:
            yield re.sub(r"[\\^$?*]|\(.*\)", "", route)


def test_metrics_of_the_service_are_for_this_machine_or_the_token(client, settings):
    assert client.get("/-/metrics", REMOTE_ADDR="192.0.2.7").status_code == 403
    assert client.get("/-/metrics", headers={"x-forwarded-for": "127.0.0.1"}).status_code == 403
    settings.METRICS_TOKEN = "scrape"
    assert client.get("/-/metrics").status_code == 403
    assert client.get("/-/metrics", REMOTE_ADDR="192.0.2.7", headers={"authorization": "Bearer scrape"}).status_code == 200

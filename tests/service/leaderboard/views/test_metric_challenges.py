"""Challenges of metrics: an entrant's program reads hidden items, and its entrant reads whole percent and the service's own sentences."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from importlib import import_module

import pytest
from django.core import mail
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone

from evaluation.models import MetricProgram
from evaluation.programs.results import Cause
from leaderboard.models import MetricChallenge, ProgramValues
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.records import REFERENCE_TITLES
from leaderboard.stats.states import State
from leaderboard.views.metric_challenges import CAUSES, EARLIER, NOT_COMPUTED
from tests.conftest import need
from tests.support.evaluation.programs import passed, written
from tests.support.factories import PhaseFactory, gables, give_reference
from tests.support.leaderboard.hidden_study import BLIND, CLOSER, a_day_later, hidden_study, on_hidden_items, worked

pytestmark = pytest.mark.django_db(transaction=True)

MARKER = 7.91364852  # the first corner's first coordinate, of each hidden item
DIGITS = "913648"
LINK = re.compile(r'(?:href|hx-get|src)="(/[^"#]*)')
NOT_FOLLOWED = ("/static/", "/accounts/logout", "/console/")
# Where a marker could go that a program takes from the reference, one way an item: its output, its error, its answer, and how it ends.
WAYS = """{
    0: lambda: int(f"{hidden:.8f}"),
    1: lambda: print(f"{hidden:.8f}", file=sys.stderr, flush=True),
    2: lambda: {"value": hidden, "note": f"{hidden:.8f}"},
    3: lambda: {"value": None, "status": "failed", "note": f"{hidden:.8f}"},
    4: lambda: {"value": 1.0, "parts": {f"at {hidden:.8f}": hidden}},
    5: lambda: {"value": 1.0, f"{hidden:.8f}": 1},
    6: lambda: -hidden,
    7: lambda: os._exit(int(1000 * hidden) % 256),
    8: lambda: f"{hidden:.8f}",
    9: lambda: {"value": 1.0, "status": f"{hidden:.8f}"},
    10: lambda: time.sleep(hidden / 10),
    11: lambda: {"value": 1.0, "parts": {f"<{hidden:.8f}>": 1}},
}[int(reference.vertices[1, 0]) - 8]()"""


@pytest.fixture
def contest(challenge, people) -> MetricChallenge:
    """One on the hidden study of a phase whose reference nobody may see."""
    need("sandbox")
    phase = PhaseFactory(challenge=challenge)
    items = {}
    for number, item in enumerate(gables(12).values(), 1):
        vertices = item.vertices.copy()
        vertices[0, 0] = MARKER
        items[f"vault_{number:02d}"] = replace(item, vertices=vertices)
    give_reference(phase, items)
    study = hidden_study(phase)
    return MetricChallenge.open(study, "Find a metric", timezone.now() + timedelta(days=30), None, seed=1, limit_per_day=20)


def everything(client, contest: MetricChallenge) -> dict[str, str]:
    """All that somebody who is logged in is given by following links from the pages that have to do with a contest, and by the API."""
    place = f"/api/v1/challenges/{contest.challenge.slug}"
    programs = list(MetricProgram.objects.all())
    waiting = [
        "/",
        "/metric-challenges/",
        reverse("metric_challenge", args=[contest.pk]),
        "/metrics/",
        "/status/",
        "/search/?q=vault",
        "/-/ready",
        "/api/v1/metrics",
        f"{place}/programs",
        *(f"/metrics/{row.full_key}/" for row in programs),
        *(f"{place}/programs/{row.pk}" for row in programs),
        *(f"/api/v1/metrics/{row.full_key}" for row in programs),
        *(f"/console/challenges/{contest.challenge.slug}/{rest}" for rest in ("programs/", f"metric-challenges/{contest.pk}/", "audit/")),
    ]
    found: dict[str, str] = {}
    kinds: dict[str, int] = {}
    while waiting:
        address = waiting.pop(0)
        answer = client.get(address)
        text = b"".join(answer.streaming_content) if answer.streaming else answer.content
        found[address] = text.decode("utf-8", "replace")
        if "text/html" not in answer.headers.get("Content-Type", ""):
            continue
        for link in map(unescape, LINK.findall(found[address])):
            kind = re.sub(r"\d+|=[^&]*", "0", link)
            if link not in found and link not in waiting and not link.startswith(NOT_FOLLOWED) and kinds.get(kind, 0) < 2:
                kinds[kind] = kinds.get(kind, 0) + 1
                waiting.append(link)
    assert len(found) > 40
    return found


def opened(client, contest: MetricChallenge) -> HttpResponse:
    return client.get(reverse("metric_challenge", args=[contest.pk]))


def page(client, contest: MetricChallenge) -> str:
    """The words of a contest's page."""
    text = opened(client, contest).content.decode()
    return " ".join(re.sub(r"<[^>]*>", " ", text.partition("<main")[2].partition("</main>")[0]).split())


class TestWhatAnEntrantReads:
    def test_a_program_that_raises_what_it_is_checked_on_knows_no_hidden_item(self, contest, people, tmp_path, client):
        code = """
            import base64, zlib
            import numpy as np

            def score(prediction, reference, params):
                data = np.round(prediction.vertices * 1e8).astype(np.int64)
                raise RuntimeError(f"{data[0, 0]} {base64.b85encode(zlib.compress(data.tobytes(), 9)).decode()[:200]}")
        """
        contest.enter(people.owner, written(tmp_path, code, needs="[]"), "a.zip")
        worked()
        program = MetricProgram.objects.get()
        assert (program.state, program.cause) == (MetricProgram.State.FAILED, Cause.RAISED)
        # Not even organizers read hidden items in it, because it was given none.
        assert {row["item"] for row in program.report["run"]["rows"]} == {"house_01", "house_02", "house_03"}
        assert DIGITS not in str(program.report) and "RuntimeError" in program.failure
        client.force_login(people.owner)
        words = page(client, contest)
        assert CAUSES[Cause.RAISED] in words and "no upload" not in words and contest.left(people.owner) == (19, 19)
        for address, text in everything(client, contest).items():
            assert "RuntimeError" not in text and DIGITS not in text, address

    def test_no_way_leads_out_of_the_runs_on_the_study(self, contest, people, tmp_path, client):
        contest.enter(people.owner, written(tmp_path, on_hidden_items(WAYS), worst="null"), "a.zip")
        worked()
        assert MetricProgram.objects.get().state == MetricProgram.State.READY
        run = ProgramValues.objects.get()
        assert run.state == ProgramValues.State.DONE and {name for name, value in run.values["near"].items() if value is None} == {
            f"vault_{n:02d}" for n in (1, 4, 6, 7, 8, 9, 10, 12)
        }
        a_day_later(contest)
        client.force_login(people.owner)
        for address, text in everything(client, contest).items():
            assert DIGITS not in text, address
        assert "vault_" not in page(client, contest) and not mail.outbox
        # Their organizers are told what went wrong.
        client.force_login(people.organizer)
        console = client.get(reverse("console_metric_challenge", args=[contest.challenge.slug, contest.pk])).content.decode()
        assert "far, vault_01: ValueError: invalid literal for int() with base 10: &#x27;7.91364852&#x27;" in console

    def test_all_failures_on_the_study_look_the_same_and_at_no_moment_otherwise(self, contest, people, tmp_path, client):
        """A program that chose a way to fail by a digit of the reference would say that digit."""
        client.force_login(people.owner)
        entry = contest.enter(people.owner, written(tmp_path, CLOSER, worst="null"), "a.zip")
        passed(entry.program)
        before = page(client, contest)
        run = ProgramValues.objects.create(program=entry.program, study=contest.study)
        seen = set()
        nothing = {"value": None, "low": None, "high": None, "n": 0, "state": "undecided", "reason": {"key": "no_winner"}, "coverage": 0.0}
        for values in (
            {"state": "waiting", "values": {"near": {}}, "total": 3, "failure": "It waits.", "attempts": 2},
            {"state": "failed", "failure": "It took 12.5 s.", "finished_at": timezone.now()},
            {"state": "failed", "failure": "Its worker was lost.", "decided": None},
            {"state": "done", "decided": nothing, "made_of": contest.study.stamp, "failures": ["near, vault_01: TypeError"]},
        ):
            ProgramValues.objects.filter(pk=run.pk).update(**values)
            assert page(client, contest) == before
            if values["state"] != "waiting":
                contest.ask()
                worked()
                a_day_later(contest)
                seen.add(page(client, contest))
                MetricChallenge.objects.update(standings=None)
        assert len(seen) == 1 and f"It {NOT_COMPUTED}." in seen.pop()

    def test_one_digit_an_upload_is_whole_percent_and_no_more(self, contest, people, tmp_path, client):
        """Its order is turned on as many items as the digit of the reference says."""
        turned = """(
            float(np.abs(prediction.vertices - reference.vertices).mean())
            * (1 if reference.vertices[1, 0] - 8 >= int(hidden * 10) % 10 else -1)
        )"""
        contest.enter(people.owner, written(tmp_path, on_hidden_items(turned), bounds="[null, null]", title="Turned"), "a.zip")
        worked()
        a_day_later(contest)
        (row,) = (one for one in contest.standings["public"] if not one["reference_point"])
        client.force_login(people.owner)
        words = page(client, contest)
        ((percent, rest),) = re.findall(r"Turned owner, yours (\d+) % (.{60})", words)
        assert int(percent) == round(100 * row["decided"]["value"])
        assert not re.search(r"\d\.\d", words.partition("Share of comparisons")[0])
        assert "Always" in rest and not re.search(r"\d", rest.partition("Always")[0])
        exact = {f"{row['decided'][name]:.3f}" for name in ("value", "low", "high")}
        for address, text in everything(client, contest).items():
            shipped = address.startswith("/api/v1/evidence/")  # figures of other people's sets, which may be the same by chance
            assert shipped or not any(one in text for one in exact), address
        MetricChallenge.objects.update(closes_at=timezone.now())
        assert re.search(r"Turned owner, yours .{0,80}?\d\.\d{3} ", page(client, contest))

    def test_nothing_is_shown_before_a_midnight_has_passed(self, contest, people, tmp_path, client):
        passed(contest.enter(people.owner, written(tmp_path, CLOSER, title="Closer"), "a.zip").program)
        client.force_login(people.owner)
        before = page(client, contest)
        worked()
        assert page(client, contest) == before and "No metric yet" in before
        client.force_login(people.organizer)
        assert "No metric yet" in page(client, contest)
        console = client.get(reverse("console_metric_challenge", args=[contest.challenge.slug, contest.pk])).content.decode()
        assert re.search(r"<b>0\.\d{3}</b>", console)
        a_day_later(contest)
        assert "Closer owner" in page(client, contest)


def test_every_cause_has_a_sentence():
    assert set(CAUSES) == set(Cause)


def test_until_the_end_the_public_half_is_shown_and_then_the_other(contest, people, tmp_path, client):
    passed(contest.enter(people.owner, written(tmp_path, CLOSER, title="Closer"), "a.zip").program)
    worked()
    a_day_later(contest)
    found = opened(client, contest).context
    titles = [line.title for line in found["rounded"]]
    assert found["full"] is None and titles[0] == "Closer" and "Size only" in titles
    constant = REFERENCE_TITLES["constant"]
    assert {line.title: line.percent for line in found["rounded"]}[constant] == 50
    assert re.search(rf"{constant} .*? 50 % ", page(client, contest))
    MetricChallenge.objects.update(closes_at=timezone.now())
    found = opened(client, contest).context
    # Programs have seen all items, and so may everybody have; what was kept back is how far they agree on them.
    assert found["over"] and not found["rounded"]
    (line,) = [row.line for row in found["full"].rows if row.line.key == "constant"]
    assert (line.figure.value, line.places) == (0.5, None) and re.search(rf"– {constant} .*? 0\.500 ", page(client, contest))


def test_the_final_board_says_which_metrics_may_be_the_best_and_between_which_places_each_lies(contest, people, tmp_path, client):
    passed(contest.enter(people.owner, written(tmp_path / "a", CLOSER, title="Closer"), "a.zip").program)
    passed(contest.enter(people.stranger, written(tmp_path / "b", BLIND, title="Blind"), "b.zip").program)
    worked()
    MetricChallenge.objects.update(closes_at=timezone.now())
    found, words = opened(client, contest).context["full"], page(client, contest)
    first, second = found.rows[:2]
    assert (first.line.title, first.by, first.line.places) == ("Closer", "owner", (1, 1)) and first.line.figure.state is State.ROUGH
    assert (second.line.title, second.by, second.line.places, second.line.level) == ("Blind", "stranger", (2, 2), Standing.AT_CHANCE)
    assert found.claim.startswith("Closer by owner ") and found.claim in words and not found.earlier
    assert re.search(r" 1 Closer owner 0\.\d{3} 0\.\d{3} to 0\.\d{3}", words) and re.search(" 2 Blind stranger ", words)
    assert "tier" not in words


def test_a_board_of_the_rule_of_before_keeps_its_bytes_and_says_so(contest, people, tmp_path, client):
    entry = contest.enter(people.owner, written(tmp_path, CLOSER, title="Closer"), "a.zip")
    half = {"value": 0.5, "low": None, "high": None, "n": 90, "why": "All answers are alike.", "raters": 6, "samples": 6}
    closer = {"value": 0.86, "low": 0.71, "high": 0.94, "n": 90, "why": "", "raters": 6, "samples": 6}
    rows = [
        {"key": str(entry.pk), "decided": closer, "tier": 1, "reference_point": False, "above": True, "above_size": None},
        {"key": "constant", "decided": half, "tier": None, "reference_point": True, "above": None, "above_size": None},
    ]
    before = {"public": rows, "final": rows, "halves": [["house_01"], ["house_02"]], "without": [], "made": "2026-10-01T00:00:00+00:00"}
    before = import_module("leaderboard.migrations.0042_format_2_of_rankings").standings(before)
    MetricChallenge.objects.update(standings=before, standings_at=timezone.now())
    words = page(client, contest)
    assert "Closer owner 86 % " in words
    MetricChallenge.objects.update(closes_at=timezone.now())
    words = page(client, contest)
    assert EARLIER in words and "– Closer owner 0.860 0.710 to 0.940 90 " in words
    contest.refresh_from_db()
    assert contest.standings == before


def test_a_metric_that_is_silent_on_most_comparisons_says_so(contest, people, tmp_path, client):
    entry = contest.enter(people.owner, written(tmp_path, CLOSER, title="Silent"), "a.zip")
    passed(entry.program)
    worked()
    values = ProgramValues.objects.get(program=entry.program)
    silent = {label: {name: None if label == "far" else value for name, value in row.items()} for label, row in values.values.items()}
    ProgramValues.objects.update(values=silent)
    contest.ask()
    worked()
    a_day_later(contest)
    assert "fewer than 90 % " in page(client, contest)
    MetricChallenge.objects.update(closes_at=timezone.now())
    words = page(client, contest)
    assert "values for 33 % " in words and "rough interval" in words


def test_organizers_have_done_again_what_failed(contest, people, tmp_path, client):
    entry = contest.enter(people.owner, written(tmp_path, CLOSER), "a.zip")
    passed(entry.program)
    run = ProgramValues.objects.create(program=entry.program, study=contest.study, state="failed", failure="Its worker was lost.")
    address = reverse("console_metric_challenge", args=[contest.challenge.slug, contest.pk])
    client.force_login(people.owner)
    assert client.post(address, {"entry": entry.pk}).status_code == 403
    client.force_login(people.organizer)
    assert "Its worker was lost." in client.get(address).content.decode()
    client.post(address, {"entry": entry.pk})
    run.refresh_from_db()
    assert (run.state, run.failure) == ("waiting", "")
    ProgramValues.objects.all().delete()
    MetricProgram.objects.update(state=MetricProgram.State.FAILED, cause=Cause.SERVICE)
    client.post(address, {"entry": entry.pk})
    entry.program.refresh_from_db()
    assert (entry.program.state, entry.program.cause) == (MetricProgram.State.WAITING, "")

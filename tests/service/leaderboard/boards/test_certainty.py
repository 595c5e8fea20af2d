"""Certainty of a board: brackets, rank intervals and words, the same on every page and in the API, and kept in earlier rankings."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import math
import re
import zlib
from base64 import b64decode
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse

from evaluation.models import EvaluationBatch, Score
from leaderboard.boards import build, snapshots
from leaderboard.boards.unranked import untested
from leaderboard.models import Snapshot, read_board
from leaderboard.records.board import Pairs
from leaderboard.records.unit import Unit
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL, GROUPS_FOR_RARE_FAILURES
from leaderboard.stats.uncertainty import paired
from leaderboard.views.compare import Comparison
from leaderboard.wording import certainty
from leaderboard.wording.nouns import plural
from submissions.models import Phase
from tests.pure.leaderboard.stats.test_uncertainty import SECOND, WORKED
from tests.service.leaderboard.views.test_board import address, text
from tests.support.databases import stored
from tests.support.factories import PhaseFactory, TeamFactory, gables, give_reference
from tests.support.leaderboard.scores import entry, spread

pytestmark = pytest.mark.django_db
FORMAT_2 = import_module("leaderboard.migrations.0042_format_2_of_rankings")
FORMAT_3 = import_module("leaderboard.migrations.0046_format_3_of_rankings")
TWO = ({"slug": "f1", "key": "corner_f1", "is_primary": True}, {"slug": "offset", "key": "corner_offset"})
LEVEL = {name: sum(values) / len(values) for name, values in WORKED.items()}


@pytest.fixture
def worked(challenge) -> Phase:
    """The four entries of the worked example on its eight houses, ranked by the first metric."""
    phase = PhaseFactory(challenge=challenge, ranking="primary")
    give_reference(phase, gables(8), TWO)
    for name in WORKED:
        entry(phase, TeamFactory(challenge=challenge), {"f1": WORKED[name], "offset": SECOND[name]}, method_name=name)
    snapshots.make_all(phase)
    return phase


def board(phase: Phase) -> dict:
    return Snapshot.current(phase, "public").board


def api(client, phase: Phase, what: str = "rows") -> dict:
    place = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{Snapshot.current(phase, 'public').digest}"
    return client.get(f"{place}/{what}" if what else place).json()


def compared(client, phase: Phase, a: str, b: str) -> tuple[str, dict[str, Comparison]]:
    """The page that compares two entries, and what it holds by metric."""
    pks = [phase.submissions.get(method_name=name).pk for name in (a, b)]
    response = client.get(f"{address(phase, 'compare')}?a={pks[0]}&b={pks[1]}")
    return text(response), {one.a.slug: one for one in response.context["comparisons"]}


def differing(page: str) -> str:
    """Words of the page on metrics whose result on the leaderboard is another than alone."""
    found = re.search(r"On the leaderboard, corrected for all pairs, the result differs:(.*?)</span>", page, re.S)
    return " ".join(found.group(1).split()) if found else ""


def sentences(page: str) -> list[str]:
    """Sentences under the board's table."""
    return re.findall(r"<span>([^<]*)", re.search(r'<div class="foot">(.*?)</div>', page, re.S).group(1))


class TestWorkedExample:
    def test_the_payload_holds_its_figures(self, worked):
        content = board(worked)
        first = content.metrics[0]
        assert content.uncertainty == 3
        assert [round(v, 6) for v in first.ci_low] == [0.539186, 0.508460, 0.323568, 0.193970]
        assert [round(v, 6) for v in first.ci_high] == [0.942007, 0.888057, 0.879404, 0.544497]
        assert (first.group, first.loose) == ([1, 2, 2, 3], [False, False, True, False])
        assert (first.rank_low, first.rank_high) == ([1, 2, 1, 4], [2, 3, 3, 4])
        assert first.pairs == Pairs(tested=[0, 1, 2, 3], p=[[0.0078125, 0.0625, 0.0078125], [0.203125, 0.0078125], [0.0078125], []])
        assert first.leads == [(0, 1.0)]
        assert {key: getattr(content.overall, key) for key in ("group", "loose", "rank_low", "rank_high")} == {
            key: getattr(first, key) for key in ("group", "loose", "rank_low", "rank_high")
        }

    def test_the_overall_order_by_mean_rank_and_by_weights(self, worked):
        Phase.objects.filter(pk=worked.pk).update(ranking="mean_rank")
        worked.refresh_from_db()
        overall = build.build(worked, "public").overall
        assert (overall.group, overall.rank_low, overall.rank_high) == ([1, 1, 1, 2], [1, 1, 1, 4], [3, 3, 3, 4])

    def test_the_page_draws_its_brackets_and_digits(self, client, worked):
        page = text(client.get(address(worked)))
        assert re.findall(r'<td class="rank ([^"]*)"', page) == ["", "g g1", "g g3 loose", ""]
        assert "<b>0.84</b>" in page and "<i>+.10</i> <i>−.30</i>" in page
        assert re.findall(r"<small>(\d(?:–\d)?)</small>", page) == ["1–2", "2–3", "1–3", "4"]
        said = sentences(page)
        for key in ("bracket", "claim", "loose", "ranks"):
            assert certainty.SENTENCES[key] in said, key
        assert certainty.SENTENCES["pm"].format(n=8, items="items") in said
        assert certainty.SENTENCES["rare"].format(items="items", least_rare=GROUPS_FOR_RARE_FAILURES) in said
        assert re.findall(r'style="--at:(.*?)"', page) == ["1;--lo:1;--hi:2", "2;--lo:2;--hi:3", "3;--lo:1;--hi:3"]
        assert "100 % of random halves" in page

    def test_the_entrys_page_says_where_it_stands_alone_and_among_all(self, client, worked):
        first, last = (client.get(reverse("entry", args=[worked.submissions.get(method_name=name).pk])) for name in "AD")
        said = f"{board(worked).metrics[0].title}: {certainty.alone((1, 1), 1, 2)}"
        assert first.context["certainty"][-1] == said and said in text(first) and "0.54 to 0.94" in text(first)
        assert len(last.context["certainty"]) == len(first.context["certainty"]) - 1, "both say the same"

    def test_an_entry_hidden_since_is_counted_in_both_ranges_or_none(self, client, worked):
        def told() -> list[list[str]]:
            rows = [worked.submissions.get(method_name=name).pk for name in "BC"]
            return [client.get(reverse("entry", args=[pk])).context["certainty"] for pk in rows]

        before = told()
        worked.submissions.get(method_name="A").hide(None, "a reason")
        assert told() == before, "both ranges are the same"

    def test_told_apart_alone_and_not_on_the_board_is_said_of_both(self, client, worked):
        page, by_metric = compared(client, worked, "A", "C")
        assert by_metric["f1"].paired.p_value == pytest.approx(0.046875) and by_metric["f1"].verdict in page
        assert by_metric["f1"].p_board == 0.0625 and differing(page) == "Corner F1 tied"
        assert certainty.SENTENCES["shape"] in page


def test_board_comparison_and_api_agree_on_every_pair(client, worked):
    content, rows = board(worked), {row["name"]: row for row in api(client, worked)["items"]}
    column = content.metrics[0]
    for a, b in itertools.permutations(WORKED, 2):
        p = column.pair_p("ABCD".index(a), "ABCD".index(b))
        test = paired(WORKED[a], WORKED[b])
        page, by_metric = compared(client, worked, a, b)
        assert by_metric["f1"].p_board == p, (a, b)
        words = "significantly different" if p <= 0.05 else "tied"
        assert (f"Corner F1 {words}" in differing(page)) == ((p <= 0.05) != (test.p_value <= 0.05)), (a, b)
        assert by_metric["f1"].paired == test
        assert test.p_value <= p, "no pair is surer among all than alone"
        one, other = rows[a]["scores"]["f1"], rows[b]["scores"]["f1"]
        assert (rows[b]["id"] in one["tied"]) == (p > 0.05)
        if one["group"] == other["group"]:
            first = min((one, other), key=lambda row: row["rank"])
            assert p > 0.05 or first["group"] != 2, "within a bracket nobody is told apart from its first"
        if one["ranks"][1] < other["ranks"][0]:
            assert p <= 0.05
    assert [rows[name]["loose"] for name in "ABCD"] == [False, False, True, False]
    assert [tuple(rows[name]["ranks"]) for name in "ABCD"] == [(1, 2), (2, 3), (1, 3), (4, 4)]
    assert api(client, worked, "")["uncertainty"] == 3


class TestIntervals:
    def test_scores_kept_under_the_rule_of_before_are_shown_by_that_of_now_everywhere(self, client, worked):
        Score.objects.update(ci_low=0.123, ci_high=0.987)
        again, submission = build.build(worked, "public"), worked.submissions.get(method_name="A")
        assert again.metrics == board(worked).metrics
        ci = client.get(f"/api/v1/submissions/{submission.pk}").json()["scores"]["f1"]["ci"]
        assert [round(end, 6) for end in ci] == [0.539186, 0.942007]
        page = text(client.get(reverse("entry", args=[submission.pk])))
        assert "0.54 to 0.94" in page and "0.123" not in page and "0.987" not in page

    def test_where_all_values_are_equal_there_is_none_and_the_page_says_what_may_differ(self, client, challenge):
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(8), TWO[:1])
        perfect = entry(phase, TeamFactory(challenge=challenge), {"f1": [1.0] * 8}, method_name="perfect")
        near = entry(phase, TeamFactory(challenge=challenge), {"f1": [1.0] * 7 + [0.9999968]}, method_name="near")
        snapshots.make_all(phase)
        metric = board(phase).metrics[0]
        assert metric.ci_low[0] is None and metric.ci_low[1] < metric.ci_high[1]
        page = text(client.get(address(phase)))
        assert "<b>1.000</b>" in page and "<b>0.999999</b>" in page, "only what is perfect is shown so"
        told, nothing = (client.get(reverse("entry", args=[it.pk])).context["certainty"] for it in (perfect, near))
        (said,) = set(told) - set(nothing)
        assert said.endswith(f"{certainty.alike(8, 'item')}.") and "31 %" in said and certainty.alike(8, "item") in page

    def test_five_items_are_too_few_for_all_of_it(self, client, challenge):
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(5), TWO[:1])
        sent = [entry(phase, TeamFactory(challenge=challenge), {"f1": spread(mean, 5)}) for mean in (0.9, 0.5, 0.1)]
        snapshots.make_all(phase)
        metric = board(phase).metrics[0]
        for key in ("ci_low", "ci_high", "rank_low", "rank_high", "group"):
            assert getattr(metric, key) == [None] * 3
        assert metric.rank == [1, 2, 3] and metric.leads == []
        few = certainty.few(5, Unit(5, "item"))
        page = text(client.get(address(phase)))
        assert few in sentences(page) and "±" not in page and "Bracket" not in page and "Leads on" not in page
        assert few in text(client.get(reverse("entry", args=[sent[0].pk])))
        rows = api(client, phase)["items"]
        assert [row for row in rows if not (row["scores"]["f1"]["ci"] is None and row["ranks"] is None and row["group"] is None)] == []
        exported = client.get(reverse("snapshot_export", args=[*address_parts(phase), "json"])).json()["rows"]
        assert [row for row in exported if not (row["scores"]["f1"]["ci"] is None and row["rank_interval"] is None)] == []

    def test_of_few_groups_it_is_said_that_more_items_of_them_do_not_help(self, client, challenge, monkeypatch):
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(12), TWO[:1])
        batch = EvaluationBatch.current(phase)
        batch.reference.groups = ["a", "b", "c"] * 4
        batch.reference.save()
        entry(phase, TeamFactory(challenge=challenge), {"f1": spread(0.5, 12)})
        snapshots.make_all(phase)
        assert board(phase).resampled == "group"
        assert certainty.few(3, Unit.of(batch.groups, challenge)) in sentences(text(client.get(address(phase))))

    def test_units_are_called_as_the_challenge_calls_them(self, client, challenge):
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(12), TWO[:1])
        entry(phase, TeamFactory(challenge=challenge), {"f1": spread(0.5, 12)})
        snapshots.make_all(phase)
        before = Snapshot.current(phase, "public")
        assert "over 12 items" in text(client.get(address(phase)))
        challenge.item_noun, challenge.unit_noun = "house", "street"
        challenge.save()
        batch = EvaluationBatch.current(phase)
        batch.reference.groups = ["a", "b", "c"] * 4
        batch.reference.save()
        phase.touch_board()
        snapshots.make_all(phase)
        said = sentences(text(client.get(address(phase))))
        few = certainty.few(3, Unit.of(batch.groups, challenge))
        assert few in said and few.startswith("3 streets") and "The houses of" in few
        before.refresh_from_db()
        assert "over 12 items" in certainty.foot(before.board, before.board.overall)[0], "a ranking keeps its words"


def address_parts(phase: Phase) -> list[str]:
    return [phase.challenge.slug, phase.slug, Snapshot.current(phase, "public").digest]


class TestWhoTakesPart:
    def test_equal_entries_share_a_bracket_and_every_rank(self, challenge):
        phase = PhaseFactory(challenge=challenge, ranking="mean_rank")
        give_reference(phase, gables(8), TWO)
        rng = np.random.default_rng(3)
        level = rng.normal(0.5, 0.1, 8)
        for _ in range(6):
            values = {"f1": (level + rng.normal(0, 0.02, 8)).tolist(), "offset": np.abs(level + rng.normal(0, 0.02, 8)).tolist()}
            entry(phase, TeamFactory(challenge=challenge), values)
        content = build.build(phase, "public")
        for column in (*content.metrics, content.overall):
            assert column.group == [1] * 6 and column.loose == [False] * 6
            assert column.rank_low == [1] * 6 and column.rank_high == [6] * 6

    def test_an_entry_that_lacks_items_is_ranked_not_tested_and_told_why(self, client, worked):
        lacking = [None, *[0.7] * 7]
        sent = entry(worked, TeamFactory(challenge=worked.challenge), {"f1": lacking, "offset": [0.2] * 8}, method_name="E")
        snapshots.make_all(worked)
        metric = board(worked).metrics[0]
        assert metric.rank[4] == 4 and metric.group[4] is None and metric.rank_low[4] is None
        assert metric.untested == ["", "", "", "", "lacks"] and metric.group[:4] == [1, 2, 2, 3]
        said = certainty.untested(untested(board(worked), metric, 4))
        assert said in text(client.get(address(worked))) and said in text(client.get(reverse("entry", args=[sent.pk])))
        _, with_b = compared(client, worked, "A", "B")
        page, with_e = compared(client, worked, "A", "E")
        assert with_b["f1"].p_board == 0.0078125 and with_e["f1"].p_board is None and "Corner F1" not in differing(page)

    def test_where_a_metric_has_values_on_too_few_items_the_order_by_it_says_so(self, client, challenge):
        phase = PhaseFactory(challenge=challenge, ranking="mean_rank")
        give_reference(phase, gables(8), TWO)
        for name in WORKED:
            values = {"f1": WORKED[name], "offset": [*SECOND[name][:5], None, None, None]}
            entry(phase, TeamFactory(challenge=challenge), values, method_name=name)
        snapshots.make_all(phase)
        content = board(phase)
        assert content.overall.group == content.column("offset").group == [None] * 4 and any(content.column("f1").group)
        few = certainty.SENTENCES["few_of"].format(
            metric=content.metrics[1].title, n=5, items=plural(content.unit.noun), least=GROUPS_FOR_BOARD_INTERVAL
        )
        for query, is_said in (("", True), ("?sort=offset", True), ("?sort=f1", False)):
            told = sentences(text(client.get(f"{address(phase)}{query}")))
            assert (few in told) == is_said, query

    def test_below_the_first_200_nobody_is_tested_and_the_board_says_so(self, client, worked, monkeypatch):
        monkeypatch.setattr("leaderboard.stats.uncertainty.tested_of.__defaults__", (3,))
        for module in ("leaderboard.stats.uncertainty", "leaderboard.wording.certainty"):
            monkeypatch.setattr(f"{module}.FIRST", 3)
        entry(worked, TeamFactory(challenge=worked.challenge), {"f1": [0.1] * 8, "offset": [0.9] * 8}, method_name="E")
        snapshots.make_all(worked)
        metric = board(worked).metrics[0]
        assert metric.untested == ["", "", "", "first", "first"] and metric.rank_high[2] == 5
        page = text(client.get(address(worked)))
        assert certainty.SENTENCES["first"].format(most=3) in sentences(page) and "<small>1–</small>" in page

    def test_a_metric_of_the_whole_set_is_taken_as_it_stands(self, worked):
        content = board(worked)
        metrics = content.metrics
        both = {"f1": np.array(list(WORKED.values())), "offset": np.full((4, 8), math.nan)}
        overall = build._overall("mean_rank", "f1", metrics, both, [True] * 4)
        assert overall.fixed == ["offset"] and overall.group == [1, 1, 1, 2]
        shown = certainty.foot(content.model_copy(update={"overall": overall}), overall)
        assert certainty.SENTENCES["fixed"].format(metric=metrics[1].title, item=content.unit.noun) in shown
        assert certainty.SENTENCES["overall"] in shown
        neither = build._overall("mean_rank", "f1", metrics, both | {"f1": both["offset"]}, [True] * 4)
        assert neither.group == [None] * 4 and neither.fixed == []


# --- earlier rankings --------------------------------------------------------------------


def before() -> list[dict]:
    """The rankings of a demo, as earlier code kept them."""
    lines = gzip.decompress((Path(stored.__file__).parent / "a68cd70" / "rows.jsonl.gz").read_bytes()).decode().split("\n")
    table = next(table for table in map(json.loads, lines) if table["table"] == "leaderboard_snapshot")
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


@pytest.fixture(params=["public", "organizers"])
def old(request, worked) -> Snapshot:
    """A ranking of an earlier demo, as one of this phase, whose entries it takes."""
    rows = [row for row in before() if row["audience"] == request.param and row["n_entries"] > 8]
    row = rows[-1]
    content = FORMAT_3.ranking(FORMAT_2.ranking(json.loads(zlib.decompress(b64decode(row["payload"]["base64"])))))
    for place, name in enumerate("ABCD"):
        content["entries"][place]["id"] = worked.submissions.get(method_name=name).pk
    data = json.dumps(content, separators=(",", ":")).encode()
    digest = hashlib.sha256(f"{worked.pk}\n".encode() + data).hexdigest()
    kept = Snapshot.objects.create(
        phase=worked,
        audience="public",
        batch=EvaluationBatch.current(worked),
        digest=digest,
        revision=worked.board_revision,
        n_entries=row["n_entries"],
        n_teams=row["n_teams"],
        payload=zlib.compress(data),
    )
    read_board.cache_clear()
    return kept


class TestBefore:
    def test_their_digests_are_still_those_of_their_payloads(self):
        rows = before()
        assert len(rows) > 5
        for row in rows:
            data = zlib.decompress(b64decode(row["payload"]["base64"]))
            assert hashlib.sha256(f"{row['phase_id']}\n".encode() + data).hexdigest() == row["digest"]
            assert "uncertainty" not in json.loads(data)

    def test_one_is_shown_as_it_was_made_with_its_rule_named(self, client, old):
        data = json.loads(zlib.decompress(bytes(old.payload)))
        page = text(client.get(address(old.phase, "snapshot", digest=old.digest)))
        assert certainty.SENTENCES["bootstrap"].format(n=data["n_resampled"], items=f"{data['resampled']}s") in page
        for key in ("claim", "bracket", "ranks"):
            assert certainty.SENTENCES[key] not in page
        ranks = data["overall"]
        spans = [(low, high) for low, high in zip(ranks["rank_low"], ranks["rank_high"], strict=True) if low is not None and low != high]
        assert spans and [(low, high) for low, high in spans if f"<small>{low}–{high}</small>" not in page] == []
        rows = client.get(f"/api/v1/challenges/{old.phase.challenge.slug}/phases/{old.phase.slug}/snapshots/{old.digest}/rows").json()
        for row, index in zip(rows["items"], ranks["order"], strict=False):
            for metric in data["metrics"]:
                if metric["n"][index] != 1:
                    assert (row["scores"][metric["slug"]]["ci"] or [None] * 2) == [metric["ci_low"][index], metric["ci_high"][index]]
        entry_page = text(client.get(reverse("entry", args=[old.phase.submissions.get(method_name="A").pk])))
        assert "0.54 to 0.94" in entry_page, "values have the interval of now, whatever ranking is the newest"
        assert certainty.SENTENCES["ranks_before"] in entry_page
        place = f"/api/v1/challenges/{old.phase.challenge.slug}/phases/{old.phase.slug}/snapshots/{old.digest}"
        assert client.get(place).json()["uncertainty"] == 1

    @pytest.mark.parametrize("of_now", [True, False])
    def test_what_is_hidden_later_is_told_of_neither(self, client, people, old, of_now):
        one = old.phase.submissions.get(method_name="B")
        kept = old if not of_now else Snapshot.objects.filter(phase=old.phase, audience="public").exclude(pk=old.pk).get()
        one.hide(people.organizer, "no")
        content = Snapshot.get(old.phase, kept.digest).board
        at = next(index for index, row in enumerate(content.entries) if row.id == one.pk)
        for column in (*content.metrics, content.overall):
            assert column.group[at] is None and column.rank_low[at] is None
            assert not column.loose or not column.loose[at]
        for metric in content.metrics if of_now else ():
            assert [other for other in range(4) if metric.pair_p(at, other) is not None] == []
            assert metric.pair_p(0, 3) is not None and at not in [index for index, _ in metric.leads]
        assert text(client.get(address(old.phase, "snapshot", digest=kept.digest)))

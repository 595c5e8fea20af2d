"""Two entries compared, charts, metrics, documents and the front page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from types import SimpleNamespace

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards.comparison import Ground
from leaderboard.models import Study, read_board
from leaderboard.models.analysis import StudyAnalysis
from leaderboard.records.study import Summary
from leaderboard.records.unit import Unit
from leaderboard.stats.meaning import At
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.uncertainty import Paired
from leaderboard.stats.votes import Vote
from leaderboard.studies.analysis import analyse_due
from leaderboard.tasks import build_due_boards
from leaderboard.views.compare import Comparison
from leaderboard.wording import certainty
from leaderboard.wording.board import difference
from leaderboard.wording.certainty import p_words
from leaderboard.wording.comparison import statement
from leaderboard.wording.reasons import sentence
from leaderboard.wording.study import pair as pair_words
from submissions.models import Challenge, Phase, Submission
from tests.service.leaderboard.views.test_board import address, scores, signed_in, text
from tests.support.factories import ChallengeFactory, PhaseFactory, gables, give_reference
from tests.support.leaderboard.reasons import few_raters
from tests.support.leaderboard.scores import entry, spread

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(phase, people):
    first = entry(phase, people.team, {**scores(0.9), "hss": [0.5, 0.6, 0.7, 0.8]}, method_name="ridge-net")
    second = entry(phase, people.other_team, {**scores(0.6), "hss": [0.6, 0.6, 0.5, 0.6]}, method_name="valley-net")
    build_due_boards()
    return first, second


@pytest.fixture
def eight(challenge, people):
    """Two entries on eight houses, of which the first is better everywhere by corners and now and then by HSS."""
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase, gables(8))
    corners, hss = spread(0.9, 8), [0.5, 0.7, 0.5, 0.7, 0.5, 0.7, 0.5, 0.8]
    first = entry(phase, people.team, {"corner_f1": corners, "hss": hss})
    second = entry(phase, people.other_team, {"corner_f1": [value - 0.3 for value in corners], "hss": hss[::-1]})
    build_due_boards()
    return first, second


def paired_tests(response) -> dict[str, Paired | None]:
    """The test of the two entries by each metric."""
    return {one.a.slug: one.paired for one in response.context["comparisons"]}


def compared(two, **more) -> str:
    query = "&".join(f"{name}={value}" for name, value in {"a": two[0].pk, "b": two[1].pk, **more}.items())
    return f"{address(two[0].phase, 'compare')}?{query}"


class TestCompare:
    def test_it_counts_items_and_tests_nothing_on_four(self, client, two):
        response = client.get(compared(two, metric="hss"))
        found = paired_tests(response)
        assert {one.n for one in found.values()} == {4} and {one.p_value for one in found.values()} == {None}
        assert found["corner_f1"].mean_difference == pytest.approx(0.3)
        assert (found["hss"].better, found["hss"].worse, found["hss"].equal) == (2, 1, 1)
        assert not response.context["any_tested"] and not response.context["any_on_board"] and "sign-flip" not in text(response)
        assert text(response).count(certainty.few(4, Unit(4, two[0].phase.challenge.item_noun))) == 1, "the reason of both metrics"

    def test_of_eight_houses_one_metric_decides_and_swapped_it_says_the_opposite(self, client, eight):
        for entries, sign in ((eight, 1), (eight[::-1], -1)):
            found = paired_tests(client.get(compared(entries)))
            assert (found["corner_f1"].p_value, found["hss"].p_value) == (pytest.approx(0.0078125), 1.0)
            assert found["corner_f1"].mean_difference == pytest.approx(0.3 * sign)
        corners, hss = text(client.get(compared(eight))).partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")[:2]
        interval, parts = r'<small class="range">([^<]*)</small>', r"<span>(A|B|equal) +(\d+)</span>"
        # Better everywhere by the same 0.3, so nothing is known of others; on HSS four houses each way.
        assert re.findall(interval, corners) == ["–"] and re.findall(parts, " ".join(corners.split())) == [("A", "8"), ("B", "0")]
        assert re.findall(interval, hss) == ["[−0.23, 0.23]"] and re.findall(parts, " ".join(hss.split())) == [("A", "4"), ("B", "4")]

    def test_the_chart_comes_with_its_numbers_as_text(self, client, two):
        page = text(client.get(compared(two, metric="hss")))
        figure = json.loads(re.search(r'<script id="figure-differences" type="application/json">(.*?)</script>', page, re.S).group(1))
        heights = [y for trace in figure["data"] for y in trace.get("y", [])]
        assert sorted(round(y, 9) for y in heights) == [-0.1, 0.2, 0.2]
        numbers = page.partition('aria-label="Numbers of the chart"')[2].partition("</table>")[0]
        assert numbers.count("<tr>") == 1 + 4 and page.count('<svg class="chart"') == 1

    def test_both_views_follow_the_references_access(self, two, people):
        assert "viewer/viewer.js" not in text(Client().get(compared(two)))
        assert text(signed_in(people.organizer).get(compared(two, item="house_02"))).count('data-sync="compare"') == 2
        Phase.objects.filter(pk=two[0].phase_id).update(reference_access="public")
        assert text(Client().get(compared(two, item="house_02"))).count("geometry/house_02.json") == 2

    def test_withheld_items_leave_the_two_values(self, two, people):
        Phase.objects.filter(pk=two[0].phase_id).update(withhold_items=True)
        response = signed_in(people.owner).get(compared(two))
        assert "0.900" in text(response) and set(paired_tests(response).values()) == {None} and "chart" not in response.context
        assert "figure-differences" not in text(response)

    def test_entries_that_may_not_be_seen_cannot_be_compared(self, client, two, people):
        Submission.objects.get(pk=two[1].pk).hide(people.organizer, "no")
        assert client.get(compared(two)).status_code == 404
        assert signed_in(people.organizer).get(compared(two)).status_code == 200
        other = entry(PhaseFactoryWithReference(), people.team, {"hss": [0.1] * 4})
        assert client.get(compared((two[0], other))).status_code == 404

    @pytest.mark.parametrize("query", ["", "?a=", "?a=x&b=y", "?a=99999999999&b=1", "?a=0", "?a=-1"])
    def test_odd_addresses_are_answered(self, client, two, query):
        assert client.get(address(two[0].phase, "compare") + query).status_code in (200, 404)


def PhaseFactoryWithReference() -> Phase:
    from tests.support.factories import give_reference

    phase = PhaseFactory()
    give_reference(phase)
    return phase


ABOUT = {"slug": "people", "title": "Whom people follow", "question": "Which is better?", "source": "a survey", "is_public": True}


def judged(two, raters: int = 6, samples: int = 6, **more) -> Study:
    """A study of which raters prefer the second entry in five of six answers, analysed."""
    rows = [
        Vote(
            rater=f"r{k}", left=two[0].method_name, right=two[1].method_name, choice="left" if (k + n) % 6 == 0 else "right", sample=f"s{n}"
        )
        for k in range(raters)
        for n in range(samples)
    ]
    study = Study.import_votes(two[0].phase, None, rows, **(ABOUT | more))
    assert analyse_due() == 1
    return study


def main_summary(study: Study) -> Summary:
    return StudyAnalysis.main(study).summary


class TestWhatPeopleSayOfTwo:
    def test_without_a_study_nothing_is_said(self, client, two):
        assert 'class="judged"' not in text(client.get(compared(two)))

    def test_a_study_says_whom_people_prefer_of_the_two_as_the_page_calls_them(self, client, two):
        study = judged(two)
        for entries in (two, two[::-1]):
            response = client.get(compared(entries))
            ((shown, said),) = response.context["judged"]
            assert (shown.pk, said) == (study.pk, pair_words(main_summary(study), *(one.method_name for one in entries), study.noun))
            assert text(response).count('class="judged"') == 1 and study.title in text(response)

    def test_where_people_judged_the_two_nothing_is_inferred_from_others_with_such_a_difference(self, client, two, monkeypatch):
        monkeypatch.setattr(Ground, "on_board", lambda *_: (None, MEANT))
        assert difference(MEANT) in text(client.get(compared(two)))
        judged(two)
        assert difference(MEANT) not in text(client.get(compared(two)))

    def test_an_entry_says_how_many_of_its_entry_pairs_have_no_interval(self, client, two, people):
        entry(two[0].phase, people.other_team, scores(0.3), method_name="late-net")
        ratings = [
            Rating(rater=f"r{k}", entry=name, sample=f"s{n}", score=float(score))
            for k in range(6)
            for n in range(6)
            for name, score in (("ridge-net", 2 + (k * n) % 3 // 2), ("valley-net", 4 + (k + n) % 2))
        ]
        ratings.append(Rating(rater="r0", entry="late-net", sample="s0", score=1.0))
        Study.import_ratings(two[0].phase, None, ratings, **ABOUT)
        assert analyse_due() == 1
        assert build_due_boards(timezone.now() + timedelta(minutes=1)) == 1  # not a moment after the last one
        context = client.get(reverse("entry", args=[two[0].pk])).context
        assert ([pair.other for pair in context["entry_pairs"]], context["n_open_pairs"]) == (["valley-net"], 1)

    def test_where_answers_name_no_item_an_entrys_intervals_speak_of_other_people_alone(self, client, two, people):
        names = ["ridge-net", "valley-net", "late-net", "last-net"]
        for name in names[2:]:
            entry(two[0].phase, people.other_team, scores(0.3), method_name=name)
        for hours, sample in enumerate(("s{}", ""), 1):
            rows = [
                Vote(rater=f"r{k}", left=a, right=b, choice="left" if (k + n + 3 * m) % 4 else "right", sample=sample.format(n))
                for k in range(12)
                for n in (range(6) if sample else [0])
                for m, (a, b) in enumerate(combinations(names, 2))
            ]
            Study.objects.all().delete()
            Study.import_votes(two[0].phase, None, rows, **ABOUT)
            assert analyse_due() == 1
            two[0].phase.touch_board()
            assert build_due_boards(timezone.now() + timedelta(hours=hours)) == 1
            told = client.get(reverse("entry", args=[two[0].pk]))
            assert told.context["people"].sampled is bool(sample) and len(told.context["entry_pairs"]) == 3
            assert ("and other items" in text(told)) is bool(sample)
            study = client.get(f"{address(two[0].phase, 'studies')}people/")
            assert ("raters and items." in " ".join(text(study).split())) is bool(sample)

    def test_below_the_smallest_numbers_only_what_is_missing_is_said(self, client, two):
        study = judged(two, raters=3)
        ((_, said),) = client.get(compared(two)).context["judged"]
        assert main_summary(study).reason == few_raters(3) and said.text.endswith(sentence(few_raters(3)))

    def test_a_challenge_has_its_own_noun_on_the_page_of_the_pair_and_of_the_study(self, client, two):
        two[0].phase.challenge.item_noun = "house"
        two[0].phase.challenge.save(update_fields=["item_noun"])
        judged(two)
        pages = [client.get(compared(two)), client.get(f"{address(two[0].phase, 'studies')}people/")]
        for shown in map(text, pages):
            words = re.sub(r"<[^>]*>", " ", shown.partition("<main")[2])
            assert "house" in words and re.findall(r"(?s).{30}\bitems?\b.{9}", words) == []

    def test_a_hidden_study_is_its_organizers_alone(self, client, two, people):
        judged(two, is_public=False)
        assert 'class="judged"' not in text(client.get(compared(two)))
        assert 'class="judged"' not in text(signed_in(people.owner).get(compared(two)))
        assert 'class="judged"' in text(signed_in(people.organizer).get(compared(two)))

    def test_a_study_of_one_of_them_says_nothing(self, client, two, phase, people):
        third = entry(phase, people.team, {**scores(0.5), "hss": [0.5, 0.5, 0.5, 0.5]}, method_name="third-net")
        judged((two[0], third))
        assert 'class="judged"' not in text(client.get(compared(two)))


MEANT = At((0.8, 0.7, 0.9), (0.6, 0.95), 0.99)  # of some difference to people
# Eight houses of four entries by a metric of which more is better: values, and p of all pairs as one family, worked by hand.
FOUR = {
    "a-net": [0.92, 0.88, 0.95, 0.40, 0.90, 0.93, 0.85, 0.91],
    "b-net": [0.86, 0.84, 0.90, 0.38, 0.83, 0.90, 0.80, 0.84],
    "c-net": [0.87, 0.70, 0.93, 0.20, 0.91, 0.75, 0.88, 0.60],
    "d-net": [0.50, 0.42, 0.61, 0.10, 0.55, 0.48, 0.52, 0.44],
}
P_OF_FOUR = {"ab": "0.008", "ac": "0.062", "bc": "0.20", "ad": "0.008", "bd": "0.008", "cd": "0.008"}


@pytest.fixture
def four(challenge, people):
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase, gables(8))
    teams = [people.team, people.other_team] * 2
    rows = [entry(phase, team, {"corner_f1": values}, method_name=name) for team, (name, values) in zip(teams, FOUR.items(), strict=True)]
    build_due_boards()
    return rows


def lined_up(rows, *places, **more) -> str:
    return compared([rows[places[0]], rows[places[1]]], **more) + "".join(f"&with={rows[place].pk}" for place in places[2:])


class TestSeveral:
    def test_their_brackets_and_pairs_are_those_of_the_worked_example(self, client, four):
        response = client.get(lined_up(four, 3, 1, 0, 2))
        (one,) = response.context["compared"]
        names = response.context["names"]
        assert [names[row.at] for row in one.rows] == ["a-net", "b-net", "c-net", "d-net"]
        assert [row.bracket for row in one.rows] == ["", "g g1", "g g3 loose", ""]
        assert [row.rank for row in one.rows] == [1, 2, 3, 4]
        pairs = {names[pair.first][0] + names[pair.second][0]: pair for pair in one.pairs}
        assert {pair: p_words(found.p) for pair, found in pairs.items()} == P_OF_FOUR
        assert [round(end, 2) for end in pairs["ac"].difference] == [0.11, 0.0, 0.23] and not pairs["ac"].is_apart
        assert response.context["claim"] == statement(one.order, names) and 'class="piece g g3 loose"' in text(response)
        assert len({pair.query for pair in response.context["pairs"]}) == 6

        # The order of two of them names no others, as the card of a pasted comparison of two says it.
        for second, apart, tied in ((names.index("c-net"), 0, 1), (names.index("d-net"), 1, 0)):
            both = {first := names.index("a-net"), second}
            rows, pairs = [row for row in one.rows if row.at in both], [pair for pair in one.pairs if {pair.first, pair.second} == both]
            order = replace(one, rows=rows, pairs=pairs).order
            assert (order.n, order.firsts, order.untested) == (2, (first,), ())
            assert (order.apart, order.tied) == ((second,) * apart, (second,) * tied)

        # Three are a family of their own.
        (one,) = client.get(lined_up(four, 0, 1, 3)).context["compared"]
        assert [p_words(pair.p) for pair in one.pairs] == ["0.008"] * 3 and [row.bracket for row in one.rows] == ["", "", ""]

    def test_level_ones_are_not_called_better_than_each_other(self, client, four):
        phase = four[0].phase
        twin = entry(phase, four[1].team, {"corner_f1": FOUR["a-net"]}, method_name="twin-net")
        response = client.get(lined_up([*four, twin], 0, 4, 1))
        (one,), names = response.context["compared"], response.context["names"]
        assert {names[at] for at in one.order.firsts} == {"a-net", "twin-net"} and ">Better</th>" not in text(response)

    def test_of_few_items_values_stand_alone(self, client, two, phase, people):
        third = entry(phase, people.team, {**scores(0.5), "hss": [0.5, 0.5, 0.5, 0.5]}, method_name="third-net")
        response = client.get(lined_up([*two, third], 0, 1, 2))
        assert [(one.lacking, one.pairs, len(one.rows)) for one in response.context["compared"]] == [(4, [], 3)] * 3
        assert 'id="pairs"' not in text(response) and "third-net" in text(response)

    def test_withheld_values_are_not_tested(self, client, four):
        Phase.objects.filter(pk=four[0].phase_id).update(withhold_items=True)
        response = client.get(lined_up(four, 0, 1, 2))
        assert not response.context["is_tested"] and [one.pairs for one in response.context["compared"]] == [[]]
        assert not client.get(compared(four[:2])).context["any_on_board"]
        assert 'id="pairs"' not in text(response)

    def test_an_entry_that_may_not_be_seen_is_in_no_comparison(self, client, four, people):
        four[2].hide(people.organizer, "no")
        assert client.get(lined_up(four, 0, 1, 2)).status_code == 404
        assert signed_in(people.organizer).get(lined_up(four, 0, 1, 2)).status_code == 200

    def test_the_same_entry_again_is_no_third_one_and_a_seventh_is_left_out(self, client, four):
        assert "compared" not in client.get(lined_up(four, 0, 1, 1)).context
        assert client.get(compared(four[:2]) + f"&with=&with={four[2].pk}").status_code == 200
        assert len(client.get(lined_up(four, 0, 1, *[2, 3] * 20)).context["several"]) == 4

    def test_entries_are_named_by_letters_too(self, client, four):
        """`?a&b&c&d` compares four, as the page calls them A to D."""
        query = "&".join(f"{letter}={row.pk}" for letter, row in zip("abcd", four, strict=True))
        page = client.get(f"{address(four[0].phase, 'compare')}?{query}")
        assert [one.submission.pk for one in page.context["several"]] == [row.pk for row in four]
        others = client.get(f"{address(four[0].phase, 'compare')}?{query.replace('d=', 'with=')}")
        assert [one.submission.pk for one in others.context["several"]] == [row.pk for row in four]
        two = client.get(f"{address(four[0].phase, 'compare')}?a={four[0].pk}&c={four[1].pk}")
        assert (two.context["a"].submission.pk, two.context["b"].submission.pk) == (four[0].pk, four[1].pk)
        assert paired_tests(two) == paired_tests(client.get(compared(four[:2]))) != {}

    def test_people_are_heard_on_every_pair_that_they_compared(self, client, four):
        judged(four[:2])
        page = " ".join(text(client.get(lined_up(four, 0, 1, 2))).split())
        assert re.search(r"17 of 100 \[\d+, \d+\], n 36", page) and page.count("of 100 [") == 1


class TestCharts:
    def figures(self, page: str) -> dict:
        found = re.findall(r'<script id="figure-([a-z]+)" type="application/json">(.*?)</script>', page, re.S)
        return {name: json.loads(data) for name, data in found}

    def test_they_show_spread_progress_and_rank_intervals_of_a_metric(self, client, two):
        page = text(client.get(address(two[0].phase, "charts") + "?metric=hss"))
        assert set(self.figures(page)) == {"distributions", "progress", "ranks"} and page.count('<svg class="chart"') == 3
        assert "ridge-net" in json.dumps(self.figures(page)["ranks"])

    def test_withheld_items_are_not_drawn(self, client, two, people):
        Phase.objects.filter(pk=two[0].phase_id).update(withhold_items=True)
        page = text(client.get(address(two[0].phase, "charts")))
        assert set(self.figures(page)) == {"progress", "ranks"}
        assert "distributions" in self.figures(text(signed_in(people.organizer).get(address(two[0].phase, "charts"))))

    def test_entries_after_the_freeze_are_in_no_chart_not_even_their_own_teams(self, client, two, people):
        Phase.objects.filter(pk=two[1].phase_id).update(board="frozen", board_at=two[1].received_at - timedelta(microseconds=1))
        two[1].phase.touch_board()
        build_due_boards(timezone.now() + timedelta(seconds=5))
        for viewer in (client, signed_in(people.other)):
            page = text(viewer.get(address(two[0].phase, "charts")))
            assert "ridge-net" in page and "valley-net" not in page

    def test_before_the_first_entry_they_say_what_will_be_there(self, client, phase):
        page = text(client.get(address(phase, "charts")))
        assert '<div class="empty">' in page and self.figures(page) == {}

    def test_plotly_is_the_packages_own_file_and_nothing_else_of_it_is_served(self):
        assert finders.find("plotly/plotly.min.js") and not finders.find("plotly/widgetbundle.js")


class TestPages:
    def test_the_front_page_has_running_upcoming_and_past_challenges_with_the_leader(self, client, two):
        now = timezone.now()
        PhaseFactory(challenge=ChallengeFactory(title="Not yet"), opens_at=now + timedelta(days=1), closes_at=None)
        PhaseFactory(challenge=ChallengeFactory(title="Long ago"), opens_at=now - timedelta(days=9), closes_at=now - timedelta(days=1))
        page = text(client.get("/"))
        assert page.index("Running") < page.index("Upcoming") < page.index("Not yet") < page.index("Past") < page.index("Long ago")
        assert "ridge-net" in page

    def test_the_front_page_opens_no_ranking(self, client, two):
        """A board of thousands takes a while to decode, and the front page may show dozens."""
        read_board.cache_clear()
        assert "ridge-net" in text(client.get("/")) and "ridge-net" in text(client.get("/challenges/"))
        assert read_board.misses == 0

    def test_an_empty_service_has_a_front_page_and_a_list_without_cards(self, client, db):
        front, listed = client.get("/").context, client.get("/challenges/").context
        assert (front["sections"], front["demo"], listed["cards"], listed["total"]) == ([], [], [], 0)

    def test_challenges_that_may_not_be_seen_are_not_listed(self, client, two, people):
        for visibility in ("draft", "private"):
            Challenge.objects.filter(pk=two[0].phase.challenge_id).update(visibility=visibility)
            for address_ in ("/", "/challenges/", "/metrics/hss/"):
                assert "ridge-net" not in text(client.get(address_)) and two[0].phase.challenge.title not in text(client.get(address_))
                assert two[0].phase.challenge.title not in text(signed_in(people.stranger).get(address_))
                assert two[0].phase.challenge.title in text(signed_in(people.organizer).get(address_))
        assert two[0].phase.challenge.title in text(signed_in(people.owner).get("/")), "they take part in it"

    def test_the_front_page_asks_no_more_for_more_challenges_that_others_may_see(self, client, people, django_assert_max_num_queries):
        for _ in range(8):
            ChallengeFactory(title="Not theirs", visibility="private", admitted_emails=["somebody@example.org"])
        seen = ChallengeFactory(visibility="private", title="Mine alone")
        seen.organizers.add(people.stranger)
        client.force_login(people.stranger)
        with django_assert_max_num_queries(10):
            page = client.get("/challenges/").content.decode()
        assert "Mine alone" in page and "Not theirs" not in page

    def test_a_hidden_board_gives_the_front_page_no_leader(self, client, two):
        Phase.objects.filter(pk=two[0].phase_id).update(board="hidden", board_at=timezone.now() + timedelta(days=1))
        page = text(client.get("/"))
        assert "ridge-net" not in page and two[0].phase.challenge.title in page

    def test_challenges_are_found_by_words(self, client, two):
        ChallengeFactory(title="Chimneys", summary="Smoke.")
        assert "Chimneys" in text(client.get("/challenges/?q=smoke")) and "Chimneys" not in text(client.get("/challenges/?q=roofs"))

    def test_an_unknown_metric_or_document_is_not_found(self, client, db):
        assert client.get("/metrics/nothing/").status_code == client.get("/docs/nothing/").status_code == 404


@pytest.mark.parametrize(
    ("mean", "p", "higher", "key"),
    [(0.3, 0.01, True, "A"), (-0.3, 0.01, True, "B"), (0.3, 0.01, False, "B"), (-0.3, 0.01, False, "A"), (0.3, 0.2, True, "")],
)
def test_the_verdict_names_the_better_one_by_the_metrics_direction(mean, p, higher, key):
    a = SimpleNamespace(spec=SimpleNamespace(higher_is_better=higher))
    verdict = Comparison(a, None, Paired(mean, -0.1, 0.5, p, 12, 9, 3, 0, 0), None, Unit(12, "house")).verdict
    words = certainty.SENTENCES["better" if key else "not_apart"]
    assert verdict == words.format(better=key, p=certainty.p_words(p))
    untested = Comparison(a, None, Paired(mean, None, None, None, 4, 2, 1, 1, 0), None, Unit(4, "house"))
    assert untested.verdict == certainty.few(4, Unit(4, "house")) and Comparison(a, None, None, None, Unit(4, "house")).verdict == ""


@pytest.mark.parametrize(
    ("p", "on_board", "apart", "differs"),
    [(0.01, 0.2, True, True), (0.01, 0.04, True, False), (0.3, 0.9, False, False), (0.01, None, True, False), (None, 0.01, False, False)],
)
def test_a_result_differs_on_the_leaderboard_where_its_corrected_test_says_otherwise(p, on_board, apart, differs):
    alone = Comparison(None, None, Paired(0.3, 0.1, 0.5, p, 12, 9, 3, 0, 0), on_board, Unit(12, "house"))
    assert (alone.is_apart, alone.differs_on_board) == (apart, differs)
    assert alone.size == pytest.approx(0.75) and Comparison(None, None, None, None, Unit(12, "house")).size == 0.0

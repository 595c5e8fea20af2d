"""Human agreement kept in a ranking: which study, in which words, and what is left of it when things are taken back."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from leaderboard.boards import human_agreement
from leaderboard.boards.front import front
from leaderboard.boards.payload import Against, Board, ColumnAgreement, HumanAgreement
from leaderboard.boards.reading import reading
from leaderboard.boards.rows import BoardRows, Choice
from leaderboard.models import Snapshot, Study, StudyEntry
from leaderboard.models.question import Opinion
from leaderboard.models.rater import Rater
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Ceiling, Standing
from leaderboard.stats.crossed import Figure
from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, RATERS_FOR_FIGURE
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.records import REFERENCE_TITLES
from leaderboard.stats.states import Key, Reason, State
from leaderboard.stats.votes import Vote
from leaderboard.studies import analysis, metric_ranking
from leaderboard.studies.analysis import analyse_due, metric_scores
from leaderboard.studies.words import sentences
from leaderboard.wording.reasons import sentence
from tests.service.leaderboard.studies.test_analysis import imported, judged, votes_for  # noqa: F401
from tests.support.leaderboard.boards import board_of, column_of
from tests.support.leaderboard.reasons import few_entries, few_items, few_raters
from tests.support.leaderboard.stats.ballots import vote
from tests.support.leaderboard.studies.scored_houses import NAMES, duels, items, scored_houses

pytestmark = pytest.mark.django_db


def agreement(value=None, low=None, high=None, n=0, raters=11, samples=43, **more) -> Agreement:
    return Agreement(value=value, low=low, high=high, n=n, raters=raters, samples=samples, **more)


def figure(value=None, low=None, high=None, n=0) -> Figure:
    return Figure(value=value, low=low, high=high, n=n)


TWO = figure(0.8, 0.75, 0.85, 300)  # how often two raters say the same
BAND = Ceiling(two_people=TWO, leave_one_out=0.82, low=0.82, likely=0.85, high=0.89, n=300)


def column(slug: str, decided: Agreement, **more) -> ColumnAgreement:
    rho = figure(0.5, 0.1, 0.9, 9)
    return ColumnAgreement(**({"slug": slug, "decided": decided, "rho": rho, "tau": rho, "r": rho} | more))


def found(**changes) -> HumanAgreement:
    base = {
        "study": {"id": 1, "slug": "s", "title": "S", "question": "?", "source": "", "made_up": False},
        "kind": "pairs",
        "of": "votes",
        "criterion": "",
        "raters": 11,
        "groups": [],
        "judgements": 1200,
        "questions": 1234,
        "at": "2026-11-21T12:00:00+00:00",
        "note": "",
        "left_out": [],
        "reason": None,
        "band": BAND,
        "metrics": [column("hss", agreement(0.82, 0.8, 0.84, 900), standing=Standing.UNCLEAR, places=(1, 2))],
        "value": [0.75, 0.25],
        "low": [0.7, 0.2],
        "high": [0.8, 0.3],
        "n": [40, 30],
        "marks": {},
    }
    return HumanAgreement(**(base | changes))


@pytest.mark.parametrize(
    ("figure", "standing", "state", "words"),
    [
        (agreement(0.72, 0.66, 0.77), Standing.BELOW_HUMAN_LEVEL, "below", "agrees 72 [66, 77]"),
        (agreement(0.81, 0.78, 0.83), Standing.HUMAN_LEVEL, "person", "agrees 81 [78, 83]"),
        (agreement(0.72, 0.66, 0.77), None, "better", "agrees 72 [66, 77]"),
        (agreement(0.52, 0.5, 0.54), None, "coin", "agrees 52 [50, 54]"),
        (agreement(0.3, 0.2, 0.42), None, "below", "agrees 30 [20, 42]"),
        (agreement(0.5).because(Reason(Key.ALIKE)), None, "coin", "agrees 50"),
        (agreement(0.9, raters=3).because(few_raters(3)), None, "early", f"too early: 3 of {RATERS_FOR_FIGURE} people"),
        (agreement(0.9, samples=4).because(few_items(4)), None, "early", f"too early: 4 of {ITEMS_FOR_FIGURE} items"),
        (agreement(), None, "early", "answers no duel"),  # of a group of people
        (agreement(coverage=0.0), None, "early", "answers no duel"),
        (agreement(coverage=1.0), None, "early", "no duel is decided"),
    ],
)
def test_a_metric_stands_between_chance_and_another_rater_by_its_interval(figure, standing, state, words):
    line = human_agreement.Line("HSS", figure, TWO, standing)
    assert (line.state.key, line.head) == (state, words) and len(words) <= 28
    assert (line.percent is None) == (state == "early")  # below the smallest numbers there is no figure, only the sentence


def test_who_goes_against_people_is_told_from_who_stays_below_them():
    worse, below = human_agreement.Line("m", agreement(0.3, 0.2, 0.42), TWO), agreement(0.72, 0.66, 0.77)
    assert worse.level is Standing.WORSE_THAN_CHANCE
    assert human_agreement.Line("m", below, TWO, Standing.BELOW_HUMAN_LEVEL).state.words != worse.state.words


def test_where_nobody_was_asked_about_two_entries_that_is_said_of_each_metric():
    said = human_agreement.People(found(metrics=[column("hss", agreement())], reason=Reason(Key.ONLY_DAMAGED)), {})
    assert said.head("hss").words == said.line("hss").head == "no entries compared"


def test_what_must_be_known_before_a_figure_is_taken_for_more_stands_with_it():
    line = human_agreement.Line("HSS", agreement(0.52, 0.4, 0.6, 800, coverage=0.7, state=State.ROUGH), TWO, above_size=False)
    assert line.notes == [
        "not better than chance here",
        "not shown to beat size alone",
        "answers 70 % of the duels",
        "few raters or items: a rough interval",
    ]
    assert line.reading == (
        "Of 100 duels that people decided, HSS orders 52 as they did (95 % interval 40 to 60, with other people and other items); "
        "another rater 80 [75, 85]. 800 decided judgements of 11 people on 43 items. Not better than chance here. "
        "Not shown to beat size alone. Answers 70 % of the duels. Few raters or items: a rough interval."
    )


def test_where_judgements_name_no_samples_an_interval_speaks_of_other_people_alone():
    line = human_agreement.Line("HSS", agreement(0.52, 0.4, 0.6, 800), None, sampled=False)
    assert "(95 % interval 40 to 60, with other people). 800 decided judgements of 11 people on 43 duels." in line.reading
    few = replace(line, figure=replace(line.figure, state=State.ROUGH))
    assert "few raters or duels: a rough interval" in few.notes


def test_a_head_says_how_far_by_whom_and_when():
    said = human_agreement.People(found(), {"hss": "HSS"}).head("hss")
    assert said.words == "agrees 82" and said.line.figure.ends == (0.82, 0.8, 0.84)
    assert said.title.endswith("1,200 votes by 11 raters, 21 November 2026 (UTC).")
    assert human_agreement.People(found(), {"hss": "HSS"}).head("other") is None


def test_of_published_means_the_order_alone_is_said():
    means = found(of="means", kind="opinions", raters=None, band=None, metrics=[column("hss", agreement())])
    said = human_agreement.People(means, {"hss": "HSS"})
    assert said.head("hss").words == "ρ 0.50 [0.10, 0.90] · 9 entries" and said.head("hss").line is None and said.charts() == []


def test_where_no_metric_has_a_figure_the_reason_is_its_own():
    few, none = sentence(few_items(4), "house"), sentence(Reason(Key.NO_WINNER))
    early = agreement(0.7, n=40, samples=4, coverage=0.6).because(few_items(4))
    silent, level = (agreement(coverage=share).because(Reason(Key.NO_WINNER)) for share in (0.0, 1.0))

    def said(**decided: Agreement) -> str:
        board_says = human_agreement.People(found(metrics=[column(slug, one) for slug, one in decided.items()]), {}, "house").missing
        lines = [human_agreement.Line(slug, one, None, noun="house") for slug, one in decided.items()]
        assert human_agreement.unheld_words(lines, "houses") == board_says
        return board_says

    assert said(a=early, b=silent) == said(a=early, b=early) == few
    assert said(a=early, b=level) == f"a: {few} b: {none}"
    assert said(a=silent) == said() == "No metric has values of the houses that people compared."


def test_charts_are_of_all_and_of_each_group_with_guards_last():
    groups = {"x": agreement(0.9, 0.8, 1.0), "y": agreement(0.6, 0.5, 0.7)}
    metrics = [
        column("a", agreement(0.8, 0.7, 0.9), groups=groups),
        column("b", agreement(0.7, 0.6, 0.8), groups=groups),
        column("constant", agreement(0.5), guard=True),
    ]
    charts = human_agreement.People(found(metrics=metrics, groups=["x", "y"]), {"a": "A", "b": "B"}).charts()
    assert [(chart.group, [line.title for line in chart.lines]) for chart in charts] == [
        ("", ["A", "B", REFERENCE_TITLES["constant"]]),
        ("x", ["A", "B"]),
        ("y", ["A", "B"]),
    ]
    assert charts[0].another == TWO and charts[1].another is None  # how well a metric could do with one group is not known
    early = agreement(0.8, raters=3).because(few_raters(3))
    few = found(metrics=[column("a", early), column("constant", agreement(0.5), guard=True)], reason=few_raters(3))
    assert human_agreement.People(few, {"a": "A"}).charts() == []


def board(ranks=(1, 2), **changes) -> Board:
    """Two entries, which the metrics put in this order."""
    overall = {"order": [0, 1], "rank": list(ranks)}
    made = board_of([0.9, 0.8], overall=overall, id=[7, 8], name=["seven", "eight"])
    return made.model_copy(update={"metrics": []} | changes)


def test_a_claim_is_made_beyond_chance_only():
    def claim(first: int, p: float | None, **more):
        over = [None, None]
        over[0] = Against(value=(0.7, 0.6, 0.8), p_holm=p) if first else None
        return human_agreement.People(found(first=first, over=over, **more), {}).claim(board())

    assert claim(1, 0.01) == human_agreement.Claim("", ("seven", 7), ("eight", 8), (0.7, 0.6, 0.8))
    assert claim(1, 0.2).words == "The metrics put seven first, people eight; with people these two are tied."
    assert claim(0, None).words == "Metrics and people both put seven first; people do not tell it from the other."
    sure = human_agreement.People(found(first=0, over=[None, Against(value=(0.8, 0.7, 0.9), p_holm=0.01)]), {}).claim(board())
    assert sure.words == "Metrics and people agree on the first."
    assert claim(1, None, reason=few_raters(3)).words.startswith("Too early to hold the order against people.")
    level = claim(1, None, reason=Reason(Key.NO_PREFERENCE)).words
    assert level == "The order is not held against people. Nobody preferred either."
    equal = board(ranks=(1, 1))
    shared = human_agreement.People(found(first=0, over=[None, None]), {}).claim(equal)
    assert shared.words == ("The metrics put 2 entries level in first place, people put seven first; people do not tell it from the other.")
    assert human_agreement.People(found(), {}).claim(board()) is None  # nobody judged these entries
    unranked = board(ranks=(None, None))
    assert human_agreement.People(found(first=1, over=[None, None]), {}).claim(unranked) is None


def test_the_lead_of_an_entry_that_everybody_scores_alike_is_known_where_the_others_scores_vary():
    def words(low: float | None, high: float | None) -> str:
        over = [None, Against(value=(1.0, low, high), p_holm=0.0)]
        scores = {"value": [5.0, 4.0], "low": [None, None if low is None else 3.6], "high": [None, None if low is None else 4.4]}
        return human_agreement.People(found(kind="opinions", first=0, over=over, **scores), {}).claim(board()).words

    assert words(0.6, 1.4) == "Metrics and people agree on the first."
    assert words(None, None) == "Metrics and people both put seven first; how surely is not known, for every person and item says the same."


def test_an_entry_that_alone_was_judged_is_first_of_nothing():
    """People put another entry before it, which is not on this board."""
    alone = {"value": [0.3, None], "low": [0.2, None], "high": [0.4, None], "n": [40, 0], "first": 0, "over": [None, None]}
    made = board(people=found(**alone), metrics=[column_of("a", [0.9, 0.8])])
    people = human_agreement.of_board(made)
    assert people.claim(made) is None and people.first_place(made) is None
    assert people.column(made).rank == [None, None] and people.column(made).value == [0.3, None]
    assert reading(made, 0).people == "People judged it"
    assert [one.place for one in front(made).top] == [None, None]


def test_who_may_be_first_is_said_as_the_study_says_it_by_the_intervals_of_places():
    """Holm over all duels is another test: by it alone the board would leave open what the study's page calls settled."""

    def claim(may_be_first: list[int] | None, leader: int = 0, value=(0.8, 0.6, 0.4, 0.2), **more) -> str:
        order = [leader, *(n for n in range(4) if n != leader)]
        ranks = [1 + order.index(n) for n in range(4)]
        made = board_of([0.9, 0.8, 0.7, 0.6], overall={"order": order, "rank": ranks}, name=["a", "b", "c", "d"])
        over = [None, *(Against(value=(0.8, 0.7, 0.9), p_holm=p) for p in (0.08, 0.08, 0.01))]
        given = {"value": list(value), "low": list(value), "high": list(value), "n": [40] * 4, "first": 0, "over": over} | more
        return human_agreement.People(found(may_be_first=may_be_first, **given), {}).claim(made).words

    assert claim([0]) == "Metrics and people agree on the first."
    assert claim([0, 1]) == "Metrics and people both put a first; with people 1 of 3 others may be first too."
    assert claim([0, 1, 2, 3]) == "Metrics and people both put a first; with people all 3 others may be first too."
    assert claim([0, 1], leader=1) == "The metrics put b first, people a; with people these two are tied."
    assert claim([0], leader=1) == "The metrics put b first, people a; with people these two are tied, corrected for all pairs."
    # First place is settled by the first's own interval, whatever those of its rivals begin with, and open where it ends lower.
    assert claim([0, 1], places=[(1, 1), (1, 2), (3, 4), (3, 4)]) == "Metrics and people agree on the first."
    open_ = "Metrics and people both put a first; with people its place may be as low as 2."
    assert claim([0], places=[(1, 2), (2, 2), (3, 4), (3, 4)]) == open_
    # Level with people: nobody is first alone.
    level = (0.5, 0.5, 0.5, 0.4)
    assert claim([0, 1, 2, 3], value=level) == (
        "The metrics put a first, people put 3 entries level in first place, and a is one of them; with people the other may be first too."
    )
    assert claim([0, 1, 2], leader=3, value=level) == "The metrics put d first, people put 3 others level there."
    # Of another part, which met none of them.
    assert claim([0], value=(0.8, 0.6, 0.4, None)).endswith(" 1 other met none of those that have a place with people.")
    varying = [None, Against(value=(0.8, None, None), p_holm=0.0), None, None]
    unsure = "; how surely is not known, for every person and item says the same."
    assert claim([0], leader=1, over=varying).endswith(unsure)
    alike = {"low": [None] * 4, "high": [None] * 4, "over": [None, *(Against(value=(0.8, None, None), p_holm=0.0) for _ in range(3))]}
    assert claim(None, **alike) == f"Metrics and people both put a first{unsure}"


def test_where_entries_are_level_with_people_none_is_said_to_be_first(judged):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    near, far = (entry.method_name for entry in entries)
    rows = [Vote(f"r{k}", near, far, "left" if (k + n) % 2 else "right", item) for k in range(8) for n, item in enumerate(items)]
    imported(phase, rows)
    assert analyse_due() == 1
    board = board_of([1.0, 0.5], id=[entry.pk for entry in entries], name=[near, far])
    found = human_agreement.of_phase(phase, True, board.entries, {})
    assert found.value == [0.5, 0.5] and found.firm is None
    words = human_agreement.People(found, {}).claim(board).words
    assert words == f"The metrics put {near} first, people put 2 entries level in first place, and {near} is one of them."


def test_the_board_and_the_study_name_the_same_entries_that_may_be_first(challenge, people):
    phase = scored_houses(challenge, people)
    study = imported(phase, duels(phase, raters=5, seed=3))
    assert analyse_due() == 1
    summary = study.analyses.get().summary
    pks = [summary.entries[line.method] for line in summary.ranked]
    found = human_agreement.of_phase(phase, True, board_of([1.0] * len(pks), id=pks).entries, {})
    open_ = [n for n, line in enumerate(summary.ranked) if line.rank[0] == 1]
    assert found.may_be_first == open_ and 0 in open_
    assert HumanAgreement.read(found.model_dump(mode="json")).may_be_first == open_
    del (earlier := found.model_dump(mode="json"))["may_be_first"]
    assert HumanAgreement.read(earlier).may_be_first is None


def test_who_may_be_first_is_asked_among_those_who_hold_a_rank(challenge, people):
    """All put `far off` first and tell the other two from nobody but it: where it is a baseline, or not on the board, both may be first."""
    phase = scored_houses(challenge, people)
    near, midway, far = NAMES
    houses = items(phase)
    rows = []
    for k in range(9):
        for n, house in enumerate(houses):
            rows += [vote(far, other, "right" if (k + 3 * n) % 7 == 0 else "left", f"r{k}", house) for other in (near, midway)]
            is_near = (k + 3 * n) % 9 < 5  # on five of nine
            rows.append(vote(near, midway, "left" if is_near else "right", f"r{k}", house))
            if n % 2:  # each side as often
                rows[-1] = vote(midway, near, "right" if is_near else "left", f"r{k}", house)
    study = imported(phase, rows)
    assert analyse_due() == 1
    pks = study.analyses.get().summary.entries

    def claim(names: list[str], counted: list[bool]) -> str:
        board = board_of([1.0, 0.5, 0.2][: len(names)], id=[pks[name] for name in names], name=names, counted=counted)
        found = human_agreement.of_phase(phase, True, board.entries, {})
        assert found.firm is None
        return human_agreement.People(found, {}).claim(board).words

    both = "Metrics and people both put near first; with people the other may be first too."
    before = " With people far off, which holds no rank, stands before near."
    assert claim([near, midway, far], [True, True, False]) == f"{both}{before}"
    assert claim([near, midway], [True, True]) == both


def test_intervals_of_few_people_or_items_are_said_to_be_rough_where_they_stand_on_a_board():
    def rough(raters: int, samples: int, **more) -> str:
        every = column("constant", agreement(0.5, n=60, raters=raters, samples=samples), guard=True)
        return human_agreement.People(found(metrics=[every], **more), {}, "house").rough

    assert rough(5, 8) == "few people: rough intervals" and rough(8, 7) == "few houses: rough intervals"
    assert rough(7, 5) == "few people and houses: rough intervals"
    assert rough(8, 7, unsampled=True) == "few duels: rough intervals"
    assert (rough(8, 8), rough(5, 5, reason=few_raters(4)), human_agreement.People(found(), {}).rough) == (
        "",
        "",
        "",
    )


def test_the_interval_of_a_mean_is_the_same_on_pages_and_in_files_and_is_not_cut_to_the_scale(challenge, people, client):
    phase = scored_houses(challenge, people)
    # One of six people finds the best one bad: its interval reaches beyond 5.
    rows = [
        Rating(f"r{k}", name, score - (2.0 if k == 0 and n else 0.0), house)
        for k in range(6)
        for n, house in enumerate(items(phase))
        for name, score in zip(NAMES, (5.0, 4.0, 3.0), strict=True)
    ]
    study = Study.import_ratings(phase, None, rows, slug="people", title="T", question="?", is_public=True)
    assert analyse_due() == 1
    Snapshot.make_all(phase)
    best = next(line for line in study.analyses.get().summary.scales if line.method == NAMES[0])
    mean, low, high = best.mos
    assert low < mean < 5 < high
    board = Snapshot.current(phase, "public").board
    column, at = human_agreement.of_board(board).column(board), board.index_of(study.analyses.get().summary.entries[NAMES[0]])
    assert (column.value[at], column.ci_low[at], column.ci_high[at]) == best.mos
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    told = client.get(f"{place}people/people/analysis.json").json()["criteria"][""]["scales"]
    assert next(line["mos"] for line in told if line["method"] == NAMES[0]) == pytest.approx(best.mos)
    assert f"[{low:.2f}, {high:.2f}]" in " ".join(client.get(f"{place}people/people/").content.decode().split())
    assert human_agreement.spread(4.6, 3.9, 5.3, [(1.0, 5.0)]) == {"dot": 90.0, "left": 72.5, "width": 27.5}  # which is drawn to its end
    table = client.get(f"{place}?sort=people").content.decode()
    assert f"±{high - mean:.2f}".replace("±0.", "±.") in table


def test_an_entry_that_too_few_people_scored_has_no_place_beside_those_with_enough(challenge, people):
    """Two people gave `far off` five each time; eight others scored the other two, `near` higher."""
    phase = scored_houses(challenge, people)
    near, midway, far = NAMES
    rows = [
        Rating(f"r{k}", name, float(best - (k + n) % 2), house)
        for k in range(8)
        for n, house in enumerate(items(phase))
        for name, best in ((near, 5), (midway, 3))
    ]
    rows += [Rating(f"r{k}", far, 5.0, house) for k in range(2) for house in items(phase)]
    study = Study.import_ratings(phase, None, rows, slug="people", title="T", question="?", is_public=True)
    assert analyse_due() == 1
    pks = study.analyses.get().summary.entries
    board = board_of([0.3, 0.2, 0.1], id=[pks[name] for name in NAMES], name=list(NAMES))
    found = human_agreement.of_phase(phase, True, board.entries, {})
    few = few_raters(2)
    assert (found.first, found.few, found.value[2]) == (0, {str(pks[far]): few}, 5.0)
    made = board.model_copy(update={"people": found})
    said = human_agreement.of_board(made)
    column = said.column(made)
    assert (column.value, column.rank) == ([4.5, 2.5, None], [1, 2, None])
    assert said.claim(made).words == "Metrics and people agree on the first."
    lines = BoardRows(human_agreement.with_people(made), Choice()).lines
    assert [(line.people.text, line.people.title) for line in lines][2] == ("–", sentence(few))
    assert HumanAgreement.read(found.model_dump(mode="json")) == found
    assert found.redacted([2], {pks[far]}, {far}).few == {}
    assert "few" not in found.model_copy(update={"few": None}).model_dump(mode="json")
    study_says = sentences(study.analyses.get().summary, [])[0]
    assert study_says.first == f"People score {near} highest." and study_says.rest.startswith("4.50 of 5 [")


def test_a_part_of_a_study_that_too_few_people_judged_has_no_column_on_the_board(judged):  # noqa: F811
    """The part with most answers is of four people; the other, of eight, met none of it."""
    phase, entries = judged
    houses = list(phase.batches.get(state="current").reference.item_ids)
    near, far = (entry.method_name for entry in entries)
    rows = [vote(near, far, "left" if (k + n) % 3 else "right", f"r{k}", house) for k in range(4) for n, house in enumerate(houses)]
    rows += [vote(near, far, "left", f"r{k}", house) for k in range(4) for house in houses]
    rows += [vote("A", "B", "left" if (k + n) % 6 else "right", f"s{k}", house) for k in range(8) for n, house in enumerate(houses[:3])]
    imported(phase, rows)
    assert analyse_due() == 1
    board = board_of([1.0, 0.5], id=[entry.pk for entry in entries], name=[near, far])
    found = human_agreement.of_phase(phase, True, board.entries, {})
    assert found.reason is None and set(found.few.values()) == {few_raters(4)} and found.first is None
    made = board.model_copy(update={"people": found})
    said = human_agreement.of_board(made)
    assert said.column(made) is None and said.claim(made) is None and said.first_place(made) is None


def test_below_the_smallest_numbers_people_have_no_column():
    assert human_agreement.People(found(), {}).column(board()).value == [0.75, 0.25]
    assert human_agreement.People(found(reason=few_raters(3)), {}).column(board()) is None


def earlier(**changes):
    """Human agreement as rankings kept it before version 2 of the rules."""
    order = {"srocc": 0.5, "srocc_ci": [0.1, 0.9], "plcc": 0.4, "krocc": 0.3, "plcc_ci": None, "krocc_ci": None, "n": 9}
    by = {"": {"value": 0.82, "low": 0.8, "high": 0.84, "n": 900}}
    return {
        "study": {"id": 1, "slug": "s", "title": "S", "question": "?", "source": "", "made_up": False},
        "kind": "pairs",
        "of": "votes",
        "criterion": "",
        "raters": 11,
        "groups": [],
        "judgements": 1200,
        "questions": 1234,
        "at": "2026-11-21T12:00:00+00:00",
        "between": {"value": 0.85},
        "note": "",
        "left_out": [],
        "value": [0.75, 0.25],
        "low": [0.7, 0.2],
        "high": [0.8, 0.3],
        "marks": {"hss": {"7": [{"preferred": "x", "id": None, "samples": ["s"], "n": 1}]}},
        "metrics": [{"slug": "hss", "by": by, "order": order}],
    } | changes


def test_a_ranking_of_before_keeps_its_figures_and_names_their_rule():
    said = human_agreement.of_board(board(people=HumanAgreement.read(earlier()), metrics=[column_of("hss", [0.9, 0.8])]))
    assert said.head("hss").words == "82 / 100 answers" and said.head("hss").title.startswith(human_agreement.EARLIER)
    assert said.earlier == human_agreement.EARLIER and said.charts() == [] and said.claim(board()) is None
    assert said.column(board()).value == [0.75, 0.25] and said.found.marks["hss"]["7"][0].preferred == "x"
    assert human_agreement.of_board(board(people=HumanAgreement.read(found().model_dump(mode="json")))).earlier == ""


def test_what_is_withheld_leaves_no_trace():
    one = {"value": (0.7, 0.6, 0.8), "samples": [], "n": 0}
    marks = {"hss": {"7": [{"preferred": "x", "id": 8, **one}], "8": [{"preferred": "y", "id": None, **one}]}}
    over = [None, {"value": (0.7, 0.6, 0.8), "p_holm": 0.1}]
    left = found(marks=marks, first=0, over=over, left_out=["eight", "nine"]).redacted([1], {8}, {"eight"})
    assert left.n == [40, 0] and left.over == [None, None] and left.left_out == ["nine"]
    assert found(first=1).redacted([1], {8}, {"eight"}).over == []
    assert HumanAgreement.read(earlier()).redacted([1], {8}, set()).n == [0, 0]
    assert left.value == [0.75, None] and left.high == [0.8, None] and left.marks == {"hss": {"7": []}}


def test_of_several_studies_the_one_with_most_answers_stands_on_the_board(judged):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    many = imported(phase, votes_for(entries, items, 0))
    few = Study.import_votes(
        phase, None, votes_for(entries, items, 1)[: len(items) * 2], slug="few", title="Few", question="?", is_public=True
    )
    while analyse_due():
        pass
    rows = board_of([1.0] * len(entries), id=[entry.pk for entry in entries]).entries
    assert human_agreement.of_phase(phase, True, rows, {}).study.id == many.pk
    many.publish(None, False)
    assert human_agreement.of_phase(phase, True, rows, {}).study.id == few.pk and (
        human_agreement.of_phase(phase, False, rows, {}).study.id == many.pk
    )


def test_a_board_follows_the_study_that_the_ranking_of_metrics_follows(judged):  # noqa: F811
    """More people in one, more answers in another, most of both in one that is too early or made up: the second stands for all."""
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    answers = votes_for(entries, items, 0)

    def brought(slug: str, rows: list[Vote], **more) -> Study:
        return Study.import_votes(phase, None, rows, slug=slug, title=slug, question="?", is_public=True, **more)

    brought("people", [row for row in answers if row.sample in items[:5]])
    most = brought("answers", [row for row in answers if row.rater < "r6"])
    again = [*answers, *(replace(row, rater=f"{row.rater} again") for row in answers)]
    brought("made-up", again, made_up=True)
    brought("early", [row for row in again if row.sample in items[:4]])
    while analyse_due():
        pass
    rows = board_of([1.0] * len(entries), id=[entry.pk for entry in entries]).entries
    assert human_agreement.of_phase(phase, True, rows, {}).study.id == most.pk
    family = metric_ranking.of(AnonymousUser()).families["wireframe"]
    assert [one.id for one in family.studies] == [most.pk] and family.early == 1
    most.publish(None, False)
    assert human_agreement.of_phase(phase, True, rows, {}).study.slug == "people"
    phase.studies.exclude(slug="early").exclude(slug="made-up").update(is_public=False)
    assert human_agreement.of_phase(phase, True, rows, {}).study.slug == "made-up"


def test_entries_that_never_met_are_in_no_common_order(judged, client):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    near, far = (entry.method_name for entry in entries)
    # What is far off wins more of its duels, in the smaller part.
    rows = [Vote(f"r{k}", near, "A", "left" if (k + n) % 3 else "right", item) for k in range(8) for n, item in enumerate(items)]
    rows += [Vote(f"r{k}", far, "B", "left" if (k + n) % 6 else "right", item) for k in range(6) for n, item in enumerate(items)]
    imported(phase, rows)
    assert analyse_due() == 1
    board = board_of([1.0] * len(entries), id=[entry.pk for entry in entries]).entries
    found = human_agreement.of_phase(phase, True, board, {})
    assert found.value[1] is None and 0.5 < found.value[0] < 0.8 and found.first == 0
    made = board_of([1.0] * len(entries), id=[entry.pk for entry in entries]).model_copy(update={"people": found})
    lines = BoardRows(human_agreement.with_people(made), Choice()).lines
    assert [(line.people.text, line.place) for line in lines][1] == ("–", "")
    assert lines[1].people.title == "it met none of those that have a place with people"
    page = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/").content.decode()
    assert re.findall(r'<td class="rank">([^<]*)</td>', page) == ["1", "2", "1", "2"]


def test_opinion_scores_give_their_column_and_marks(judged, client):  # noqa: F811
    phase, entries = judged
    batch = phase.batches.get(state="current")
    study = Study.objects.create(
        phase=phase,
        slug="scores",
        title="Scores",
        question="How good?",
        kind="opinions",
        is_public=True,
        revision=1,
        criteria=[{"key": key, "title": key, "text": ""} for key in ("semantic", "overall")],
    )
    rows = [StudyEntry.objects.create(study=study, label=entry.method_name, submission=entry) for entry in entries]
    for k in range(6):
        rater = Rater.objects.create(study=study, name=f"jane{k}@example.org", group="experts" if k % 2 else "others")
        for sample in batch.reference.item_ids:
            for row, score in zip(rows, (2, 4 + k % 2), strict=True):  # the one that is far off is liked better
                for criterion in ("overall", "semantic"):
                    Opinion.objects.create(
                        study=study, rater=rater, sample=sample, entry=row, criterion=criterion, score=score, seconds=3.0
                    )
    assert sum(1 for _ in iter(analyse_due, 0)) == 2
    Snapshot.make_all(phase)
    content = Snapshot.current(phase, "public").board
    said = dict(zip((entry.id for entry in content.entries), content.people.value, strict=True))
    assert said == {entries[0].pk: 2.0, entries[1].pk: 4.5}
    assert content.people.groups == ["experts", "others"] and content.people.raters == 6
    mark = content.people.marks["corner_f1"][str(entries[0].pk)]
    assert mark[0].preferred == entries[1].method_name and mark[0].id == entries[1].pk and mark[0].samples
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    snapshot = Snapshot.current(phase, "public").digest
    told_rows = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{snapshot}/rows").json()["items"]
    own = 6 * len(batch.reference.item_ids)  # scores that each entry got on a criterion
    assert {row["id"]: (row["people"]["value"], row["people"]["n"]) for row in told_rows} == {
        entries[0].pk: (2.0, own),
        entries[1].pk: (4.5, own),
    }
    board = client.get(f"{place}?sort=people").content.decode()
    assert "Opinion score" in board and "6 raters" in board and 'class="against"' in board
    card = client.get("/").content.decode().partition('class="soft counted"')[2].partition("<br>")[0]
    assert card.endswith(f"{2 * own} ratings")
    Rater.objects.filter(study=study).update(withdrawn=1, left_at=timezone.now())
    assert "6 ratings were withdrawn since" in client.get(f"{place}snapshots/{snapshot}/").content.decode()
    assert "6 ratings withdrawn by raters who left" in " ".join(client.get(f"{place}people/scores/").content.decode().split())
    page = client.get(f"{place}people/scores/").content.decode()
    head = page.partition("By criterion</h2>")[2].partition("</thead>")[0]
    assert head.index("overall") > head.index("semantic")  # as the study asks them
    for words in (
        "Mean score from 1 to 5",
        "By criterion",
        "semantic",
        "How reliable the raters are",
        "Where a metric contradicts people",
        "experts",
    ):
        assert words in page
    assert client.get(f"{place}people/scores/?criterion=semantic&metric=hss").status_code == 200
    data = client.get(f"{place}people/scores/analysis.json")
    assert data.json()["criteria"]["overall"]["reliability"]["raters"][0]["rater"] == "rater 1"
    assert "example.org" not in page + data.content.decode() + client.get(f"{place}people/").content.decode()
    study.screening = {"others": {"r": 0.3}}
    study.save()
    assert analyse_due() == 1  # another choice is another analysis
    Rater.objects.filter(study=study, name__startswith="jane0").update(is_counted=False)
    Study.objects.filter(pk=study.pk).update(revision=2)
    while analyse_due():
        pass
    assert study.analyses.get(criterion="overall").content["n_raters"] == 5


def test_a_metric_of_the_whole_set_has_no_sample_but_an_order(judged, monkeypatch):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    study = imported(phase, votes_for(entries, items, 0))
    real = analysis.spec_of
    monkeypatch.setattr(analysis, "spec_of", lambda column: replace(real(column), level="set"))
    found = metric_scores(study, study.batch, tuple(items), tuple(sorted(entry.method_name for entry in entries)))[0]
    assert np.isnan(found.values).all() and not np.isnan(found.of_methods).any()
    analyse_due()
    line = study.analyses.get().summary.metrics[0]
    assert line.decided.value is None and line.rho.n == 2 and line.rho.value is None and line.spa.value is None


def test_new_scores_of_a_studys_entries_ask_for_its_analysis_again(judged):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    study = imported(phase, votes_for(entries, items, 0))
    assert analyse_due() == 1 and analyse_due() == 0
    before = study.scored_under
    entries[0].evaluations.update(state="running")
    assert study.scored_under != before and analyse_due() == 1


def test_a_study_says_nothing_of_an_entry_that_is_withheld_from_the_board(judged, client, request):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    imported(phase, votes_for(entries, items, 1))
    scores = Study.objects.create(phase=phase, slug="scores", title="Scores", question="?", kind="opinions", is_public=True, revision=1)
    for number, entry in enumerate(entries):
        row = StudyEntry.objects.create(study=scores, label=entry.method_name, submission=entry)
        for k in range(6):
            rater, _ = Rater.objects.get_or_create(study=scores, name=f"r{k}")
            Opinion.objects.create(study=scores, rater=rater, sample=items[0], entry=row, score=2 + number + k % 2)
    while analyse_due():
        pass
    place, api = (f"challenges/{phase.challenge.slug}/{between}{phase.slug}" for between in ("", "phases/"))
    pages = ["people/", *(f"people/{slug}/{end}" for slug in ("people", "scores") for end in ("", "analysis.json"))]
    addresses = [f"/{place}/{page}" for page in pages] + [f"/api/v1/{api}/studies/{slug}" for slug in ("people", "scores")]
    name, row = entries[1].method_name, type(entries[1]).objects.filter(pk=entries[1].pk)

    def naming() -> list[str]:
        answers = {address: client.get(address) for address in addresses}
        assert {answer.status_code for answer in answers.values()} == {200}
        return [address for address, answer in answers.items() if name in answer.content.decode()]

    assert naming() == addresses
    page = f"/{place}/people/people/"
    link = f'href="/entries/{entries[1].pk}/"'
    assert link in client.get(page).content.decode()
    for change in ({"artifact": "empty"}, {"artifact": ""}):  # whose page, if it has one, is not the public's
        StudyEntry.objects.filter(submission=entries[1]).update(**change)
        assert (link in client.get(page).content.decode()) == (change["artifact"] == "")
    for mark in ("hidden_at", "disqualified_at"):
        row.update(hidden_at=None, disqualified_at=None)
        row.update(**{mark: timezone.now()})
        assert naming() == []
    client.force_login(request.getfixturevalue("people").organizer)
    assert naming() == addresses


def test_the_list_of_studies_asks_no_more_for_more_of_them(judged, client, django_assert_max_num_queries):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    study = imported(phase, votes_for(entries, items, 0))
    assert analyse_due() == 1
    done = study.analyses.get()
    for number in range(5):
        study.pk, study.slug, study._state.adding = None, f"s{number}", True
        study.save()
        done.pk, done.study, done._state.adding = None, study, True
        done.save()
    with django_assert_max_num_queries(10):
        page = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/").content.decode()
    assert page.count(entries[0].method_name) == 6


def test_scores_of_two_people_are_counted_and_give_no_figure(judged, client):  # noqa: F811
    phase, entries = judged
    study = Study.objects.create(phase=phase, slug="few", title="Few", question="How good?", kind="opinions", is_public=True, revision=1)
    rows = [StudyEntry.objects.create(study=study, label=entry.method_name, submission=entry) for entry in entries]
    sample = phase.batches.get(state="current").reference.item_ids[0]
    for name, scores in (("a", (1, 2)), ("b", (5, 4))):
        rater = Rater.objects.create(study=study, name=name)
        for row, score in zip(rows, scores, strict=True):
            Opinion.objects.create(study=study, rater=rater, sample=sample, entry=row, criterion="", score=score, seconds=3.0)
    assert analyse_due() == 1
    line = study.analyses.get().summary.scales[0]
    assert line.mos == (3.0, None, None) and line.reason == few_raters(2) and line.answers == 2
    Snapshot.make_all(phase)
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    page = client.get(f"{place}people/few/").content.decode()
    assert sentence(few_raters(2)) in page and "3.00" not in page and "It is too early to say." in page
    board = client.get(f"{place}?sort=people").content.decode()
    assert f"too early: 2 of {RATERS_FOR_FIGURE} people" in board and "Opinion score" not in board


def test_a_ranking_keeps_its_figures_and_says_what_was_withdrawn_since(client, judged):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, list(phase.batches.get(state="current").reference.item_ids), 0))
    while analyse_due():
        pass
    made = Snapshot.make(phase, "public")
    here = f"/challenges/{phase.challenge.slug}/{phase.slug}/snapshots/{made.digest}"
    api = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{made.digest}"
    assert "withdrawn since" not in client.get(f"{here}/").content.decode()
    left = study.raters.first()
    left.leave()
    assert not left.votes.exists()
    study.raters.filter(pk=left.pk).update(withdrawn=3)  # answers that were imported belong to no question, and are not counted
    assert "3 votes were withdrawn since" in client.get(f"{here}/").content.decode()
    assert "3 votes were withdrawn since" in client.get(f"{here}.md").content.decode()
    told = client.get(api).json()["study"]
    assert (told["withdrawn"], told["judgements"]) == (3, made.board.people.judgements)


def test_a_correlation_without_an_interval_says_so():
    few = Figure(-1.0, None, None, 5).because(few_entries(5))
    assert human_agreement.rho_words(few) == "ρ −1.00, no interval"
    assert human_agreement.rho_words(replace(few, value=None)) == ""

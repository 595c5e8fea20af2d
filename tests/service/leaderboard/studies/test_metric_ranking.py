"""The ranking of metrics by people: its states, what is pooled and what is not, and that nobody learns from it of what they may not see."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pydantic import TypeAdapter

from evaluation.metrics import registry
from leaderboard.models import Rater, Study
from leaderboard.records.agreement import Known, Line, Verdict
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Person, Standing, standing
from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, RATERS_FOR_FIGURE
from leaderboard.stats.records import Across, Metric, plain
from leaderboard.stats.two_way_intervals import Estimate
from leaderboard.studies import metric_ranking
from leaderboard.studies.metric_ranking import PUBLISHED, REAL, SIMULATED, Evidence, Family, family, verdict
from leaderboard.wording import agreement as wording
from leaderboard.wording.agreement import may_be_best
from submissions.models import Challenge
from tests.support.factories import ChallengeFactory, PhaseFactory, UserFactory
from tests.support.leaderboard.reasons import few_raters
from tests.support.leaderboard.studies import held_against_people
from tests.support.leaderboard.studies.held_against_people import held
from tests.support.people import People

NONE_BETTER = "No metric{} is shown to agree with people better than chance."
RATER = Estimate(0.72, 0.68, 0.76, 300, raters=12, samples=10, se=0.02)  # how often two raters of a study say the same


def claim(found: Family) -> str:
    return wording.claim(row.line for row in found.rows)


def metric(key: str, value: float | None, se: float = 0.02, n_eff: float = 100.0, **more) -> Metric:
    """A row with decided agreement of `value` and an interval of two standard errors, compared with RATER with as wide an interval."""
    nothing = {"value": None, "low": None, "high": None}
    decided = nothing | {"n": 120, "n_eff": n_eff, "raters": 12, "samples": 10, "coverage": 1.0}
    person = None
    if value is not None:
        decided |= {"value": value, "low": value - 2 * se, "high": min(1.0, value + 2 * se), "se": se}
        apart, half = value - RATER.value, value - (RATER.value + 0.5) / 2
        ends = [(one, one - 0.04, one + 0.04) for one in (apart, half)]
        person = more.setdefault("person", Person(*ends, 240, apart_se=0.02, half_se=0.02))
    names = dict.fromkeys(("auc_better_worse", "auc_different_similar", "acc_eq", "rho", "tau", "r"), nothing)
    return TypeAdapter(Metric).validate_python(
        names
        | {"key": key, "metric": key, "title": key, "fingerprint": key, "decided": decided, "spa": {"value": None}}
        | {"standing": standing(Agreement(**decided), person), "above_size": None, "contradictions": []}
        | more
    )


def evidence(id: int, values: dict[str, float | None], source: str = REAL, n_eff: float = 100.0, se: float = 0.02, **more) -> Evidence:
    metrics = {key: metric(key, value, se, n_eff) for key, value in values.items()}
    reference_points = {name: metric(name, 0.5, error, reference_point=True) for name, error in (("coin", 0.02), ("constant", 0.0))}
    names = sorted(key for key, value in values.items() if value is not None)
    pairs = {(a, b): (values[a] - values[b], 0.02) for a, b in permutations(names, 2)}
    found = Evidence(id, "wireframe", source, metrics, reference_points, RATER, pairs, frozenset(), frozenset(), 12, 120, False)
    return replace(found, **more)


def test_three_studies_are_pooled_as_the_worked_example_and_two_are_not():
    logits, errors = (0.9, 0.5, 1.2), (0.2, 0.15, 0.3)
    shares = [1 / (1 + 2.718281828459045**-y) for y in logits]
    studies = [evidence(n, {"m": p}, se=se * p * (1 - p)) for n, (p, se) in enumerate(zip(shares, errors, strict=True))]
    found = family("wireframe", studies)
    (row,) = found.rows
    assert found.state == "pooled" and not found.simulated and row.over.k == 3 and row.over.differs and row.answers == 360
    assert [round(one, 3) for one in (row.line.figure.value, row.line.figure.low, row.line.figure.high)] == [0.692, 0.488, 0.841]
    assert row.line.level is Standing.AT_CHANCE and row.line.places is None and row.line.of_studies == 3
    assert [(one.fingerprint, one.line.percent, one.line.low) for one in found.reference_points] == [
        ("coin", 50, 45),
        ("constant", 50, None),
    ]
    assert claim(found) == "", "one metric is the best of none"
    two = family("wireframe", [studies[0], replace(studies[1], metrics={"m": metric("m", 0.6, n_eff=200.0)})])
    assert two.state == "alone" and [one.id for one in two.studies] == [1, 0]
    assert two.rows[0].line.figure.value == 0.6 and two.rows[0].over is None and two.rows[0].studies == (1,)


def test_places_are_of_differences_that_studies_share_and_what_cannot_be_pooled_is_listed():
    values = [{"a": 0.81, "b": 0.78, "c": 0.6, "d": 0.7, "e": 1.0}, {"a": 0.79, "b": 0.79, "c": 0.61, "d": 0.7, "e": 1.0}]
    studies = [evidence(n, values[n % 2] if n < 2 else {key: values[n % 2][key] for key in "abce"}) for n in range(4)]
    studies[0] = replace(studies[0], metrics=dict(studies[0].metrics) | {"f": metric("f", 0.9, trained="these")})
    found = family("wireframe", studies)
    assert [(row.key, row.line.places) for row in found.rows] == [
        *(("a", (1, 2)), ("b", (1, 2)), ("c", (3, 3))),
        *(("d", None), ("e", None), ("f", None)),
    ]
    rows = {row.key: row for row in found.rows}
    assert verdict(found, rows["d"]).known is Known.NOT_POOLED and rows["e"].line.percent is None  # 1.0 has no logit
    assert (rows["d"].missing, rows["f"].missing) == (wording.not_pooled(2), wording.trained(rows["f"].line))
    assert verdict(found, rows["f"]).known is Known.TRAINED and rows["f"].trained == (0,) and not rows["f"].studies
    assert rows["a"].over.prediction is not None
    assert [row.key for row in found.rows if row.line.places and row.line.places[0] == 1] == ["a", "b"]


def test_another_rater_is_pooled_like_a_metric_and_a_state_beside_one_needs_three_studies():
    studies = [evidence(n, {"a": 0.8, "c": 0.6}) for n in range(4)]
    found = family("wireframe", studies)
    # On the logit ln(.72 / .28), with .02 / (.72 x .28) / 2 as the error of the mean of four, and t(.975, 3) = 3.1824.
    assert [round(end, 4) for end in found.another.ends] == [0.72, 0.6871, 0.7507] and found.another.n == 1200
    assert [(row.key, row.line.level) for row in found.rows] == [("a", Standing.ABOVE_HUMAN_LEVEL), ("c", Standing.BELOW_HUMAN_LEVEL)]
    assert [row for row in (*found.rows, *found.reference_points) if row.line.another != found.another] == []
    alone = [{key: replace(one, person=None, standing=None) for key, one in study.metrics.items()} for study in studies[:2]]
    two = [replace(study, metrics=own, another=None) for study, own in zip(studies, alone, strict=False)]
    bare = family("wireframe", [*two, *studies[2:]])  # two studies with another rater are too few for one
    assert bare.another is None and [row.line.level for row in bare.rows] == [Standing.UNCLEAR] * 2


def test_a_mean_counts_the_answers_of_the_studies_that_it_is_of():
    """The fourth and fifth have too few people for m, and say something of another metric."""
    few = metric("m", None, n_eff=10.0)
    one = metric("m", 1.0)
    studies = [evidence(n, {"m": 0.7, "x": 0.6}) for n in range(5)]
    studies[3] = replace(studies[3], metrics=dict(studies[3].metrics) | {"m": few})
    studies[4] = replace(studies[4], metrics=dict(studies[4].metrics) | {"m": replace(one, decided=replace(one.decided, coverage=0.5))})
    rows = {row.key: row for row in family("wireframe", studies).rows}
    row, line = rows["m"], rows["m"].line
    assert (row.over.k, row.studies, row.answers, line.figure.n, line.figure.raters) == (3, (0, 1, 2), 360, 360, 36)
    assert line.of_studies == 3 and line.figure.n == 360
    assert (rows["x"].studies, rows["x"].answers) == ((0, 1, 2, 3, 4), 600)


def test_of_equally_large_studies_the_one_of_more_people_leads_and_then_the_older():
    older, newer = evidence(1, {"m": 0.7}), evidence(2, {"m": 0.6})
    assert [one.id for one in family("wireframe", [newer, older]).studies] == [1, 2]
    assert [one.id for one in family("wireframe", [older, replace(newer, people=13)]).studies] == [2, 1]
    early = evidence(3, {"m": None}, n_eff=900.0)
    assert [one.id for one in family("wireframe", [early, newer, older]).all] == [1, 2, 3]


def test_ratings_are_not_called_votes():
    entry_pairs, scores = evidence(1, {"m": 0.7}), evidence(2, {"m": 0.7}, opinions=True)
    said = [family("wireframe", studies).counted for studies in ([], [entry_pairs], [scores], [entry_pairs, scores])]
    assert said == ["votes", "votes", "ratings", "votes and ratings"]


def test_a_study_in_which_a_metric_has_no_values_is_none_that_it_was_held_against():
    studies = [evidence(n, {"m": 0.7, "x": 0.6}) for n in range(3)]
    none = metric("x", None)
    none = replace(none, decided=replace(none.decided, n=0, coverage=0.0))
    studies[2] = replace(studies[2], metrics=dict(studies[2].metrics) | {"x": none})
    found = family("wireframe", studies)
    row = found.row("x", "x")
    assert row.studies == (0, 1)
    opening = verdict(found, row)
    assert (opening.known, opening.studies, opening.of_studies) == (Known.NOT_POOLED, 2, 3)


@pytest.mark.parametrize(
    ("values", "places", "is_better"),
    [
        ({"a": 0.75}, [None], None),
        ({"a": 0.62, "b": 0.5}, [(1, 1), (2, 2)], True),
        ({"a": 0.62, "b": 0.6, "c": 0.5}, [(1, 2), (1, 2), (3, 3)], True),
        ({"a": 0.75, "b": 0.62, "c": 0.5}, [(1, 3), (1, 3), (1, 3)], True),
        ({"a": 0.51, "b": 0.75}, [(1, 2), (1, 2)], True),  # one of them is better than chance
        ({"a": 0.51, "b": 0.49}, [(1, 2), (1, 2)], False),
        ({"a": 0.51, "b": 0.3}, [(1, 1), (2, 2)], False),  # b is worse than chance
        ({"a": 0.51, "b": 0.49, "c": 0.75}, [(1, 2), (1, 2), None], False),  # c was trained on these answers, or has no place
    ],
)
def test_a_claim_names_what_may_be_the_best_only_where_a_metric_with_a_place_is_better_than_chance(values, places, is_better):
    one = evidence(1, values)
    metrics = {key: metric(key, value, places=at) for (key, value), at in zip(values.items(), places, strict=True)}
    placed = {key: at for key, at in zip(values, places, strict=True) if at is not None}
    said = {None: "", True: may_be_best(placed), False: NONE_BETTER.format(" with a place" if None in places else "")}[is_better]
    assert claim(family("wireframe", [replace(one, metrics=metrics)])) == said and bool(said) == (is_better is not None)


def test_nothing_is_said_of_all_metrics_where_the_first_is_less_sure_than_one_behind_it():
    """Over three studies that differ a is at chance, and ten points ahead of b in each; b is in ten more that agree."""
    shares = (0.9, 0.6, 0.75)
    studies = [evidence(n, {"a": share, "b": share - 0.1}) for n, share in enumerate(shares)]
    found = family("wireframe", [*studies, *(evidence(n, {"b": 0.65}) for n in range(3, 13))])
    assert [(row.key, row.line.places, row.line.level) for row in found.rows] == [
        ("a", (1, 1), Standing.AT_CHANCE),
        ("b", (2, 2), Standing.BELOW_HUMAN_LEVEL),
    ]
    assert claim(found) == may_be_best({"a": (1, 1), "b": (2, 2)}) != ""


def test_metrics_of_one_mean_stand_in_the_order_of_their_keys_whatever_their_places():
    """a and b have one mean in studies of their own; first leads b in all of its studies, and a in some."""
    names = {"first": 0.8, "a": 0.7, "b": 0.7}
    studies = [evidence(n, {key: names[key] for key in ("first", "b" if n < 3 else "a")}) for n in range(6)]
    for n in range(3, 6):
        pair = frozenset(("first", "a"))
        studies[n] = replace(studies[n], pairs={pair: ("first", (0.3, 0.05, -0.05)[n - 3], 0.02)})
    metrics = [{key: replace(one, metric={"a": "z", "b": "y"}.get(key, key)) for key, one in study.metrics.items()} for study in studies]
    found = family("wireframe", [replace(study, metrics=own) for study, own in zip(studies, metrics, strict=True)])
    assert [(row.key, row.fingerprint, row.line.places) for row in found.rows] == [
        ("first", "first", (1, 2)),
        ("y", "b", (2, 3)),
        ("z", "a", (1, 3)),
    ]


def test_studies_that_share_items_or_accounts_are_one_by_the_largest_of_them():
    items, accounts = frozenset({(1, "s")}), frozenset({7})
    shared = [
        evidence(1, {"m": 0.8}, n_eff=50, samples=items),
        evidence(2, {"m": 0.6}, samples=items, accounts=accounts),
        evidence(3, {"m": 0.7}, n_eff=20, accounts=accounts),
        evidence(4, {"m": 0.7}, n_eff=30),
    ]
    found = family("wireframe", shared)
    assert found.state == "alone" and [(one.id, one.sharing) for one in found.studies] == [(2, (1, 3)), (4, ())]
    assert family("wireframe", [*shared, evidence(5, {"m": 0.7})]).state == "pooled"


@pytest.mark.django_db
def test_an_account_on_the_list_of_a_study_joins_it_to_none_before_its_answers_count():
    roofs, user = ChallengeFactory(), UserFactory()
    first, second = (held(PhaseFactory(challenge=roofs), f"s{n}", n, noise={"hss": 0.3}) for n in range(2))
    Rater.objects.filter(study=first, name="rater 01").update(user=user)
    listed = Rater.objects.create(study=second, name="listed", user=user)

    def sharing() -> list[int]:
        metric_ranking.KEPT.clear()
        return [len(one.sharing) for one in metric_ranking.of(AnonymousUser()).families["wireframe"].studies]

    assert sharing() == [0, 0]
    listed.delete()
    Rater.objects.filter(study=second, name="rater 04").update(user=user)
    assert sharing() == [1]


def test_simulated_studies_count_only_where_there_are_no_others_and_early_ones_not_at_all():
    invented = [evidence(n, {"m": 0.8}, SIMULATED) for n in range(3)]
    early = evidence(8, {"m": None})
    for studies, expected in (
        ([], ("none", False, 0)),
        ([early], ("none", False, 1)),
        (invented, ("pooled", True, 0)),
        ([early, invented[0]], ("alone", True, 1)),
        ([*invented, evidence(9, {"m": 0.6}, PUBLISHED)], ("alone", False, 0)),
    ):
        found = family("wireframe", studies)
        assert (found.state, found.simulated, found.early) == expected, studies
    assert claim(family("wireframe", [])) == ""


def test_a_metrics_page_opens_with_a_verdict_by_its_state():
    def opening(value: float | None, **more) -> Verdict:
        metrics = {"m": metric("m", value, places=(1, 2), **more), "o": metric("o", 0.6, places=(1, 2)), "t": metric("t", 0.6)}
        study = replace(evidence(1, {}), metrics=metrics, another=RATER)
        found = family("wireframe", [study, evidence(2, {"x": 0.6}, n_eff=1.0)])
        return verdict(found, found.row("m", "m"))

    levels = [opening(value).line.level for value in (0.72, 0.62, 0.9, 0.52, 0.4)]
    assert levels == [
        *(Standing.HUMAN_LEVEL, Standing.BELOW_HUMAN_LEVEL, Standing.ABOVE_HUMAN_LEVEL),
        *(Standing.AT_CHANCE, Standing.WORSE_THAN_CHANCE),
    ]
    first = opening(0.72)
    assert (first.known, first.placed, first.line.places, first.line.another.value) == (Known.FIGURE, 2, (1, 2), 0.72)
    assert opening(0.9, trained="these").known is Known.TRAINED
    nothing = family("wireframe", [])
    early = Line("m", Agreement(0.9, None, None, raters=3, samples=8).because(few_raters(3)))
    assert [verdict(nothing, None, *rest).known for rest in ((), (early,), (None, True), (None, False, early))] == [
        *(Known.NOTHING, Known.EARLY, Known.OUTDATED, Known.ALIKE)
    ]
    pooled = family("wireframe", [evidence(n, {"a": 0.7} | ({"b": 0.7} if n else {})) for n in range(3)])
    assert verdict(pooled, pooled.row("b", "b")).known is Known.NOT_POOLED


@pytest.mark.django_db
def test_the_page_in_its_four_states_and_for_whom(django_assert_max_num_queries):
    def response(kind: str, user=None, source: str = "here") -> HttpResponse:
        client = Client()
        if user is not None:
            client.force_login(user)
        found = client.get("/metrics/", {"kind": kind, "source": source})
        assert found.status_code == 200
        return found

    def page(kind: str, user=None, source: str = "here") -> str:
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", response(kind, user, source).content.decode()))

    def ranks(kind: str, user=None, source: str = "here") -> bool:
        return response(kind, user, source).context["section"] is not None

    def sources(kind: str) -> dict[str, str]:
        return {key: said for key, _, said, _ in response(kind).context["sources"]}

    assert [kind for kind in ("wireframe", "mesh", "render") if ranks(kind)] == []
    roofs = ChallengeFactory()
    people = People.around(roofs)
    for n in range(3):
        held(PhaseFactory(challenge=roofs), f"s{n}", n, key=f"k{n}" if n else None)
    held(PhaseFactory(challenge=ChallengeFactory(family="mesh")), "which", 5, key="solids", title="Which is closer?")
    held(PhaseFactory(challenge=ChallengeFactory(family="render")), "invented", 6, simulated=True)
    three = page("wireframe")
    assert ranks("wireframe") and "3 studies," in three and "measured here 2" in three
    assert "published 1" in three and "Always equal" in three and "All 22 metrics" in three
    assert ranks("mesh") and "Which is closer?" in page("mesh") and "by 12 raters" in page("mesh")
    assert not ranks("render") and sources("render")["simulated"] == "1 demo study"
    simulated = response("render", source="simulated")
    assert simulated.context["section"] is not None and simulated.context["is_simulated"]
    assert "by 12 simulated raters" in page("render", source="simulated")
    assert re.search(r"Edge F1 \d+ above human level .* 1\.0 ms", three) and "of 17" in three
    # Without a choice: the kind with the strongest evidence, by its strongest source.
    assert "3 studies," in re.sub(r"\s+", " ", Client().get("/metrics/").content.decode())

    # The mean of several studies is told as that wherever it stands.
    home = Client().get("/").content.decode()
    assert "mean of 3 studies" in home and "of 36 people" not in home

    # A fourth one that is not public moves nothing for who may not see it, and everything for who may.
    fourth = held(PhaseFactory(challenge=roofs), "fourth", 3, is_public=False, noise={"edge_f1": 9.0, "hss": 0.1, "corner_f1": 0.1})
    for user in (None, people.stranger, people.owner, people.other_organizer, UserFactory()):
        assert ranked_part(page("wireframe", user)) == ranked_part(three), user
    for user in (people.organizer, people.staff):
        assert "4 studies," in page("wireframe", user) and ranked_part(page("wireframe", user)) != ranked_part(three)
    fourth.publish(people.organizer, True)
    assert "4 studies," in page("wireframe")
    Study.objects.filter(pk=fourth.pk).update(is_public=False)
    assert page("wireframe") == three
    Challenge.objects.filter(pk=roofs.pk).update(visibility="private")
    assert not ranks("wireframe") and not ranks("wireframe", people.stranger)
    assert "3 studies," in page("wireframe", people.owner)
    Challenge.objects.filter(pk=roofs.pk).update(visibility="public", simulated=True)
    assert not ranks("wireframe") and sources("wireframe")["simulated"] == "3 demo studies"
    held(PhaseFactory(challenge=ChallengeFactory(family="render")), "few", 7, raters=3, key="few")  # or of enough people who decided none
    early = response("render")
    assert early.context["chosen"].found.early == 1 and early.context["section"] is None
    assert f"{RATERS_FOR_FIGURE} raters, {ITEMS_FOR_FIGURE} items," in page("render")
    for user, most in ((None, 6), (people.owner, 14), (people.organizer, 14)):
        client = Client()
        if user is not None:
            client.force_login(user)
        with django_assert_max_num_queries(most):
            client.get("/metrics/")


@pytest.mark.django_db
def test_the_figure_across_items_of_the_one_study_is_beside_that_within_them():
    def page() -> str:
        metric_ranking.KEPT.clear()
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", Client().get("/metrics/?kind=wireframe").content.decode()))

    study = held(PhaseFactory(challenge=ChallengeFactory()), "one", key="one")
    assert "Across items" not in page()
    row = study.analyses.get()
    line = next(one for one in row.content["metrics"] if one["key"] == "edge_f1")
    line["srocc"] = plain(Across(0.61, 0.24, 0.82, 96, places=(1, 2), may_be_best=True))
    row.finished_at = timezone.now()
    row.save()
    assert "Across items" in page() and "0.61 [0.24, 0.82] place 1–2" in page()


def ranked_part(page: str) -> str:
    """The page below its head, which names who is logged in."""
    return page[page.index("Do the metrics agree with people? One ranking") :]


@pytest.mark.django_db
def test_a_metrics_page_lists_the_studies_that_its_figure_is_of_though_their_phases_have_it_no_more():
    for n, noise in enumerate((0.2, 1.5, 0.3)):
        held(PhaseFactory(challenge=ChallengeFactory()), f"s{n}", n, noise={"edge_f1": noise, "hss": 0.3}, title=f"Study {n}")
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", Client().get("/metrics/edge_f1/").content.decode()))
    assert [n for n in range(3) if f"Study {n}" not in page] == []
    # Of three studies no I squared is shown to be beyond chance.
    assert "mean of 3 studies" in page and "I²" in page and "than chance" not in page


@pytest.mark.django_db
def test_of_a_metric_that_was_trained_on_the_answers_of_the_one_study_its_page_claims_nothing(monkeypatch):
    monkeypatch.setattr(held_against_people, "ENTRIES", 8)  # enough for what differences mean
    held(PhaseFactory(challenge=ChallengeFactory()), "one", 2, noise={"edge_f1": 0.2, "hss": 0.3}, trained={"hss": "these"})
    found = metric_ranking.of(AnonymousUser()).families["wireframe"]
    rows = {row.key: row for row in found.rows}
    known = {key: verdict(found, rows[key]) for key in ("hss", "edge_f1")}
    assert {key: one.known for key, one in known.items()} == {"hss": Known.TRAINED, "edge_f1": Known.FIGURE}
    trained, other = (re.sub(r"\s+", " ", Client().get(f"/metrics/{key}/").content.decode()) for key in known)
    assert wording.verdict(known["hss"]).text in trained and wording.verdict(known["edge_f1"]).text in other
    assert ['id="meaning"' in page for page in (trained, other)] == [False, True]


@pytest.mark.django_db
def test_a_metrics_page_says_which_of_its_studies_another_stands_for():
    studies = [held(PhaseFactory(challenge=ChallengeFactory()), f"s{n}", n, noise={"edge_f1": 0.3}) for n in range(4)]

    def page() -> str:
        metric_ranking.KEPT.clear()
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", Client().get("/metrics/edge_f1/").content.decode()))

    assert "mean of 4 studies" in page() and "Not counted:" not in page()
    Rater.objects.filter(study__in=studies[:2], name="rater 01").update(user=UserFactory())
    assert "mean of 3 studies" in page() and page().count("Not counted:") == 1


@pytest.mark.django_db
def test_it_is_computed_once_for_the_same_analyses(monkeypatch):
    study = held(PhaseFactory(challenge=ChallengeFactory()), "one", noise={"edge_f1": 0.3})
    asked = []
    compute = metric_ranking._families
    monkeypatch.setattr(metric_ranking, "_families", lambda rows, joint: asked.append(len(rows)) or compute(rows, joint))
    metric_ranking.KEPT.clear()
    found = [metric_ranking.of(AnonymousUser()).families["wireframe"] for _ in range(3)]
    assert asked == [1] and found[0] is found[2] and found[0].row("edge_f1", registry.fingerprint("edge_f1", {})).studies == (study.pk,)
    study.analyses.update(made_of="2")
    metric_ranking.of(AnonymousUser())
    assert asked == [1, 1]

"""Studies that share items or raters, as one: cut in two, a study says together what it said whole; and who stands for whom."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from leaderboard.models import JointAnalysis, Rater, Study
from leaderboard.records.study import Summary
from leaderboard.stats.minimums import RATERS_FOR_FIGURE
from leaderboard.stats.votes import Vote
from leaderboard.studies import joint, metric_ranking
from leaderboard.studies.analysis import analyse_due
from tests.support.factories import UserFactory
from tests.support.leaderboard.studies.scored_houses import comparisons, items, scored_houses, scores

pytestmark = pytest.mark.django_db
ABOUT = {"question": "Which of the two is closer to the house?", "is_public": True}


@pytest.fixture
def scored(challenge, people, django_capture_on_commit_callbacks):
    return scored_houses(challenge, people)


def imported(phase, slug: str, rows: list[Vote], **about) -> Study:
    return Study.import_votes(phase, None, rows, slug=slug, title=slug.title(), **(ABOUT | about))


def cut(rows: list, first: set[str]) -> tuple[list, list]:
    """The answers of these raters, and those of the others, under names of their own."""
    return [one for one in rows if one.rater in first], [replace(one, rater=f"other {one.rater}") for one in rows if one.rater not in first]


def whole_summary(study: Study) -> Summary:
    while analyse_due():
        pass
    return study.analyses.get().summary


def assert_same(ours: Summary, whole: Summary) -> None:
    """All figures that do not hang on what something is called."""
    assert (ours.answers, ours.raters_counted, ours.samples_counted) == (whole.answers, whole.raters_counted, whole.samples_counted)
    assert len(ours.scales) == len(whole.scales) == 3
    mine = {line.metric: line for line in ours.metrics if line.metric}
    theirs = {line.metric: line for line in whole.metrics if line.metric}
    assert mine.keys() == theirs.keys() and len(mine) == 3
    for key, line in theirs.items():
        for name in ("value", "low", "high", "n", "raters", "samples", "se"):
            assert getattr(mine[key].decided, name) == pytest.approx(getattr(line.decided, name), abs=1e-9), (key, name)
        assert (mine[key].title, mine[key].standing) == (line.title, line.standing) and line.standing is not None
        assert (mine[key].places, mine[key].may_be_best) == (line.places, line.may_be_best) and line.places is not None
        apart = [None if one.person is None else one.person.apart for one in (mine[key], line)]  # none of one no better than chance
        assert apart[0] == pytest.approx(apart[1], abs=1e-9)
        assert mine[key].fingerprint == mine[key].key == line.fingerprint
    size = [next(line.decided for line in one.metrics if line.key == "size") for one in (ours, whole)]
    assert size[0].value == pytest.approx(size[1].value, abs=1e-9) and size[0].n == size[1].n


def test_a_study_of_pairs_cut_in_two_says_together_what_it_said_whole(scored):
    rows = comparisons(scored)
    study = imported(scored, "whole", rows)
    first, second = cut(rows, {"r0", "r3", "r5"})
    halves = [imported(scored, "first", first), imported(scored, "second", second)]
    ours, whole = joint.together(halves), whole_summary(study)
    assert_same(ours, whole)
    implied = [sorted(line.implied for line in one.scales) for one in (ours, whole)]
    assert [pytest.approx(line, abs=1e-9) for line in implied[0]] == implied[1]


def test_a_metric_that_was_trained_on_the_answers_of_one_of_them_was_trained_on_those_of_all(scored, monkeypatch):
    first, second = cut(comparisons(scored), {"r0", "r3", "r5"})
    halves = [imported(scored, "first", first), imported(scored, "second", second)]
    values = joint.metric_scores

    def of_first(study: Study, *more):
        return [replace(one, trained="these" if study == halves[0] else "") for one in values(study, *more)]

    monkeypatch.setattr(joint, "metric_scores", of_first)
    assert {line.trained for line in joint.together(halves).metrics if line.metric} == {"these"}


def test_a_study_of_opinion_scores_too(scored):
    rows = scores(scored, 8)
    about = ABOUT | {"question": "How close?"}
    study = Study.import_ratings(scored, None, rows, slug="whole", title="Whole", **about)
    halves = [
        Study.import_ratings(scored, None, some, slug=f"s{n}", title="Half", **about) for n, some in enumerate(cut(rows, {"r1", "r2"}))
    ]
    ours, whole = joint.together(halves), whole_summary(study)
    assert_same(ours, whole)
    assert sorted(line.mos for line in ours.scales) == sorted(line.mos for line in whole.scales)
    assert [line for line in whole.metrics if line.metric and line.person.apart[1] is None] == [], (
        "enough answers for a comparison with a rater"
    )
    points = [{line.key: (line.decided.value, line.decided.n) for line in one.metrics if line.reference_point} for one in (ours, whole)]
    assert points[0].keys() == points[1].keys() == {"constant", "coin", "size", "reference only"}
    assert points[0]["reference only"] == points[1]["reference only"]


def test_one_account_in_two_studies_is_one_rater_and_is_asked_nothing_twice(scored):
    rows = comparisons(scored)
    studies = [imported(scored, "first", rows), imported(scored, "second", rows)]
    apart = joint.together(studies)
    assert (apart.raters_counted, apart.answers) == (14, 2 * len(rows))
    for k in range(7):
        Rater.objects.filter(study__in=studies, name=f"rater {k + 1}").update(user=UserFactory())
    as_one = joint.together(studies)
    assert (as_one.raters_counted, as_one.answers) == (7, len(rows)), "the first answer to a question counts"
    assert_same(as_one, whole_summary(studies[0]))


def test_of_one_accounts_answers_in_two_studies_that_given_first_counts_whichever_study_is_older(scored):
    rows = comparisons(scored)
    turned = {"left": "right", "right": "left", "tie": "tie"}
    later = [replace(one, choice=turned[one.choice], at=f"2026-11-02T10:00:{n % 60:02}+00:00") for n, one in enumerate(rows)]
    earlier = [replace(one, at=f"2026-11-01T10:00:{n % 60:02}+00:00") for n, one in enumerate(rows)]
    older, newer = imported(scored, "older", later), imported(scored, "newer", earlier)
    for n, study in enumerate((older, newer)):
        study.key = f"live {n}"
        study.save(update_fields=["key"])
    for k in range(7):
        Rater.objects.filter(study__in=(older, newer), name=f"rater {k + 1}").update(user=UserFactory())
    assert_same(joint.together([older, newer]), whole_summary(imported(scored, "alone", earlier)))


def test_pairs_and_scores_are_not_analysed_together(scored):
    mixed = [
        imported(scored, "pairs", comparisons(scored)),
        Study.import_ratings(scored, None, scores(scored), slug="mos", title="M", **ABOUT),
    ]
    with pytest.raises(ValueError, match="of pairs, and of opinion scores on each scale"):
        joint.together(mixed)
    while analyse_due():
        pass
    assert joint.request() == 0 and not JointAnalysis.objects.exists()
    (standing,) = metric_ranking.of(AnonymousUser()).families["wireframe"].studies
    assert len(standing.sharing) == 1 and not standing.joined


def test_the_ranking_takes_them_together_once_that_is_done_and_only_of_those_whom_everybody_may_see(scored, people):
    rows = comparisons(scored)
    first, second = cut(rows, {"r0", "r1", "r2"})
    third = [replace(one, rater=f"third {one.rater}") for one in comparisons(scored, RATERS_FOR_FIGURE, seed=1)]
    studies = [imported(scored, "first", first + second[:90]), imported(scored, "second", [replace(o, rater=f"x{o.rater}") for o in rows])]
    hidden = imported(scored, "hidden", third, is_public=False)

    def stand(user=None):
        return metric_ranking.of(user or AnonymousUser()).families["wireframe"]

    while analyse_due():
        pass
    before = stand()
    assert len(before.studies) == 1 and len(before.studies[0].sharing) == 1 and re.findall(r"\d+", before.sharing_words) == ["1"]
    assert joint.request() == 1 and joint.analyse_due() == 1 and joint.analyse_due() == 0 and joint.request() == 0
    row = JointAnalysis.objects.get()
    assert row.ids == sorted(study.pk for study in studies) and row.state == "done"
    (one,) = stand().studies
    assert sorted((one.id, *one.joined)) == row.ids and not one.sharing
    assert one.answers == sum(len(study.study_votes.all()) for study in studies) and len(one.metrics) == 3
    slugs = {metric["slug"] for metric in scored.batches.get(state="current").metrics}
    assert {line.key for line in one.metrics.values()} <= slugs, "a metric's page knows its columns by these"
    assert re.findall(r"\d+", stand().sharing_words) == ["2"] and stand().sharing_words in Client().get("/metrics/").content.decode()
    # An organizer, who sees a third one, has the two together stand for it.
    (own,) = stand(people.organizer).studies
    assert sorted((own.id, *own.joined)) == row.ids and own.sharing == (hidden.pk,)
    # New answers of one: the old figures say nothing of it any more, and a new analysis is asked for.
    studies[0].analyses.update(made_of="later", finished_at=studies[0].created_at)
    assert not stand().studies[0].joined and joint.request() == 1
    # Hidden: there is nothing to take together.
    studies[0].publish(people.organizer, False)
    assert joint.request() == 0 and not JointAnalysis.objects.exists() and not stand().studies[0].joined


def test_another_version_of_the_reference_is_another_set_of_items(scored):
    rows = comparisons(scored)
    studies = [imported(scored, slug, [replace(one, rater=f"{slug} {one.rater}") for one in rows]) for slug in ("a", "b")]
    while analyse_due():
        pass
    found = [metric_ranking.of(AnonymousUser()).families["wireframe"].all][0]
    assert metric_ranking.family("wireframe", found).sets == (tuple(sorted(study.pk for study in studies)),)
    versions = [replace(one, reference=(scored.pk, n)) for n, one in enumerate(found)]
    assert metric_ranking.family("wireframe", versions).sets == ()
    assert len(items(scored)) == 6

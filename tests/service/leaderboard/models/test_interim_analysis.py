"""Planned looks: taken where they were planned, once each, never taken back; a study ends by them as it was planned."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client

from leaderboard.models import InterimAnalysis, Question, Study, StudyVote
from leaderboard.records.study import HIDDEN_NAME
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.live import campaign
from leaderboard.studies.live.design_matrix import Subject
from leaderboard.wording.study import interim_analyses
from submissions.errors import Refused
from submissions.models import AuditEntry
from tests.support.factories import PhaseFactory, gables, give_reference
from tests.support.leaderboard.studies.live import making
from tests.support.pages import coded

pytestmark = pytest.mark.django_db
COUNTS = 'aria-label="Counts"'  # the table of wins, on a study's page
WORTH = (1.2, 0.0, -0.6, -1.2)  # of the entries; the first is far ahead


def so_far(study: Study, answers: int | None = None) -> tuple:
    """The record of the looks so far: number of the last one, entry that was first, whether that is settled, when the next is due, the
    answers of which that is told, and whether the study is closed."""
    found = InterimAnalysis.so_far(study, answers)
    last = found.last and (found.last.number, found.last.first, found.last.settled)
    return last, found.due, found.so_far, found.closed


@pytest.fixture
def phase(challenge):
    """With five houses: no look is taken on fewer."""
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase, gables(5))
    return phase


@pytest.fixture
def rows(phase, people):
    return making.entries(phase, people)


@pytest.fixture
def study(phase, people, rows) -> Study:
    overall = [{"key": "overall", "title": "Overall", "text": ""}]
    houses = tuple(gables(5))
    return making.live(phase, people.organizer, rows, criteria=overall, plan="first", planned_looks=3, planned_answers=480, samples=houses)


def answered(study: Study, n: int, raters: int = 6, samples: int = 20, worth=WORTH, seed: int = 0) -> int:
    """`n` more answers of these people, by how much each entry is worth to all (without it none prefers any); the number of analyses made
    of them."""
    rng, entries = np.random.default_rng([seed, n]), list(study.entries.order_by("id"))
    people = list(study.raters.order_by("id"))
    while len(people) < raters:
        people.append(making.rater(study))
    cells = np.random.default_rng(7).permutation(6 * raters * samples)
    begun, votes = study.study_votes.count(), []
    for cell in cells[begun : begun + n]:
        who, sample, pair = np.unravel_index(cell, (raters, samples, 6))
        i, j = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))[pair]
        choice = "tie" if worth is None else "left" if rng.random() < 1 / (1 + np.exp(worth[j] - worth[i])) else "right"
        votes.append(
            StudyVote(
                study=study,
                rater=people[who],
                sample=f"s{sample}",
                left=entries[i],
                right=entries[j],
                choice=choice,
                criterion="overall",
            )
        )
    StudyVote.objects.bulk_create(votes)
    Study.objects.filter(pk=study.pk).update(counted_at=None)
    made = 0
    while analyse_due():
        made += 1
    study.refresh_from_db()
    return made


def test_a_study_ends_at_the_look_that_settles_first_place(study, phase, people):
    assert [InterimAnalysis.due_at(study, n) for n in (1, 2, 3)] == [160, 320, 480]
    answered(study, 150)
    assert not study.looks.exists() and study.state == "open"
    assert so_far(study, 150) == (None, 160, 150, False) and InterimAnalysis.so_far(study, 150).planned == 3
    answered(study, 30)
    look = study.looks.get()
    assert (look.number, look.answers, look.raters, look.samples, look.entry) == (1, 180, 6, 20, "secret-method-0")
    if not look.is_settled:
        assert study.state == "open" and so_far(study, 180) == ((1, "secret-method-0", False), 320, 180, False)
        answered(study, 160)
        look = study.looks.get(number=2)
    assert look.is_settled and study.state == "closed" and InterimAnalysis.that_ended(study) == look
    assert AuditEntry.objects.filter(action="study.close", actor=None).count() == 1
    assert so_far(study)[0] == (look.number, "secret-method-0", True) and so_far(study)[-1]
    # Nothing that comes later changes what a look found, and nobody asks on until another is first.
    votes = study.study_votes.count()
    assert answered(study, 200, worth=(-3, 3, 0, 0)) and study.study_votes.count() == votes + 200
    assert list(study.looks.values_list("entry", "answers"))[-1] == ("secret-method-0", look.answers)
    with pytest.raises(Refused, check=coded("ended")):
        campaign.open_study(study, people.organizer)
    # Its page and its JSON say so; an entry that is hidden is named by neither.
    Study.objects.update(is_public=True)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/live/"
    assert interim_analyses(InterimAnalysis.so_far(study, None)) in Client().get(address).content.decode()
    taken = Client().get(f"/api/v1{address.removesuffix('people/live/').replace(phase.slug, f'phases/{phase.slug}')}studies/live").json()
    assert (taken["planned_looks"], taken["looks"][-1]["first"], taken["looks"][-1]["settled"]) == (3, "secret-method-0", True)
    assert InterimAnalysis.so_far(study, None, {"secret-method-0"}).last.first == look.record({"secret-method-0"}).first == HIDDEN_NAME


def test_equal_entries_end_not_settled_when_the_planned_answers_are_in(study, people):
    level = (0.0, 0.0, 0.0, 0.0)
    for n in (160, 160):
        answered(study, n, worth=level)
    assert [look.number for look in study.looks.all()] == [1, 2] and study.state == "open"
    answered(study, 170, worth=level)
    assert study.state == "closed" and not InterimAnalysis.that_ended(study).is_settled
    last = InterimAnalysis.so_far(study, None).last
    assert (last.number, last.answers, last.settled) == (3, 490, False)


def test_a_study_in_which_nobody_prefers_any_ends_when_the_planned_answers_are_in(study):
    for n in (150, 30, 320):
        answered(study, n, worth=None)
    assert [(look.number, look.answers, look.entry, look.is_settled) for look in study.looks.all()] == [
        (1, 180, "", False),
        (3, 500, "", False),
    ]
    assert study.state == "closed" and len(InterimAnalysis.that_ended(study).untold) == 4
    assert so_far(study)[0] == (3, "", False)


@pytest.mark.parametrize(("raters", "samples"), [(4, 20), (15, 4)])
def test_no_look_before_five_people_and_five_samples(study, raters, samples):
    answered(study, 200, raters, samples)
    assert not study.looks.exists() and study.state == "open"
    assert so_far(study, 200) == (None, 160, 200, False)  # more than were needed
    # It is taken as soon as they are there.
    answered(study, 40, 15, 20, seed=1)
    assert study.looks.get().number == 1


def test_looks_that_answers_jumped_over_are_not_made_up_for(study):
    answered(study, 330, worth=(0.1, 0.0, 0.0, 0.0))
    assert [look.number for look in study.looks.all()] == [2]


def test_who_nobody_was_asked_about_is_not_told_from_the_first(study):
    last = study.entries.get(label="secret-method-3")
    answered(study, 150, worth=(3, 1, -1, -3))
    for side in ("left", "right"):
        study.study_votes.filter(**{side: last}).delete()
    Study.objects.update(planned_answers=30)
    study.refresh_from_db()
    answered(study, 1, worth=(3, 1, -1, -3))
    assert study.looks.get().untold == ["secret-method-3"]


def test_questions_of_a_study_about_first_place_follow_its_figures(study, phase):
    assert Subject(study).crown is None
    answered(study, 120)
    first, *others = range(4)
    crown = Subject(study).crown
    assert crown.first == first and set(crown.rivals) <= set(others)
    told = study.analyses.get().summary.first_place.others
    assert len(crown.rivals) == sum(rival.p > 0.05 for rival in told)
    # An entry that dropped out is neither; where it was the first, questions are balanced until there are figures without it.
    study.entries.filter(label="secret-method-0").update(left_out_at="2026-11-01T00:00:00Z")
    assert Subject(study).crown is None
    person = making.rater(study)
    making.at(study, person)
    assert Question.objects.filter(rater=person).exists()


def test_bare_counts_of_wins_are_not_shown_where_pairs_were_chosen_by_them(study, phase, people, rows):
    answered(study, 150)
    chosen = study.analyses.get().summary
    assert [line for line in chosen.scales if line.win_rate != (None, None, None)] == [] and not chosen.adequacy and chosen.counted == 150
    assert any(line.implied[1] is not None for line in chosen.scales)
    # Nor what they are made of, or what is compared with them, on the page or in its file.
    assert {(line.wins, line.ties, line.losses) for line in chosen.scales} == {(None, None, None)}
    assert {(line.order, line.scenes_mean) for line in chosen.metrics} == {(None, None)}
    assert [line for line in chosen.metrics if line.scenes] == []
    Study.objects.update(is_public=True)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/live/"
    assert COUNTS not in Client().get(address).content.decode()
    Study.objects.filter(pk=study.pk).update(plan="balanced")
    study.touch_votes()
    while analyse_due():
        pass
    fixed = study.analyses.get().summary
    assert any(line.win_rate[0] is not None for line in fixed.scales) and fixed.adequacy
    assert [line for line in fixed.scales if not line.wins] == []
    assert [line for line in fixed.metrics if not line.reference_point and not line.order] == []
    assert COUNTS in Client().get(address).content.decode()

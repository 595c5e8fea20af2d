"""The part of a challenge's overview that says how its entries are scored."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from evaluation.models import PhaseMetric
from leaderboard.records.board import ColumnAcceptanceTest
from leaderboard.views.scoring import scoring
from submissions.lookup import PhasePlace
from submissions.models import Phase
from submissions.permissions import Viewer
from tests.support.leaderboard.boards import board_of

pytestmark = pytest.mark.django_db


def seen(phase: Phase, user):
    found = Phase.objects.select_related("challenge").get(pk=phase.pk)
    return scoring(PhasePlace(found, Viewer(user, found.challenge, timezone.now())))


def test_only_the_metrics_that_decide_ranks_are_named_and_the_others_counted(phase, people):
    slugs = list(phase.metrics.values_list("slug", flat=True))
    Phase.objects.filter(pk=phase.pk).update(ranking=Phase.Rule.MEAN_RANK)
    PhaseMetric.objects.filter(phase=phase).update(in_ranking=True)
    assert len(seen(phase, people.anonymous).metrics) == len(slugs) > 1
    PhaseMetric.objects.filter(phase=phase).exclude(slug=slugs[0]).update(in_ranking=False)
    found = seen(phase, people.anonymous)
    assert [one.title for one in found.metrics] == [phase.metrics.get(slug=slugs[0]).label]
    assert found.n_beside == len(slugs) - 1 and found.metrics[0].line is None and found.people is None


def test_without_a_primary_metric_the_first_that_ranks_decides_and_its_page_shows_the_column(phase, people):
    Phase.objects.filter(pk=phase.pk).update(ranking=Phase.Rule.PRIMARY)
    PhaseMetric.objects.filter(phase=phase).update(in_ranking=True, is_primary=False)
    (only,) = seen(phase, people.anonymous).metrics
    first = phase.metrics.all()[0]
    assert only.title == first.label and f"column={first.slug}&fingerprint={first.fingerprint[:16]}" in only.url
    phase.metrics.filter(pk=phase.metrics.all()[1].pk).update(is_primary=True)
    assert [one.title for one in seen(phase, people.anonymous).metrics] == [phase.metrics.all()[1].label]


def test_a_metric_that_may_not_rank_is_counted_among_the_others(phase, people, monkeypatch):
    Phase.objects.filter(pk=phase.pk).update(ranking=Phase.Rule.MEAN_RANK)
    PhaseMetric.objects.filter(phase=phase).update(in_ranking=True)
    first, *others = [one.title for one in seen(phase, people.anonymous).metrics]
    PhaseMetric.objects.create(phase=phase, slug="locase", key="locase", position=9)  # its model card forbids it
    found = seen(phase, people.anonymous)
    assert [one.title for one in found.metrics] == [first, *others] and found.n_beside == 1
    board = board_of([0.5])
    waiting = {"slug": phase.metrics.all()[0].slug, "acceptance_test": ColumnAcceptanceTest(state="waiting", percent=40)}
    ranking = SimpleNamespace(board=board.model_copy(update={"metrics": [board.metrics[0].model_copy(update=waiting)]}))
    monkeypatch.setattr("leaderboard.views.scoring.current_ranking", lambda place: ranking)
    found = seen(phase, people.anonymous)
    assert [one.title for one in found.metrics] == others and found.n_beside == 2


def test_before_the_phase_opens_only_its_organizers_read_how_it_will_be_scored(phase, people):
    assert seen(phase, people.anonymous) is not None
    Phase.objects.filter(pk=phase.pk).update(opens_at=timezone.now() + timedelta(days=1), closes_at=None)
    assert seen(phase, people.anonymous) is None and seen(phase, people.organizer) is not None


def test_figures_of_a_paper_are_not_scored_here(phase, people):
    Phase.objects.filter(pk=phase.pk).update(results_source="a paper, table 1")
    assert seen(phase, people.organizer) is None

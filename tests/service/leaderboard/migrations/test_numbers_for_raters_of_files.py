"""Raters of studies that were imported before their names were left out, migrated: numbers in the order of their answers."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from leaderboard.models import Rater, Study, StudyAnalysis
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.votes import Vote
from leaderboard.studies.analysis import analyse_due

pytestmark = pytest.mark.django_db
MIGRATION = import_module("leaderboard.migrations.0043_numbers_for_raters_of_files")
NAMES = ("zoe", "rater 1", "anna")
ABOUT = {"title": "Which?", "question": "Which?"}


def named(study: Study) -> Study:
    """The study as it was stored before, with the names of its file."""
    for number, name in enumerate(NAMES, start=1):
        Rater.objects.filter(study=study, name=f"rater {number}").update(name=f"{name} ")
    for name in NAMES:
        Rater.objects.filter(study=study, name=f"{name} ").update(name=name)
    return study


def test_only_raters_of_files_are_numbered_and_their_figures_are_computed_again(phase):
    votes = [Vote(name, "m0", "m1", "left", item) for item in ("s0", "s1") for name in NAMES]
    ratings = [Rating(rater=name, entry=entry, score=4.0, sample="s0") for name in NAMES for entry in ("m0", "m1")]
    studies = [
        named(Study.import_votes(phase, None, votes, slug="votes", **ABOUT)),
        named(Study.import_ratings(phase, None, ratings, slug="scores", **ABOUT)),
    ]
    live = Study.objects.create(phase=phase, slug="live", key="live", **ABOUT)
    Rater.objects.create(study=live, name="zoe")
    invented = Study.objects.create(phase=phase, slug="invented", simulated=True, **ABOUT)
    Rater.objects.create(study=invented, name="rater 7")
    judge = Rater.objects.create(study=studies[0], name="seer-1", kind=Rater.Kind.JUDGE)
    Rater.objects.filter(name="anna").update(came_by="link 4: for Anna")
    while analyse_due():
        pass
    assert "zoe" in repr(list(StudyAnalysis.objects.values_list("content")))

    MIGRATION.number_raters(apps, None)
    for study in studies:
        people = study.raters.filter(kind=Rater.Kind.PERSON).order_by("id")
        assert list(people.values_list("name", "came_by")) == [("rater 1", ""), ("rater 2", ""), ("rater 3", "link 1")]
    assert [vote.rater for vote in studies[0].votes()][:3] == ["rater 1", "rater 2", "rater 3"]
    assert (live.raters.get().name, invented.raters.get().name) == ("zoe", "rater 7")
    assert Rater.objects.get(pk=judge.pk).name == "seer-1"
    assert analyse_due() and analyse_due() and not analyse_due()
    assert [name for name in ("zoe", "anna") if name in repr(list(StudyAnalysis.objects.values_list("content")))] == []

"""The six published sets from their files to the record of a study: from the catalogue, and by hand with a manifest beside the files."""

from __future__ import annotations

import shutil
from io import StringIO

import pytest
from django.core.management import call_command

from leaderboard.evidence import catalogue, record_file, store
from leaderboard.models import AnswerSet
from leaderboard.studies import answer_sets
from tests.support.factories import PhaseFactory
from tests.support.leaderboard.evidence.published import FOLDERS

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", FOLDERS)
def test_both_ways_come_to_the_figures_that_ship(name, data_folder, settings, tmp_path):
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    folder = data_folder / "evidence" / FOLDERS[name]
    call_command("evidence", "fetch", name, "--from", str(folder), "--accept", store.find(name).licence.name, stdout=StringIO())
    call_command("evidence", "apply", name, stdout=StringIO())
    shutil.copytree(folder, tmp_path / "set")
    shutil.copy(catalogue.FOLDER / f"{name}.yaml", tmp_path / "set" / "evidence.yaml")
    phase = PhaseFactory()
    about = ("--title", "A set", "--question", "How good is it?")
    address = f"{phase.challenge.slug}/{phase.slug}"
    call_command("study", "import", address, name, str(tmp_path / "set" / "evidence.yaml"), *about, stdout=StringIO())
    while answer_sets.analyse_due():
        pass
    shipped = record_file.of_toml((catalogue.RECORDS / f"{name}.toml").read_text())
    rows = list(AnswerSet.objects.all())
    assert len(rows) == 2
    for row in rows:
        assert row.record is not None, row.failure_detail
        # The text of the licence is not kept with the answers.
        assert [one for one in record_file.differences(shipped, row.record) if one[0] != "licence.file"] == []

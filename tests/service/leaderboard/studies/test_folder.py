"""A study as a folder, from the database to what training reads."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from evaluation.metrics.mesh.locase.dataset import rated
from evaluation.properties.corruptions import corrupt
from evaluation.training.preference.material import study as material
from evaluation.training.preference.votes import read
from leaderboard.models import Opinion, Rater, Study, StudyEntry
from leaderboard.studies.folder import CannotExport, write_study
from submissions.formats.mesh.mesh_files import read_mesh
from submissions.formats.wireframe.wireframe_files import load_folder
from submissions.kinds import same
from tests.support import factories
from tests.support.leaderboard import scores
from tests.support.leaderboard.stats.ballots import vote

pytestmark = pytest.mark.django_db
ABOUT = {"slug": "people", "title": "Which is closer?", "question": "Which of the two is closer to the house?"}
NAMES = ("../../etc/passwd", "Ωmega · 3", "plain")


@pytest.fixture
def entries(phase, people, references):
    """Three scored entries with files, the last without its second house; two of them with awkward names."""
    made = []
    for number, name in enumerate(NAMES):
        items = {item: corrupt(frame, "perturb", "low", number) for item, frame in references.items()}
        if name == "plain":
            del items["house_02"]
        row = scores.entry(phase, people.team, {"hss": scores.spread(0.5, len(references))}, method_name=name)
        made.append(scores.with_files(row, items))
    return made


def votes():
    rows = [vote(NAMES[0], NAMES[1], "left", "ann", "house_01"), vote(NAMES[1], "from elsewhere", "tie", "ann", "house_02")]
    return [*rows, vote(NAMES[2], NAMES[0], "right", "ben", "house_02"), vote(NAMES[0], NAMES[1], "right", "ann", "nowhere")]


def export(study, tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    call_command("study", "export", f"{study.phase.challenge.slug}/{study.phase.slug}", study.slug, f"--folder={folder}")
    return folder


def test_a_folder_holds_votes_references_and_entries_as_training_reads_them(phase, entries, references, tmp_path, capsys):
    study = Study.import_votes(phase, None, votes(), simulated=True, **ABOUT)
    written = write_study(study, tmp_path / "first")
    assert (written.answers, written.samples, written.entries, written.absent) == (4, 2, 3, ("from elsewhere",))
    folder = export(study, tmp_path)
    assert "from elsewhere" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} == {"votes.csv", "README.md", "study.json", "references", "entries"}
    kept = load_folder(folder / "references")
    assert set(kept) == {"house_01", "house_02"} and [item for item in kept if not same(kept[item], references[item])] == []
    about = material(folder)
    assert set(about.entries) == set(NAMES) and about.simulated and about.item("house_01") == "house_01"
    for number, name in enumerate(NAMES):
        found = load_folder(about.entries[name])
        assert set(found) == ({"house_01"} if name == "plain" else {"house_01", "house_02"})
        assert same(found["house_01"], corrupt(references["house_01"], "perturb", "low", number))
    decisions = read(about.votes)
    assert len(decisions) == 3 and set(decisions.methods) == {*NAMES, "from elsewhere"}


def test_names_of_folders_are_plain_whatever_entries_are_called(phase, entries, tmp_path):
    folder = export(Study.import_votes(phase, None, votes(), **ABOUT), tmp_path)
    names = sorted(path.name for path in (folder / "entries").iterdir())
    assert names == ["001-etc-passwd", "003-plain", "004-mega-3"]
    assert [path for path in folder.rglob("*") if not path.resolve().is_relative_to(folder.resolve())] == []


def test_only_people_who_count_and_entries_that_stand_are_written(phase, entries, tmp_path):
    study = Study.import_votes(phase, None, [*votes(), vote(NAMES[0], NAMES[1], "left", "model", "house_01")], **ABOUT)
    study.raters.filter(name="rater 3").update(kind=Rater.Kind.JUDGE)
    study.raters.filter(name="rater 2").update(is_counted=False)
    type(entries[0]).objects.filter(pk=entries[0].pk).update(withdrawn_at=timezone.now())
    folder = export(study, tmp_path)
    with (folder / "votes.csv").open() as stream:
        assert {row["rater"] for row in csv.DictReader(stream)} == {"rater 1"}
    said = json.loads((folder / "study.json").read_text())
    assert {one["label"] for one in said["entries"] if not one["folder"]} == {NAMES[0], "from elsewhere"}
    assert said["phase"] == f"{phase.challenge.slug}/{phase.slug}" and said["family"] == "wireframe"
    assert said["samples"] == [{"name": name, "items": [name]} for name in ("house_01", "house_02")]


def test_what_cannot_be_written_is_said(phase, entries, tmp_path):
    study = Study.import_votes(phase, None, votes(), **ABOUT)
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="is not empty"):
        export(study, tmp_path)
    study.study_votes.all().delete()
    with pytest.raises(CannotExport, match="no answers yet"):
        write_study(study, tmp_path / "new")
    elsewhere = Study.import_votes(phase, None, [vote("a", "b", "left", "ann", "nowhere")], **(ABOUT | {"slug": "other"}))
    with pytest.raises(CannotExport, match="None of the samples that were judged"):
        write_study(elsewhere, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_opinions_on_meshes_are_what_stage_2_of_locase_takes(tmp_path):
    challenge = factories.ChallengeFactory(family="mesh")
    mesh_phase, team = factories.PhaseFactory(challenge=challenge), factories.TeamFactory(challenge=challenge)
    factories.give_reference(mesh_phase, factories.boxes(), metrics=({"slug": "chamfer_l1", "key": "chamfer_l1", "is_primary": True},))
    boxes = factories.boxes()
    taller = {name: type(mesh)(mesh.vertices * (1.0, 1.0, 1.5), mesh.faces) for name, mesh in boxes.items()}
    study = Study.objects.create(phase=mesh_phase, kind="opinions", criteria=[{"key": "overall", "title": "Overall", "text": ""}], **ABOUT)
    raters = [Rater.objects.create(study=study, name=name) for name in ("ann", "ben")]
    for label, items, given in (("tall", taller, (2, 3)), ("same", boxes, (5, 5))):
        row = scores.entry(mesh_phase, team, {"chamfer_l1": [0.1, 0.2]}, method_name=label)
        entry = StudyEntry.objects.create(study=study, label=label, submission=scores.with_files(row, items))
        for rater, score in zip(raters, given, strict=True):
            for criterion in ("overall", "structural"):
                Opinion.objects.create(
                    study=study,
                    rater=rater,
                    entry=entry,
                    sample=min(boxes),
                    criterion=criterion,
                    score=score if criterion == "overall" else 1,
                )
    folder = export(study, tmp_path)
    with (folder / "scores.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["reference"], row["score"]) for row in rows] == [(f"references/{min(boxes)}.ply", score) for score in ("5", "2.5")]
    assert len((folder / "opinions.csv").read_text().splitlines()) == 1 + 8
    (subject,) = rated(folder / "scores.csv", lambda path: read_mesh(path.read_bytes(), path.name))
    assert [sample.score for sample in subject.samples] == [5.0, 2.5] and subject.group
    assert json.loads((folder / "study.json").read_text())["screening"] is False
    # Every column of the file is told, and no other.
    head = (folder / "opinions.csv").read_text().splitlines()[0].split(",")
    assert [line.split("|")[1].strip() for line in (folder / "README.md").read_text().splitlines()[10:]] == head
    # Of two more raters one says the opposite; screened, the means that train are without them, and all scores stay.
    for name, given in (("cid", {"tall": 2, "same": 5}), ("dan", {"tall": 5, "same": 1})):
        rater = Rater.objects.create(study=study, name=name)
        for label, score in given.items():
            entry = study.entries.get(label=label)
            Opinion.objects.create(study=study, rater=rater, entry=entry, sample=min(boxes), criterion="overall", score=score)
    study.screen(None, True)
    folder = export(study, tmp_path / "screened")
    with (folder / "scores.csv").open() as stream:
        assert [row["score"] for row in csv.DictReader(stream)] == ["5", "2.33333"]
    assert len((folder / "opinions.csv").read_text().splitlines()) == 1 + 12
    assert json.loads((folder / "study.json").read_text())["screening"] is True

"""Metric programs in bundles: their files travel both ways, are hostile until parsed, and are checked as when they are uploaded."""

from __future__ import annotations

import os

import pytest

from evaluation.models import MetricProgram, PhaseMetric
from evaluation.models import program as program_model
from evaluation.programs import files
from leaderboard.bundle.apply import apply, plan_for
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.state import read
from submissions.errors import Refused
from submissions.formats.yaml_document import DocumentError
from submissions.models import Challenge
from tests.conftest import need
from tests.service.leaderboard.bundle.test_apply import same_folders
from tests.support.evaluation import programs
from tests.support.leaderboard.bundle.folders import SMALL, write_bundle

pytestmark = pytest.mark.django_db
COLUMN = "      - key: corner_f1\n"
BUNDLE = SMALL.replace(COLUMN, f"{COLUMN}      - key: roofs/lengths\n        params: {{factor: 2}}\n") + "programs:\n  - path: lengths\n"
PARAMS = '[{name: factor, kind: float, default: 1, low: 0, high: 10, doc: "Times the difference."}]'


@pytest.fixture
def bundle(tmp_path):
    folder = write_bundle(tmp_path / "bundle", BUNDLE)
    programs.written(folder / "lengths", params=PARAMS)
    return folder


def let_score() -> None:
    """As if a worker had checked what is there."""
    MetricProgram.objects.update(state=MetricProgram.State.READY)
    program_model.forget()


def test_a_bundle_brings_a_program_and_its_column_follows_once_it_may_score(bundle):
    need("sandbox")
    plan = apply(parse(bundle).definition)
    row = MetricProgram.objects.get()
    assert (row.state, row.full_key, row.report) == (MetricProgram.State.WAITING, "roofs/lengths", {})
    assert [metric.key for metric in PhaseMetric.objects.all()] == ["corner_f1"]
    assert len(plan.waiting) == 1
    again = plan_for(parse(bundle).definition)
    assert (again.is_empty, len(again.waiting)) == (True, 1)
    let_score()
    assert apply(parse(bundle).definition).waiting == ()
    assert PhaseMetric.objects.get(slug="lengths").params == {"factor": 2.0}
    assert plan_for(parse(bundle).definition).is_empty


def test_a_program_without_a_value_of_missing_items_cannot_be_made_primary(bundle):
    need("sandbox")
    programs.written(bundle / "lengths", params=PARAMS, worst="null")
    apply(parse(bundle).definition)
    let_score()
    whole = (bundle / "challenge.yaml").read_text()
    (bundle / "challenge.yaml").write_text(whole.replace("key: roofs/lengths\n", "key: roofs/lengths\n        primary: true\n"))
    (said,) = plan_for(parse(bundle).definition).refusals
    assert "Lengths cannot be the primary metric" in said
    (bundle / "challenge.yaml").write_text(whole.replace(COLUMN, ""))  # the first column is primary where none is named
    assert len(plan_for(parse(bundle).definition).refusals) == 1
    (bundle / "challenge.yaml").write_text(whole)
    apply(parse(bundle).definition)
    phase = Challenge.objects.get(slug="roofs").phases.get()
    phase.metrics.update(is_primary=False)
    phase.metrics.filter(slug="lengths").update(is_primary=True)  # as made before this was refused
    (bundle / "challenge.yaml").write_text(
        whole.replace("key: roofs/lengths\n", "key: roofs/lengths\n        primary: true\n        title: Own lengths\n")
    )
    assert plan_for(parse(bundle).definition).refusals == ()


def test_what_is_exported_is_what_came(bundle, tmp_path):
    need("sandbox")
    apply(parse(bundle).definition)
    let_score()
    apply(parse(bundle).definition)
    MetricProgram.objects.update(is_public=True)
    export(read(Challenge.objects.get(slug="roofs")), tmp_path / "out")
    definition = parse(tmp_path / "out").definition
    assert plan_for(definition).is_empty
    (program,) = definition.programs
    assert (program.sha256, program.is_public) == (files.read(bundle / "lengths").digest, True)
    export(read(Challenge.objects.get(slug="roofs")), tmp_path / "again")
    same_folders(tmp_path / "out", tmp_path / "again")


def test_a_program_of_files_is_one_for_whatever_the_challenge_takes(bundle, tmp_path):
    need("sandbox")
    programs.written(bundle / "lengths", params=PARAMS, kind="files")
    apply(parse(bundle).definition)
    let_score()
    assert apply(parse(bundle).definition).waiting == ()
    assert PhaseMetric.objects.get(slug="lengths").spec.family == "wireframe"
    export(read(Challenge.objects.get(slug="roofs")), tmp_path / "out")
    assert plan_for(parse(tmp_path / "out").definition).is_empty


def test_a_zip_is_as_good_as_a_folder(bundle):
    whole = parse(bundle).definition.programs[0].sha256
    data = files.read(bundle / "lengths").archive()
    for path in (bundle / "lengths").iterdir():
        path.unlink()
    (bundle / "lengths").rmdir()
    (bundle / "lengths.zip").write_bytes(data)
    (bundle / "challenge.yaml").write_text(BUNDLE.replace("path: lengths\n", "path: lengths.zip\n"))
    assert parse(bundle).definition.programs[0].sha256 == whole


def test_other_files_need_another_version_and_a_program_that_is_not_named_stays(bundle):
    need("sandbox")
    apply(parse(bundle).definition)
    let_score()
    apply(parse(bundle).definition)
    (bundle / "lengths/score.py").write_text("def score(p, r, q): return 0")
    with pytest.raises(Refused, match=r"raise version in its metric\.yaml to 2"):
        apply(parse(bundle).definition)
    programs.written(bundle / "lengths", "def score(p, r, q): return 0", params=PARAMS, version=2)
    assert len(apply(parse(bundle).definition).waiting) == 0  # the column is as it was, of the version that may score
    assert sorted(MetricProgram.objects.values_list("version", "state")) == [(1, "ready"), (2, "waiting")]
    (bundle / "challenge.yaml").write_text(SMALL)
    apply(parse(bundle).definition)
    assert MetricProgram.objects.count() == 2
    assert not PhaseMetric.objects.filter(key="roofs/lengths").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "metric.yaml").unlink(), "has no metric.yaml at its root"),
        (lambda folder: (folder / "metric.yaml").write_text("!!python/object:os.system {}"), "metric.yaml"),
        (lambda folder: programs.written(folder, kind="mesh"), "lengths is of the kind mesh"),
        (lambda folder: programs.written(folder, packages="[nonesuch]"), "nonesuch"),
        (lambda folder: os.symlink("/etc/passwd", folder / "x.py"), "link"),
        (lambda folder: os.mkfifo(folder / "x.py"), "is a special file"),
    ],
)
def test_a_program_that_is_none_is_a_fault_of_the_bundle(bundle, spoil, said):
    spoil(bundle / "lengths")
    with pytest.raises(DocumentError) as caught:
        parse(bundle)
    assert any("programs[0].path" in str(problem) and said in str(problem) for problem in caught.value.problems), caught.value
    assert not MetricProgram.objects.exists()


def test_nothing_outside_of_the_bundle_is_read(bundle, tmp_path):
    programs.written(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", bundle / "linked")
    for path, said in (("../elsewhere", "inside the bundle"), ("linked", "leads out of it")):
        (bundle / "challenge.yaml").write_text(BUNDLE.replace("path: lengths\n", f"path: {path}\n"))
        with pytest.raises(DocumentError, match=said):
            parse(bundle)

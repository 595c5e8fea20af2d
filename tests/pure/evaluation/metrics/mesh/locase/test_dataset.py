"""Data for training: batches, and human scores from a table."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.metrics.mesh.locase.dataset import batch, rated
from evaluation.training.errors import DataError
from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import read_mesh, write_ply
from tests.support.evaluation.metrics.mesh.locase.simulated import brick, noisy, subjects


def read(path: Path) -> Mesh:
    return read_mesh(path.read_bytes(), path.name)


def test_a_batch_is_the_same_for_the_same_generator_and_sees_near_places():
    item = subjects()[1]
    one, two = (batch(item, 20, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one.patches, two.patches) and one.patches.shape == (4, 20, 64, 7)
    assert one.scores.tolist() == [4, 3, 2] and one.patches.dtype == np.float32
    plain = batch(item, 20, np.random.default_rng(4), tilted=0)
    near = np.linalg.norm(plain.patches[1, :, 0, 4:] - plain.patches[0, :, 0, 4:], axis=1)
    apart = np.linalg.norm(plain.patches[1, :, 0, 4:] - np.roll(plain.patches[0, :, 0, 4:], 10, axis=0), axis=1)
    assert np.median(near) < 0.6 * np.median(apart)


def table(folder: Path, *rows: str, header: str = "reference,distorted,score") -> Path:
    for number in (1, 2):
        whole = brick(1.0 + number)
        (folder / f"whole{number}.ply").write_bytes(write_ply(whole))
        for level in (1, 2, 3):
            (folder / f"hurt{number}_{level}.ply").write_bytes(write_ply(noisy(whole, level)))
    (folder / "scores.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder / "scores.csv"


def test_human_scores_are_grouped_by_reference(tmp_path):
    found = rated(table(tmp_path, "whole1.ply,hurt1_1.ply,4.5", "whole2.ply,hurt2_1.ply,3", "whole1.ply,hurt1_3.ply,1"), read)
    assert [(item.name, item.group) for item in found] == [("whole1.ply", "whole1.ply"), ("whole2.ply", "whole2.ply")]
    assert [(sample.name, sample.score) for sample in found[0].samples] == [("hurt1_1.ply", 4.5), ("hurt1_3.ply", 1.0)]


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        (["whole1.ply,hurt1_1.ply,5.5"], "reference,distorted,score", r"line 2: the score must be a number from 1 to 5, got '5.5'"),
        (["whole1.ply,hurt1_1.ply,3", "whole1.ply,hurt1_2.ply,good"], "reference,distorted,score", r"line 3: .* got 'good'"),
        (["whole1.ply,hurt1_1.ply,nan"], "reference,distorted,score", "must be a number from 1 to 5"),
        (["whole1.ply,hurt1_1.ply,3"], "reference,mesh,score", "must have the columns reference, distorted and score"),
        ([], "reference,distorted,score", "at least one row"),
    ],
)
def test_a_table_that_cannot_be_trained_on_is_one_sentence(tmp_path, rows, header, sentence):
    with pytest.raises(DataError, match=sentence):
        rated(table(tmp_path, *rows, header=header), read)


def test_a_reference_without_a_surface_is_refused(tmp_path):
    scores = table(tmp_path, "flat.ply,hurt1_1.ply,3")
    (tmp_path / "flat.ply").write_bytes(write_ply(Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))))
    with pytest.raises(DataError, match=r"reference flat.ply has no surface"):
        rated(scores, read)

"""The acceptance figures by hand, and that they hold every row of the paper's tables 9 to 11."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from evaluation.metrics.mesh.locase.acceptance import ROWS, Bench, Case, Row, interval
from submissions.formats.arrays import Mesh
from tests.support.evaluation.metrics.mesh.locase.simulated import brick


@dataclass
class ByLength(Bench):
    """A bench whose score of a mesh is its length along the first axis, as it comes."""

    cases: list[Case]

    def __post_init__(self):
        self.plain = [self._scores(number, case.damaged) for number, case in enumerate(self.cases)]

    def _scores(self, number, meshes):
        return np.array([np.ptp(mesh.vertices[:, 0]) for mesh in meshes])


def longer(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    """A tenth longer; the longest by as much again."""
    by = 1.1 if np.ptp(mesh.vertices[:, 0]) < 3 else 1.21
    return Mesh(mesh.vertices * [by, 1, 1], mesh.faces)


def case(*lengths: float) -> Case:
    return Case(
        "bricks", brick(1.0), tuple(Mesh(brick(1.0).vertices * [long, 1, 1], brick(1.0).faces) for long in lengths), (1.0, 2.0, 4.0)
    )


def test_changes_of_scores_by_hand():
    bench = ByLength([case(1, 2, 4), case(1, 1, 2)])
    assert bench.score_change(longer).tolist() == pytest.approx([(0.1 + 0.1 + 0.21) / 3, 0.1])


def test_changes_of_plcc_by_hand():
    """Worked by hand: (1, 2, 4) has 1 with the scores (1, 2, 4).

    After the change (1.1, 2.2, 4.84) has 0.99971; (1, 1, 2) has 0.94491 before and after.
    """
    bench = ByLength([case(1, 2, 4), case(1, 1, 2)])
    after = np.corrcoef([1.1, 2.2, 4.84], [1, 2, 4])[0, 1]
    assert bench.plcc_change(longer).tolist() == pytest.approx([(after - 1) / ((1 + 0.9449112) / 2), 0], abs=1e-7)


def test_a_figure_is_the_mean_over_objects_with_its_interval():
    """Worked by hand: 1, 2, 3 have the mean 2 and the deviation 1: 2 ± 4.3027 / √3."""
    figure = Row("one", lambda bench: np.array([1.0, 2.0, 3.0]), limit=1.5).measured(None)
    assert (figure.value, figure.n, figure.met) == (2, 3, False) and figure.interval == pytest.approx((-0.48414, 4.48414), abs=1e-5)
    assert interval(np.array([5.0])) is None


def test_rows_are_those_of_the_papers_tables():
    if "PLUMBLINE_DATA" not in os.environ:
        pytest.skip("PLUMBLINE_DATA does not name the folder with the real test data")
    printed = {}
    for table, name, column in ((9, "9_discretisation", "delta_plcc"), (10, "10_pca_stability", "std"), (11, "11_robustness", "avg_delta")):
        rows = csv.DictReader((Path(os.environ["PLUMBLINE_DATA"]).parent / "published" / f"locase_table{name}.csv").open())
        printed[table] = [float(row[column].rstrip("%")) / (100 if row[column].endswith("%") else 1) for row in rows]
    for table, values in printed.items():
        assert sorted(row.published for row in ROWS if row.table == table) == pytest.approx(sorted(values))

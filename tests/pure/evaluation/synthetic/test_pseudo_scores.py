"""Simulated scores: 5 for the reference itself, falling with level and effect."""

import pytest

from evaluation.synthetic.distortions import KINDS, distort, subdivide
from evaluation.synthetic.meshes import mesh
from evaluation.synthetic.pseudo_scores import LADDER, LOWEST, Judge, score


def test_a_score_by_hand():
    assert score(0, 0.0) == 5
    assert score(2, LADDER[2]) == pytest.approx(5 - 0.85 * 2)
    assert score(2, (LADDER[2] + LADDER[3]) / 2) == pytest.approx(5 - 0.85 * 2.25)
    assert score(4, 1.3 + 0.6) == pytest.approx(5 - 0.85 * 4.5)
    assert score(4, 100.0) == LOWEST


def test_the_reference_itself_does_not_deviate_and_neither_does_its_subdivision():
    source = mesh("plane", 5)
    assert Judge(source).deviation(source) == 0
    assert Judge(source).deviation(subdivide(source)) < 0.03


@pytest.mark.parametrize("level", [1, 3])
def test_at_one_level_all_kinds_deviate_about_as_far(level):
    """On four objects; the strengths were chosen on sixteen others."""
    pairs = [(source, Judge(source)) for source in (mesh(kind, 31) for kind in ("gear", "blob", "rock", "vase"))]
    for kind in KINDS:
        mean = sum(judge.deviation(distort(source, kind, level)) for source, judge in pairs) / len(pairs)
        assert LADDER[level] * 0.45 < mean < LADDER[level] * 2.2, kind

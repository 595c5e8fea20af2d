"""Values of symmetric solids with the kernels of another processor; the usual run compares the bits that the network is shown."""

import pytest

from evaluation.metrics.mesh.pair import MeshPair
from evaluation.synthetic.distortions import distort
from tests.pure.evaluation.metrics.mesh.locase.test_machines import CUBE, OCTAHEDRON, on
from tests.support.evaluation.metrics.defaults import with_defaults


def scores():
    """The values of damaged cubes and octahedra."""
    return [
        with_defaults("locase")(MeshPair.of(distort(whole, damage, 2), whole)).value
        for whole in (CUBE, OCTAHEDRON)
        for damage in ("noise", "decimation")
    ]


def test_symmetric_solids_have_one_value_on_every_machine():
    """Rounding chose their axes, and with them the value, which was up to 12 % apart."""
    assert on("Prescott", scores) == pytest.approx(scores(), rel=1e-5)

"""The weights that ship, on another object they were not trained on."""

from tests.pure.evaluation.metrics.mesh.locase.test_shipped import check_that_damage_counts


def test_more_damage_gets_less_on_the_whole():
    check_that_damage_counts("gear")

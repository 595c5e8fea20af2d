"""The sentences of the card, from scores given by hand and on bricks."""

import pytest

from evaluation.metrics.mesh.locase.acceptance_criteria import NOISES, Trial, references, sentences, trials
from evaluation.metrics.mesh.locase.procedural import HELD_OUT
from evaluation.metrics.mesh.locase.scoring import ready
from evaluation.synthetic.distortions import KINDS
from tests.support.evaluation.metrics.mesh.locase.simulated import brick, untrained


def trial(name="one", **given):
    values = {"clean": 5.0, "unseen": 4.95, "noise": (4.9, 4.0), "damage": {"holes": (4.0, 3.0), "bumps": (4.5, 4.5)}, "unrelated": (1.5,)}
    return Trial(name, **(values | given))


def test_all_hold():
    made = sentences([trial(), trial("two")])
    assert [(one.held, one.of, one.met) for one in made] == [(2, 2, True), (2, 2, True), (4, 4, True), (2, 2, True)]
    assert made[0].figure == "largest change 1.00%" and made[3].figure == "smallest lead 1.500"


@pytest.mark.parametrize(
    ("given", "broken", "figure"),
    [
        ({"unseen": 4.0}, 0, "largest change 20.00%"),
        ({"noise": (4.0, 4.25)}, 1, "largest rise 0.250"),
        ({"damage": {"holes": (4.0, 4.5), "bumps": (3.0, 2.0)}}, 2, "largest rise 0.500 (holes, two)"),
        ({"unrelated": (1.2, 3.5)}, 3, "smallest lead -0.500"),
        ({"noise": (4.0, 1.0), "unrelated": ()}, 3, "smallest lead 0.000"),
    ],
)
def test_one_fails_and_says_by_how_much(given, broken, figure):
    made = sentences([trial(), trial("two", **given)])
    assert [one.met for one in made] == [number != broken for number in range(4)]
    assert made[broken].held == made[broken].of - 1 and made[broken].figure == figure


def test_trials_of_two_bricks():
    told = []
    made = trials(ready(untrained()), {"long": brick(1.9), "short": brick(1.3)}, told.append)
    assert [one.name for one in made] == told == ["long", "short"]
    assert [one for one in made if not (one.clean == 5 and len(one.noise) == len(NOISES) and len(one.unrelated) == 1)] == []
    assert set(made[0].damage) == set(KINDS) and {len(scores) for scores in made[0].damage.values()} == {4}


def test_five_references_of_kinds_that_training_leaves_out():
    made = references(7)
    assert len(made) == 5 and {name.split()[0] for name in made} == set(HELD_OUT)

"""Procedural subjects: damage of any strength, targets by rank, and files that outlive a kill."""

import numpy as np
import pytest

from evaluation.metrics.mesh.locase import procedural
from evaluation.metrics.mesh.locase.procedural import HELD_OUT, KINDS, PAIRS, Procedural, effective, keep, ranked, read, simulated
from evaluation.synthetic import meshes
from evaluation.synthetic.distortions import KINDS as DAMAGES
from tests.support.evaluation.metrics.mesh.locase.simulated import subjects


def test_targets_are_ranks_at_equal_steps_with_unrelated_meshes_further_off():
    levels = np.array([2.0, 0.1, np.inf, 1.0, 0.0, np.inf, 3.0])
    assert ranked(levels).tolist() == pytest.approx([5 - 8 / 6, 5, 1, 5 - 4 / 6, 5, 1, 3])
    assert ranked(np.array([1.0, np.inf])).tolist() == pytest.approx([4, 1]), "what is seen has less than 5 even where nothing is unseen"


def test_deviations_stand_for_levels():
    assert [effective(value) for value in (0.0, 0.35, 1.3)] == [0, 2, 4] and effective(1.9) == pytest.approx(5)


def test_a_subject_has_every_damage_from_a_ten_thousandth_of_noise_up():
    made = simulated(3, 5)
    assert (made.name, made.group, len(made.samples)) == (f"{KINDS[3]} 3", KINDS[3], PAIRS)
    names = {sample.name.split()[0] for sample in made.samples}
    assert names >= {*DAMAGES, "subdivided", "unrelated"}
    noise = sorted((float(sample.name.split()[1]), sample.score) for sample in made.samples if sample.name.startswith("noise"))
    assert 1e-4 <= noise[0][0] < 3e-4 and noise[0][1] == 5 > noise[-1][1]
    assert [score for _, score in noise] == sorted((score for _, score in noise), reverse=True)
    scores = {sample.name.split()[0]: sample.score for sample in made.samples}
    assert scores["unrelated"] == 1 and scores["subdivided"] == 5
    assert len(made.reference.points) <= 512 and simulated(3, 5).samples[7].score == made.samples[7].score


def test_some_kinds_are_left_for_measuring():
    assert set(HELD_OUT) | set(KINDS) == set(meshes.KINDS) and not set(HELD_OUT) & set(KINDS)


def test_a_subject_comes_back_from_its_file(tmp_path):
    made = subjects()[0]
    keep(tmp_path / "one.npz", made)
    again = read(tmp_path / "one.npz")
    assert (again.name, again.group, again.how) == (made.name, made.group, made.how)
    assert [(sample.name, sample.score) for sample in again.samples] == [(sample.name, sample.score) for sample in made.samples]
    assert np.allclose(again.reference.points, made.reference.points, atol=1e-6)
    assert np.array_equal(again.samples[1].points.weights, made.samples[1].points.weights)


def test_what_is_kept_is_not_made_again(tmp_path, monkeypatch):
    for number in range(2):
        keep(tmp_path / f"{number:05}.npz", subjects()[number])
    monkeypatch.setattr(procedural, "_make", None)
    with Procedural(2, 0, tmp_path) as kept:
        assert len(kept) == 2 and [one.name for one in kept] == ["brick 0", "brick 1"]

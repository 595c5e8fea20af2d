"""Procedural meshes: closed, turned outwards, of the promised size, fixed by kind and seed."""

from collections import Counter

import numpy as np
import pytest

from evaluation.synthetic.meshes import KINDS, MAX_VERTICES, MIN_VERTICES, mesh, meshes
from evaluation.synthetic.surfaces import volume
from submissions.manifest import ITEM_ID


def sides(faces: np.ndarray) -> np.ndarray:
    return faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_an_object_is_a_closed_surface_of_the_promised_size(kind, seed):
    made = mesh(kind, seed)
    assert made.vertices.dtype == np.float64 and made.faces.dtype == np.int64 and made.face_colours is None
    assert MIN_VERTICES <= len(made.vertices) <= MAX_VERTICES and np.isfinite(made.vertices).all()
    assert np.array_equal(np.unique(made.faces), np.arange(len(made.vertices)))
    low, high = made.vertices.min(axis=0), made.vertices.max(axis=0)
    assert (high - low).max() == pytest.approx(1) and low + high == pytest.approx(0, abs=1e-12)
    there, back = Counter(map(tuple, sides(made.faces).tolist())), Counter(map(tuple, sides(made.faces)[:, ::-1].tolist()))
    assert there == back  # every side is run through once in each direction: no hole, no flipped face
    assert volume(made.vertices, made.faces) > 0.005


@pytest.mark.parametrize("kind", KINDS)
def test_no_face_is_degenerate(kind):
    made = mesh(kind, 7)
    a, b, c = made.vertices[made.faces].transpose(1, 0, 2)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).min() > 1e-9


def test_there_are_at_least_twelve_kinds_and_they_differ():
    assert len(KINDS) >= 12
    spread = {kind: tuple(np.sort(np.linalg.eigvalsh(np.cov(mesh(kind, 1).vertices.T))).round(3)) for kind in KINDS}
    assert len(set(spread.values())) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_varies_with_its_seed_and_only_with_it(kind):
    first, again = mesh(kind, 3), mesh(kind, 3)
    assert np.array_equal(first.vertices, again.vertices) and np.array_equal(first.faces, again.faces)
    assert len({mesh(kind, seed).vertices.tobytes() for seed in range(4)}) == 4


def test_meshes_come_in_all_kinds_in_turn_under_plain_ids():
    made = meshes(18, seed=2)
    assert list(made) == [f"mesh_{number:02}" for number in range(1, 19)]
    assert [name for name in made if not ITEM_ID.fullmatch(name)] == []
    assert len({item.vertices.tobytes() for item in made.values()}) == 18


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="no mesh of kind 'teapot'; kinds are superquadric, "):
        mesh("teapot", 0)

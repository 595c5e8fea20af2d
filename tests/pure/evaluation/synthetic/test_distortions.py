"""Damage to meshes: deterministic, sound for any input, and of the size that is asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.synthetic import distortions
from evaluation.synthetic.distortions import KINDS, LEVELS, distort, generator
from evaluation.synthetic.meshes import mesh
from evaluation.synthetic.surfaces import box, volume
from submissions.formats.arrays import Mesh
from tests.support.examples import examples

CUBE = Mesh(*box((0, 0, 0), (1, 1, 1), 0.1))


@st.composite
def any_mesh(draw: st.DrawFn) -> Mesh:
    """Small meshes with everything that can be odd: repeats, flat faces, unused vertices, points at one place."""
    n = draw(st.integers(1, 12))
    places = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.5]), st.floats(-1e7, 1e7, allow_nan=False))
    vertices = draw(st.lists(st.tuples(places, places, places), min_size=n, max_size=n))
    corner = st.integers(0, n - 1)
    faces = draw(st.lists(st.tuples(corner, corner, corner), min_size=1, max_size=16))
    colours = np.arange(3 * len(faces), dtype=np.uint8).reshape(-1, 3) if draw(st.booleans()) else None
    return Mesh(np.array(vertices, dtype=np.float64), np.array(faces, dtype=np.int64), colours)


@examples(300)
@given(any_mesh(), st.sampled_from(KINDS), st.sampled_from(LEVELS), st.integers(0, 5))
def test_any_mesh_stays_a_mesh_and_the_same_twice(source, kind, level, seed):
    before = source.vertices.copy(), source.faces.copy()
    made, again = distort(source, kind, level, seed), distort(source, kind, level, seed)
    assert made.vertices.dtype == np.float64 and made.faces.dtype == np.int64 and made.faces.shape[1] == 3
    assert len(made.faces) >= 1 and np.isfinite(made.vertices).all()
    assert made.faces.min() >= 0 and made.faces.max() < len(made.vertices)
    assert (made.face_colours is None) == (source.face_colours is None)
    assert made.face_colours is None or len(made.face_colours) == len(made.faces)
    assert np.array_equal(made.vertices, again.vertices) and np.array_equal(made.faces, again.faces)
    assert np.array_equal(before[0], source.vertices) and np.array_equal(before[1], source.faces)


@pytest.mark.parametrize("kind", KINDS)
def test_a_level_is_worse_than_the_one_before(kind):
    from evaluation.synthetic.pseudo_scores import Judge

    for source in (mesh("gear", 3), mesh("knot", 3)):
        judge = Judge(source)
        found = [judge.deviation(distort(source, kind, level, 1)) for level in LEVELS]
        assert found == sorted(found) and found[0] > 0.02 and found[-1] > 2 * found[0]


def test_noise_has_the_asked_spread_and_quantisation_the_asked_step():
    noisy = distortions.add_noise(CUBE, 0.01, generator("test"))
    assert (noisy.vertices - distortions.welded(CUBE).vertices).std() == pytest.approx(0.01 * 3**0.5, rel=0.05)
    stepped = distortions.quantise(CUBE, 0.25 / 3**0.5)
    assert np.allclose(stepped.vertices * 4, np.round(stepped.vertices * 4)) and len(stepped.vertices) == 98
    assert volume(stepped.vertices, stepped.faces) == pytest.approx(1)


def test_holes_take_the_asked_share_of_the_area():
    left = distortions.punch_holes(CUBE, 0.2, generator("test"))
    assert distortions.face_areas(left).sum() == pytest.approx(0.8 * 6, abs=0.02)


def test_decimation_keeps_about_the_asked_share_of_the_vertices():
    less = distortions.decimate(CUBE, 0.25)
    assert len(less.vertices) == pytest.approx(0.25 * len(CUBE.vertices), rel=0.1)


def test_smoothing_rounds_the_corners_and_lets_soup_stay_whole():
    smooth = distortions.smooth(CUBE, 10)
    assert 0.75 < volume(smooth.vertices, smooth.faces) < 0.9
    again = distortions.smooth(distortions.soup(CUBE), 10)
    assert len(again.vertices) == len(smooth.vertices) and volume(again.vertices, again.faces) == pytest.approx(
        volume(smooth.vertices, smooth.faces)
    )


def test_bumps_leave_most_of_the_surface_where_it_is():
    bumped = distortions.bump(mesh("rock", 1), 0.03, generator("test"))
    moved = np.linalg.norm(bumped.vertices - distortions.welded(mesh("rock", 1)).vertices, axis=1)
    assert np.median(moved) < 0.02 < moved.max()


def test_subdivision_and_soup_keep_the_surface():
    source = mesh("star", 2)
    finer, loose = distortions.subdivide(source), distortions.soup(source)
    for other in (finer, loose):
        assert distortions.face_areas(other).sum() == pytest.approx(distortions.face_areas(source).sum())
        assert volume(other.vertices, other.faces) == pytest.approx(volume(source.vertices, source.faces))
    assert len(finer.faces) == 4 * len(source.faces) and len(finer.vertices) == len(source.vertices) + len(source.faces) * 3 // 2
    assert len(loose.vertices) == 3 * len(source.faces)


def test_strays_move_about_the_asked_share_of_the_vertices():
    strewn = distortions.stray(CUBE, 0.3, generator("test"))
    assert (strewn.vertices != CUBE.vertices).any(axis=1).mean() == pytest.approx(0.3, abs=0.06)


def test_unknown_kinds_and_levels_are_refused():
    with pytest.raises(ValueError, match="no distortion 'rust'; there are smoothing, noise"):
        distort(CUBE, "rust", 1)
    with pytest.raises(ValueError, match="no level 5"):
        distort(CUBE, "noise", 5)


@pytest.mark.parametrize("kind", KINDS)
def test_strengths_of_levels_stand_for_them_and_others_lie_between_and_beyond(kind):
    strengths = distortions._STRENGTHS[kind][1]
    assert [distortions.level(kind, strength) for strength in strengths] == [1, 2, 3, 4]
    none = 1.0 if kind == "decimation" else 0.0
    assert distortions.level(kind, none) == 0 and 0 < distortions.level(kind, (none + strengths[0]) / 2) < 1
    assert distortions.level(kind, strengths[3] ** 2 / strengths[2]) == pytest.approx(5)


def test_a_strength_between_two_levels_does_damage_between_them():
    source = mesh("rock", 1)
    still = distortions.welded(source).vertices
    noisy = [distortions.damage(source, "noise", strength, np.random.default_rng(0)) for strength in (1e-4, 1e-3, 1e-2)]
    moved = [np.abs(mesh_.vertices - still).mean() for mesh_ in noisy]
    assert moved[1] == pytest.approx(10 * moved[0]) and moved[2] == pytest.approx(10 * moved[1])

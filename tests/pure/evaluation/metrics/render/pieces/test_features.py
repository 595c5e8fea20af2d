"""The dictionary against SciPy's k-means, a whitening by hand, and features that are computed without any shortcut.

The whitening by moves: what differs between a cell and itself a step aside has one length in every direction.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from scipy.cluster.vq import kmeans2
from scipy.linalg import inv, sqrtm
from scipy.ndimage import gaussian_filter, map_coordinates

from evaluation.metrics.render.pieces.features import ATOMS, ROUNDS, Dictionary, Whitening, grid, moved_from, pooling
from evaluation.metrics.seeds import generator
from tests import ROOT
from tests.support.evaluation.metrics.render.pieces import rooms


@pytest.fixture(scope="module")
def pictures():
    return rooms.views(2, 96, 112)


@pytest.fixture(scope="module")
def learnt(pictures):
    return Dictionary.learn(pictures, generator("test"))


@pytest.mark.filterwarnings("ignore:One of the clusters is empty")
def test_whitening_and_centroids_are_those_of_other_code(pictures, learnt):
    rng, drawn = generator("test"), []
    for picture in pictures:
        rows, columns = rng.integers(0, 112 - 5, 3000), rng.integers(0, 96 - 5, 3000)
        drawn += [
            picture[row : row + 6, column : column + 6].transpose(2, 0, 1).ravel() / 255 for row, column in zip(rows, columns, strict=True)
        ]
    patches = np.array(drawn)
    whitener = inv(sqrtm(np.cov(patches.T, ddof=0) + 1e-3 * np.eye(108)))
    assert (
        learnt.mean == pytest.approx(patches.mean(axis=0), abs=1e-6)
        and np.abs(learnt.whitener - whitener).max() < 1e-4 * np.abs(whitener).max()
    )
    whitened = (patches - patches.mean(axis=0)) @ whitener
    atoms = whitened[rng.choice(6000, ATOMS, replace=False)]
    for _ in range(ROUNDS):
        atoms, nearest = kmeans2(whitened, atoms, iter=1, minit="matrix")
        atoms[np.bincount(nearest, minlength=ATOMS) == 0] = 0
    assert np.abs(learnt.atoms - atoms).max() < 1e-3


def test_a_centroid_that_is_left_empty_becomes_zero():
    flat = Dictionary.learn([np.full((96, 96, 3), 70, dtype=np.uint8)], generator("test"))
    assert np.abs(flat.atoms).max() < 1e-4 and np.isfinite(flat.whitener).all()
    assert np.isfinite(flat.cells(np.zeros((96, 96, 3), dtype=np.uint8))).all()


@pytest.mark.parametrize("size", [(96, 112), (103, 117)])
def test_features_are_those_of_the_definition(learnt, size):
    width, height = size
    picture = rooms.views(1, width, height, seed=8)[0]
    image, (h, w) = picture / 255, grid(width, height)
    windows = [[image[r : r + 6, c : c + 6].transpose(2, 0, 1).ravel() for c in range(0, width - 5, 2)] for r in range(0, height - 5, 2)]
    whitened = (np.array(windows) - learnt.mean) @ learnt.whitener.astype(np.float64)
    distance = np.linalg.norm(whitened[:, :, None] - learnt.atoms, axis=3)
    active = np.maximum(distance.mean(axis=2, keepdims=True) - distance, 0)
    red, green, blue = image.transpose(2, 0, 1)
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    centres = np.mgrid[0:h, 0:w] * 16 + 7.5
    wanted = [
        map_coordinates(gaussian_filter(one, 3, truncate=3), (centres - 2.5) / 2, order=1).ravel() for one in active.transpose(2, 0, 1)
    ]
    for colour in (luma, (blue - luma) / 1.772, (red - luma) / 1.402):
        wanted.append(map_coordinates(gaussian_filter(colour, 6, truncate=3), centres, order=1).ravel())
    found = learnt.cells(picture)
    assert found.dtype == np.float64 and found.shape == (h * w, 131) and np.abs(found - np.array(wanted).T).max() < 1e-7


MACHINES = ({"OPENBLAS_NUM_THREADS": "1"}, {"OPENBLAS_NUM_THREADS": "2"}, {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"})


def test_other_machines_find_the_same(tmp_path):
    """Flat walls make centroids that are equally near, between which the last digits of a machine once decided."""
    code = (
        "import sys, numpy as np\n"
        "from evaluation.metrics.render.pieces.features import Features, Views\n"
        "from submissions.formats.render.views import render\n"
        "from tests.support.evaluation.metrics.render.pieces import rooms\n"
        "pictures = [np.where(one > 128, one, 90).astype(np.uint8) for one in rooms.views(3, 112, 96)]\n"
        "features, raw = Features.fit(Views([render(one) for one in pictures]), 'dictionary')\n"
        "np.save(sys.argv[1], features(pictures[1]))\n"
    )
    found = []
    for number, machine in enumerate(MACHINES):
        path = tmp_path / f"{number}.npy"
        subprocess.run([sys.executable, "-c", code, str(path)], check=True, cwd=ROOT, env={**os.environ, **machine})
        found.append(np.load(path))
    scale = np.abs(found[0]).max()
    assert [float(np.abs(one - found[0]).max() / scale) for one in found] == pytest.approx([0.0] * len(found), abs=1e-6)


def test_pooling_shares_out_each_cell():
    assert pooling(6, 46, 2.5, 2).sum(axis=1) == pytest.approx(1) and pooling(6, 97, 0.0, 1).sum(axis=1) == pytest.approx(1)


def test_the_same_views_give_the_same_dictionary(pictures, learnt):
    again = Dictionary.learn(pictures, generator("test"))
    assert [name for name in ("mean", "whitener", "atoms") if not np.array_equal(getattr(again, name), getattr(learnt, name))] == []
    assert learnt.cells(pictures[1]).tobytes() == again.cells(pictures[1]).tobytes()


def colours(pixels):
    """float32[h · w, 3]: the mean colour of each cell."""
    rows, columns = pixels.shape[0] // 16, pixels.shape[1] // 16
    return pixels[: rows * 16, : columns * 16].reshape(rows, 16, columns, 16, 3).mean(axis=(1, 3)).reshape(-1, 3).astype(np.float32)


def test_equals_the_definition_by_hand():
    picture = np.random.default_rng(0).integers(0, 256, (130, 260, 3)).astype(np.uint8)
    features = colours(picture)
    found = Whitening.fit(features, [picture], colours, 0.0)
    rows, columns = 8, 16
    inner = np.zeros((rows, columns), dtype=bool)
    inner[2:-2, 2:-2] = True
    centre = np.zeros((rows, columns), dtype=bool)
    centre[:, 1:15] = True
    deviation = features.astype(np.float64).std(axis=0) + 1e-6
    near = picture[5:125, 9:250]
    assert near.shape[:2] == (round(130 / 1.08), round(260 / 1.08))
    enlarged = np.asarray(Image.fromarray(near).resize((260, 130), Image.Resampling.BICUBIC))
    copies = [(np.roll(np.roll(picture, down, 0), right, 1), inner) for down, right in ((4, -6), (-7, 3))] + [(enlarged, centre)]
    z = np.concatenate([(colours(copy) - features)[where.ravel()] for copy, where in copies]) / deviation
    values, vectors = np.linalg.eigh(z.T @ z / len(z))
    matrix = vectors @ np.diag(1 / np.sqrt(values + 0.3 * values.mean()))
    assert np.abs(found.matrix) == pytest.approx(np.abs(matrix), rel=1e-4)
    assert found.step == pytest.approx(np.median(np.linalg.norm(z @ matrix, axis=1)), rel=1e-5)
    assert found(features) == pytest.approx(((features - features.mean(axis=0)) / deviation) @ found.matrix, abs=1e-3)


def test_no_deviation_is_far_below_the_others():
    picture = np.random.default_rng(0).integers(0, 256, (130, 260, 3)).astype(np.uint8)
    picture[..., 1] = 9
    features = colours(picture)
    median = np.median(features.astype(np.float64).std(axis=0) + 1e-6)
    assert Whitening.fit(features, [picture], colours, 0.01).deviation[1] == pytest.approx(0.01 * median, rel=1e-6)
    assert Whitening.fit(features, [picture], colours, 0.0).deviation[1] == pytest.approx(1e-6, rel=1e-6)


def test_pictures_in_which_nothing_differs_are_whitened_by_nothing():
    flat = np.full((96, 96, 3), 9, dtype=np.uint8)
    found = Whitening.fit(colours(flat), [flat], colours, 0.01)
    assert found.step == 0 and np.isfinite(found(colours(flat))).all()


def test_about_eight_views_are_moved():
    assert (
        list(moved_from(4)) == [0, 1, 2, 3]
        and list(moved_from(36)) == list(range(0, 36, 4))
        and list(moved_from(17)) == list(range(0, 17, 2))
    )

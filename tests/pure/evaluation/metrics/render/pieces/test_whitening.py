"""The whitening by moves: what differs between a cell and itself a step aside has one length in every direction."""

import numpy as np
import pytest
from PIL import Image

from evaluation.metrics.render.pieces.whitening import Whitening, moved_from


def colours(pixels):
    """float32[h · w, 3]: the mean colour of each cell."""
    rows, columns = pixels.shape[0] // 16, pixels.shape[1] // 16
    return pixels[: rows * 16, : columns * 16].reshape(rows, 16, columns, 16, 3).mean(axis=(1, 3)).reshape(-1, 3).astype(np.float32)


def test_equals_the_definition_by_hand():
    picture = np.random.default_rng(0).integers(0, 256, (130, 260, 3)).astype(np.uint8)
    features = colours(picture)
    found = Whitening.fit(features, [picture], colours)
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


def test_pictures_in_which_nothing_differs_are_whitened_by_nothing():
    flat = np.full((96, 96, 3), 9, dtype=np.uint8)
    found = Whitening.fit(colours(flat), [flat], colours)
    assert found.step == 0 and np.isfinite(found(colours(flat))).all()


def test_about_eight_views_are_moved():
    assert (
        list(moved_from(4)) == [0, 1, 2, 3]
        and list(moved_from(36)) == list(range(0, 36, 4))
        and list(moved_from(17)) == list(range(0, 17, 2))
    )

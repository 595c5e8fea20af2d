"""The picture of a map: its ends, its order for every eye, and what it refuses."""

import numpy as np
import pytest

from evaluation.metrics.render.puzzlesim import metric
from evaluation.metrics.render.puzzlesim.picture import LOW, SCALE, legend, picture

# Linear sRGB as people without one of the three cones see it (Viénot, Brettel, Mollon, 1999).
BLIND = {
    "protan": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deutan": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}


def linear(colours):
    values = colours / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lightness(colours):
    return np.cbrt(np.clip(linear(colours) @ [0.2126, 0.7152, 0.0722], 0, None))


def test_the_ends_of_the_scale_and_beyond():
    found = picture(np.array([[0.1, 0.6, 0.8, 1.0, 1.2]]))
    assert found.dtype == np.uint8 and found.shape == (1, 5, 4)
    assert found[0, 0].tolist() == found[0, 1].tolist() == [0, 34, 78, 217]
    assert found[0, 3].tolist() == found[0, 4].tolist() == [254, 232, 56, 64]
    assert found[0, 2, :3].tolist() == [124, 123, 120]


def test_the_scale_begins_where_the_metric_counts_pixels_as_low():
    assert LOW == metric.LOW


def test_lightness_rises_for_every_eye():
    colours = picture(np.linspace(0.6, 1, 200)[None])[0, :, :3].astype(float)
    steps = np.diff(lightness(colours))
    assert (steps > -0.004).all() and lightness(SCALE[-1:]) - lightness(SCALE[:1]) > 0.5
    for matrix in BLIND.values():
        seen = np.clip(linear(SCALE) @ np.array(matrix).T, 0, 1) @ [0.2126, 0.7152, 0.0722]
        assert (np.diff(seen) > 0).all()


def test_what_is_unlike_covers_more():
    alpha = picture(np.linspace(0, 1, 50)[None])[0, :, 3].astype(int)
    assert (np.diff(alpha) <= 0).all() and alpha[0] > alpha[-1]


def test_the_key_has_the_colours_of_the_picture():
    found = legend(0.0, 1.0, 3)
    assert found == [(0.0, "#00224e"), (0.5, "#7c7b78"), (1.0, "#fee838")]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="must rise"):
        picture(np.zeros((2, 2)), 1.0, 1.0)
    with pytest.raises(ValueError, match="finite"):
        picture(np.array([[np.nan]]))

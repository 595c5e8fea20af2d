"""Colours as bytes, and what is out of range in silence: nobody's log is for a stranger's numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from submissions.formats.mesh.polygons import bytes_of


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([[0.0, 0.5, 1.0]], [[0, 128, 255]]),
        ([[1e308, -1e308, np.nan]], [[255, 0, 0]]),
        ([[0, 128, 255]], [[0, 128, 255]]),
        ([[-1, 256, 2**62]], [[0, 255, 255]]),
    ],
)
def test_shares_and_whole_numbers_become_bytes_and_the_rest_is_cut_off_without_a_warning(given, shown):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bytes_of(np.array(given)).tolist() == shown

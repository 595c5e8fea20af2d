import numpy as np
import pytest

from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.result import Status
from submissions.formats.render.views import CleanViews, Roi, View, encoded, render

Y, X = np.mgrid[0:16, 0:20]
PIXELS = np.stack([X * 12, Y * 15, (X + Y) * 7], axis=-1).astype(np.uint8)
IMAGE = render(PIXELS)
MASK = X < 5
VIEW = View(IMAGE, 20, 16, mask=encoded(np.where(MASK, 255, 0).astype(np.uint8)), rois=(Roi(1, 2, 5, 9, "chair"),))


def test_images_come_back_as_they_were_put_in():
    pair = RenderPair.of(IMAGE, VIEW)
    assert np.array_equal(pair.pred, PIXELS) and np.array_equal(pair.ref, PIXELS)
    assert pair.pred.dtype == np.uint8 and pair.pred is pair.pred
    assert np.array_equal(pair.ref_float, PIXELS / 255) and pair.pred_float.dtype == np.float64
    assert np.array_equal(pair.mask, MASK)
    assert pair.rois == (Roi(1, 2, 5, 9, "chair"),) and pair.clean is None
    assert pair.not_alike is None and pair.missing is None and pair.flags == ()


def test_a_missing_render_is_missing_for_every_metric():
    pair = RenderPair.of(None, VIEW)
    assert pair.not_alike.status == pair.missing.status == Status.MISSING_PRED


def test_another_size_is_a_mismatch_and_never_an_error():
    pair = RenderPair.of(render(PIXELS[:, :10]), VIEW)
    assert pair.not_alike.status == pair.missing.status == Status.SIZE_MISMATCH


def test_without_a_reference_image_only_what_needs_none_has_a_value():
    clean = CleanViews((IMAGE,), "00" * 32)
    pair = RenderPair.of(render(PIXELS[:, :10]), View(None, clean=clean))
    assert pair.mask is None and pair.clean is clean
    assert (pair.not_alike.value, pair.not_alike.status) == (None, Status.NOT_APPLICABLE)
    assert pair.missing is None, "any size will do where none is asked for"
    assert RenderPair.of(render(PIXELS), View(None, 10, 16)).missing.status == Status.SIZE_MISMATCH


def test_a_render_that_was_resized_says_so():
    assert RenderPair.of(render(PIXELS, resized=True), VIEW).flags == ("resized",)


def test_work_on_the_reference_is_kept_in_what_was_prepared():
    kept = {}
    pair = RenderPair.of(IMAGE, VIEW, prepared=kept)
    (mean,) = pair.reference_once("mean", lambda: (pair.ref_float.mean(axis=(0, 1)),))
    again = RenderPair.of(None, VIEW, prepared=kept)
    assert again.reference_once("mean", lambda: pytest.fail("computed twice"))[0] is mean


def test_a_unit_that_is_no_length_is_an_error():
    with pytest.raises(ValueError, match="unit_scale"):
        RenderPair.of(IMAGE, VIEW, unit_scale=0)


def test_a_stored_image_of_another_size_than_is_said_is_an_error():
    with pytest.raises(ValueError, match="stored image"):
        type(IMAGE)(IMAGE.png, 19, 16).pixels()

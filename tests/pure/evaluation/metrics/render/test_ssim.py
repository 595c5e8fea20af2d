import numpy as np
import pytest

from evaluation.metrics.registry import REGISTRY
from evaluation.metrics.render.ssim import similarity
from evaluation.metrics.result import Status
from tests.support.evaluation import official
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.examples import A, B, C, blurred, noisy, pair
from tests.support.evaluation.metrics.render.pictures import blobs

ssim = with_defaults("ssim")
ssim_mask = with_defaults("ssim@mask")

PICTURE = blobs(48, 64)


def test_worked_examples():
    assert similarity(A, B).mean() == pytest.approx(0.9815727, abs=1e-7)
    assert similarity(A, C).mean() == pytest.approx(0.0846625, abs=1e-7)
    flat = np.full((16, 16, 3), 0.5)
    assert similarity(flat, flat + 0.1).mean() == pytest.approx(0.9836092, abs=1e-7)
    assert similarity(A, A).shape == (6, 6)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_image(seed):
    metrics = pytest.importorskip("skimage.metrics", reason="scikit-image is not installed (tests/requirements-peers.txt)")
    one, other = blobs(40, 57, seed), noisy(blobs(40, 57, seed), 25, seed)
    given = {"channel_axis": 2, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 1.0}
    theirs = metrics.structural_similarity(one / 255, other / 255, **given)
    assert ssim(pair(other, one)).value == pytest.approx(theirs, abs=1e-7)
    assert similarity(A, C).mean() == pytest.approx(metrics.structural_similarity(A, C, **given), abs=1e-12)


def test_agrees_with_torchmetrics_where_the_window_fits():
    """torchmetrics 1.9 reflects the image at its edges and counts the border too."""
    functional = official.with_torchvision("torchmetrics.functional.image")
    import torch

    planes = [torch.tensor(image.transpose(2, 0, 1)[None] / 255) for image in (noisy(PICTURE, 30), PICTURE)]
    _, theirs = functional.structural_similarity_index_measure(*planes, data_range=1.0, return_full_image=True)
    assert ssim(pair(noisy(PICTURE, 30), PICTURE)).value == pytest.approx(float(theirs[..., 5:-5, 5:-5].mean()), abs=1e-7)


def test_the_metrics_page_says_what_others_give_for_the_same_images():
    """Both figures that stand there, on pictures of the size of the suite's."""
    functional = official.with_torchvision("torchmetrics.functional.image")
    metrics = pytest.importorskip("skimage.metrics", reason="scikit-image is not installed (tests/requirements-peers.txt)")
    import torch

    assert "3·10⁻¹³" in REGISTRY["ssim"].doc and "0.007" in REGISTRY["ssim"].doc
    for seed in range(3):
        one, other = blobs(144, 192, seed) / 255, noisy(blobs(144, 192, seed), 25, seed) / 255
        ours = similarity(other, one).mean()
        given = {"channel_axis": 2, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 1.0}
        assert ours == pytest.approx(metrics.structural_similarity(one, other, **given), abs=3e-13)
        planes = [torch.tensor(image.transpose(2, 0, 1)[None]) for image in (other, one)]
        theirs = float(functional.structural_similarity_index_measure(*planes, data_range=1.0))
        assert 1e-6 < abs(ours - theirs) <= 0.007, "another value, but not far off"


def test_by_hand_at_one_place():
    """The definition written out for the only place where the window fits into an 11×11 image."""
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 11, 11, 3))
    offsets = np.arange(-5, 6)
    window = np.exp(-(offsets[:, None] ** 2 + offsets[None] ** 2) / (2 * 1.5**2))[..., None]
    window /= window[..., 0].sum()
    mx, my = (window * x).sum((0, 1)), (window * y).sum((0, 1))
    vx, vy, vxy = (window * (x - mx) ** 2).sum((0, 1)), (window * (y - my) ** 2).sum((0, 1)), (window * (x - mx) * (y - my)).sum((0, 1))
    expected = ((2 * mx * my + 1e-4) * (2 * vxy + 9e-4) / ((mx**2 + my**2 + 1e-4) * (vx + vy + 9e-4))).mean()
    assert similarity(x, y) == pytest.approx(np.array([[expected]]), abs=1e-12)


def test_alike_is_one_and_both_ways_are_alike():
    assert ssim(pair(PICTURE, PICTURE)).value == pytest.approx(1.0, abs=1e-12)
    assert ssim(pair(noisy(PICTURE, 9), PICTURE)).value == ssim(pair(PICTURE, noisy(PICTURE, 9))).value
    assert ssim(pair(255 - PICTURE, PICTURE)).value < 0


def test_smaller_than_the_window_does_not_apply():
    small = PICTURE[:10]
    for metric in (ssim, ssim_mask):
        assert metric(pair(small, small, np.ones(small.shape[:2], bool))).status == Status.NOT_APPLICABLE
        assert metric(pair(None, small)).value is None
    assert ssim(pair(PICTURE[:11], PICTURE[:11])).value == pytest.approx(1.0)
    with pytest.raises(ValueError, match="at least 11 px"):
        similarity(np.zeros((10, 30, 3)), np.zeros((10, 30, 3)))


def test_the_mask_counts_where_the_window_fits():
    mask = np.zeros(PICTURE.shape[:2], bool)
    mask[20:30, 20:40] = True
    spoilt = PICTURE.copy()
    spoilt[:, 50:] = 0  # more than 5 px away from the mask
    assert ssim(pair(spoilt, PICTURE, mask)).value < 0.95
    assert ssim_mask(pair(spoilt, PICTURE, mask)).value == pytest.approx(1.0)
    mean = similarity(spoilt / 255, PICTURE / 255)[mask[5:-5, 5:-5]].mean()
    assert ssim_mask(pair(spoilt, PICTURE, mask)).value == pytest.approx(mean, abs=1e-12)
    border = np.zeros_like(mask)
    border[:5] = True
    assert ssim_mask(pair(spoilt, PICTURE, border)).status == Status.EMPTY_MASK
    assert ssim_mask(pair(None, PICTURE, mask)).status == Status.MISSING_PRED


@pytest.mark.parametrize("damage", [blurred, noisy])
def test_more_damage_is_worse(damage):
    amounts = [ssim(pair(damage(PICTURE, amount), PICTURE)).value for amount in (1, 2, 4, 8)]
    assert amounts == sorted(amounts, reverse=True) and len(set(amounts)) == 4

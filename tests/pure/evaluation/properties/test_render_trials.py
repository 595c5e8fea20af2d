"""The trials of renders: which pairs they are, and what the metrics are found to satisfy on a few."""

from itertools import pairwise

import pytest

from evaluation.metrics import registry
from evaluation.models.sanity_tests import is_measurable
from evaluation.properties import measure, render_trials, suite
from evaluation.properties.suite import Dataset
from submissions.formats.render.views import encoded


@pytest.fixture(scope="module")
def models():
    return render_trials.models(3)


@pytest.fixture(scope="module")
def trials(models):
    return render_trials.all_trials("room_000", models)


@pytest.fixture
def x(models):
    return models["room_000"]


@pytest.fixture
def found(trials):
    """The pairs of one test's trial."""

    def pairs(test):
        (trial,) = [trial for trial in trials if test in trial.tests]
        return trial.pairs

    return pairs


def test_the_trials_answer_the_tests_of_renders_in_their_order(trials):
    assert [test for trial in trials for test in trial.tests] == [test.id for test in suite.tests_of("render")]


def test_a_model_is_a_view_that_is_one_of_its_clean_views_with_a_mask_and_objects(x):
    view = x.view
    assert view.clean.images[0].png == view.image.png == encoded(x.image) and len(view.clean.images) == 4
    assert 0.4 < view.mask_pixels().mean() < 0.6 and len(view.rois) == len(x.boxes) > 0
    other = x.with_image(255 - x.image).view
    assert other.clean.images[0].png == other.image.png != view.image.png and other.clean.images[1:] == view.clean.images[1:]


@pytest.mark.parametrize("test", [test.id for test in suite.tests_of("render") if test.id.startswith("mono")])
def test_each_step_is_further_from_the_original(found, x, test):
    pairs = found(test)
    assert pairs[0] == (x, x) and [reference for _, reference in pairs if reference is not x] == [] and len(pairs) == 6
    off = [((model.image.astype(float) - x.image) ** 2).mean() for model, _ in pairs]
    assert off[0] == 0 and [(before, after) for before, after in pairwise(off) if not after > before] == []


def test_symmetry_and_triangles_use_noise_of_eight_levels_and_a_shift_by_a_tenth_of_the_diagonal(found, x):
    noisy, shifted = found("symmetry_0mean")[0][0], found("symmetry_shift")[0][0]
    offset = noisy.image.astype(float) - x.image
    assert abs(offset.mean()) < 0.3 and 3 < offset.std() < 6
    assert (shifted.image[17:, 17:] == noisy.image[:-17, :-17]).all(), "17 px each way are 24 of the diagonal's 240"
    (twice, one), (twice_again, once), (once_again, one_again) = found("triangle_add_noise")
    assert one is one_again is x and twice is twice_again and once is once_again


@pytest.mark.parametrize(
    ("key", "params", "fails"),
    [
        ("psnr", {}, set()),
        ("psnr@mask", {}, set()),
        ("puzzlesim_pieces", {}, {"symmetry_shift"}),
    ],
)
def test_metrics_of_renders_are_measured(x, key, params, fails):
    table = measure.run(key, params, {"room_000": x}, Dataset("one", "one view", 1, True))
    assert list(table.tests) == [test.id for test in suite.tests_of("render")] and table.ms_per_sample > 0
    rates = {name: rate.rate for name, rate in table.tests.items()}
    assert rates["near_identity"] == 1.0 and rates["triangle_rand_other"] is None
    assert {name for name in fails if rates[name] == 0.0} == fails and (fails or table.passed == table.of == 12)


def test_a_metric_of_the_whole_set_is_not_asked():
    assert is_measurable(registry.get("osim")) and not is_measurable(registry.get("fid"))
    assert measure.pair_type_of("render") is render_trials.Pair

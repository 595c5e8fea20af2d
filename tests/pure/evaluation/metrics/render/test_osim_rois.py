"""OSIM of marked regions: its cells, its r, what it passes over, and what it shares with OSIM."""

import numpy as np
import pytest
from scipy import ndimage

from evaluation.metrics import registry, scoring
from evaluation.metrics.render import osim
from evaluation.metrics.render.lite0_distance import cosines
from evaluation.metrics.render.osim_rois import inside, likeness
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.pieces.features import Features, Views
from evaluation.metrics.result import Status
from evaluation.metrics.scoring import MetricRequest
from evaluation.synthetic.pictures import noisy
from submissions.formats.render.views import Roi, View, render, with_scenes
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.pieces import rooms

osim_rois = with_defaults("osim_rois")

SIZE = (rooms.WIDTH, rooms.HEIGHT)
LEFT, RIGHT, TINY = Roi(0, 0, 80, 64, "door"), Roi(90.5, 30, 150, 120, "lamp"), Roi(20, 20, 50, 38, "knob")
REQUEST = MetricRequest("regions", "osim_rois", {})
GROUPS = ("wall",) * 3


@pytest.fixture(scope="module")
def pictures():
    return rooms.views(3)


@pytest.fixture(scope="module")
def references(pictures):
    regions = ((LEFT,), (LEFT, RIGHT), (TINY,))
    views = {f"wall/{n}": View(render(one), *SIZE, rois=rois) for n, (one, rois) in enumerate(zip(pictures, regions, strict=True))}
    return with_scenes(views)


def scored(entry, references):
    scores = scoring.score_items(entry, references, [REQUEST])
    return scoring.finish([REQUEST], [scores], list(references), GROUPS[: len(references)])["regions"][0]


def sent(pictures, **changed):
    return {f"wall/{n}": render(changed.get(f"n{n}", one)) for n, one in enumerate(pictures)}


def test_cells_belong_to_a_box_that_holds_their_centre():
    found = np.argwhere(inside(np.array([8, 24, 40, 39.9]), (160, 128)).reshape(8, 10)).tolist()
    assert found == [[1, 0], [1, 1], [1, 2]]
    halved = inside(np.array([0, 0, 64, 32]), (1920, 960))
    assert halved.sum() == 2 and halved.reshape(30, 60)[0, :2].all()


def test_an_entry_that_is_the_reference_has_everything(pictures, references):
    found = scored(sent(pictures), references)
    assert found.values == (1.0, 1.0, 1.0) and found.flags == ((), (), ("small_regions",))
    assert [parts["objects"] for parts in found.parts] == [1, 2, 0]


def test_r_is_the_mean_over_the_cells_of_the_region(pictures, references):
    spoilt = rooms.spoilt(pictures[1])
    pair = RenderPair.of(render(spoilt), references["wall/1"])
    result, seen = osim_rois(pair), likeness(pair, "imagenet").reshape(8, 10)
    (label, *box, confidence, r, s), (_, *_, other, _) = result.partial["objects"]
    assert (label, confidence) == ("door", 1.0) and box == pytest.approx([0, 0, 80, 64])
    assert r == pytest.approx(seen[:4, :5].mean()) and other == pytest.approx(seen[2:8, 6:9].mean()) and r < other and 0 < s <= 1


def test_t_of_a_cell_is_the_mean_of_the_cosines_at_its_centre(pictures, references):
    """Read anew, one cell at a time: feature j of stride s of the picture has its centre at pixel s·j + s − 1."""
    spoilt = rooms.spoilt(pictures[1])
    seen = likeness(RenderPair.of(render(spoilt), references["wall/1"]), "imagenet").reshape(8, 10)
    maps = dict(zip((8, 16), cosines(pictures[1], spoilt, "imagenet", (8, 16)), strict=True))
    for row, column in ((2, 3), (4, 6), (7, 9), (0, 5)):
        read = []
        for stride, found in maps.items():
            y, x = (
                np.clip((16 * place + 7.5 - (stride - 1)) / stride, 0, side - 1)
                for place, side in zip((row, column), found.shape, strict=True)
            )
            read.append(ndimage.map_coordinates(found.numpy().astype(float), [[y], [x]], order=1)[0])
        assert seen[row, column] == pytest.approx(max(0, np.mean(read)), abs=1e-5)
    assert seen.min() >= 0 and likeness(RenderPair.of(render(pictures[1]), references["wall/1"]), "imagenet") == pytest.approx(1)


def test_noise_leaves_an_object_there_and_black_does_not(pictures, references):
    grain = np.random.default_rng(0).normal(size=pictures[1].shape)
    black = np.zeros_like(pictures[1])
    (noisy_r, black_r) = (
        osim_rois(RenderPair.of(render(one), references["wall/1"])).partial["objects"][0][-2]
        for one in (noisy(pictures[1], grain, 8), black)
    )
    assert noisy_r > 0.5 > black_r


def test_version_3_is_by_features_that_are_learnt_from_the_references(pictures, references):
    spoilt = rooms.spoilt(pictures[1])
    before = with_defaults("osim_rois", version=3)(RenderPair.of(render(spoilt), references["wall/1"]))
    features, _ = Features.fit(Views(references["wall/0"].scene), "dictionary")
    apart = np.linalg.norm(features(spoilt).astype(float) - features(pictures[1]), axis=1) / features.whitening.step
    seen = (1 / (1 + apart**2)).reshape(8, 10)
    assert [row[-2] for row in before.partial["objects"]] == pytest.approx([seen[:4, :5].mean(), seen[2:8, 6:9].mean()])
    assert registry.get("osim_rois").at(3).learnt and not registry.get("osim_rois").at(3).networks and not registry.get("osim_rois").learnt


def test_classes_are_weighed_as_in_osim(pictures, references):
    found = scored(sent(pictures, n1=rooms.spoilt(pictures[1])), references)
    objects = [one for parts in found.parts for one in osim.objects_of(parts)]
    assert {one.label for one in objects} == {"door", "lamp"} and found.values[0] == pytest.approx(osim.scene(objects).value)
    assert 0 < found.values[0] < 1 and len(set(found.values)) == 1


def test_views_and_regions_that_are_not_there(pictures, references):
    entry = sent(pictures)
    del entry["wall/1"]
    found = scored(entry, references)
    assert found.values[0] == pytest.approx(scored(sent(pictures, n1=np.zeros_like(pictures[1])), references).values[0], abs=0.1)
    assert found.statuses[1] == Status.MISSING_PRED and 0 < found.values[0] < 1
    bare = with_scenes({f"wall/{n}": View(render(one), *SIZE) for n, one in enumerate(pictures)})
    assert scored(sent(pictures), bare).values == (None,) * 3 and set(scored(sent(pictures), bare).statuses) == {Status.NO_OBJECT}
    small = {"wall/0": View(render(pictures[0][:90]), 160, 90, rois=(LEFT,))}
    assert scored({"wall/0": render(pictures[0][:90])}, small).statuses == (Status.NOT_APPLICABLE,)


def test_without_saliency_labels_count_alike(pictures, references):
    pair = RenderPair.of(render(pictures[0]), references["wall/1"])
    assert {row[-1] for row in osim_rois(pair, saliency="none").partial["objects"]} == {0.0}

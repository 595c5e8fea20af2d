"""The rows of the table, the most telling ones first, and what they share."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from evaluation.metrics import registry, scoring
from evaluation.metrics.result import SampleScores
from evaluation.metrics.tolerance import differences
from evaluation.networks import graphics_card, inference, load
from evaluation.networks.precision import PRECISIONS, PrecisionMissing
from evaluation.work.limited import JobFailed
from submissions.kinds import FAMILIES
from tests.card import material, speed, training
from tests.card.check import Check, Row, Scored
from tests.card.material import DETECTOR


def held(key: str, given: Mapping[str, Any], there: Scored, here: Scored, item_ids: list[str], device: str) -> Row:
    """The row of a column: `there` is the card's side, `here` the processor's."""
    spec, params = registry.get(key), registry.resolve_params(key, given)
    apart = list(differences(here.scores[key], there.scores[key], spec.tolerance_with(params)))
    share = max((one.share for one in apart), default=0.0)
    groups = [FAMILIES[spec.family].group_of(name) for name in item_ids]
    request = scoring.MetricRequest(key, key, params)
    values = []
    for side in (there, here):
        part = {key: SampleScores.from_dict(side.scores[key])}
        values.append(scoring.finish([request], [part], item_ids, groups)[key][1].value)
    devices = there.devices[key]
    off = None if None in values else abs(values[0] - values[1])
    if share > 1:
        (worst, *_) = sorted(apart, key=lambda one: -one.share)
        verdict = f"WRONG: {worst.name} is {worst.found:.2g} off, {worst.allowed:.2g} are allowed"
    elif device not in devices:
        verdict = f"WRONG: it was computed on {' and '.join(devices) or 'no device'}"
    elif None in values or not math.isfinite(values[0]):
        verdict = "WRONG: it has no value"
    elif device == "cuda" and not there.card_bytes:
        verdict = "WRONG: nothing lay in the card's memory"
    else:
        verdict = "right"
    name = " ".join([key, *(f"{name}={value}" for name, value in given.items())])
    return Row(name, verdict, "+".join(devices), there.card_bytes, values[0], off, share, there.seconds[key])


def compared(check: Check, family: str, items: tuple[Any, Any], columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    """A row for each of the columns: computed with a card and without one."""
    there = check.score(check.with_card, family, items, columns)
    here = check.score(check.without, family, items, columns)
    for key, given in columns.items():
        yield held(key, given, there, here, list(items[1]), check.device)


# --- the metrics ---------------------------------------------------------------------------------

BACKBONES = {"squeezenet-imagenet": "squeezenet1_1", "alexnet-imagenet": "alexnet", "vgg16-imagenet": "vgg16"}


def puzzlesim(check: Check) -> Iterator[Row]:
    check.shelf.need(*BACKBONES.values())
    items = material.views(check.count, check.clean, check.size)
    for name in BACKBONES:
        yield from compared(check, "render", items, {"puzzlesim": {"weights": name}})


def pieces(check: Check) -> Iterator[Row]:
    check.shelf.need("squeezenet1_1")
    items = material.views(check.count, check.clean, check.size)
    yield from compared(check, "render", items, {"puzzlesim_pieces": {"features": "squeeze"}})


def lite0(check: Check) -> Iterator[Row]:
    """Metrics on the network whose weights are a Python package, which must be installed."""
    items = material.views(check.count, check.clean, check.size)
    yield from compared(check, "render", items, {"puzzlesim_pieces": {}, "lite0_distance": {}, "osim_rois": {"saliency": "none"}})
    yield from compared(check, "mesh", material.shapes(1), {"mesh_looks": {}})


def osim(check: Check) -> Iterator[Row]:
    detector = "yolox-nano" if check.quick else DETECTOR
    check.shelf.need(detector)
    items = material.views(check.count, 0, check.size)
    # Random weights find objects everywhere or nowhere: the regions that are marked are looked at.
    yield from compared(check, "render", items, {"osim": {"weights": detector, "conf": 1.0, "saliency": "none"}})


def lpips(check: Check) -> Iterator[Row]:
    check.shelf.need(*BACKBONES.values(), "lpips-alex", "lpips-vgg", "lpips-squeeze")
    items = material.views(check.count, 0, check.size)
    for key in ("lpips_alex", "lpips_vgg", "lpips_squeeze"):
        yield from compared(check, "render", items, {key: {}})


def clip(check: Check) -> Iterator[Row]:
    check.shelf.need("clip-vit-b-32")
    yield from compared(check, "render", material.views(check.count, 0, check.size), {"clip_sim": {}})


def fid(check: Check) -> Iterator[Row]:
    check.shelf.need("inception-fid")
    yield from compared(check, "render", material.views(check.count, 0, check.size), {"fid": {}})


def dinov2(check: Check) -> Iterator[Row]:
    # DINOv2 on a picture of 518 px takes a processor ten seconds, so the quick check looks with a smaller network.
    check.shelf.need("squeezenet1_1" if check.quick else "dinov2-vitb14")
    yield from compared(check, "wireframe", material.frames(1), {"wf_learned": {"weights": check.shelf.learned(check.quick)}})


def locase(check: Check) -> Iterator[Row]:
    yield from compared(check, "mesh", material.shapes(1 if check.quick else check.count), {"locase": {}})


def surfaces(check: Check) -> Iterator[Row]:
    # As many samples as are worth a card.
    count = {"n": 4000 if check.quick else 300_000}
    columns = dict.fromkeys(("chamfer_l1", "mesh_fscore", "normal_difference"), count)
    items = material.shapes(1)
    if check.device == "cpu":  # where these metrics are not a card's work: that they are computed is all there is to see
        here = check.score(check.without, "mesh", items, columns)
        yield from (held(key, count, _on(here, "cpu"), here, list(items[1]), "cpu") for key in columns)
    else:
        for key in columns:  # each by itself: metrics of one job share what the card finds
            yield from compared(check, "mesh", items, {key: count})


def _on(scored: Scored, device: str) -> Scored:
    return Scored(scored.scores, {key: [device] for key in scored.devices}, scored.card_bytes, scored.seconds)


# --- other precisions than float32 ---------------------------------------------------------------


def precisions(check: Check) -> Iterator[Row]:
    detector, backbone = DETECTOR, "squeeze" if check.quick else "vgg"
    columns: dict[str, dict[str, Any]] = {
        "puzzlesim": {"weights": "squeezenet-imagenet"},
        f"lpips_{backbone}": {},
        **({} if check.quick else {"osim": {"weights": detector, "conf": 1.0, "saliency": "none"}, "clip_sim": {}}),
    }
    check.shelf.need(*BACKBONES.values(), "lpips-vgg", "lpips-squeeze", "clip-vit-b-32")
    if "osim" in columns:
        check.shelf.need(detector)
    items = material.views(check.count, check.clean, check.size)
    for key, given in columns.items():
        plain, plain_seconds = timed(key, given, items)
        for name in PRECISIONS[1:]:
            label = f"{key} in {name}"
            try:
                found, seconds = timed(key, {**given, "precision": name}, items)
            except PrecisionMissing as error:
                yield Row(label, "right", remark=f"{error} The column is left to others.")
                continue
            off = abs(found - plain)
            close = off <= 0.1 * max(1.0, abs(plain))
            verdict = "right" if close else "WRONG: it is far from float32"
            speed = f"{plain_seconds / seconds:.2f} × float32's speed"
            yield Row(label, verdict, check.device, value=found, off=off, seconds=seconds, remark=speed)


# --- a worker whose card cannot be used ------------------------------------------------------------


def worker(check: Check) -> Iterator[Row]:
    """A part for cards where no card is seen ends at once and computes nothing; where one is, it answers."""
    check.shelf.need("squeezenet1_1", "lpips-squeeze")
    items = material.views(1, 0, (96, 96))
    try:
        check.score(check.without, "render", items, {"lpips_squeeze": {}}, must_be_card=True)
        yield Row("a part for cards without one", "WRONG: it was computed on the processor")
    except JobFailed as error:
        yield Row("a part for cards without one", "right" if error.is_of_card else f"WRONG: it ended with {error.end}", remark=error.detail)
    if check.device == "cuda":
        there = check.score(check.with_card, "render", items, {"lpips_squeeze": {}}, must_be_card=True)
        verdict = "right" if "cuda" in there.devices["lpips_squeeze"] else "WRONG: it was computed elsewhere"
        yield Row("a part for cards with one", verdict, "+".join(there.devices["lpips_squeeze"]), there.card_bytes)


# --- several items at once -----------------------------------------------------------------------


def batches(check: Check) -> Iterator[Row]:
    detector = "yolox-nano" if check.quick else DETECTOR
    check.shelf.need("squeezenet1_1", "lpips-squeeze", detector, *(() if check.quick else ("clip-vit-b-32", "inception-fid")))
    count = 3 if check.quick else 12
    items = material.views(count, 0, check.size)
    osim = {"weights": detector, "conf": 1.0, "saliency": "none"}
    sizes = (count,) if check.quick else (3, 8, count)
    for key, given in {"lpips_squeeze": {}, "osim": osim, **({} if check.quick else {"clip_sim": {}, "fid": {}})}.items():
        alone, _, seconds = in_process(check, key, given, items, 1)
        spec = registry.get(key)
        apart, quickest = [], math.inf
        for size in sizes:
            found, _, took = in_process(check, key, given, items, size)
            apart += differences(alone, found, spec.tolerance_with(registry.resolve_params(key, given)))
            quickest = min(quickest, took)
        share, off = (max((getattr(one, name) for one in apart), default=0.0) for name in ("share", "found"))
        verdict = "right" if share <= 1 else "WRONG: a value depends on what else is in the batch"
        remark = "" if check.quick else f"{seconds / quickest:.2f} × the speed of one at a time"
        sized = f"{key} in batches of {', '.join(map(str, sizes))}"
        yield Row(sized, verdict, check.device, off=off, share=share, seconds=quickest / count, remark=remark)


def out_of_memory(check: Check) -> Iterator[Row]:
    """LPIPS of eight pairs at once where two fit: on a card within a bound that torch keeps, on a processor by errors that are planted."""
    import torch

    check.shelf.need("vgg16", "lpips-vgg", "squeezenet1_1", "lpips-squeeze")
    items, key = material.views(4 if check.quick else 8, 0, check.size), "lpips_squeeze" if check.quick else "lpips_vgg"
    load.forget()
    if check.device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    alone, _, _ = in_process(check, key, {}, items, 1)
    if check.device == "cuda":
        kept = torch.cuda.memory_allocated()
        room = kept + 2.5 * (torch.cuda.max_memory_allocated() - kept)
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(room / torch.cuda.get_device_properties(0).total_memory)
        planted = contextlib.nullcontext()
    else:
        planted = room_for(2)
    try:
        with planted:
            found, said, _ = in_process(check, key, {}, items, len(items[1]))
    finally:
        if check.device == "cuda":
            torch.cuda.set_per_process_memory_fraction(1.0)
    share = max((one.share for one in differences(alone, found, registry.get(key).tolerance)), default=0.0)
    halved = [line for line in said if line.startswith("Out of memory")]
    verdict = "right" if halved and share <= 1 else "WRONG: nothing ran out of memory" if not halved else "WRONG: values differ"
    yield Row(f"{key} out of memory", verdict, check.device, share=share, remark=" ".join(halved))


@contextlib.contextmanager
def room_for(most: int) -> Iterator[None]:
    """Every layer runs out of memory with more than so many pictures."""
    import torch
    from torch.nn.modules.module import register_module_forward_pre_hook

    def enter(layer: torch.nn.Module, given: tuple[Any, ...]) -> None:
        if any(isinstance(x, torch.Tensor) and len(x) > most for x in given):
            raise torch.OutOfMemoryError("planted")

    handle = register_module_forward_pre_hook(enter)
    try:
        yield
    finally:
        handle.remove()


def in_process(
    check: Check, key: str, given: Mapping[str, Any], items: tuple[Any, Any], together: int
) -> tuple[dict[str, Any], list[str], float]:
    """(result, what the log said, seconds) of a column in this process, so many items at a time; on a card the second run counts."""
    request, (entry, references) = scoring.MetricRequest(key, key, registry.resolve_params(key, given)), items
    before, said = (scoring.AHEAD, graphics_card.card), list[str]()
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    inference.log.addHandler(handler)
    scoring.AHEAD, graphics_card.card = together, lambda: check.device
    try:
        for _ in range(1 if check.quick else 2):
            begun = time.perf_counter()
            found = scoring.score_items(entry, references, [request])
            seconds = time.perf_counter() - begun
    finally:
        scoring.AHEAD, graphics_card.card = before
        inference.log.removeHandler(handler)
    return found[key].to_dict(), list(dict.fromkeys(said)), seconds


def timed(key: str, given: Mapping[str, Any], items: tuple[Any, Any]) -> tuple[float, float]:
    """(value, seconds) of a column in this process, on the best device there is, when all is loaded."""
    params = registry.resolve_params(key, given)
    request, (entry, references) = scoring.MetricRequest(key, key, params), items
    groups = [FAMILIES[registry.get(key).family].group_of(name) for name in references]
    for _ in range(2):
        begun = time.perf_counter()
        part = scoring.score_items(entry, references, [request])
        seconds = time.perf_counter() - begun
    value = scoring.finish([request], [part], list(references), groups)[key][1].value
    assert value is not None
    return value, seconds


# What is computed, in the order in which it is: the rows that tell most come first.
ROWS: tuple[tuple[str, Callable[[Check], Iterable[Row]]], ...] = (
    ("puzzlesim", puzzlesim),
    ("lpips", lpips),
    ("osim", osim),
    ("clip_sim", clip),
    ("fid", fid),
    ("puzzlesim_pieces", pieces),
    ("lite0", lite0),
    ("wf_learned", dinov2),
    ("locase", locase),
    ("surfaces", surfaces),
    ("a part for cards", worker),
    ("batches", batches),
    ("out of memory", out_of_memory),
    ("speed", speed.rows),
    ("precisions", precisions),
    ("training", training.rows),
)

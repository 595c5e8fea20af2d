"""Rows of speed: the time on the card, the least it could take there, and that of an independent implementation on the same card."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from evaluation.metrics.render import clip_sim, detections, fid, lpips
from evaluation.metrics.render.puzzlesim import similarity
from evaluation.networks import weights
from evaluation.networks.inference import exact
from evaluation.networks.load import load
from tests.card import material
from tests.card.check import Check, Row

PEER_AIM, FLOOR_AIM = 8.0, 2.0  # times as fast as puzzle_sim; times its own floor
OFF = 1e-4  # that a screened map may be from the exact one
HEAVY = ("convolution", "mm", "addmm", "bmm", "baddbmm", "_scaled_dot_product")  # what moves most bytes
LINES = 12  # of a profile


@dataclass(frozen=True)
class Rates:
    """Rates that the device reaches: bytes a second in a large copy, operations a second in a large product of float32."""

    copy: float
    product: float

    def floor(self, work: Counted) -> float:
        """Seconds that the work takes at least."""
        return max(work.moved / self.copy, work.operations / self.product)


class Counted(TorchDispatchMode):
    """Counts the bytes that products and convolutions read and write, and with `operations` what they compute."""

    def __init__(self) -> None:
        super().__init__()
        self.moved, self.operations = 0, 0.0

    def __torch_dispatch__(self, function: Any, types: Any, given: tuple[Any, ...] = (), named: Any = None) -> Any:
        found = function(*given, **(named or {}))
        if function.overloadpacket.__name__.startswith(HEAVY):
            tensors = [one for one in (*given, *(named or {}).values(), found) if isinstance(one, torch.Tensor)]
            self.moved += sum(one.nbytes for one in tensors)
        return found


def counted(action: Callable[[], Any]) -> Counted:
    """Count of what an action computes and moves."""
    work, operations = Counted(), FlopCounterMode(display=False)
    with operations, work:
        action()
    work.operations = float(operations.get_total_flops())
    return work


def seconds(action: Callable[[], Any], device: str, rounds: int = 3) -> float:
    """The shortest time of an action that has been done before."""
    action()
    best = float("inf")
    for _ in range(rounds):
        if device == "cuda":
            torch.cuda.synchronize()
        begun = time.perf_counter()
        action()
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begun)
    return best


def rates(device: str, quick: bool) -> Rates:
    side = 512 if quick else 8192
    a, b, one = (torch.rand(side, side, device=device) for _ in range(3))
    large = torch.empty((4 if quick else 1024) << 18, device=device)  # float32: 4 MiB, or 1 GiB
    other = torch.empty_like(large)
    with exact(device):
        product = seconds(lambda: torch.mm(a, b, out=one), device)
        copy = seconds(lambda: other.copy_(large), device)
    return Rates(2 * large.nbytes / copy, 2.0 * side**3 / product)


@dataclass(frozen=True)
class Work:
    """One thing that is timed: what it is called, what is done to so many `views`, and by whom else."""

    name: str
    act: Callable[[], Any]
    views: int
    peer: Callable[[], Callable[[], Any]] | None = None
    aim: float = 0.0  # times as fast as the peer


def rows(check: Check) -> Iterator[Row]:
    here, slowest = rates(check.device, check.quick), (0.0, None)
    yield Row(
        "a large copy and a large product", "right", check.device, remark=f"{here.copy / 1e9:.0f} GB/s, {here.product / 1e12:.2f} TFLOP/s"
    )
    for work in _works(check):
        taken, least = seconds(work.act, check.device, 1 if check.quick else 3), here.floor(counted(work.act))
        if taken / max(least, 1e-9) > slowest[0]:
            slowest = (taken / max(least, 1e-9), work)
        told = [f"floor {least / work.views:.2g} s, {taken / least:.1f} times that" if least else "no floor"]
        if work.peer is not None and not check.quick:
            try:
                theirs = seconds(work.peer(), check.device)
                aim = f" (aim {work.aim:g})" if work.aim else ""
                told.append(f"peer {theirs / work.views:.3g} s, {theirs / taken:.2f} × its speed{aim}")
            except Exception as error:  # of a package that is not installed, or that does not get along with this torch
                told.append(f"no peer: {type(error).__name__}: {error}"[:120])
        yield Row(f"speed of {work.name}", "right", check.device, seconds=taken / work.views, remark="; ".join(told))
    yield from screening(check)
    assert slowest[1] is not None
    check.afterwards.append(
        f"Profile of {slowest[1].name}, {slowest[0]:.1f} times its floor:\n\n```\n{profile(slowest[1], check.device)}\n```"
    )


def _works(check: Check) -> Iterator[Work]:
    quick, device = check.quick, check.device
    size, count, clean = ((96, 96), 2, 4) if quick else ((628, 416), 8, 36)
    pictures = [material.picture(n, *size) for n in range(count)]
    check.shelf.need("squeezenet1_1", "lpips-squeeze")
    if not quick:
        check.shelf.need("vgg16", "lpips-vgg", "clip-vit-b-32", "inception-fid", "yolox-x")
    views = [material.picture(1000 + n, *size) for n in range(clean)]
    scene = similarity.scene(load("backbone", "squeezenet-imagenet", device), views, size, device)
    yield Work(
        f"puzzlesim, {clean} clean views of {size[0]} × {size[1]}",
        lambda: scene.map(pictures[0]),
        1,
        lambda: puzzle_sim(check, views, pictures[0]),
        PEER_AIM,
    )
    network = "squeeze" if quick else "vgg"
    pairs = list(zip(pictures, pictures[1:] + pictures[:1], strict=True))
    yield Work(
        f"lpips_{network}", lambda: lpips.distances(pairs, f"lpips_{network}", "v0.1"), count, lambda: torchmetrics_lpips(pairs, device)
    )
    if quick:
        return
    yield Work("clip_sim", lambda: clip_sim.embeddings(pictures, "openai-vit-b-32"), count, lambda: open_clip(count, device))
    yield Work("fid", lambda: fid.features_of(pictures, "fid-2015-12-05"), count, lambda: torchmetrics_fid(check, pictures))
    yield Work("osim, yolox-x", lambda: detections.all_looked_at("yolox-x", pictures, "dark5", detect=True), count)


def screening(check: Check) -> Iterator[Row]:
    """PuzzleSim's products screened in bfloat16, exact in the end, against all of them in float32."""
    check.shelf.need("squeezenet1_1")
    size, clean = ((96, 96), 4) if check.quick else ((628, 416), 36)
    network = load("backbone", "squeezenet-imagenet", check.device)
    views, picture = [material.picture(1000 + n, *size) for n in range(clean)], material.picture(0, *size)
    plain = similarity.scene(network, views, size, check.device, screen=False)
    screened = replace(plain, kind=torch.bfloat16)
    off = float(np.abs(plain.map(picture) - screened.map(picture)).max())
    taken, other = (seconds(lambda one=one: one.map(picture), check.device, 1 if check.quick else 3) for one in (screened, plain))
    verdict = "right" if off <= OFF else f"WRONG: the map is more than {OFF:g} off"
    yield Row(
        "puzzlesim screened in bfloat16",
        verdict,
        check.device,
        off=off,
        share=off / OFF,
        seconds=taken,
        remark=f"{other / taken:.2f} × the speed of all products in float32",
    )


def profile(work: Work, device: str) -> str:
    """The operations of a work that take most time."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiled

    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device == "cuda" else [])]
    with profiled(activities=kinds) as found:
        work.act()
    return found.key_averages().table(sort_by=f"self_{device}_time_total", row_limit=LINES, max_name_column_width=60)


# --- peers: the same computation by others, with weights of their own where ours would not fit ------


def puzzle_sim(check: Check, views: list[np.ndarray], picture: np.ndarray) -> Callable[[], Any]:
    """The authors' package, which looks for torchvision's weights where torch keeps downloads."""
    if "transformers" not in sys.modules:  # for backbones that are not used here
        stand_in = ModuleType("transformers")
        stand_in.AutoModel = None  # type: ignore[attr-defined]
        sys.modules["transformers"] = stand_in
    hub = check.folder / "hub"
    hub.mkdir(exist_ok=True)
    checkpoints = hub / "checkpoints"
    if not checkpoints.exists():
        checkpoints.symlink_to(weights.cache_folder())
    torch.hub.set_dir(str(hub))
    import puzzle_sim as package

    tensors = [torch.from_numpy(one).permute(2, 0, 1).to(check.device) / 255 for one in (*views, picture)]
    theirs = package.PuzzleSim(torch.stack(tensors[:-1]), net_type="squeeze").to(check.device)
    return lambda: without_gradients(lambda: theirs(tensors[-1]))


def torchmetrics_lpips(pairs: list[tuple[np.ndarray, np.ndarray]], device: str) -> Callable[[], Any]:
    from torchmetrics.functional.image.lpips import _LPIPS

    network = _LPIPS(pretrained=False, net="vgg", pnet_rand=True, eval_mode=True).to(device)
    one, other = (torch.stack([torch.from_numpy(pair[side]).permute(2, 0, 1) for pair in pairs]) / 127.5 - 1 for side in (0, 1))
    return lambda: without_gradients(lambda: network(one.to(device), other.to(device)).cpu())


def torchmetrics_fid(check: Check, pictures: list[np.ndarray]) -> Callable[[], Any]:
    from torchmetrics.image.fid import NoTrainInceptionV3

    path = str(weights.published("inception-fid").path)
    network = NoTrainInceptionV3("inception-v3-compat", ["2048"], path).to(check.device)
    images = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).contiguous()
    return lambda: without_gradients(lambda: network(images.to(check.device)).cpu())


def open_clip(count: int, device: str) -> Callable[[], Any]:
    import open_clip as package

    network = package.create_model("ViT-B-32-quickgelu", pretrained=None).visual.to(device).eval()
    images = torch.rand(count, 3, 224, 224)
    return lambda: without_gradients(lambda: network(images.to(device)).cpu())


def without_gradients(action: Callable[[], Any]) -> Any:
    """The action in the arithmetic that ours is done in."""
    with exact():
        return action()

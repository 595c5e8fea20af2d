"""Independent implementations, loaded without what else they would bring along."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest import mock

import pytest


def metric_helper():
    """`hoho2025.metric_helper` without its package, whose __init__ imports far more than is wanted; skips where it is not installed."""
    package = importlib.util.find_spec("hoho2025")
    if package is None or package.origin is None:
        pytest.skip("hoho2025 is not installed (tests/requirements-peers.txt)")
    path = Path(package.origin).with_name("metric_helper.py")
    spec = importlib.util.spec_from_file_location("official_metric_helper", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def optimal_transport():
    """POT, told to leave its optional backends (torch among them) alone; skips by name where it is not installed."""
    for backend in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    return pytest.importorskip("ot", reason="POT is not installed (tests/requirements-peers.txt)")


def yolox() -> SimpleNamespace:
    """The network modules of `pixeltable-yolox`, without the package's own `__init__` and what training would need.

    Its box helpers name torchvision for one function that is not used here, so an empty module of that name will do.
    """
    found = importlib.util.find_spec("yolox")
    if found is None or found.origin is None:
        pytest.skip("pixeltable-yolox is not installed (tests/requirements-peers.txt)")
    pytest.importorskip("loguru", reason="loguru is not installed (tests/requirements-peers.txt)")
    folder = Path(found.origin).parent
    with mock.patch.dict(sys.modules):
        sys.modules.setdefault("torchvision", ModuleType("torchvision"))
        for package in ("yolox", "yolox.models", "yolox.utils"):
            bare = ModuleType(package)
            bare.__path__ = [str(folder.joinpath(*package.split(".")[1:]))]
            sys.modules[package] = bare
        boxes = importlib.import_module("yolox.utils.boxes")
        helpers = {"meshgrid": importlib.import_module("yolox.utils.compat").meshgrid, "visualize_assign": None}
        vars(sys.modules["yolox.utils"]).update(helpers, bboxes_iou=boxes.bboxes_iou, cxcywh2xyxy=boxes.cxcywh2xyxy)
        return SimpleNamespace(
            Head=importlib.import_module("yolox.models.yolo_head").YoloxHead,
            Pafpn=importlib.import_module("yolox.models.yolo_pafpn").YoloPafpn,
        )


_torchvision_operators: list = []


def torchvision():
    """The package, made importable beside a torch that its compiled part was not built for.

    Its own modules describe two operators of that part to torch, which must know them by then; nothing here calls them. Where the
    part loads it brings them itself, and a second definition would end the process.
    lpips, torch-fidelity, open_clip and torchmetrics' image metrics import it. Skips by name where it is not installed.
    """
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        pytest.skip("torchvision is not installed (tests/requirements-peers.txt)")
    import torch

    loads = True
    try:
        for part in Path(spec.origin).parent.glob("_C*.so"):
            torch.ops.load_library(str(part))
    except OSError:
        loads = False
    if not loads and not _torchvision_operators:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            if not hasattr(torch.ops.torchvision, name):
                library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _torchvision_operators.append(library)  # what is defined lives as long as the library
    return importlib.import_module("torchvision")


def with_torchvision(name: str):
    """A package that imports torchvision; skips by name where it is not installed."""
    torchvision()
    return pytest.importorskip(name, reason=f"{name} is not installed (tests/requirements-peers.txt)")

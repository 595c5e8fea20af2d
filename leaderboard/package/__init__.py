"""Plumbline: metrics of 3D reconstruction, comparisons and studies of people, and the leaderboards of a server as pandas frames.

    import plumbline

    plumbline.hss("roof.obj", "roof_reference.obj")                         # a value: float(v), v.parts, v.parameters, v.fingerprint
    plumbline.metric("edge_f1", tau_edge=0.25)(prediction, reference)       # any metric by its key
    plumbline.metrics("mesh")                                               # all metrics, as a frame
    plumbline.opinions(frame, scale=(0, 10)).agreement(values)              # how metrics agree with people
    r = plumbline.evaluate("results/", "reference/", ["hss", "edge_f1"])    # r.summary(), r.to_latex(), r.save("r.json")
    plumbline.compare(r, plumbline.read("r.json")).to_frame()               # a paired test for each metric
    plumbline.check("results/", "manifest.json").accepted                   # the server's verdict on an entry
    plumbline.Site("https://boards.example.org").board("rooflines", "practice")

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.package.comparison import Comparison, compare
    from leaderboard.package.errors import CannotEvaluate, NotComparable
    from leaderboard.package.frames import Site
    from leaderboard.package.human_studies import HumanStudy, means, opinions, votes
    from leaderboard.package.inputs import InputError
    from leaderboard.package.local import check
    from leaderboard.package.metric_functions import Metric, Value, metric
    from leaderboard.package.metric_table import metrics
    from leaderboard.package.results import Result, evaluate, read, score

_HOMES = {
    "CannotEvaluate": "errors",
    "Comparison": "comparison",
    "HumanStudy": "human_studies",
    "InputError": "inputs",
    "Metric": "metric_functions",
    "Site": "frames",
    "Value": "metric_functions",
    "NotComparable": "errors",
    "Result": "results",
    "check": "local",
    "compare": "comparison",
    "evaluate": "results",
    "means": "human_studies",
    "metric": "metric_functions",
    "metrics": "metric_table",
    "opinions": "human_studies",
    "read": "results",
    "score": "results",
    "votes": "human_studies",
}
# Metrics under the names that the field has for them, and their keys.
NAMES = {
    "chamfer": "chamfer_l1",
    "clip_similarity": "clip_sim",
    "corner_f1": "corner_f1",
    "edge_chamfer": "ecd_chamfer",
    "edge_f1": "edge_f1",
    "fid": "fid",
    "fscore": "mesh_fscore",
    "hausdorff": "wf_hausdorff",
    "hss": "hss",
    "lpips": "lpips_alex",
    "normal_difference": "normal_difference",
    "osim": "osim",
    "point_to_surface": "p2s",
    "psnr": "psnr",
    "puzzlesim": "puzzlesim",
    "saucd": "saucd",
    "ssim": "ssim",
    "unidirectional_hausdorff": "uhd",
    "volume_iou": "volume_iou",
    "wed": "wed_prereg",
}

__all__ = [
    "NAMES",
    "CannotEvaluate",
    "Comparison",
    "HumanStudy",
    "InputError",
    "Metric",
    "NotComparable",
    "Result",
    "Site",
    "Value",
    "check",
    "compare",
    "evaluate",
    "means",
    "metric",
    "metrics",
    "opinions",
    "read",
    "score",
    "votes",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module(f"{__name__}.installed").version()
    if name in NAMES:
        found = importlib.import_module(f"{__name__}.metric_functions").function(name)
    elif name in _HOMES:
        found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *NAMES, "__version__"])

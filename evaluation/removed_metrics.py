"""Metrics that this code no longer computes: what stored columns of theirs are drawn with. No list offers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from evaluation.metrics.papers import Origin
from evaluation.metrics.render import variants
from evaluation.metrics.spec import PRECISION, MetricSpec, Param


def _is_removed(*_: object, **__: object) -> NoReturn:
    raise TypeError("a removed metric is not computed; its columns keep their values")


_LPIPS_STYLE = MetricSpec(
    key="lpips_plumbline_small",
    title="LPIPS-style (plumbline-small)",
    family="render",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    unit="",
    params=(
        Param("weights", "plumbline-small", "choice", choices=("plumbline-small",), doc="A network that is not here any more."),
        PRECISION,
    ),
    worst="1",
    doc="Distance of the two images in the features of a network that was trained on simulated rooms.",
    origin=Origin(),
    function=_is_removed,
    weights="backbone",
    removed="lpips_alex, lpips_vgg or lpips_squeeze",
)

SPECS: Mapping[str, MetricSpec] = {
    spec.key: spec
    for spec in (
        _LPIPS_STYLE,
        variants.masked(_LPIPS_STYLE, _is_removed, "as a map over the image, averaged within the mask"),
        variants.boxed(_LPIPS_STYLE, _is_removed),
    )
}

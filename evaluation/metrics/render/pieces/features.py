"""Features of the cells of a scene's pictures, fitted on these: by a dictionary or a backbone, whitened. Own definition.

A. Coates, H. Lee, A. Ng, "An Analysis of Single-Layer Networks in Unsupervised Feature Learning" (2011) gives the form of the
dictionary: whitened patches of clean views, k-means, and the activation by how much nearer than usual a centroid is. In its place
EfficientNet-Lite0 is looked at behind one block, or SqueezeNet where PuzzleSim looks. Whitening turns and stretches any of them
so that the same cell seen from a step aside lies near, in every direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import scipy
from numpy.lib.stride_tricks import sliding_window_view

from evaluation.metrics.render.image import resized, subset, working_size
from evaluation.metrics.seeds import generator
from evaluation.networks import weights as stored

if TYPE_CHECKING:
    import torch

    from evaluation.metrics.shared import Arrays
    from submissions.formats.render.views import Render


CELL = 16  # px, the side of a cell
PATCH, STEP = 6, 2  # px: the side of a patch, and from one patch to the next
DRAWN = 3000  # patches of each view that is learnt from
ATOMS, ROUNDS = 128, 8  # centroids, and rounds of k-means
TIED = 1e-9  # squared distances to centroids that differ by less count as equal; the first of them counts
NOISE = 1e-3  # variance of noise of 8 levels of 255; weaker patterns do not count
SPREAD, CUT = 6.0, 3.0  # the Gaussian that pools, in px, and where it is cut, in standard deviations
CHANNELS = ATOMS + 3
LUMA = np.array([[0.299, 0.587, 0.114], [-0.299 / 1.772, -0.587 / 1.772, 0.886 / 1.772], [0.701 / 1.402, -0.587 / 1.402, -0.114 / 1.402]])
_ROWS = 32  # of patches that are looked at together


def grid(width: int, height: int) -> tuple[int, int]:
    """(h, w): rows and columns of the whole cells of a picture of that size in pixels."""
    return height // CELL, width // CELL


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Patterns of 6 × 6 px: `mean` float64[108], `whitener` float64[108, 108] (symmetric) and `atoms` float64[128, 108], the
    centroids of whitened patches.

    All is float64. In float32 the last digits depend on the machine and its number of threads, and they decide which centroid is
    nearest. Values would differ from machine to machine by up to a hundredth.
    """

    mean: np.ndarray
    whitener: np.ndarray
    atoms: np.ndarray

    @classmethod
    def learn(cls, views: Iterable[np.ndarray], rng: np.random.Generator) -> Dictionary:
        """The dictionary of pictures uint8[H, W, 3], from 3,000 patches of each, at places drawn by `rng`.

        Whitening is V diag(1/√(e + 10⁻³)) Vᵀ of the covariance V diag(e) Vᵀ. The centroids start as 128 of the whitened patches;
        of 8 rounds of k-means each leaves a centroid that nothing is nearest to at 0.
        """
        drawn = []
        for pixels in views:
            windows = sliding_window_view(pixels, (PATCH, PATCH), axis=(0, 1))
            rows, columns = (rng.integers(0, side, DRAWN) for side in windows.shape[:2])
            drawn.append(_patches(windows[rows, columns]))
        patches = np.concatenate(drawn)
        mean = patches.mean(axis=0)
        centred = patches - mean
        values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
        whitener = (vectors / np.sqrt(np.maximum(values, 0.0) + NOISE)) @ vectors.T
        whitened = centred @ whitener
        atoms = whitened[rng.choice(len(whitened), ATOMS, replace=False)]
        for _ in range(ROUNDS):
            product = whitened @ (-2 / TIED * atoms.T)
            product += (atoms**2).sum(axis=1) / TIED
            nearest = np.rint(product, out=product).argmin(axis=1)
            counts = np.bincount(nearest, minlength=ATOMS)
            chosen = scipy.sparse.csr_array((np.ones(len(nearest)), (nearest, np.arange(len(nearest)))), shape=(ATOMS, len(nearest)))
            atoms = (chosen @ whitened) / np.maximum(counts, 1)[:, None]
        return cls(mean, whitener, atoms)

    def cells(self, pixels: np.ndarray) -> np.ndarray:
        """float64[h · w, 131]: the features of the cells of uint8[H, W, 3], row by row; both sides are at least 16 px.

        At every second pixel the patch has z_k = ‖A(x − m) − c_k‖ and the activations max(0, mean z − z_k), placed at its centre. These,
        and Y, Cb, Cr, are pooled by a Gaussian of 6 px and read at the cells' centres, between pixels bilinearly.
        """
        height, width = pixels.shape[:2]
        windows = sliding_window_view(pixels, (PATCH, PATCH), axis=(0, 1))[::STEP, ::STEP]
        across, down = windows.shape[1], windows.shape[0]
        first = (PATCH - 1) / 2
        by_row, by_column = pooling(height // CELL, down, first, STEP), pooling(width // CELL, across, first, STEP)
        factor = np.concatenate([self.whitener, self.whitener @ self.atoms.T], axis=1)  # one product for |A(x − m)|² and <A(x − m), c_k>
        lengths = (self.atoms**2).sum(axis=1)
        pooled = np.zeros((len(by_row), across * ATOMS))
        for start in range(0, down, _ROWS):
            block = _patches(windows[start : start + _ROWS].reshape(-1, 3, PATCH, PATCH)) - self.mean
            product = block @ factor
            whitened, distance = product[:, : block.shape[1]], product[:, block.shape[1] :]
            distance *= -2
            distance += np.einsum("pc,pc->p", whitened, whitened)[:, None]
            distance += lengths
            np.sqrt(np.maximum(distance, 0.0, out=distance), out=distance)
            active = np.maximum(distance.mean(axis=1, keepdims=True) - distance, 0.0)
            pooled += by_row[:, start : start + _ROWS] @ active.reshape(-1, across * ATOMS)
        patterns = np.matmul(by_column, pooled.reshape(len(by_row), across, ATOMS))
        colour = (pixels.reshape(-1, 3) @ (LUMA.T / 255)).reshape(height, width * 3)
        rows = pooling(height // CELL, height, 0.0, 1) @ colour
        colours = np.matmul(pooling(width // CELL, width, 0.0, 1), rows.reshape(len(by_row), width, 3))
        return np.concatenate([patterns, colours], axis=2).reshape(-1, CHANNELS)


@lru_cache(maxsize=32)
def pooling(cells: int, samples: int, first: float, step: int) -> np.ndarray:
    """float64[cells, samples]: what each sample is worth to each cell along one axis. Not to be written to.

    Samples are at `first` + n · `step` px. A Gaussian of 6 px, cut at three standard deviations and reflected at the ends,
    is read at the cells' centres, 16 n + 7.5 px, bilinearly.
    """
    smooth = scipy.ndimage.gaussian_filter1d(np.eye(samples), SPREAD / step, axis=0, mode="reflect", truncate=CUT)
    place = (np.arange(cells) * CELL + (CELL - 1) / 2 - first) / step
    below = np.floor(place).astype(np.int64)
    share = (place - below)[:, None]
    found = (1 - share) * smooth[below] + share * smooth[below + 1]
    found.flags.writeable = False
    return found


def _patches(windows: np.ndarray) -> np.ndarray:
    """float64[P, 108] in [0, 1] of windows uint8[P, 3, 6, 6]."""
    return windows.reshape(len(windows), -1) / 255


LITE0 = "lite0"
NETWORKS = {LITE0: ("lite0", "imagenet"), "squeeze": ("backbone", "squeezenet-imagenet")}  # network and set of weights of each choice
SMALLEST_LENGTH = 1e-12


def cells_by(features: str) -> Callable[[np.ndarray], np.ndarray]:
    """The function that gives the features of the cells of uint8[H, W, 3] by a network, float32[h · w, D]. WeightsError where its weights
    are not here."""
    from evaluation.networks.inference import with_room

    stored.require(*NETWORKS[features])
    seen = _by_lite0 if features == LITE0 else partial(_by_layers, NETWORKS[features][1])
    return lambda pixels: with_room(partial(seen, pixels))


def _by_lite0(pixels: np.ndarray, device: torch.device) -> np.ndarray:
    """float32[h · w, 112]: the signed numbers behind block 10 of EfficientNet-Lite0, read bilinearly at the cells' centres."""
    import torch

    from evaluation.networks import lite0
    from evaluation.networks.inference import exact
    from evaluation.networks.load import load

    with exact(device):
        picture = torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1))).to(device).float()[None]
        network: Any = load(*NETWORKS[LITE0], device)
        (whole,) = lite0.maps(network, picture, (CELL,))
        return lite0.at_centres(whole, CELL, grid(pixels.shape[1], pixels.shape[0]), CELL)[0].flatten(1).T.cpu().numpy()


def _by_layers(name: str, pixels: np.ndarray, device: torch.device) -> np.ndarray:
    """float32[h · w, 1024]: the unit vectors of PuzzleSim's three layers, read bilinearly at the cells' centres, made unit vectors again
    and multiplied by the root of the layer's weight. The squared distance of two is 2 (1 − the weighted cosine)."""
    import torch
    from torch.nn import functional

    from evaluation.metrics.render.puzzlesim import similarity
    from evaluation.networks.inference import exact
    from evaluation.networks.load import load

    height, width = pixels.shape[:2]
    places = [
        torch.arange(number, device=device) * (2 * CELL / (side - 1)) + ((CELL - 1) / (side - 1) - 1)  # from -1 to 1, corners aligned
        for number, side in zip(grid(width, height), (height, width), strict=True)
    ]
    down, across = torch.meshgrid(*places, indexing="ij")
    found = []
    with exact(device):
        where = torch.stack([across, down], dim=-1)[None]
        taps = similarity.features(load("backbone", name, device), [pixels], (width, height), device.type)
        for tap, weight in zip(taps, similarity.WEIGHTS, strict=True):
            read = functional.grid_sample(tap.permute(0, 3, 1, 2), where, mode="bilinear", align_corners=True)[0].flatten(1).T
            found.append(functional.normalize(read, dim=1, eps=SMALLEST_LENGTH) * weight**0.5)
        return torch.cat(found, dim=1).cpu().numpy()


SHIFTS = ((4, -6), (-7, 3))  # px: rows, columns
BORDER = 2  # cells that wrap round
ENLARGED, CENTRE = 1.08, (10, 14)  # how far the third copy is enlarged; rows and columns of cells that are compared
LEVELLED = 0.3  # of the mean variance that is added to each
SMALLEST_DEVIATION = 1e-6  # is added to a standard deviation
LEAST_DEVIATION = 0.01  # of the median over features, below which none is divided by; version 2 of the metrics had no such bound

Cells = Callable[[np.ndarray], np.ndarray]  # from uint8[H, W, 3] to [h · w, D]: float64 by a dictionary, float32 by a backbone


@dataclass(frozen=True, eq=False)
class Whitening:
    """x̂ = ((x − `mean`) / `deviation`) `matrix`: [D], [D] and [D, D], of the features' own precision. `step` is d₀, the median length
    of what differs between a cell and the same cell a step aside."""

    mean: np.ndarray
    deviation: np.ndarray
    matrix: np.ndarray
    step: float

    @classmethod
    def fit(cls, features: np.ndarray, views: Sequence[np.ndarray], cells: Cells, least: float) -> Whitening:
        """The whitening of all cells' features [K, D] by moved copies of the pictures uint8[H, W, 3], all of one size.

        No deviation is less than `least` of their median, so that a feature in which repeated pictures hardly differ does not outweigh
        the others. Z = (moved − original) / deviation; with ZᵀZ/n = V diag(e) Vᵀ the matrix is V diag(1/√(e + .3 · mean e)).
        """
        mean = features.mean(axis=0, dtype=np.float64)
        deviation = features.std(axis=0, dtype=np.float64) + SMALLEST_DEVIATION
        deviation = np.maximum(deviation, least * np.median(deviation))
        differences = np.concatenate([part for pixels in views for part in _differences(pixels, cells)]) / deviation
        values, vectors = np.linalg.eigh(differences.T @ differences / len(differences))
        values = np.maximum(values, 0.0)
        level = LEVELLED * values.mean()
        if level == 0.0:  # pictures in which nothing ever differs
            level = 1.0
        matrix = vectors / np.sqrt(values + level)
        step = float(np.median(np.linalg.norm(differences @ matrix, axis=1)))
        kind = features.dtype
        return cls(mean.astype(kind), deviation.astype(kind), matrix.astype(kind), step)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """[K, D]: x̂ of features [K, D], of their precision."""
        return ((features - self.mean) / self.deviation) @ self.matrix


def moved_from(count: int) -> range:
    """The clean views, of `count`, that are moved: about eight of them."""
    return range(0, count, max(1, count // 8))


def _differences(pixels: np.ndarray, cells: Cells) -> list[np.ndarray]:
    """[n, D] three times: what differs between cells and the same cells of a moved copy."""
    height, width = pixels.shape[:2]
    rows, columns = grid(width, height)

    original = cells(pixels).reshape(rows, columns, -1)

    def moved(picture: np.ndarray, top: int, left: int) -> np.ndarray:
        """The differences of the inner cells, without `top` rows and `left` columns on either side, from the original's, as [n, D]."""
        difference = cells(picture).reshape(rows, columns, -1) - original
        return difference[top : rows - top, left : columns - left].reshape(-1, difference.shape[2])

    found = [moved(np.roll(pixels, shift, axis=(0, 1)), BORDER, BORDER) for shift in SHIFTS]
    tall, wide = round(height / ENLARGED), round(width / ENLARGED)
    top, left = (height - tall) // 2, (width - wide) // 2
    near = resized(np.ascontiguousarray(pixels[top : top + tall, left : left + wide]), width, height, "bicubic")
    inner = tuple((n - min(most, n)) // 2 for n, most in zip((rows, columns), CENTRE, strict=True))
    return [*found, moved(near, *inner)]


DICTIONARY = "dictionary"
SEED = "puzzlesim_pieces"  # of the places where patches are drawn
SMALLEST = 96  # px; a shorter side leaves too few cells
LEARNT_FROM = 3  # every third view


class Views(Sequence[np.ndarray]):
    """Pictures uint8[H, W, 3] of a scene, decoded when they are looked at; of more than 100 there are 100. All are brought to one
    `size` (width, height), or, where none is given, each to its own working size."""

    def __init__(self, images: Sequence[Render], size: tuple[int, int] | None = None) -> None:
        self.images = [images[place] for place in subset(len(images))]
        self.size = size

    def __len__(self) -> int:
        return len(self.images)

    @overload
    def __getitem__(self, place: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[np.ndarray]: ...
    def __getitem__(self, place: int | slice) -> np.ndarray | Sequence[np.ndarray]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        image = self.images[place]
        return resized(image.pixels(), *(self.size or working_size(image.width, image.height)), "bilinear")


@dataclass(frozen=True, eq=False)
class Features:
    """The way pictures of a scene become whitened features, fitted on pictures of the scene.

    `dictionary` is None where a backbone gives the features. `cells` gives the raw ones.
    """

    dictionary: Dictionary | None
    whitening: Whitening
    cells: Cells

    @classmethod
    def fit(cls, views: Views, features: str, least: float = LEAST_DEVIATION) -> tuple[Features, list[np.ndarray]]:
        """The features of these views, and the raw ones of each view's cells, [h · w, D]; `least` as for `Whitening.fit`."""
        learnt_from = (views[place] for place in range(0, len(views), LEARNT_FROM))
        dictionary = Dictionary.learn(learnt_from, generator(SEED)) if features == DICTIONARY else None
        cells = cells_of(features, dictionary)
        raw = [cells(view) for view in views]
        moved = [views[place] for place in moved_from(len(views))]
        return cls(dictionary, Whitening.fit(np.concatenate(raw), moved, cells, least), cells), raw

    def arrays(self) -> Arrays:
        """The arrays that `of_arrays` makes them of again."""
        learnt = (self.dictionary.mean, self.dictionary.whitener, self.dictionary.atoms) if self.dictionary else ()
        it = self.whitening
        return (it.mean, it.deviation, it.matrix, np.array([it.step]), *learnt)

    @classmethod
    def of_arrays(cls, arrays: Arrays, features: str) -> Features:
        """The inverse of `arrays`."""
        mean, deviation, matrix, step, *learnt = arrays
        dictionary = Dictionary(*learnt) if learnt else None
        return cls(dictionary, Whitening(mean, deviation, matrix, float(step[0])), cells_of(features, dictionary))

    def __call__(self, pixels: np.ndarray) -> np.ndarray:
        """[h · w, D]: x̂ of the cells of uint8[H, W, 3]."""
        return self.whitening(self.cells(pixels))


def cells_of(features: str, dictionary: Dictionary | None) -> Cells:
    """The function that gives the raw features of a picture's cells. WeightsError where a backbone's weights are not here."""
    if dictionary is not None:
        return dictionary.cells
    return cells_by(features)

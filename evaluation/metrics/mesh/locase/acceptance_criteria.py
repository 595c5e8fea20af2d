"""Requirements for a metric that may rank, tested on meshes that no training saw, each with the figure of its worst trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from evaluation.metrics.mesh.locase.alignment import shape
from evaluation.metrics.mesh.locase.network import LoCaSE
from evaluation.metrics.mesh.locase.procedural import HELD_OUT
from evaluation.metrics.mesh.locase.sampling import sampling
from evaluation.metrics.mesh.locase.scoring import compared, encoding
from evaluation.synthetic import distortions, meshes
from evaluation.synthetic.distortions import add_noise, generator
from submissions.formats.arrays import Mesh

UNSEEN_NOISE = 5e-4  # of the diagonal: nobody sees it
MAX_CHANGE = 0.02  # of the clean score, under it
NOISES = (1e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
WORST = 1.0
COUNT = 5


@dataclass(frozen=True)
class Sentence:
    """One requirement: `held` of `of` trials fulfil it, and the figure says by how much the worst one does or does not."""

    text: str
    held: int
    of: int
    figure: str

    @property
    def met(self) -> bool:
        return self.held == self.of


@dataclass(frozen=True)
class Trial:
    """The scores of one reference: itself, invisible noise, growing noise, each damage at four levels, the other meshes."""

    name: str
    clean: float
    unseen: float
    noise: tuple[float, ...]
    damage: Mapping[str, tuple[float, ...]]
    unrelated: tuple[float, ...]

    @property
    def change(self) -> float:
        """Relative change under invisible noise."""
        return abs(self.unseen / self.clean - 1)

    @property
    def lowest(self) -> float:
        """The lowest score of anything made of the reference."""
        return min(*self.noise, *(score for scores in self.damage.values() for score in scores))


def references(seed: int) -> dict[str, Mesh]:
    """Five procedural meshes of kinds that training never sees, by name."""
    return {f"{kind} {seed + n}": meshes.mesh(kind, seed + n) for n, kind in enumerate((*HELD_OUT, HELD_OUT[0]))}


def trials(model: LoCaSE, items: Mapping[str, Mesh], advance: Callable[[str], None] | None = None) -> list[Trial]:
    """One trial for each of the named meshes; `advance` is called with its name when it is done."""
    made = []
    for name in items:
        made.append(_trial(model, name, items))
        if advance is not None:
            advance(name)
    return made


def sentences(results: list[Trial]) -> list[Sentence]:
    """The four requirements over all trials."""
    changes = [result.change for result in results]
    rises = [_rise((result.clean, *result.noise)) for result in results]
    damage = [(kind, result.name, _rise((result.clean, *scores))) for result in results for kind, scores in result.damage.items()]
    kind, name, most = max(damage, key=lambda row: row[2])
    margins = [result.lowest - max((*result.unrelated, WORST)) for result in results]
    return [
        Sentence(
            f"With invisible noise ({UNSEEN_NOISE:g} of the diagonal), a mesh scores within {MAX_CHANGE:.0%} of the undamaged mesh",
            sum(change <= MAX_CHANGE for change in changes),
            len(changes),
            f"largest change {max(changes):.2%}",
        ),
        Sentence(
            "A mesh with more noise never scores higher",
            sum(rise <= 0 for rise in rises),
            len(rises),
            f"largest rise {max(0.0, *rises):.3f}",
        ),
        Sentence(
            "A mesh with more of any damage never scores higher",
            sum(rise <= 0 for _, _, rise in damage),
            len(damage),
            f"largest rise {most:.3f} ({kind}, {name})" if most > 0 else "no rise",
        ),
        Sentence(
            "An unrelated mesh scores below every damaged copy of the reference",
            sum(margin > 0 for margin in margins),
            len(margins),
            f"smallest lead {min(margins):.3f}",
        ),
    ]


def _trial(model: LoCaSE, name: str, items: Mapping[str, Mesh]) -> Trial:
    reference = items[name]
    points = shape(reference.vertices, reference.faces)
    if points is None:
        raise ValueError(f"the mesh {name} has no surface to speak of")
    how = sampling(points)
    own = encoding(model, points, how)

    def score(mesh: Mesh) -> float:
        found = shape(mesh.vertices, mesh.faces)
        return WORST if found is None else compared(model, encoding(model, found, how), own)

    return Trial(
        name,
        score(reference),
        score(add_noise(reference, UNSEEN_NOISE, generator(f"unseen noise:{name}"))),
        tuple(score(add_noise(reference, sigma, generator(f"growing noise:{name}"))) for sigma in NOISES),
        {kind: tuple(score(distortions.distort(reference, kind, level)) for level in distortions.LEVELS) for kind in distortions.KINDS},
        tuple(score(mesh) for other, mesh in items.items() if other != name),
    )


def _rise(scores: tuple[float, ...]) -> float:
    """The largest step upwards along the scores, negative where all fall."""
    return max(after - before for before, after in pairwise(scores))

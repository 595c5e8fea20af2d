"""One publication's answers and metric values as arrays: the input of every figure on published evidence. PURE.

A *stimulus* is an entry on an item. Scores, means and values of metrics all index the same list of stimuli, so that a figure needs no
names. References, damaged copies and empty entries are here too, with their `label`; figures use `EvidenceTables.entries_only()`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from leaderboard.stats.votes import Floats, Ints

Bools = NDArray[np.bool_]


class RatersAre(StrEnum):
    """Source of the claim that a score belongs to a person."""

    COLUMNS = "columns"  # columns or a column of names, which are checked before they count as people
    PERSONS = "persons"  # the publication says so, in the place that `because` names
    ANONYMOUS = "anonymous"  # scores whose persons are not known: `Scores.rater` says nothing
    NONE = "none"  # means alone


class Label(StrEnum):
    """Kind of an entry. Figures are computed from entries alone."""

    ENTRY = ""
    REFERENCE = "reference"
    CORRUPTION = "corruption"
    EMPTY = "empty"


@dataclass(frozen=True)
class PublishedMetric:
    """A metric as the source has it. `column` is its name there, `name` its name in the list of published metrics (empty where it has
    none). `reference_point` marks sizes, which know nothing of quality."""

    column: str
    name: str
    higher_is_better: bool
    reference_point: bool = False


@dataclass(frozen=True, eq=False)
class Stimuli:
    """All stimuli that have an answer, by item and then by entry in the order of the file.

    `item`, `entry` int64[S] index `items` and `entries`. `group_of` int64[len(items)] indexes `groups`: the source that items share, the
    item itself where none is declared. `family_of` int64[len(entries)] indexes `families`: entries that differ only in strength, the entry
    itself where none is declared. `labels` gives each entry's label.
    """

    items: tuple[str, ...]
    groups: tuple[str, ...]
    entries: tuple[str, ...]
    families: tuple[str, ...]
    labels: tuple[Label, ...]
    item: Ints
    entry: Ints
    group_of: Ints
    family_of: Ints

    def __len__(self) -> int:
        return len(self.item)

    @property
    def group(self) -> Ints:
        """int64[S]: the group of each stimulus."""
        return self.group_of[self.item]

    @property
    def family(self) -> Ints:
        """int64[S]: the family of each stimulus."""
        return self.family_of[self.entry]

    @property
    def has_groups(self) -> bool:
        """True where some items share a source."""
        return len(self.groups) < len(self.items)

    @property
    def has_families(self) -> bool:
        """True where some entries differ only in strength."""
        return len(self.families) < len(self.entries)

    @property
    def is_entry(self) -> Bools:
        """bool[S]: False for references, damaged copies and empty entries."""
        return np.array([label == Label.ENTRY for label in self.labels], dtype=bool)[self.entry]


@dataclass(frozen=True, eq=False)
class Scores:
    """Single scores on one criterion. All arrays have one member per score, int64[N] and float64[N].

    `stimulus` indexes the stimuli. `rater` is 0 to n_raters - 1, in order of first appearance; raters of two sessions are two raters, and
    `session_of` int64[n_raters] indexes `sessions` (one session, named "", where none is declared). `number_of` int64[n_raters] is what
    pages call the rater: 1, 2, … in order of first appearance in the session. One rater scored one stimulus at most once. Where
    `EvidenceTables.raters_are` is ANONYMOUS, `rater` is the place of the score in its row and stands for nobody.
    """

    stimulus: Ints
    rater: Ints
    score: Floats
    sessions: tuple[str, ...]
    session_of: Ints
    number_of: Ints

    def __len__(self) -> int:
        return len(self.score)

    @property
    def n_raters(self) -> int:
        return len(self.session_of)

    def by_rater(self, n_stimuli: int) -> Floats:
        """float64[n_raters, n_stimuli]: the scores, NaN where there is none."""
        table = np.full((self.n_raters, n_stimuli), math.nan)
        table[self.rater, self.stimulus] = self.score
        return table


@dataclass(frozen=True, eq=False)
class Means:
    """Published means on one criterion, float64[S] each, NaN where the source has none.

    `se` is the standard error: as printed, from the interval's half-width, or sd / √n. `sd` and `n` are as printed.
    """

    mean: Floats
    sd: Floats
    n: Floats
    se: Floats


@dataclass(frozen=True, eq=False)
class Pairs:
    """Answers on comparisons of two stimuli of one item, on one criterion, int64[N] each.

    `left` and `right` index the stimuli. `choice` is -1 for left, 1 for right, 0 for a tie. `rater` as in `Scores`.
    """

    left: Ints
    right: Ints
    choice: Ints
    rater: Ints
    sessions: tuple[str, ...]
    session_of: Ints
    number_of: Ints

    def __len__(self) -> int:
        return len(self.choice)

    @property
    def n_raters(self) -> int:
        return len(self.session_of)


@dataclass(frozen=True)
class Criterion:
    """Question that people were asked, with exactly one of scores, means and pairs."""

    name: str
    scores: Scores | None = None
    means: Means | None = None
    pairs: Pairs | None = None


@dataclass(frozen=True, eq=False)
class EvidenceTables:
    """A published set, ready for its figures. The first criterion is the leading one.

    `values` float64[S, M] holds the metrics' values as published, NaN where the source has none or one that is not finite; `metrics` names
    its columns and says their direction. `compare` names the metrics (by `column`) that are compared with each other, none: all. `scale` is
    the published scale as its two ends, None for a scale without ends, which `scale_name` names (such as JOD). `better_is_higher` says
    whether a higher score is a better one. `remarks` are sentences about what was left out.
    """

    name: str
    material: str
    raters_are: RatersAre
    because: str
    scale: tuple[float, float] | None
    scale_name: str
    better_is_higher: bool
    stimuli: Stimuli
    criteria: tuple[Criterion, ...]
    metrics: tuple[PublishedMetric, ...]
    values: Floats
    compare: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def oriented(self) -> Floats:
        """float64[S, M]: the metrics' values, turned so that higher is better."""
        return self.values * np.array([1.0 if metric.higher_is_better else -1.0 for metric in self.metrics])

    def entries_only(self) -> EvidenceTables:
        """The same set without references, damaged copies and empty entries. Items and entries that have no stimulus any more go;
        criteria without an answer stay, with no rows; so do raters who scored none of the rest."""
        kept = self.stimuli.is_entry
        if kept.all():
            return self
        new = np.cumsum(kept) - 1
        stimuli = self.stimuli
        of_items, item = np.unique(stimuli.item[kept], return_inverse=True)
        of_entries, entry = np.unique(stimuli.entry[kept], return_inverse=True)
        of_groups, group_of = np.unique(stimuli.group_of[of_items], return_inverse=True)
        of_families, family_of = np.unique(stimuli.family_of[of_entries], return_inverse=True)
        of = Stimuli(
            tuple(stimuli.items[n] for n in of_items),
            tuple(stimuli.groups[n] for n in of_groups),
            tuple(stimuli.entries[n] for n in of_entries),
            tuple(stimuli.families[n] for n in of_families),
            tuple(stimuli.labels[n] for n in of_entries),
            item,
            entry,
            group_of,
            family_of,
        )
        criteria = []
        for one in self.criteria:
            scores, means, pairs = one.scores, one.means, one.pairs
            if scores is not None:
                some = kept[scores.stimulus]
                scores = replace(scores, stimulus=new[scores.stimulus[some]], rater=scores.rater[some], score=scores.score[some])
            if means is not None:
                means = Means(means.mean[kept], means.sd[kept], means.n[kept], means.se[kept])
            if pairs is not None:
                some = kept[pairs.left] & kept[pairs.right]
                left, right = new[pairs.left[some]], new[pairs.right[some]]
                pairs = replace(pairs, left=left, right=right, choice=pairs.choice[some], rater=pairs.rater[some])
            criteria.append(Criterion(one.name, scores, means, pairs))
        return replace(self, stimuli=of, criteria=tuple(criteria), values=self.values[kept])

"""The subject of a study: its entries and samples, as places of a grid."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leaderboard.models import Question, Rater, Study, StudyAnalysis, StudyEntry
from leaderboard.stats.uncertainty import ALPHA
from leaderboard.stats.votes import Ints
from leaderboard.studies.live.question_choice import Crown, Grid


class Subject:
    """The entries of a study in the order of their ids, which of them are asked about now (`live`), and its samples.

    With a rater, entries of their own (`own`), as far as an account of theirs is known, are not asked about.
    """

    def __init__(self, study: Study, rater: Rater | None = None) -> None:
        self.study = study
        columns = ("id", "label", "gold_kind", "gold_order", "is_live")
        self.entries = list(study.entries.marked().order_by("id").values_list(*columns, named=True))
        self.own = set() if rater is None else set(study.entries.own_of(rater).values_list("pk", flat=True))
        self.live = {entry.id for entry in self.entries if entry.is_live} - self.own
        self.is_pairs = study.kind == Study.Kind.PAIRS

    @cached_property
    def samples(self) -> list[int]:
        """The ids of the samples, in their order."""
        return list(self.study.samples.values_list("pk", flat=True))

    @cached_property
    def n_samples(self) -> int:
        return self.study.samples.count()

    @cached_property
    def grid(self) -> Grid:
        make = Grid.pairs if self.is_pairs else Grid.singles
        return make(len(self.entries), self.n_samples)

    @cached_property
    def live_units(self) -> NDArray[np.bool_]:
        """Units of live entries only: bool[U]."""
        return self.grid.live(np.array([entry.id in self.live for entry in self.entries], dtype=bool))

    def n_cells(self, entries: Set[int]) -> int:
        """The number of questions to ask about these entries."""
        n = len(entries)
        return (n * (n - 1) // 2 if self.is_pairs else n) * self.n_samples

    @cached_property
    def gold(self) -> NDArray[np.bool_]:
        """Units of known order: bool[U]."""
        is_gold = np.zeros(self.grid.units, dtype=bool)
        if self.is_pairs and (ids := [(better.id, worse.id) for better, worse in gold_pairs(self.entries)]):
            better, worse = (self._places(column) for column in zip(*ids, strict=True))
            is_gold[self.grid.unit(better, worse)] = True
        return is_gold

    @cached_property
    def undamaged(self) -> set[int]:
        """The ids of the live entries that first place is among."""
        return {entry.id for entry in self.entries if entry.id in self.live and entry.label not in self.study.damaged}

    @cached_property
    def counting(self) -> NDArray[np.bool_]:
        """Units of these alone whose order is not known: bool[U]. Answers on others are in no headline."""
        return self.grid.live(np.array([entry.id in self.undamaged for entry in self.entries], dtype=bool)) & ~self.gold

    @cached_property
    def crown(self) -> Crown | None:
        """First place by the newest figures, and the entries not told from it, among them those that the figures do not name. None while
        there are no figures, or the first is not asked about any more."""
        done = StudyAnalysis.objects.filter(study=self.study, criterion=self.study.main_criterion)
        found = done.values_list("content__first_place", flat=True).first()
        places = {entry.label: n for n, entry in enumerate(self.entries) if entry.is_live}
        if not found or found["entry"] not in places:
            return None
        told = {rival["entry"] for rival in found["others"] if rival["p"] is not None and rival["p"] <= ALPHA}
        damaged = self.study.damaged
        rivals = [n for label, n in places.items() if label != found["entry"] and label not in told | damaged]
        return Crown(places[found["entry"]], tuple(rivals))

    def shown(self, cell: int, turned: bool) -> dict[str, int | None]:
        """Columns of a question on a cell: its sample, and its entries on their sides, which may be `turned`."""
        unit, sample = divmod(cell, self.grid.samples)
        sides = [self.entries[self.grid.first[unit]].id, self.entries[self.grid.second[unit]].id if self.is_pairs else None]
        left, right = reversed(sides) if turned else sides
        return {"sample_id": self.samples[sample], "left_id": left, "right_id": right}

    def asks(self, question: Question) -> bool:
        """True if a question is on entries that have not dropped out, and are not the rater's own."""
        return question.left_id in self.live and (question.right_id is None or question.right_id in self.live)

    def cells(self, rows: Sequence[tuple[int, int | None, int]]) -> Ints:
        """The numbers of these cells, given as rows (left, right, sample) of ids."""
        if not rows:
            return np.zeros(0, dtype=np.int64)
        left, right, sample = zip(*rows, strict=True)
        second = self._places(right) if self.is_pairs else np.full(len(rows), -1)
        ids = np.array(self.samples, dtype=np.int64)
        order = np.argsort(ids)
        samples = order[np.searchsorted(ids, np.array(sample), sorter=order)]
        return self.grid.unit(self._places(left), second) * self.n_samples + samples

    def _places(self, ids: Sequence[int]) -> Ints:
        return np.searchsorted(np.array([entry.id for entry in self.entries], dtype=np.int64), np.array(ids))


def gold_labels(study: Study) -> list[tuple[str, str]]:
    """Labels of the pairs of a study whose order is known, the better one first."""
    return [(better.label, worse.label) for better, worse in gold_pairs(list(study.entries.all()))]


def gold_pairs(entries: Sequence[StudyEntry]) -> list[tuple[StudyEntry, StudyEntry]]:
    """(better, worse) of each gold kind: its best entries against its worst ones."""
    kinds: dict[str, list[StudyEntry]] = {}
    for entry in entries:
        if entry.gold_kind and entry.gold_order is not None:
            kinds.setdefault(entry.gold_kind, []).append(entry)
    pairs = []
    for rows in kinds.values():
        best, worst = min(row.gold_order for row in rows), max(row.gold_order for row in rows)
        if best < worst:
            pairs += [(a, b) for a in rows if a.gold_order == best for b in rows if b.gold_order == worst]
    return pairs

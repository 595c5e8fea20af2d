"""From a manifest and its files to the arrays of figures. PURE.

Names of raters stay here: they become numbers in order of first appearance, per session, and are in nothing that is returned or raised.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from statistics import NormalDist

import numpy as np

from leaderboard.evidence.manifest import Judgements, Manifest, MetricColumn, MetricValues, Printed, PrintedTable, is_personal
from leaderboard.evidence.raw import EvidenceError, RawTable, ReadSheet, read_table
from leaderboard.evidence.tables import (
    Criterion,
    EvidenceTables,
    Label,
    Means,
    Pairs,
    PublishedMetric,
    RatersAre,
    Scores,
    Stimuli,
)
from leaderboard.evidence.text_rules import NoText, Row, TextRule
from leaderboard.stats.votes import Floats, Ints
from submissions.formats.errors import FormatError, excerpt

MISSING = {"", "-", "–", "—", "na", "n/a", "nan", "null", "none", "#n/a", "inf", "+inf", "-inf", "infinity", "-infinity"}
USUAL_CRITERION = "quality"
RULES = ("item", "group", "entry", "family", "session", "key", "rater", "left", "right", "choice")  # of a row of answers
CHOICES = {"left": -1, "right": 1, "tie": 0}
NUMBERED = re.compile(r"[A-Za-z]{1,24}[ _.-]?\d{1,6}")  # a column's head that names nobody
MOST_TEXT = 200  # characters of a name
SHOWN = 3  # faults of one kind that are said one by one
ACROSS_STIMULI, ACROSS_GROUPS = 24, 5  # that a figure across items needs (EVIDENCE §3b)
_NO_PAIRS = "No two entries met on an item: there is nothing to agree with."


@dataclass(frozen=True, eq=False)
class PrintedColumns:
    """Columns that a printed number is computed from: the metric's values and the people's, row by row, float64[N] each; and the group
    of its item, int64[N]."""

    printed: Printed
    x: Floats
    y: Floats
    group: Ints


@dataclass(frozen=True, eq=False)
class Reading:
    """A set as it was read: its tables, and the columns of the numbers that its publication prints."""

    tables: EvidenceTables
    printed: tuple[PrintedColumns, ...]


@dataclass
class _Faults:
    """Problems of a file as sentences: the first three of each kind, and the number of the others."""

    found: dict[str, list[str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, sentence: str) -> None:
        if sentence in self.found.get(kind, ()):
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= SHOWN:
            self.found.setdefault(kind, []).append(sentence)

    def raise_if_any(self) -> None:
        if self.found:
            raise EvidenceError(
                [
                    sentence
                    for kind, kept in self.found.items()
                    for sentence in (*kept, *([f"{self.counts[kind] - SHOWN:,} more {kind}."] if self.counts[kind] > SHOWN else ()))
                ]
            )


@dataclass
class _Names:
    """Names by number, in order of first appearance."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))


class _Stimuli:
    """Stimuli as they are met, with the group of each item and the family and label of each entry."""

    def __init__(self, faults: _Faults, manifest: Manifest) -> None:
        self.faults = faults
        self.items, self.entries = _Names(), _Names()
        self.group_of: dict[str, str] = dict(manifest.groups)
        self.family_of: dict[str, str] = dict(manifest.families)
        self.label_of: dict[str, Label] = dict(manifest.label_of)
        self.numbers: dict[tuple[int, int], int] = {}

    def number(self, item: str, entry: str, group: str | None = None, family: str | None = None) -> int:
        if group is not None:
            known = self.group_of.setdefault(item, group)
            if known != group:
                self.faults.add("items in two groups", f"{item} is in two groups: {known} and {group}.")
        if family is not None:
            known = self.family_of.setdefault(entry, family)
            if known != family:
                self.faults.add("entries in two families", f"{entry} is in two families: {known} and {family}.")
        return self.numbers.setdefault((self.items.number(item), self.entries.number(entry)), len(self.numbers))

    def names(self) -> list[tuple[str, str]]:
        """Item and entry of each stimulus."""
        items, entries = list(self.items.numbers), list(self.entries.numbers)
        return [(items[item], entries[entry]) for item, entry in self.numbers]


class _Raters:
    """Raters as they are met. A name is remembered here alone."""

    def __init__(self) -> None:
        self.sessions = _Names()
        self.numbers: dict[tuple[int, str], int] = {}
        self.number_of: list[int] = []
        self.session_of: list[int] = []
        self._last: dict[int, int] = {}

    def number(self, session: str, name: str) -> int:
        at = self.sessions.number(session)
        known = self.numbers.get((at, name))
        if known is None:
            known = self.numbers[at, name] = len(self.number_of)
            self._last[at] = self._last.get(at, 0) + 1
            self.number_of.append(self._last[at])
            self.session_of.append(at)
        return known


@dataclass
class _Answers:
    """Answers on one criterion."""

    scores: dict[tuple[int, int], float] = field(default_factory=dict)  # by rater and stimulus
    repeated: int = 0
    means: dict[int, tuple[float, float, float, float]] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)  # where a mean was read
    pairs: list[tuple[int, int, int, int]] = field(default_factory=list)  # left, right, choice, rater
    kind: str = ""


@dataclass(frozen=True)
class _Line:
    """A row of a table with its number, and what the rules of its block make of it."""

    table: RawTable
    number: int
    row: Row
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"{self.table.name}, row {self.number}"

    @property
    def session(self) -> str:
        return self.texts.get("session", "")


@dataclass(frozen=True)
class _Block:
    """A block of answers in its table. `places` are the places of columns, `wide` the places of columns that are raters, and `used` the
    sessions and columns that hold a score. A rule of `labels` is for rows whose columns hold one of some texts."""

    of: Judgements
    table: RawTable
    places: Mapping[str, int]
    rules: Mapping[str, Callable[[Row], str]]
    wide: Sequence[int]
    used: set[tuple[str, int]]
    labels: Sequence[tuple[Label, Sequence[tuple[int, Sequence[str]]]]]


def read(manifest: Manifest, folder: Path | Callable[[str], Path], read_sheet: ReadSheet) -> Reading:
    """The set whose files lie in `folder` under their names, or where that says, with digests that were checked. Raises `EvidenceError`."""
    where = (lambda name: folder / name) if isinstance(folder, Path) else folder
    for file in manifest.files:
        if file.id in manifest.tables and not file.format:
            raise EvidenceError([f"{file.name} is no table; say its format: csv, tsv, xlsx or tex."])
    raw = {file.id: read_table(where(file.name), file, read_sheet) for file in manifest.files if file.id in manifest.tables}
    return _Reader(manifest, raw).read()


def no_sheet(path: Path, sheet: str) -> list[list[str]]:
    """Refusal of a spreadsheet, for sets that have none. Raises `FormatError`."""
    raise FormatError(path.name, "", "is a spreadsheet; CSV was expected")


class _Reader:
    def __init__(self, manifest: Manifest, raw: Mapping[str, RawTable]) -> None:
        self.manifest, self.raw = manifest, raw
        self.faults = _Faults()
        self.stimuli = _Stimuli(self.faults, manifest)
        self.answers: dict[str, _Answers] = {}
        self.raters = _Raters()  # one numbering for all criteria
        self.by_key: dict[str, int] = {}  # stimuli by the text that joins files
        self.remarks: list[str] = []
        self.columns: dict[tuple[str, ...], np.ndarray] = {}  # of the numbers that are printed

    def read(self) -> Reading:
        for block in self.manifest.judgements:
            self._block(block)
        self.faults.raise_if_any()
        if not any(one.scores or one.means or one.pairs for one in self.answers.values()):
            raise EvidenceError(["The files hold no answer: every score and mean is empty."])
        metrics = tuple(column for one in self.manifest.metrics for column in one.columns)
        values = self._values(metrics)
        self.faults.raise_if_any()
        tables = self._with_pairs(self._tables(metrics, values))
        printed = [*self.manifest.printed, *(one for table in self.manifest.printed_tables for one in self._printed_in(table))]
        return Reading(tables, tuple(self._printed(one) for one in printed))

    # --- answers ---------------------------------------------------------------------------------

    def _block(self, block: Judgements) -> None:
        own = self._bound(block)
        for number, row in zip(own.table.lines, own.table.rows, strict=True):
            try:
                line = _Line(own.table, number, row, {key: rule(row) for key, rule in own.rules.items()})
            except NoText as error:
                self.faults.add("rows like these", f"{own.table.name}, row {number}: {error}.")
                continue
            if self._named(line):
                self._answer(own, line)

    def _bound(self, block: Judgements) -> _Block:
        """The block with its rules and columns found in its table."""
        table, criterion = self.raw[block.file], block.criterion
        if criterion is not None and criterion.column and criterion.column not in table.heads:
            criterion = TextRule(template=criterion.column)  # one criterion, by its name
        places = table.places([*block.columns, *(criterion.columns if criterion is not None else ())])
        wide = self._wide(block, table) if block.is_wide else []
        named = {key: getattr(block, key) for key in RULES} | {"criterion": criterion}
        rules = {key: rule.bind(places) for key, rule in named.items() if rule is not None}
        labels = []
        for one in self.manifest.labels:
            if one.where and all(column in table.heads for column, _ in one.where):
                at = table.places([column for column, _ in one.where])
                labels.append((one.label, [(at[column], texts) for column, texts in one.where]))
        return _Block(block, table, places, rules, wide, set(self._used(table, wide, rules.get("session"))), labels)

    def _answer(self, block: _Block, line: _Line) -> None:
        """Keep what a row says: a pair, a mean or scores of a stimulus."""
        texts = line.texts
        answers = self.answers.setdefault(texts.get("criterion") or USUAL_CRITERION, _Answers())
        if block.of.choice is not None:
            self._pair(line, answers)
            return
        stimulus = self.stimuli.number(texts["item"], texts["entry"], texts.get("group"), texts.get("family"))
        if "key" in texts and self.by_key.setdefault(texts["key"], stimulus) != stimulus:
            self.faults.add("keys like these", f"{line.where}: the key {excerpt(texts['key'])} names two stimuli.")
        for label, where in block.labels:
            if all(line.row[place].strip() in wanted for place, wanted in where):
                self.stimuli.label_of[texts["entry"]] = label
        if block.of.mean:
            self._mean(block, line, stimulus, answers)
        else:
            self._scores(block, line, stimulus, answers)

    def _named(self, line: _Line) -> bool:
        """True where every text of the row is there and short enough; a fault where not."""
        for key, text in line.texts.items():
            if not text and key not in ("session", "criterion"):
                self.faults.add("rows like these", f"{line.where}: {key} is empty.")
                return False
            if len(text) > (MOST_TEXT if key != "key" else 1000):
                self.faults.add("rows like these", f"{line.where}: {key} has more than {MOST_TEXT} characters.")
                return False
        return True

    def _wide(self, block: Judgements, table: RawTable) -> list[int]:
        """Places of the columns that are raters."""
        pattern = re.compile(fnmatch.translate(block.score.replace("[", "[[]").replace("?", "[?]")))
        wide = [place for place, head in enumerate(table.heads) if pattern.match(head)]
        if not wide:
            raise EvidenceError([f"{table.name} has no column like {block.score}."])
        for place in wide:
            if is_personal(table.heads[place]):
                self.faults.add("columns like these", f"Column {excerpt(table.heads[place])} is personal data. It is not read.")
            elif table.heads[place] in block.columns:
                head = excerpt(table.heads[place])
                self.faults.add("columns like these", f"Column {head} names a stimulus and is no rater; {block.score} matches it.")
        self.faults.raise_if_any()
        return wide

    def _used(self, table: RawTable, wide: Sequence[int], session: Callable[[Row], str] | None) -> Iterable[tuple[str, int]]:
        """Columns with a score in each session: an empty one is nobody."""
        for row in table.rows if wide else ():
            try:
                at = session(row) if session else ""
            except NoText:
                continue
            yield from ((at, place) for place in wide if row[place].strip().lower() not in MISSING)

    def _scores(self, block: _Block, line: _Line, stimulus: int, answers: _Answers) -> None:
        self._kind(answers, "scores")
        session, wide, anonymous = line.session, bool(block.wide), self.manifest.raters_are == RatersAre.ANONYMOUS
        if wide:
            # In the order of columns, whichever of them has the first row's score.
            cells = [(place, self.raters.number(session, f"{place}")) for place in block.wide if (session, place) in block.used]
        else:
            name = line.texts.get("rater", "")
            cells = [(block.places[block.of.score], -1 if anonymous and not name else self.raters.number(session, name))]
        for place, rater in cells:
            score = self._number(line, place, shown=not wide or NUMBERED.fullmatch(line.table.heads[place]) is not None)
            if math.isnan(score):
                continue
            self._hold(line, place, score, wide)
            if rater < 0 or (
                anonymous and (rater, stimulus) in answers.scores
            ):  # of nobody known: the first that this stimulus has not had
                numbers = (self.raters.number(session, f"place {at}") for at in count())
                rater = next(number for number in numbers if (number, stimulus) not in answers.scores)
            if (rater, stimulus) in answers.scores:
                answers.repeated += 1
            else:
                answers.scores[rater, stimulus] = score

    def _hold(self, line: _Line, place: int, score: float, wide: bool) -> None:
        """Hold a score against the scale's ends."""
        if self.manifest.scale is None:
            return
        low, high = self.manifest.scale
        if not low <= score <= high:
            where = f"{line.where}, {self._head(line.table, place, wide)}"
            ask = "Is the scale another one?"
            self.faults.add(f"scores lie outside {low:g} to {high:g}", f"{where}: {score:g} lies outside {low:g} to {high:g}. {ask}")

    def _head(self, table: RawTable, place: int, wide: bool) -> str:
        """A column in a sentence; by its place where its head may be somebody's name."""
        head = table.heads[place]
        return excerpt(head) if not wide or NUMBERED.fullmatch(head) else f"column {place + 1}"

    def _number(self, line: _Line, place: int, shown: bool = True) -> float:
        """The number in a cell, NaN where it is missing or not finite; a fault where it is another text."""
        text = line.row[place].strip()
        if text.lower() in MISSING:
            return math.nan
        try:
            number = float(text)
        except ValueError:
            where = f"{line.where}, {self._head(line.table, place, not shown)}"
            hint = " Write a point before decimals." if re.fullmatch(r"[+-]?\d+,\d+", text) else ""
            self.faults.add("cells are no numbers", f"{where}: “{excerpt(text, 40)}” is not a number.{hint}")
            return math.nan
        return number if math.isfinite(number) else math.nan

    def _value(self, line: _Line, place: int, missing: str) -> float:
        return math.nan if missing and line.row[place].strip() == missing else self._number(line, place)

    def _mean(self, block: _Block, line: _Line, stimulus: int, answers: _Answers) -> None:
        self._kind(answers, "means")
        keys = ("mean", "sd", "n", "se", "low", "high", "half_width")
        columns = [getattr(block.of, key) for key in keys]
        numbers = [self._number(line, block.places[column]) if column else math.nan for column in columns]
        mean, sd, n, se, low, high, half = numbers
        if math.isnan(mean):
            return
        self._hold(line, block.places[block.of.mean], mean, wide=False)
        if low > mean or mean > high or half < 0:
            self.faults.add("rows like these", f"{line.where}: the interval does not hold the mean.")
        elif sd < 0 or se < 0:
            self.faults.add("rows like these", f"{line.where}: the standard {'deviation' if sd < 0 else 'error'} is below 0.")
        elif n < 2:
            self.faults.add("rows like these", f"{line.where}: n is {n:g}; the mean of fewer than two scores has no error.")
        if math.isnan(se):
            z = NormalDist().inv_cdf(0.5 + block.of.level / 200)
            width = half if not math.isnan(half) else (high - low) / 2
            se = width / z if not math.isnan(width) else sd / math.sqrt(n) if n > 0 else math.nan
        known = answers.means.get(stimulus)
        if known is None:
            answers.means[stimulus], answers.rows[stimulus] = (mean, sd, n, se), line.number
        elif known[0] != mean:
            item, entry = self.stimuli.names()[stimulus]
            twice = f"{item}, {entry} is listed twice (rows {answers.rows[stimulus]} and {line.number}) with different means."
            self.faults.add("stimuli are listed twice", twice)

    def _pair(self, line: _Line, answers: _Answers) -> None:
        self._kind(answers, "pairs")
        texts = line.texts
        choice = CHOICES.get(texts["choice"].lower())
        if choice is None:
            said = excerpt(texts["choice"], 40)
            self.faults.add("rows like these", f"{line.where}: the choice is “{said}”; it must be left, right or tie.")
            return
        if texts["left"] == texts["right"]:
            self.faults.add("rows like these", f"{line.where}: left and right are the same entry.")
            return
        left, right = (self.stimuli.number(texts["item"], texts[side], texts.get("group")) for side in ("left", "right"))
        answers.pairs.append((left, right, choice, self.raters.number(line.session, texts.get("rater", ""))))

    def _kind(self, answers: _Answers, kind: str) -> None:
        if answers.kind and answers.kind != kind:
            self.faults.add("criteria like these", f"A criterion has {answers.kind} and {kind}; give each kind a criterion of its own.")
        answers.kind = answers.kind or kind

    # --- values of metrics -----------------------------------------------------------------------

    def _values(self, metrics: Sequence[MetricColumn]) -> Floats:
        """float64[S, M]: the values of all metrics on the stimuli that have an answer."""
        names = self.stimuli.names()
        values = np.full((len(names), len(metrics)), math.nan)
        by_name = {name: number for number, name in enumerate(names)}
        first = 0
        for one in self.manifest.metrics:
            table = self.raw[one.file]
            find = self._join(one, table, by_name)
            places = table.places([column.column for column in one.columns])
            seen: dict[int, int] = {}
            unknown: list[str] = []
            for line, row in zip(table.lines, table.rows, strict=True):
                try:
                    stimulus, said = find(row)
                except NoText as error:
                    self.faults.add("rows like these", f"{table.name}, row {line}: {error}.")
                    continue
                if stimulus is None:
                    unknown.append(said)
                    continue
                own = _Line(table, line, row)
                row_values = np.array([self._value(own, places[column.column], column.missing) for column in one.columns])
                if stimulus in seen:
                    self._same(table, (seen[stimulus], line), names[stimulus], one, values[stimulus], row_values, first)
                    continue
                seen[stimulus] = line
                values[stimulus, first : first + len(one.columns)] = row_values
            if unknown:
                have, were = ("has", "was") if len(unknown) == 1 else ("have", "were")
                self.remarks.append(f"{len(unknown):,} of {len(table.rows):,} rows {have} no rating and {were} left out: {_some(unknown)}.")
            without = [name for number, name in enumerate(names) if number not in seen]
            if len(without) == len(names):
                raise EvidenceError([f"No row of {table.name} belongs to a stimulus that has an answer: the names do not match."])
            if without:
                some = "; ".join(f"{item}, {entry}" for item, entry in without[:3])
                more = " and others" if len(without) > 3 else ""
                self.remarks.append(f"{len(without):,} of {len(names):,} stimuli have no row in {table.name}: {some}{more}.")
            listed = np.array(sorted(seen), dtype=np.int64)
            for at, column in enumerate(one.columns, first):
                gaps = int(np.isnan(values[listed, at]).sum())
                if gaps:
                    self.remarks.append(f"{column.column} has no value for {gaps:,} {'stimulus' if gaps == 1 else 'stimuli'}.")
            first += len(one.columns)
        return values

    def _join(self, one: MetricValues, table: RawTable, by_name: Mapping[tuple[str, str], int]) -> Callable[[Row], tuple[int | None, str]]:
        """A function that gives the stimulus of a row (None without an answer) and the row's name for messages."""
        if one.key is not None and self.by_key:
            key = one.key.bind(table.places(one.key.columns))

            def by_key(row: Row) -> tuple[int | None, str]:
                text = key(row)
                return self.by_key.get(text), text

            return by_key
        # By their own rules, else by those of the answers in the same file.
        named = [(one.item, one.entry), *((block.item, block.entry) for block in self.manifest.judgements if block.file == one.file)]
        rules = next(((item, entry) for item, entry in named if item is not None and entry is not None), None)
        if rules is None:
            why = "give metrics and judgements a key, or metrics item and entry"
            raise EvidenceError([f"The rows of {self.manifest.file(one.file).name} belong to no stimulus: {why}."])
        item, entry = (rule.bind(table.places(rule.columns)) for rule in rules)

        def by_names(row: Row) -> tuple[int | None, str]:
            name = item(row), entry(row)
            return by_name.get(name), ", ".join(name)

        return by_names

    def _same(
        self, table: RawTable, lines: tuple[int, int], name: tuple[str, str], one: MetricValues, kept: Floats, row: Floats, first: int
    ) -> None:
        """Add a fault where a stimulus has two different values of a metric."""
        for number, column in enumerate(one.columns):
            before, now = kept[first + number], row[number]
            if before != now and not (math.isnan(before) and math.isnan(now)):
                where = f"{name[0]}, {name[1]} is listed twice (rows {lines[0]} and {lines[1]})"
                self.faults.add("stimuli have two values", f"{table.name}: {where} with different values of {column.column}.")
                return

    # --- arrays ----------------------------------------------------------------------------------

    def _tables(self, metrics: Sequence[MetricColumn], values: Floats) -> EvidenceTables:
        found = self.stimuli
        items, entries = tuple(found.items.numbers), tuple(found.entries.numbers)
        self._hold_tables(items, entries)
        groups, families = _Names(), _Names()
        group_of = np.array([groups.number(found.group_of.get(item, item)) for item in items], dtype=np.int64)
        family_of = np.array([families.number(found.family_of.get(entry, entry)) for entry in entries], dtype=np.int64)
        pairs = np.array(list(found.numbers), dtype=np.int64).reshape(-1, 2)
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        new = np.empty(len(order), dtype=np.int64)
        new[order] = np.arange(len(order))
        stimuli = Stimuli(
            items,
            tuple(groups.numbers),
            entries,
            tuple(families.numbers),
            tuple(found.label_of.get(entry, Label.ENTRY) for entry in entries),
            pairs[order, 0],
            pairs[order, 1],
            group_of,
            family_of,
        )
        named = [name for block in self.manifest.judgements if block.criterion for name in block.criterion.values.values()]
        order_of = [*(name for name in dict.fromkeys(named) if name in self.answers), *self.answers]
        criteria = tuple(_criterion(name, self.answers[name], self.raters, new) for name in dict.fromkeys(order_of))
        if repeated := sum(answers.repeated for answers in self.answers.values()):
            self.remarks.append(
                f"{repeated:,} {'score was' if repeated == 1 else 'scores were'} given again by the same rater; the first counts."
            )
        manifest = self.manifest
        return EvidenceTables(
            manifest.name,
            manifest.material,
            manifest.raters_are,
            manifest.because,
            manifest.scale,
            manifest.scale_name,
            manifest.better_is_higher,
            stimuli,
            criteria,
            tuple(PublishedMetric(one.title or one.column, one.name, one.higher_is_better, one.reference_point) for one in metrics),
            values[order],
            tuple(one.title or one.column for one in metrics if one.column in manifest.compare),
            manifest.left_out or tuple(self.remarks),
        )

    def _hold_tables(self, items: Sequence[str], entries: Sequence[str]) -> None:
        """Hold the manifest's tables of groups, families and labels against the names in the answers. Raises `EvidenceError`."""
        faults = []
        for noun, table, names, of in (
            ("group", self.manifest.groups, items, "items"),
            ("family", self.manifest.families, entries, "entries"),
        ):
            absent = [name for name in names if name not in table] if table else []
            if absent:
                have = "has" if len(absent) == 1 else "have"
                faults.append(f"{len(absent):,} of {len(names):,} {of} {have} no {noun}: {_some(absent)}.")
        if unknown := [name for name in self.manifest.label_of if name not in self.stimuli.entries.numbers]:
            faults.append(f"The labels name what is no entry of the answers: {_some(unknown)}.")
        if faults:
            raise EvidenceError(faults)

    def _with_pairs(self, tables: EvidenceTables) -> EvidenceTables:
        """The tables, with a remark where no two entries met on an item. Raises `EvidenceError` where no figure is possible then: there are
        too few stimuli for one across items."""
        entries = tables.entries_only().stimuli
        if not len(entries):
            raise EvidenceError(["Every entry is a reference, a damaged copy or empty: there is nothing to compare."])
        if np.bincount(entries.item).max() > 1:
            return tables
        if not tables.metrics or len(entries) < ACROSS_STIMULI or len(entries.groups) < ACROSS_GROUPS:
            raise EvidenceError([_NO_PAIRS])
        return replace(tables, remarks=(*tables.remarks, _NO_PAIRS))

    def _printed(self, one: Printed) -> PrintedColumns:
        source = next(source for source in self.manifest.metrics if any(column.column == one.metric for column in source.columns))
        table = self.raw[source.file]
        missing = next(column.missing for column in source.columns if column.column == one.metric)
        chosen = np.ones(len(table.rows), dtype=bool)
        for column, texts in one.where:
            chosen &= self._kept(("where", source.file, column, *texts), partial(self._says, table, column, texts))
        x = self._kept(("numbers", source.file, one.metric), lambda: self._column(table, one.metric, missing))
        y = self._kept(("numbers", source.file, one.against), lambda: self._column(table, one.against))
        group = self._kept(("group", source.file), lambda: self._groups(source, table))
        self.faults.raise_if_any()
        if not chosen.any():
            raise EvidenceError([f"No row of {table.name} is meant by the printed {one.statistic} of {one.metric}."])
        return PrintedColumns(one, x[chosen], y[chosen], group[chosen])

    def _kept(self, key: tuple[str, ...], make: Callable[[], np.ndarray]) -> np.ndarray:
        """An array that is made once: hundreds of printed numbers share a few columns."""
        if key not in self.columns:
            self.columns[key] = make()
        return self.columns[key]

    def _says(self, table: RawTable, column: str, texts: Sequence[str]) -> np.ndarray:
        place = table.places([column])[column]
        return np.array([row[place].strip() in texts for row in table.rows], dtype=bool)

    def _column(self, table: RawTable, column: str, missing: str = "") -> np.ndarray:
        place = table.places([column])[column]
        return np.array([self._value(_Line(table, *line), place, missing) for line in zip(table.lines, table.rows, strict=True)])

    def _printed_in(self, one: PrintedTable) -> Iterable[Printed]:
        """The numbers of a printed table; its empty cells are none. Raises `EvidenceError`."""
        table = self.raw[one.file]
        rules = [one.metric, *(rule for _, rule in one.where)]
        places = table.places([*(cell.column for cell in one.cells), *(column for rule in rules for column in rule.columns)])
        metric, *texts = (rule.bind(places) for rule in rules)
        known = {column.column for source in self.manifest.metrics for column in source.columns}
        for line, row in zip(table.lines, table.rows, strict=True):
            try:
                name, said = metric(row), [text(row) for text in texts]
            except NoText as error:
                raise EvidenceError([f"{table.name}, row {line}: {error}."]) from None
            if not name:
                continue
            if name not in known:
                raise EvidenceError([f"{table.name}, row {line}: {excerpt(name)} is no metric of this set."])
            own = tuple((column, tuple(text.split("|"))) for (column, _), text in zip(one.where, said, strict=True) if text)
            for cell in one.cells:
                value = self._number(_Line(table, line, row), places[cell.column])
                if not math.isnan(value):
                    yield Printed(cell.statistic, name, one.against, (*own, *cell.where), value, one.digits)

    def _groups(self, source: MetricValues, table: RawTable) -> np.ndarray:
        """int64[N]: the group of each row of metric values; one and the same where the row does not say."""
        for block in self.manifest.judgements:
            rule = block.group or block.item
            if block.file == source.file:
                name = rule.bind(table.places(rule.columns))
                return np.unique([name(row) for row in table.rows], return_inverse=True)[1].astype(np.int64)
        return np.zeros(len(table.rows), dtype=np.int64)


def _criterion(name: str, answers: _Answers, raters: _Raters, new: Ints) -> Criterion:
    """The answers on one criterion, with the raters who gave one; `new` has the place of each stimulus."""
    if answers.kind == "means":
        columns = np.full((4, len(new)), math.nan)
        for stimulus, found in answers.means.items():
            columns[:, new[stimulus]] = found
        return Criterion(name, means=Means(*columns))
    if answers.kind == "scores":
        keys = np.array(list(answers.scores), dtype=np.int64).reshape(-1, 2)
        who, rater = np.unique(keys[:, 0], return_inverse=True)
    else:
        rows = np.array(answers.pairs, dtype=np.int64).reshape(-1, 4)
        who, rater = np.unique(rows[:, 3], return_inverse=True)
    session_of = np.array(raters.session_of, dtype=np.int64)[who]
    about = (tuple(raters.sessions.numbers), session_of, np.array(raters.number_of, dtype=np.int64)[who])
    if answers.kind == "scores":
        scores = np.array(list(answers.scores.values()), dtype=np.float64)
        return Criterion(name, scores=Scores(new[keys[:, 1]], rater, scores, *about))
    return Criterion(name, pairs=Pairs(new[rows[:, 0]], new[rows[:, 1]], rows[:, 2], rater, *about))


def _some(names: Sequence[str]) -> str:
    """The first of these names, for a sentence."""
    return f"{', '.join(excerpt(name, 60) for name in names[:SHOWN])}{' and others' if len(names) > SHOWN else ''}"

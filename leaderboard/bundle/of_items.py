"""Figures of a results-only phase from a set of answers and values by item: a column for each metric, a row for each entry and item."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from dataclasses import replace

import numpy as np

from evaluation import result_tables
from evaluation.result_tables import Layout, ResultColumn, ResultsError
from leaderboard.bundle.definition import AnswersDef, ResultsDef
from leaderboard.evidence import canonical, recording
from leaderboard.evidence.manifest import Manifest, published_names
from leaderboard.evidence.reading import Reading
from leaderboard.evidence.tables import Criterion, EvidenceTables
from leaderboard.stats.votes import Floats

FILE_NAME = "values.csv"
MAX_TITLE, MAX_SLUG = 80, 63


def results_of(manifest: Manifest, found: Reading, source: str = "", url: str = "", question: str = "", primary: str = "") -> ResultsDef:
    """The results of a set. `primary` names the column that decides the order, by its head or by the metric's name: without it the first
    metric. In a set without metrics, the columns are people's means. Raises `ResultsError`."""
    tables = found.tables
    columns, values = _metrics(tables) if tables.metrics else _means(tables)
    first = _primary(columns, [one.column for one in tables.metrics], primary)
    columns = [replace(one, is_primary=one is first) for one in columns]
    layout = Layout(tuple(columns), method="entry", item="item", group="group")
    text = _text(tables, layout, values)
    result_tables.read(text, layout)
    packed = canonical.pack(manifest, tables)
    criteria = ", ".join(one.name for one in tables.criteria)
    answers = AnswersDef(
        question or (manifest.asked.task or f"How good is each result? Judged: {criteria}.")[:400],
        hashlib.sha256(packed).hexdigest(),
        packed,
        recording.reproduced(manifest, found.printed),
    )
    url = url or manifest.paper or manifest.source.repository
    source = source or manifest.source.repository.partition("://")[2] or manifest.authors
    digest = hashlib.sha256(text.encode()).hexdigest()
    return ResultsDef(source, url[:200], FILE_NAME, digest, layout, answers=answers, text=text)


def _primary(columns: list[ResultColumn], names: list[str], wanted: str) -> ResultColumn:
    """The column that is called so, by its head, slug, title or the metric's own of `names`; without a name, the first in the ranking."""
    if not wanted:
        return next((one for one in columns if one.in_ranking), columns[0])
    for n, one in enumerate(columns):
        if wanted in (one.column, one.slug, one.title, *names[n : n + 1]):
            return one
    raise ResultsError([f"There is no column “{wanted[:60]}”; there are: {', '.join(one.column for one in columns)}."])


def _metrics(tables: EvidenceTables) -> tuple[list[ResultColumn], Floats]:
    """A column for each metric, and their values float64[S, columns]; what knows nothing of quality is no part of a ranking."""
    titles = [published_names().get(one.name, {}).get("title") or one.column for one in tables.metrics]
    columns: list[ResultColumn] = []
    for head, title, one in zip(canonical.value_heads(tables), titles, tables.metrics, strict=True):
        title = title if titles.count(title) == 1 else one.column
        slug = _slug(one.name if titles.count(title) == 1 and one.name else one.column, columns)
        columns.append(ResultColumn(slug, head, title[:MAX_TITLE], one.higher_is_better, in_ranking=not one.reference_point))
    return columns, tables.values


def _means(tables: EvidenceTables) -> tuple[list[ResultColumn], Floats]:
    """A column for each criterion, with people's means. Raises `ResultsError` where there are votes on pairs alone."""
    criteria = [one for one in tables.criteria if one.pairs is None]
    if not criteria:
        raise ResultsError(["The set has neither values of metrics nor scores, so there is nothing to rank entries by."])
    columns: list[ResultColumn] = []
    for one in criteria:
        columns.append(ResultColumn(_slug(one.name, columns), one.name, f"People: {one.name}"[:MAX_TITLE], tables.better_is_higher))
    return columns, np.stack([_mean_of(one, len(tables.stimuli)) for one in criteria], axis=1)


def _mean_of(criterion: Criterion, n_stimuli: int) -> Floats:
    """float64[S]: the mean of each stimulus, NaN where there is none."""
    if criterion.means is not None:
        return criterion.means.mean
    assert criterion.scores is not None
    n = np.bincount(criterion.scores.stimulus, minlength=n_stimuli)
    total = np.bincount(criterion.scores.stimulus, criterion.scores.score, n_stimuli)
    return np.divide(total, n, out=np.full(n_stimuli, np.nan), where=n > 0)


def _slug(name: str, taken: list[ResultColumn]) -> str:
    slug = re.sub(r"[^a-z0-9-]+", "_", name.lower()).strip("_-")[: MAX_SLUG - 4] or "column"
    slug = f"{slug}-metric" if slug == "people" else slug  # the slug of the board's column of people
    known = {one.slug for one in taken}
    return next(one for one in (slug, *(f"{slug}-{n}" for n in range(2, len(known) + 3))) if one not in known)


def _text(tables: EvidenceTables, layout: Layout, values: Floats) -> str:
    """The table as CSV, without references and damaged copies."""
    stimuli, made = tables.stimuli, io.StringIO()
    writer = csv.writer(made)
    writer.writerow([layout.item, layout.group, layout.method, *(column.column for column in layout.columns)])
    for n in np.flatnonzero(stimuli.is_entry):
        item = stimuli.item[n]
        names = stimuli.items[item], stimuli.groups[stimuli.group_of[item]], stimuli.entries[stimuli.entry[n]]
        writer.writerow([*names, *(canonical.number_text(value) for value in values[n].tolist())])
    return made.getvalue()

"""Evidence on a metric with certain parameters: which properties it has, and how that compares with the published table.

Tables for the default parameters ship with the code and cost no query. Tables for other parameters were measured here in the background; a
leaderboard asks for all of its tables at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import Any

from evaluation.metrics import registry
from evaluation.metrics.registry import MetricSpec
from evaluation.models import Score, SuiteRun
from evaluation.models.sanity_tests import is_measurable
from evaluation.properties import bundled_tables, example_values, suite, weaknesses
from evaluation.properties.suite import PASS, Property, Rate, Table
from leaderboard.records.suite_table import Cell, Column, Missing, SuiteTable
from leaderboard.records.suite_table import Line as TableLine
from leaderboard.stats.correlation import correlation
from leaderboard.viewer.svg import Drawing, draw

ROUNDING = 1e-12  # a drawn example's value this small is 0 to a reader


class Reason(StrEnum):
    """Kind of reason why our verdict on a metric in a test differs from the published one."""

    SAMPLES = "samples"  # the paper draws new points for each wireframe
    STEP = "step"  # it damages models in another way
    CONTRADICTION = "contradiction"  # its rate contradicts the metric's own definition
    DIVISOR = "divisor"  # exact symmetry, which turns on what a distance is divided by
    RULE = "rule"  # by the other rule for monotonic tests our verdict is the same


# In a sentence or two a cell.
RANDOM = "The paper samples the edges at random again for each wireframe, so unchanged parts seem to change; we measure the same points."
OTHER_STEP = "The paper damages models in another way and does not print by how much. "
CONTRADICTS = "The published rate contradicts the metric's own definition: "
UNPUBLISHED = f"{OTHER_STEP}Its steps may be harder or easier."
OTHER_RULE = "If a step changes nothing, the two rules for monotonic tests differ: by the other rule our verdict is the published one."
_EDITS = ("wed_prereg", "wed_mnn", "wed_nearest", "wed_ap")
_SPECTRAL = ("spectral_l1", "spectral_l2")
_CURVES = ("ecd_chamfer", "wf_hausdorff")
_SHARES_OF_EDGES = ("edge_precision", "edge_recall", "edge_f1")
_BY_METRIC: tuple[tuple[tuple[str, ...], tuple[str, ...], Reason, str], ...] = (
    (
        ("mono_wrong_edges",),
        _EDITS,
        Reason.STEP,
        f"{OTHER_STEP}Its rate fits wrong edges that are all new at every step. Ours stay, and each adds a length to delete.",
    ),
    (
        ("mono_wrong_edges",),
        _SPECTRAL,
        Reason.STEP,
        f"{OTHER_STEP}Its rate fits wrong edges that are all new at every step. Ours stay, and one more edge lowers no eigenvalue.",
    ),
    (
        ("mono_delete_edges",),
        _SPECTRAL,
        Reason.CONTRADICTION,
        f"{CONTRADICTS}one edge less raises no eigenvalue, so the spectra move apart.",
    ),
    (
        ("symmetry_0mean", "near_symmetry_0mean"),
        _SPECTRAL,
        Reason.CONTRADICTION,
        f"{CONTRADICTS}it is a distance between two spectra, in any order.",
    ),
    (
        ("symmetry_0mean", "near_symmetry_0mean"),
        ("corner_offset",),
        Reason.CONTRADICTION,
        f"{CONTRADICTS}the same corners are matched whichever side comes first, and their distances are the same.",
    ),
    (
        ("triangle_add_noise", "triangle_del1_del2"),
        _SPECTRAL,
        Reason.CONTRADICTION,
        f"{CONTRADICTS}a Wasserstein distance between spectra keeps the triangle inequality.",
    ),
    (
        (
            "mono_disconnect_edges",
            "mono_delete_vertices",
            "mono_delete_edges",
            "identity",
            "near_identity",
            "symmetry_0mean",
            "symmetry_shift",
        ),
        _CURVES,
        Reason.SAMPLES,
        RANDOM,
    ),
    (
        ("triangle_del1_del2",),
        ("ecd_chamfer",),
        Reason.STEP,
        f"{OTHER_STEP}We tried new sample points, and two copies that each lack another edge; neither gives the paper's rate.",
    ),
    (
        ("mono_delete_vertices", "mono_moving_vertex"),
        ("jaccard_distance",),
        Reason.STEP,
        f"{OTHER_STEP}New sample points do not explain the paper's rate: with them the test that deletes edges would fail too.",
    ),
    (
        ("mono_deform_split",),
        ("edge_recall", "edge_f1"),
        Reason.STEP,
        f"{OTHER_STEP}Our step may cut an edge that no longer matches, which does not change the distance. By the strict rule the test "
        "then fails.",
    ),
    (
        ("mono_deform_split",),
        ("corner_precision", "corner_f1"),
        Reason.STEP,
        f"{OTHER_STEP}Our step moves corners by noise of 5 % of the diameter, which sometimes brings a corner back within the threshold.",
    ),
    (
        ("mono_moving_vertex", "mono_delete_vertices"),
        _SHARES_OF_EDGES,
        Reason.STEP,
        f"{OTHER_STEP}Our step may move or delete a corner whose edges no longer match, which does not change the distance. By the strict "
        "rule the test then fails.",
    ),
    (
        ("mono_moving_vertex",),
        (*_EDITS, *_SPECTRAL, *_CURVES),
        Reason.STEP,
        f"{OTHER_STEP}In our step a corner moves by half the diameter, which may bring its edges nearer to edges that were moved before.",
    ),
    (
        ("mono_disconnect_edges",),
        ("corner_precision", "corner_f1", "corner_offset", *_SPECTRAL),
        Reason.STEP,
        f"{OTHER_STEP}Our step disconnects an edge by its own copy of a shared corner, at the same place, so nothing moves.",
    ),
    (
        ("mono_delete_vertices",),
        _SPECTRAL,
        Reason.STEP,
        f"{OTHER_STEP}Our step deletes the corner with its edges, and a spectrum of fewer values is compared by quantiles.",
    ),
    (
        ("near_symmetry_0mean", "near_symmetry_shift"),
        _EDITS,
        Reason.STEP,
        f"{OTHER_STEP}Our step is noise of 2 % of the diameter, and what is left of symmetry depends on how many edges it leaves matched.",
    ),
    (
        ("quasi_far", "quasi_close"),
        (*_EDITS, *_SPECTRAL),
        Reason.STEP,
        f"{OTHER_STEP}Our shift is a hundredth of the diameter. With another one, other elements may be matched.",
    ),
)
_BY_TEST = {
    "symmetry_0mean": "Exact symmetry depends on the divisor of a distance. We divide by the reference's length, so roles matter.",
    "symmetry_shift": "Exact symmetry depends on the divisor of a distance. We divide by the reference's length, so roles matter.",
}


@dataclass(frozen=True)
class Count:
    """The number of sanity tests a metric passes with certain parameters, as far as that is known."""

    state: str  # measured, measuring, failed or none
    passed: int | None = None
    of: int | None = None
    percent: float = 0.0
    failed: tuple[str, ...] = ()  # ids of tests

    @property
    def fails(self) -> str:
        """Titles of the tests that it fails: their number says little, because each is another mistake."""
        titles = {test.id: test.title for test in suite.TESTS}
        return f"Fails: {'; '.join(titles[one] for one in self.failed)}." if self.failed else "Fails none of the tests that apply."

    @property
    def groups(self) -> str:
        """Number of failed tests by group, such as `2 Symmetry, 1 Identity`."""
        groups = {test.id: test.group for test in suite.TESTS}
        return ", ".join(f"{n} {group}" for group, n in Counter(groups[one] for one in self.failed).items())


NOT_MEASURED = Count("none")


def counts(fingerprints: Iterable[str]) -> dict[str, Count]:
    """The counts of these fingerprints, with at most one query, and none where every table ships."""
    measured, others = {}, []
    for fingerprint in set(fingerprints):
        tables = bundled_tables.tables(fingerprint)
        if tables:
            measured[fingerprint] = of_table(tables[0])
        else:
            others.append(fingerprint)
    if others:
        rows = SuiteRun.objects.sanity_tests().filter(fingerprint__in=others).order_by()
        for row in rows.defer("rows", "at", "pictures"):
            measured[row.fingerprint] = _count_of(row)
    return {fingerprint: measured.get(fingerprint, NOT_MEASURED) for fingerprint in [*measured, *others]}


def shipped_words(fingerprint: str) -> str:
    """Sanity tests that a column fails, where its table ships with the code; "" otherwise, because a board asks nothing more of the
    database for it."""
    tables = bundled_tables.tables(fingerprint)
    return f"{tables[0].passed} of {tables[0].of} sanity tests passed. {of_table(tables[0]).fails}" if tables else ""


def of_table(table: Table) -> Count:
    """Count of a table that is done."""
    return Count("measured", table.passed, table.of, 100.0, table.failed)


def _count_of(run: SuiteRun) -> Count:
    if (table := run.table) is not None:
        return of_table(table)
    return Count("measuring" if run.state == SuiteRun.State.WAITING else "failed", percent=run.percent)


@dataclass(frozen=True)
class Line:
    """One test: our rates, a table after the other, and the published one."""

    test: Property
    rates: tuple[Rate | None, ...]
    paper: float | None
    key: str = ""  # of the metric

    @property
    def passes(self) -> bool | None:
        """Verdict of our first table."""
        return self.rates[0].passes if self.rates and self.rates[0] is not None else None

    @property
    def paper_passes(self) -> bool | None:
        return None if self.paper is None else self.paper >= PASS

    @property
    def differs(self) -> bool:
        """True if the paper's verdict differs from our first table's."""
        return self.passes is not None and self.paper_passes is not None and self.passes != self.paper_passes

    @property
    def reason(self) -> tuple[Reason, str] | None:
        """The kind of reason why the verdicts differ, and the reason in a sentence or two; None where they do not."""
        if not self.differs:
            return None
        for tests, keys, reason, sentence in _BY_METRIC:
            if self.test.id in tests and self.key in keys:
                return reason, sentence
        ours = self.rates[0]
        # Of a monotone test there are two rates, and one of them is the official one.
        if ours is not None and any(rate is not None and (rate >= PASS) == self.paper_passes for rate in (ours.strict, ours.weak)):
            return Reason.RULE, OTHER_RULE
        return (Reason.DIVISOR, _BY_TEST[self.test.id]) if self.test.id in _BY_TEST else (Reason.STEP, UNPUBLISHED)

    @property
    def why(self) -> str:
        return self.reason[1] if self.reason else ""


class Evidence:
    """All that is known of metric `key` with `params`; other parameters than the defaults have evidence of their own."""

    def __init__(self, spec: MetricSpec, params: Mapping[str, Any], fingerprint: str | None = None) -> None:
        self.spec, self.params = spec, dict(params)
        self.fingerprint = fingerprint or registry.fingerprint(spec.key, params)
        self.defaults = registry.resolve_params(spec.key, {})

    @property
    def is_default(self) -> bool:
        return self.params == self.defaults

    @property
    def every_param(self) -> dict[str, Any]:
        """All parameters, those included that are not stored at their default."""
        return self.spec.every_param(self.params)

    @property
    def changed(self) -> dict[str, Any]:
        """The parameters that are not the defaults, in the spec's order."""
        names = [*self.defaults, *sorted(self.params.keys() - self.defaults)]
        return {name: self.params[name] for name in names if name in self.params and self.params[name] != self.defaults.get(name)}

    @cached_property
    def run(self) -> SuiteRun | None:
        """The measurement here, where no table ships."""
        if bundled_tables.tables(self.fingerprint):
            return None
        return SuiteRun.objects.sanity_tests().filter(fingerprint=self.fingerprint).defer("rows", "at", "pictures").first()

    @cached_property
    def tables(self) -> list[Table]:
        """The simulated models first."""
        tables = bundled_tables.tables(self.fingerprint)
        if not tables and self.run is not None and (table := self.run.table) is not None:
            tables = [table]
        return tables

    @property
    def count(self) -> Count:
        if self.tables:
            return of_table(self.tables[0])
        return _count_of(self.run) if self.run is not None else NOT_MEASURED

    @property
    def will_be_measured(self) -> bool:
        """True if the service can measure it in the background."""
        return is_measurable(self.spec) and self.is_current

    @cached_property
    def is_current(self) -> bool:
        """True if this is what the code computes now, not the values of another version."""
        try:
            return registry.fingerprint(self.spec.key, self.params) == self.fingerprint
        except registry.ParamError:
            return False

    @cached_property
    def published(self) -> Mapping[str, float]:
        return bundled_tables.published(self.spec.key) or {}

    @property
    def published_passed(self) -> int:
        return sum(rate >= PASS for rate in self.published.values())

    @cached_property
    def lines(self) -> list[Line]:
        """A line for each test that is asked of the family, in the suite's order."""
        return [
            Line(test, tuple(table.tests.get(test.id) for table in self.tables), self.published.get(test.id), self.spec.key)
            for test in suite.tests_of(self.spec.family)
        ]

    @property
    def suite_table(self) -> SuiteTable:
        """Our tables side by side, and the published one, where there is one, with what differs."""
        columns = [Column(table.dataset.title, table.passed, table.of) for table in self.tables]
        if self.published:
            columns.append(Column("", self.published_passed, len(self.published), published=True))
        lines = []
        for line in self.lines:
            cells = [
                Cell(missing=Missing.NOT_APPLICABLE) if one is None or one.rate is None else Cell(one.rate, one.passes, PASS)
                for one in line.rates
            ]
            if line.paper is not None:
                note = line.why if line.differs else ""
                cells.append(Cell(line.paper, line.paper_passes, PASS, differs=line.differs, note=note))
            elif self.published:
                cells.append(Cell(missing=Missing.NOT_PUBLISHED))
            test = line.test
            lines.append(TableLine(test.id, test.title, test.group, test.doc, tuple(cells)))
        return SuiteTable(tuple(columns), tuple(lines))

    @property
    def failed(self) -> list[Property]:
        """Tests that it does not pass on the first table."""
        return [line.test for line in self.lines if line.rates and line.rates[0] is not None and line.rates[0].passes is False]

    @property
    def monotone_rule(self) -> str:
        """Sentence on which of the two rules its monotone tests are decided by."""
        return suite.monotone_rule(self.spec)

    @property
    def against_paper(self) -> AgainstPaper | None:
        """All metrics of the published table against it; None for a metric that it has not."""
        return against_paper() if self.published else None

    @property
    def n_differing(self) -> int:
        return sum(line.differs for line in self.lines)

    @property
    def weaknesses(self) -> tuple[Example, ...]:
        """Drawn examples of what it gets wrong, with its default parameters."""
        return examples(self.spec.key)

    @cached_property
    def cost(self) -> Cost | None:
        """Cost of a sample: here, else where the first table was made."""
        here = Score.typical_cost(fingerprint=self.fingerprint)
        if here is None and self.run is not None and self.tables:
            return Cost(self.tables[0].ms_per_sample, "background")
        return cost_of(self.fingerprint, here)

    @property
    def effort(self) -> str:
        """Effort that the metric declares, in a sentence; "" for a quick one."""
        return self.spec.effort.words(self.spec.family, self.params) if self.spec.effort else ""

    @property
    def cost_alone(self) -> Cost | None:
        """Cost of a sample with nothing shared, as the suite has measured it."""
        return Cost(self.tables[0].ms_per_sample, "shipped" if self.run is None else "background") if self.tables else None


@dataclass(frozen=True)
class AgainstPaper:
    """Our sanity tests against the paper's table, over all metrics that it has: with their default parameters, on the procedural models."""

    metrics: int
    verdicts: int
    same: int
    reasons: Mapping[Reason, int]  # of the verdicts that differ
    order: float | None  # Spearman between the numbers of tests that the metrics pass here and there


def against_paper() -> AgainstPaper:
    """That comparison, from the tables that ship."""
    found = [one for one in (of_default(spec) for spec in registry.REGISTRY.values()) if one.published and one.tables]
    lines = [[line for line in one.lines if line.rates[0] is not None and line.paper is not None] for one in found]
    reasons = Counter(line.reason[0] for row in lines for line in row if line.reason)
    ours = [sum(bool(line.passes) for line in row) for row in lines]
    theirs = [sum(bool(line.paper_passes) for line in row) for row in lines]
    n = sum(map(len, lines))
    return AgainstPaper(len(found), n, n - reasons.total(), reasons, correlation(ours, theirs).srocc)


@dataclass(frozen=True)
class Cost:
    """Milliseconds a sample takes, and where that was measured: in scoring "here", by the suite in
    the "background" here, or where the "shipped" table was made."""

    ms: float
    where: str

    @property
    def text(self) -> str:
        """Such as `0.4 ms`, `12 ms`, `1.3 s`."""
        if self.ms >= 1000:
            return f"{self.ms / 1000:.3g} s"
        return f"{self.ms:.0f} ms" if self.ms >= 10 else f"{self.ms:.1f} ms" if self.ms >= 0.1 else "under 0.1 ms"

    def of(self, items: int) -> float:
        """Seconds that `items` samples take."""
        return self.ms * items / 1000


@dataclass(frozen=True)
class Case:
    """One drawn prediction and the value that the metric gives it."""

    label: str
    value: str
    drawing: Drawing


@dataclass(frozen=True)
class Example:
    """A known weakness, ready to be shown."""

    title: str
    sentence: str
    cases: tuple[Case, ...]


@cache
def examples(key: str) -> tuple[Example, ...]:
    """Values come with the code; where they are of another definition they are computed, once a
    process, except by a network, which the web process does not load."""
    spec, recorded = registry.get(key), example_values.values(key)
    if recorded is None and spec.weights is not None:
        return ()
    made = []
    for number, weakness in enumerate(weaknesses.of(key)):
        values = weakness.values() if recorded is None else recorded[number]
        cases = [
            Case(
                label, f"{0 if abs(value) < ROUNDING else value:.4g}{' ' + spec.unit if spec.unit else ''}", draw(weakness.reference, model)
            )
            for (label, model), value in zip(weakness.predictions, (value for value in values if value is not None), strict=True)
        ]
        made.append(Example(weakness.title, weakness.text(values), tuple(cases)))
    return tuple(made)


def cost_of(fingerprint: str, here: float | None) -> Cost | None:
    """`here` if that is known, else what the shipped table says."""
    if here is not None:
        return Cost(here, "here")
    tables = bundled_tables.tables(fingerprint)
    return Cost(tables[0].ms_per_sample, "shipped") if tables else None


def of_default(spec: MetricSpec) -> Evidence:
    return Evidence(spec, registry.resolve_params(spec.key, {}))

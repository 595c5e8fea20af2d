"""The metrics of each kind of data by their agreement with people, and the figures that papers print of metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import PhaseMetric, Score
from leaderboard.boards import metric_evidence
from leaderboard.evidence.shown import InSeveral, Set, in_several
from leaderboard.kinds import of_material
from leaderboard.lookup import with_board_out
from leaderboard.models import Study
from leaderboard.stats.records import Across
from leaderboard.studies import metric_ranking, paper_figures
from leaderboard.studies.metric_ranking import PUBLISHED, REAL, SIMULATED, Family, Ranking, Standing
from leaderboard.studies.paper_figures import Paper
from leaderboard.views.evidence import sets as published_sets
from leaderboard.views.home import visible
from leaderboard.views.studies import csv_response
from leaderboard.wording import agreement
from submissions.kinds import FAMILIES
from submissions.models import Phase
from submissions.visibility import visible_challenges


@dataclass(frozen=True)
class Tested:
    """Facts on a metric with its default parameters, or a column's, beside people: properties, cost, and the phases that use it.
    `parts` are the metrics that are this one in the mask or in the boxes of objects."""

    spec: registry.MetricSpec
    count: metric_evidence.Count
    cost: metric_evidence.Cost | None
    uses: int
    parts: tuple[registry.MetricSpec, ...] = ()

    @property
    def gist(self) -> str:
        """The first sentence of what it measures."""
        return re.split(r"(?<=[.:])\s+(?=[A-Z])", self.spec.doc, maxsplit=1)[0]


@dataclass(frozen=True)
class Ranked:
    """A row of a family's ranking, the address of its page, its studies by the source of their answers, and its figure across items,
    which one study alone has."""

    standing: Standing
    tested: Tested | None
    link: str
    sources: list[tuple[str, int]]
    across: Across | None = None


@dataclass(frozen=True)
class Section:
    """The ranking of a kind's metrics by the studies of this service."""

    found: Family
    claim: str
    rows: list[Ranked]
    reference_points: list[Ranked]
    study: Study | None  # where there is one alone
    has_across: bool  # True where that has figures across items


@dataclass(frozen=True)
class KindOfData:
    """A kind of data with all evidence on its metrics: studies of this service where it can be entered here, published sets and papers."""

    key: str
    title: str
    found: Family | None
    sets: list[Set]
    papers: list[Paper]

    @cached_property
    def sources(self) -> dict[str, int]:
        """Number of studies, sets or papers by where the evidence comes from, the strongest first."""
        studies = self.found.studies if self.found is not None and not self.found.simulated else ()
        simulated = sum(one.source == SIMULATED for one in self.found.all) if self.found is not None else 0
        return {"here": len(studies), "published": len(self.sets), "reported": len(self.papers), "simulated": simulated}

    @property
    def strongest(self) -> str:
        return next((source for source, n in self.sources.items() if n), "here")

    @property
    def strength(self) -> tuple[int, ...]:
        """Order of kinds: studies of this service, then published sets with people, all sets, papers and simulated studies."""
        here, published, reported, simulated = self.sources.values()
        return here, sum(one.has_people for one in self.sets), published, reported, simulated

    @property
    def n_raters(self) -> int:
        return sum(one.criterion.raters or 0 for one in self.sets)

    def family(self, source: str) -> Family | None:
        """The ranking of its metrics: by real studies where there are any, unless simulated ones are asked for."""
        if self.found is None or source != "simulated" or self.found.simulated:
            return self.found
        return metric_ranking.family(self.found.key, [one for one in self.found.all if one.source == SIMULATED])

    @cached_property
    def several(self) -> list[InSeveral]:
        return in_several(self.sets)


ABOUT = "How often each metric picks what people pick: measured here, published and recomputed, or reported by papers."
SOURCES = {
    "here": ("Measured here", "study", "studies"),
    "published": ("Published, recomputed", "set", "sets"),
    "reported": ("Reported in papers", "paper", "papers"),
    "simulated": ("Simulated", "demo study", "demo studies"),
}


def metric_list(request: HttpRequest) -> HttpResponse:
    """All metrics of one kind of data, by the evidence of one source; without a choice the kind and the source with the strongest."""
    ranking = metric_ranking.of(request.user)
    kinds = kinds_of_data(ranking)
    asked, source = request.GET.get("kind"), request.GET.get("source", "")
    kind = next((one for one in kinds if one.key == asked), max(kinds, key=lambda one: one.strength))
    source = source if source in SOURCES else kind.strongest
    tests, section = list[Tested](), None
    if (found := kind.family(source)) is not None:
        tests, of_rows = _tested(request.user, found)
        if kind.sources[source] and source in ("here", "simulated"):
            section = _section(found, ranking, of_rows)
    if request.GET.get("format") == "csv":
        rows = _section_cells(section) if section is not None else _set_cells(kind.sets) if source == "published" else []
        return csv_response([_CELLS, *([kind.key, source, *row] for row in rows)], f"metrics-{kind.key.replace(' ', '-')}-{source}.csv")
    context = {
        "csv_url": f"?{urlencode({'kind': kind.key, 'source': source, 'format': 'csv'})}" if section or source == "published" else "",
        "chosen": kind,
        "source": source,
        "is_simulated": source == "simulated",
        "about": ABOUT,
        "kinds": [(one, f"?{urlencode({'kind': one.key})}") for one in kinds],
        "sources": [
            (key, title, f"{n} {one if n == 1 else several}", f"?{urlencode({'kind': kind.key, 'source': key})}")
            for key, (title, one, several) in SOURCES.items()
            if (n := kind.sources[key]) or key == "here"
        ],
        "section": section,
        "tests": tests,
    }
    return render(request, "leaderboard/metric_list.html", context)


def kinds_of_data(ranking: Ranking) -> list[KindOfData]:
    """The kinds of data that can be entered here, then the materials that published sets alone have."""
    titles = {key: FAMILIES[key].title for key in ranking.families}
    sets: dict[str, list[Set]] = {}
    for one in published_sets():
        sets.setdefault(of_material(one.record.material), []).append(one)
    titles |= {material: material.capitalize() for material in sets if material not in FAMILIES}
    papers = paper_figures.studied().values()
    return [
        KindOfData(key, title, ranking.families.get(key), sets.get(key, []), [paper for paper in papers if key in paper.families])
        for key, title in titles.items()
    ]


_FIGURES = ("within", "between", "across")
_OF_A_FIGURE = ("", "low", "high", "n", "state", "place_low", "place_high")
_CELLS = ["kind", "source", "study", "criterion", "metric", "title", "reference_point"]
_CELLS += [f"{name}_{part}".rstrip("_") for name in _FIGURES for part in _OF_A_FIGURE]


def _cells(figure: Any, places: tuple[int, int] | None = None) -> list[str]:
    """Cells of a figure, in full: also where pages show the reason in the place of a value, which is the state here."""
    if figure is None or figure.value is None:
        return [""] * len(_OF_A_FIGURE)
    low, high = places or (None, None)
    found = (figure.value, figure.low, figure.high, figure.n, figure.state, low, high)
    return ["" if one is None else str(one) for one in found]


def _set_cells(sets: Iterable[Set]) -> Iterator[list[str]]:
    """The metrics of each criterion of published sets, and their reference points."""
    for one in (Set(first.record, name, figures) for first in sets for name, figures in first.record.criteria.items()):
        for row in (*one.rows, *one.reference_points):
            found = row.drawn, row.between.figure, row.across.figure
            figures = [None if row.knows_nothing and n else figure for n, figure in enumerate(found)]
            parts = [cell for figure in figures for cell in _cells(figure, None if figure is None else figure.places)]
            yield [one.record.name, one.name, row.figures.name or row.key, row.title, str(int(row.is_reference_point)), *parts]


def _section_cells(section: Section) -> Iterator[list[str]]:
    """The metrics by studies of this service, and the reference points."""
    about = [section.study.slug if section.study is not None else f"{len(section.found.studies)} studies", ""]
    for row in (*section.rows, *section.reference_points):
        line, across = row.standing.line, row.across
        parts = [*_cells(line.figure, line.places), *_cells(None), *_cells(across, None if across is None else across.places)]
        yield [*about, row.standing.key or line.key, line.title, str(int(line.reference_point)), *parts]


def _tested(user: Any, found: Family) -> tuple[list[Tested], dict[str, Tested]]:
    """The metrics of a family by name with their default parameters, and the metrics of ranked rows by fingerprint."""
    specs = {key: spec for key, spec in registry.REGISTRY.items() if spec.family == found.key}
    fingerprints = {key: registry.fingerprint(key, {}) for key in specs}
    ranked = {row.fingerprint: row.key for row in found.rows if row.key in specs}
    counts = metric_evidence.counts({*fingerprints.values(), *ranked})
    here = Score.typical_costs(counts)
    costs = {fingerprint: metric_evidence.cost_of(fingerprint, here.get(fingerprint)) for fingerprint in counts}
    uses = Counter(PhaseMetric.objects.filter(phase__challenge__in=visible(user)).order_by().values_list("key", flat=True))

    def tested(key: str, fingerprint: str, parts: tuple[registry.MetricSpec, ...] = ()) -> Tested:
        return Tested(specs[key], counts[fingerprint], costs[fingerprint], uses[key], parts)

    parts: dict[str, list[registry.MetricSpec]] = {}
    for key, spec in specs.items():
        parts.setdefault(key.partition("@")[0], []).append(spec)
    own = [tested(key, fingerprints[key], tuple(parts[key][1:])) for key in specs if "@" not in key]
    own.sort(key=lambda one: one.spec.title.lower())
    # What is ranked is a column of a board, with that column's parameters.
    return own, {fingerprint: tested(key, fingerprint) for fingerprint, key in ranked.items()}


def _section(family: Family, ranking: Ranking, of_rows: Mapping[str, Tested]) -> Section:
    """`of_rows` are the metrics of ranked rows by fingerprint."""
    sources = {study.id: study.source for study in family.all}
    alone = family.studies[0] if family.state == metric_ranking.ALONE else None
    across = {} if alone is None else {name: metric.srocc for name, metric in {**alone.metrics, **alone.reference_points}.items()}
    rows = []
    for standing in family.rows:
        counted = Counter(sources[study] for study in standing.studies)
        # With other parameters than the defaults it is the page of a column that has them.
        link = reverse("metric", args=[standing.key])
        if not standing.is_default:
            phase = ranking.studies[(standing.studies or standing.trained)[0]].phase
            query = {"phase": f"{phase.challenge.slug}/{phase.slug}", "column": standing.column, "fingerprint": standing.fingerprint[:16]}
            link += f"?{urlencode(query)}"
        named = [(name, counted[name]) for name in (REAL, PUBLISHED, SIMULATED) if counted[name]]
        rows.append(Ranked(standing, of_rows.get(standing.fingerprint), link, named, across.get(standing.fingerprint)))
    reference_points = [Ranked(one, None, "", [], across.get(one.fingerprint)) for one in family.reference_points]
    study = ranking.studies[alone.id] if alone is not None else None
    has_across = any(one is not None and one.shown for one in across.values())
    return Section(family, agreement.claim(row.line for row in family.rows), rows, reference_points, study, has_across)


def paper(request: HttpRequest, slug: str) -> HttpResponse:
    """Figures that a paper prints of metrics and people, and the boards of its own comparison that the reader may see."""
    found = paper_figures.studied().get(slug)
    if found is None:
        raise Http404
    phases = Phase.objects.filter(results_url=found.source.link, challenge__in=visible_challenges(request.user)).order_by("id")
    return render(request, "leaderboard/paper.html", {"paper": found, "boards": with_board_out(phases, timezone.now())})

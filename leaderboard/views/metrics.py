"""The metrics the service can compute: what each measures, what it satisfies, what it costs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from evaluation.metrics import peers, registry
from evaluation.metrics.column import Column as BatchColumn
from evaluation.models import EvaluationBatch, MetricProgram, PhaseMetric, Score
from evaluation.models.acceptance_test import needs_acceptance_test, standings
from evaluation.networks import weights
from leaderboard.boards import metric_evidence
from leaderboard.boards.metric_evidence import Evidence
from leaderboard.charts.meaning import curve, examples
from leaderboard.evidence.shown import Set, in_several, resembling, resembling_words
from leaderboard.kinds import of_material
from leaderboard.lookup import search_text
from leaderboard.models import MetricEntry, ProgramValues, Study, StudyAnalysis
from leaderboard.records.agreement import Known, Verdict
from leaderboard.stats.records import Across
from leaderboard.studies import metric_ranking, paper_figures
from leaderboard.studies.metric_ranking import PUBLISHED, REAL, SIMULATED, Family, Ranking, Standing
from leaderboard.studies.paper_figures import Paper
from leaderboard.views.evidence import sets as published_sets
from leaderboard.views.home import visible
from leaderboard.views.metric_studies import contradictions, measured, verdict_on
from leaderboard.views.studies import csv_response
from leaderboard.wording import agreement
from leaderboard.wording.board import NOT_TOLD
from leaderboard.wording.reasons import sentence
from submissions.kinds import FAMILIES
from submissions.lookup import PhasePlace, phase_place
from submissions.models import Phase
from submissions.views.files import download
from submissions.visibility import board_is_out, visible_challenges

WORST = {
    "0": "0, the worst value there is",
    "1": "1, the worst value there is",
    "10": "10; larger values also count as 10",
    "tau": "the threshold (tau)",
    "2": "2, the worst value there is",
    "gt_diagonal": "the diagonal of the reference's bounding box",
    "gt_diagonal_squared": "the squared diagonal of the reference's bounding box",
    "null": "no value; the whole entry then has no value either",
    "empty_prediction": "what an empty prediction gets for this reference",
}


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
    sets = published_sets()
    of_papers = list(paper_figures.studied().values())

    def kind_of_data(key: str, title: str, found: Family | None) -> KindOfData:
        mine = [one for one in sets if of_material(one.record.material) == key]
        return KindOfData(key, title, found, mine, [paper for paper in of_papers if key in paper.families])

    kinds = [kind_of_data(key, FAMILIES[key].title, found) for key, found in ranking.families.items()]
    others = dict.fromkeys(material for one in sets if (material := of_material(one.record.material)) not in FAMILIES)
    kinds += [kind_of_data(material, material.capitalize(), None) for material in others]

    def strength(kind: KindOfData) -> list[int]:
        published = sum(one.has_people for one in kind.sets), len(kind.sets)
        return [kind.sources["here"], *published, kind.sources["reported"], kind.sources["simulated"]]

    asked = request.GET.get("kind")
    kind = next((one for one in kinds if one.key == asked), max(kinds, key=strength))
    source = request.GET.get("source", "")
    source = source if source in SOURCES else kind.strongest
    found = kind.found
    if found is not None and source == "simulated" and not found.simulated:
        found = metric_ranking.family(found.key, [one for one in found.all if one.source == SIMULATED])
    tests: list[Tested] = []
    section = None
    if found is not None:
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
        "n_raters": sum(one.criterion.raters or 0 for one in kind.sets),
        "section": section,
        "tests": tests,
        "several": in_several(kind.sets),
    }
    return render(request, "leaderboard/metric_list.html", context)


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
    """The metrics of a family by name with their default parameters, and those of ranked rows by fingerprint."""
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
    study = ranking.studies[family.studies[0].id] if family.state == metric_ranking.ALONE else None
    has_across = any(one is not None and one.shown for one in across.values())
    return Section(family, agreement.claim(row.line for row in family.rows), rows, reference_points, study, has_across)


def paper(request: HttpRequest, slug: str) -> HttpResponse:
    """Figures that a paper prints of metrics and people, and the boards of its own comparison that the reader may see."""
    found = paper_figures.studied().get(slug)
    if found is None:
        raise Http404
    now = timezone.now()
    boards = Phase.objects.filter(results_url=found.source.link, challenge__in=visible_challenges(request.user)).select_related("challenge")
    shown = [phase for phase in boards.order_by("id") if board_is_out(phase, now)]
    return render(request, "leaderboard/paper.html", {"paper": found, "boards": shown})


def metric(request: HttpRequest, key: str) -> HttpResponse:
    """One metric: what it measures, what it satisfies and costs, and where it is used. With `phase`
    and `column` in the address all of that is for the parameters of that column."""
    spec = registry.find(key)
    if spec is None:
        raise Http404
    program = _program(request, key) if spec.is_program else None
    column = _asked_column(request, key)
    evidence = Evidence(spec, column.params, column.fingerprint) if column else metric_evidence.of_default(spec)
    used = list(PhaseMetric.objects.filter(key=key, phase__challenge__in=visible(request.user)).select_related("phase__challenge"))
    seen = StudyAnalysis.seen_by(request.user)
    family = metric_ranking.of(request.user, seen).families[spec.family]
    studies = measured(seen, key, column.fingerprint if column else "", family)
    standing = family.row(key, evidence.fingerprint)
    verdict = verdict_on(family, standing, studies)
    means = next((one for one in studies if one.is_current and one.rho), None)
    # What is published of a metric of this name, which is the headline where nothing was measured here.
    named = resembling(published_sets(), key) if not column else []
    measured_here = verdict.has_figure and not family.simulated
    is_simulated = verdict.has_figure and family.simulated
    as_published = "" if measured_here or means else resembling_words(named)
    of_meaning = standing.meaning.study if standing and standing.meaning else None
    # Simulated people are left out beside figures of real ones.
    real = standing is not None and not family.simulated
    current = [one for one in studies if one.is_current and not one.trained and not (real and one.source == SIMULATED)]
    usable = [one for one in current if one.difference]
    meaning = next((one for one in usable if of_meaning in (None, one.study.pk)), None)
    n_contradictions, contradicted = contradictions(request.user, studies)

    # What a program's values on studies say, of those studies that the reader may see.
    done = ProgramValues.objects.filter(program=program, decided__isnull=False) if program is not None else None
    values = list(done.select_related("study__phase__challenge")) if done is not None else []
    known = {row.study_id for row in seen}

    # The parameters that each phase set otherwise than the defaults.
    defaults, uses = registry.resolve_params(key, {}) if used else {}, []
    for usage in used[:50]:
        changed = [f"{name} = {value}" for name, value in usage.resolved.items() if value != defaults.get(name)]
        uses.append((usage, ", ".join(changed)))

    # The weights that it uses with these parameters: whether they are here, and what their card says they were learnt from, on which
    # features, and how well that does on what was not seen.
    needed = []
    for network, parameter in spec.networks:
        name = str(evidence.params[parameter])
        refusal = weights.refusal(replace(spec, weights=f"{network}:{parameter}"), evidence.params)
        try:
            found = weights.get(network, name)
        except weights.WeightsError:
            needed.append(Needed(name, refusal=refusal))
            continue
        facts = []
        data, accuracy, features = (found.card.get(part, {}) for part in ("data", "accuracy", "features"))
        if "decisions" in data:
            simulated = ", simulated" if found.card.get("simulated", found.card.get("made_up")) else ""
            facts.append(("Trained on", f"{data['decisions']:,} decisions of {data['raters']:,} raters{simulated}"))
        if features:
            facts.append(("Features", f"{features['name']}, frozen"))
        if accuracy.get("mean") is not None:
            spread = f" ± {accuracy['sd']:.3f}" if accuracy["sd"] is not None else ""
            words = f"{accuracy['mean']:.3f}{spread} over {accuracy['folds']} folds, on samples and methods that were not seen"
            facts.append(("Accuracy", words))
        if left_out := found.card.get("leave_one_out"):
            rho, objects = left_out["means"]["srocc"], len(left_out["meshes"])
            words = (
                f"Spearman’s ρ with pseudo-scores {rho['mean']:.2f} [{rho['low']:.2f}, {rho['high']:.2f}], mean over {objects} simulated "
                f"objects; each was judged by a network of this kind that was trained on the other {objects - 1}, not by these weights"
            )
            facts.append(("One object left out", words))
        if figures := [one for one in found.card.get("acceptance", ()) if one["limit"] is not None]:
            failed = [f"{one['name']} ({100 * one['value']:.1f} %)" for one in figures if not one["met"]]
            words = f"{len(figures) - len(failed)} of {len(figures)} limits of our own kept on {figures[0]['n']} simulated objects"
            facts.append(("What should hardly change it", words + (f"; not kept: {'; '.join(failed)}" if failed else "")))
        for file in found.files:
            if isinstance(file, weights.PublishedFile | weights.PackagedFile):
                digest = file.sha256 or (file.stated if isinstance(file, weights.PublishedFile) else "")
                digests = f"{digest[:16]}…, {file.pinned_by}" if digest else file.pinned_by
                facts.append(("File", f"{file.what}; about {file.megabytes:.3g} MB, licence {file.licence}"))
                facts.append(("SHA-256", digests))
            else:
                facts.append(("SHA-256", f"{file.sha256[:16]}…, of its model card"))
        needed.append(Needed(name, found.there, bool(found.files), found.card.get("statement", ""), tuple(facts), refusal))

    # Columns in phases' rankings by which none ranks: their weights may order nothing, or they have not passed their acceptance test.
    unranked = {usage.pk for usage in used if not weights.may_rank(spec, usage.resolved)}
    tried = {usage.phase_id: usage for usage in used if usage.pk not in unranked and needs_acceptance_test(usage.column())}
    for batch in EvaluationBatch.objects.filter(phase__in=tried, state=EvaluationBatch.State.CURRENT).select_related("phase__challenge"):
        ranking = standings(batch)
        unranked |= {
            usage.pk for usage in used if usage.phase_id == batch.phase_id and usage.slug in ranking and not ranking[usage.slug].ranks
        }

    own_worst = spec.is_program and spec.worst != "null"
    on_studies = [(row, row.figure) for row in values if row.study_id in known]
    if on_studies and standing is None:
        verdict = Verdict(Known.BY_ITSELF, studies=len(on_studies))
    said = agreement.verdict(verdict)
    context = {
        "spec": spec,
        "peers": peers.of(spec.key),
        "worst": f"{float(spec.worst):g}, as the program declares" if own_worst else WORST[spec.worst],
        "program": program,
        "on_studies": on_studies,
        "used": uses,
        "family": FAMILIES[spec.family].title,
        "column": column,
        "evidence": evidence,
        "needed": needed,
        "mentions": list(paper_figures.mentions(key)),
        "reported": [(paper, words) for paper in paper_figures.studied().values() if (words := paper.reported(key))],
        "studies": studies,
        "stood_for": {study for one in family.studies for study in one.sharing},
        "default": registry.fingerprint(key, {}),
        "found": family,
        "standing": standing,
        "means": means,
        "verdict": verdict,
        "named": named,
        "as_published": as_published,
        "is_simulated": is_simulated,
        "head_is_simulated": is_simulated and not as_published,
        "said": said,
        "share_words": as_published or said.text,
        "meaning": meaning,
        "curve": curve(meaning.difference, spec.unit) if meaning and meaning.difference else None,
        "examples": examples(meaning.difference) if meaning and meaning.difference else (),
        "no_meaning": next((sentence(one.metric.difference.reason, one.noun) for one in current if one.metric.difference), ""),
        "not_told": NOT_TOLD if meaning and meaning.difference and not meaning.difference.tells else "",
        "n_contradictions": n_contradictions,
        "contradictions": contradicted,
        "ranks": sum(usage.in_ranking and usage.pk not in unranked for usage in used),
    }
    return render(request, "leaderboard/metric.html", context)


def _program(request: HttpRequest, key: str) -> MetricProgram:
    """A program by its key: an organizer's for those who may see its challenge, an entry in a challenge of metrics for those whom that
    shows it to; Http404 for others."""
    scope, _, name = key.partition("/")
    rows = MetricProgram.objects.newest().filter(scope=scope, key=name, challenge__in=visible_challenges(request.user))
    row = rows.select_related("challenge").first()
    if row is None:
        raise Http404
    # The key of an entry begins otherwise than with the challenge.
    if scope != row.challenge.slug:
        entry = MetricEntry.objects.filter(program=row).select_related("contest__study__phase__challenge").first()
        if entry is None or not entry.program_is_shown_to(request.user):
            raise Http404
    return row


def program_file(request: HttpRequest, challenge: str, name: str) -> HttpResponse:
    """The files of an organizer's program, where they are published."""
    row = _program(request, f"{challenge}/{name}")
    if not row.is_public:
        raise Http404
    return download(row.file_key, f"{row.key}-{row.version}.zip")


@dataclass(frozen=True)
class Needed:
    """A set of weights that the metric uses with these parameters: whether its files are on this server, what its card and its publisher
    say of it, and why it cannot be used, with the command that changes that."""

    name: str
    there: bool = False
    has_files: bool = True
    statement: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    refusal: str = ""

    @property
    def reason(self) -> str:
        """The refusal without the command."""
        return self.refusal.partition(": ")[0] + ":" if self.command else self.refusal

    @property
    def command(self) -> str:
        """The command that gets the files; empty where none does."""
        return self.refusal.partition(": ")[2] if weights.FETCH in self.refusal else ""


@dataclass(frozen=True)
class Column:
    """A column of a phase's board that the address names: a metric with parameters of its own."""

    place: PhasePlace
    slug: str
    title: str
    params: dict[str, Any]
    fingerprint: str
    version: int | None


def _asked_column(request: HttpRequest, key: str) -> Column | None:
    """The column `phase=CHALLENGE/PHASE&column=SLUG`, as it is or, with `fingerprint`, as a ranking
    kept it; None without any. Raises Http404 for one that is not there or not theirs to know of."""
    if "phase" not in request.GET and "column" not in request.GET:
        return None
    challenge, _, phase = search_text(request, "phase").partition("/")
    place = phase_place(request.user, challenge, phase)
    slug, fingerprint = search_text(request, "column"), search_text(request, "fingerprint")
    # As the phase has it now, then as its batches had it, newest first.
    now = place.phase.metrics.filter(slug=slug, key=key).first()
    definitions = [now.column()] if now is not None else []
    for metrics in place.phase.batches.values_list("metrics", flat=True):
        definitions += [one for one in map(BatchColumn.of, metrics) if one.slug == slug and one.key == key]
    for one in definitions:
        if one.fingerprint.startswith(fingerprint):
            return Column(place, slug, one.title, one.params, one.fingerprint, one.version)
    raise Http404

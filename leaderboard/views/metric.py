"""One metric: what it measures, its agreement with people, what it satisfies and costs, and where it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from evaluation.metrics import peers, registry
from evaluation.metrics.column import Column
from evaluation.models import EvaluationBatch, MetricProgram, PhaseMetric
from evaluation.models.acceptance_test import needs_acceptance_test, standings
from evaluation.networks import weights
from leaderboard.boards import metric_evidence
from leaderboard.boards.metric_evidence import Evidence
from leaderboard.charts.meaning import curve, examples
from leaderboard.evidence.shown import Row, Set, resembling, resembling_words
from leaderboard.lookup import search_text
from leaderboard.models import MetricEntry, ProgramValues, StudyAnalysis
from leaderboard.records.agreement import Known, Verdict
from leaderboard.studies import metric_ranking, paper_figures
from leaderboard.studies.metric_ranking import SIMULATED, Family, Standing
from leaderboard.views.evidence import sets as published_sets
from leaderboard.views.home import visible
from leaderboard.views.metric_studies import Measured, contradictions, measured
from leaderboard.wording import agreement
from leaderboard.wording.board import NOT_TOLD
from leaderboard.wording.reasons import sentence
from leaderboard.wording.statement import Statement
from leaderboard.wording.weights import card_facts, file_facts
from submissions.kinds import FAMILIES
from submissions.lookup import PhasePlace, phase_place
from submissions.views.files import download
from submissions.visibility import organized_by, visible_challenges

MAX_USES = 50  # columns of phases in the list
WORST = {
    "0": "0, the worst possible value",
    "1": "1, the worst possible value",
    "10": "10; larger values also count as 10",
    "tau": "the threshold (tau)",
    "2": "2, the worst possible value",
    "gt_diagonal": "the diagonal of the reference's bounding box",
    "gt_diagonal_squared": "the squared diagonal of the reference's bounding box",
    "null": "no value; the whole entry then has no value either",
    "empty_prediction": "what an empty prediction gets for this reference",
}


@dataclass(frozen=True)
class Needed:
    """A set of weights that the metric uses with these parameters. It says whether the files are on this server, gives the statements of
    its card and publisher, and the reason if it cannot be used, with the command to change that."""

    name: str
    there: bool = False
    has_files: bool = True
    statement: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    refusal: str = ""

    @classmethod
    def of(cls, spec: registry.MetricSpec, network: str, parameter: str, params: Mapping[str, Any]) -> Self:
        name = str(params[parameter])
        refusal = weights.refusal(replace(spec, weights=f"{network}:{parameter}"), params)
        try:
            found = weights.get(network, name)
        except weights.WeightsError:
            return cls(name, refusal=refusal)
        facts = (*card_facts(found.card), *(fact for file in found.files for fact in file_facts(file)))
        return cls(name, found.there, bool(found.files), found.card.get("statement", ""), facts, refusal)

    @property
    def reason(self) -> str:
        """The refusal without the command."""
        return self.refusal.partition(": ")[0] + ":" if self.command else self.refusal

    @property
    def command(self) -> str:
        """The command that gets the files; empty where none does."""
        return self.refusal.partition(": ")[2] if weights.FETCH in self.refusal else ""


@dataclass(frozen=True)
class MetricPage:
    """Facts on a metric that a reader may see: with its default parameters, or with a `column`'s. Its headline is what was measured
    here, else what others published of its name, else what simulated people say."""

    user: Any
    spec: registry.MetricSpec
    column: Column | None = None
    place: PhasePlace | None = None  # of the column
    program: MetricProgram | None = None

    @cached_property
    def evidence(self) -> Evidence:
        return Evidence(self.spec, self.column.params, self.column.fingerprint) if self.column else metric_evidence.of_default(self.spec)

    @property
    def family(self) -> str:
        return FAMILIES[self.spec.family].title

    # --- with people ---

    @cached_property
    def _seen(self) -> list[StudyAnalysis]:
        return StudyAnalysis.seen_by(self.user)

    @cached_property
    def found(self) -> Family:
        """The ranking of its family."""
        return metric_ranking.of(self.user, self._seen).families[self.spec.family]

    @cached_property
    def studies(self) -> list[Measured]:
        return measured(self._seen, self.spec.key, self.column.fingerprint if self.column else "", self.found)

    @cached_property
    def standing(self) -> Standing | None:
        return self.found.row(self.spec.key, self.evidence.fingerprint)

    @cached_property
    def on_studies(self) -> list[tuple[ProgramValues, dict]]:
        """A program's figures on the studies that the reader may see."""
        if self.program is None:
            return []
        rows = ProgramValues.objects.filter(program=self.program, decided__isnull=False).select_related("study__phase__challenge")
        known = {row.study_id for row in self._seen}
        return [(row, row.figure) for row in rows if row.study_id in known]

    @cached_property
    def verdict(self) -> Verdict:
        if self.on_studies and self.standing is None:
            return Verdict(Known.BY_ITSELF, studies=len(self.on_studies))
        current = [one for one in self.studies if one.is_current]
        early = next((one.line for one in current if not one.line.shown and not one.rho), None)
        real = (one.line for one in current if one.source != SIMULATED and one.line.shown and not one.line.trained)
        alike = next((line for line in real if line.low is None), None)
        return metric_ranking.verdict(self.found, self.standing, early, bool(self.studies) and not current, alike)

    @cached_property
    def said(self) -> Statement:
        return agreement.verdict(self.verdict)

    @property
    def is_simulated(self) -> bool:
        """True if its figure is of simulated people."""
        return self.verdict.has_figure and self.found.simulated

    @property
    def is_measured(self) -> bool:
        """True if its figure is of people who were asked here, or whose answers are stored here."""
        return self.verdict.has_figure and not self.found.simulated

    @cached_property
    def means(self) -> Measured | None:
        """The first study of published means alone."""
        return next((one for one in self.studies if one.is_current and one.rho), None)

    @cached_property
    def named(self) -> list[tuple[Set, Row]]:
        """Published figures of a metric of this name, with its defaults."""
        return resembling(published_sets(), self.spec.key) if not self.column else []

    @cached_property
    def as_published(self) -> str:
        """Sentences on published figures of this name, which are the headline where nothing was measured here."""
        return "" if self.is_measured or self.means else resembling_words(self.named)

    @property
    def share_words(self) -> str:
        return self.as_published or self.said.text

    @property
    def head_is_simulated(self) -> bool:
        return self.is_simulated and not self.as_published

    @cached_property
    def _current(self) -> list[Measured]:
        """Studies of its current version; simulated people are left out beside figures of real ones."""
        real = self.standing is not None and not self.found.simulated
        return [one for one in self.studies if one.is_current and not one.trained and not (real and one.source == SIMULATED)]

    @cached_property
    def meaning(self) -> Measured | None:
        """The study whose differences mean something to people: the one behind its place, where there is one."""
        behind = self.standing.meaning.study if self.standing and self.standing.meaning else None
        return next((one for one in self._current if one.difference and behind in (None, one.study.pk)), None)

    @property
    def no_meaning(self) -> str:
        return next((sentence(one.metric.difference.reason, one.line.noun) for one in self._current if one.metric.difference), "")

    # --- in challenges ---

    @cached_property
    def _used(self) -> list[PhaseMetric]:
        used = PhaseMetric.objects.filter(key=self.spec.key, phase__challenge__in=visible(self.user))
        # As the page on scoring: nothing before a phase opens, to all but its organizers.
        told = Q(phase__opens_at__lte=timezone.now()) | Q(phase__challenge__in=organized_by(self.user))
        return list(used.filter(told).select_related("phase__challenge"))

    @cached_property
    def used(self) -> list[tuple[PhaseMetric, str]]:
        """Columns of phases, with the parameters that are not the defaults."""
        defaults = registry.resolve_params(self.spec.key, {}) if self._used else {}
        return [
            (usage, ", ".join(f"{name} = {value}" for name, value in usage.resolved.items() if value != defaults.get(name)))
            for usage in self._used[:MAX_USES]
        ]

    @cached_property
    def ranks(self) -> int:
        """Number of columns that rank: the weights of others may order nothing, or they have not passed their acceptance test."""
        able = [usage for usage in self._used if usage.in_ranking and weights.may_rank(self.spec, usage.resolved)]
        tested = [usage.phase_id for usage in able if needs_acceptance_test(usage.column())]
        batches = EvaluationBatch.objects.filter(phase__in=tested, state=EvaluationBatch.State.CURRENT).select_related("phase__challenge")
        found = {batch.phase_id: standings(batch) for batch in batches}
        columns = [found.get(usage.phase_id, {}).get(usage.slug) for usage in able]
        return sum(column is None or column.ranks for column in columns)

    @cached_property
    def needed(self) -> list[Needed]:
        """The weights that it uses with these parameters."""
        return [Needed.of(self.spec, network, parameter, self.evidence.params) for network, parameter in self.spec.networks]


def metric(request: HttpRequest, key: str) -> HttpResponse:
    """One metric: what it measures, what it satisfies and costs, and where it is used. With `phase`
    and `column` in the address all of that is for the parameters of that column."""
    spec = registry.find(key)
    if spec is None:
        raise Http404
    program = _program(request, key) if spec.is_program else None
    column, place = _asked_column(request, key)
    page = MetricPage(request.user, spec, column, place, program)
    difference = page.meaning.difference if page.meaning is not None else None
    if spec.is_program and spec.worst != "null":
        worst = f"{float(spec.worst):g}, as the program declares"
    else:
        worst = "no value; means leave the item out" if spec.is_program and spec.level != "set" else WORST[spec.worst]
    n_contradictions, contradicted = contradictions(request.user, page.studies)
    context = {
        "page": page,
        "spec": spec,
        "program": program,
        "column": column,
        "evidence": page.evidence,
        "studies": page.studies,
        "standing": page.standing,
        "peers": peers.of(key),
        "worst": worst,
        "default": registry.fingerprint(key, {}),
        "mentions": list(paper_figures.mentions(key)),
        "reported": [(paper, words) for paper in paper_figures.studied().values() if (words := paper.reported(key))],
        "stood_for": {study for one in page.found.studies for study in one.sharing},
        "curve": curve(difference, spec.unit) if difference else None,
        "examples": examples(difference) if difference else (),
        "not_told": NOT_TOLD if difference and not difference.tells else "",
        "n_contradictions": n_contradictions,
        "contradictions": contradicted,
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


def _asked_column(request: HttpRequest, key: str) -> tuple[Column, PhasePlace] | tuple[None, None]:
    """The column `phase=CHALLENGE/PHASE&column=SLUG` and its phase, as it is or, with `fingerprint`, as a ranking
    kept it; None without any. Raises Http404 for one that is not there or not theirs to know of."""
    if "phase" not in request.GET and "column" not in request.GET:
        return None, None
    challenge, _, phase = search_text(request, "phase").partition("/")
    place = phase_place(request.user, challenge, phase)
    if not (place.phase.has_opened(place.now) or place.viewer.organizes):
        raise Http404
    slug, fingerprint = search_text(request, "column"), search_text(request, "fingerprint")
    # As the phase has it now, then as its batches had it, newest first.
    now = place.phase.metrics.filter(slug=slug, key=key).first()
    definitions = [now.column()] if now is not None else []
    for metrics in place.phase.batches.values_list("metrics", flat=True):
        definitions += [one for one in map(Column.of, metrics) if one.slug == slug and one.key == key]
    for one in definitions:
        if one.fingerprint.startswith(fingerprint):
            return one, place
    raise Http404

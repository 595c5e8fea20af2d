"""Metric programs compared with people: their values on a study's entries, a worker's slice each, their figure, and standings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.metrics import registry, scoring
from evaluation.metrics.result import SampleScores, Status
from evaluation.metrics.scoring import MetricRequest
from evaluation.models import MetricProgram, Process, Reference
from evaluation.models.runs import give_up_without_card
from evaluation.programs import results
from evaluation.programs import sandbox as programs
from evaluation.work import attempts, shares
from evaluation.work.heartbeat import process_name
from evaluation.work.limited import PROGRAM_SHARE
from evaluation.work.sandbox import PATIENCE, sandbox
from evaluation.work.shares import SLICE_SECONDS, TURN_SECONDS
from leaderboard.models import MetricChallenge, MetricEntry, ProgramValues, Study, StudyAnalysis, StudyEntry
from leaderboard.models.metric_challenge import Standings
from leaderboard.stats import agreement, metric_board, mos_table, screening
from leaderboard.stats import votes as voting
from leaderboard.stats.answers import Answers, answers
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.people import People
from leaderboard.stats.records import plain
from leaderboard.stats.votes import Floats, without_raters
from leaderboard.studies.live.design_matrix import gold_labels
from leaderboard.studies.size_control import sizes_of
from submissions import worker_notify
from submissions.storage import stored_files

FIGURES = (
    "auc_better_worse",
    "auc_different_similar",
    "acc_eq",
    "spa",
    "rho",
    "tau",
    "r",
    "fitted",
)  # beside the decided one
MAX_SECONDS = 1800  # seconds of the processor for a slice: one item of a slow program


def request() -> int:
    """Ask for the values of each program on each study that it is to be compared with; how many wait that need no graphics card.
    Workers with a card are woken for the others.

    One that entered a challenge of metrics is compared with that challenge's study alone. An organizer's own is compared with the studies
    of its challenge, except published means, and against others of its kind that let other challenges' programs run and that whoever
    brought it may see.
    """
    ProgramValues.objects.forbidden().delete()
    ProgramValues.request_again()
    known = set(ProgramValues.objects.values_list("program", "study"))
    wanted = []
    for program in MetricProgram.objects.newest().filter(contest_entry__isnull=True).select_related("created_by", "challenge"):
        if program.created_by is None or program.read.level == "set":
            continue
        rows = StudyAnalysis.seen_by(program.created_by, study__phase__challenge__family=program.read.kind, study__from_results=False)
        own = program.challenge_id
        wanted += [(program.pk, row.study_id) for row in rows if row.study.phase.challenge_id == own or row.study.runs_other_programs]
    ready = MetricEntry.objects.filter(program__state=MetricProgram.State.READY)
    wanted += list(ready.values_list("program", "contest__study"))
    missing = [ProgramValues(program_id=program, study_id=study) for program, study in wanted if (program, study) not in known]
    ProgramValues.objects.bulk_create(missing, ignore_conflicts=True)
    due = MetricChallenge.objects.filter(standings_at__isnull=True, entries__isnull=False).distinct().count()
    if Process.objects.listeners()["gpu"]:
        worker_notify.send("studies_gpu", times=min(ProgramValues.objects.waiting("gpu").unleased().count(), 4))
    else:
        give_up_without_card(ProgramValues.objects.waiting("gpu"), process_name())
    return ProgramValues.objects.waiting("cpu").unleased().count() + due


def score_due(device: str = "cpu") -> int:
    """Score entries of studies with programs of a device, and make standings of challenges, for one slice; how many steps were done."""
    done, start = 0, shares.clock()
    while True:
        do = partial(_score_next, seconds=SLICE_SECONDS - (shares.clock() - start))
        if not attempts.claim_one(ProgramValues, process_name(), do, ProgramValues.objects.waiting(device)):
            contest = MetricChallenge.objects.filter(standings_at__isnull=True, entries__isnull=False).first()
            if contest is None:
                return done
            contest.keep(standings(contest))
        done += 1
        if shares.clock() - start > TURN_SECONDS:
            worker_notify.send("studies" if device == "cpu" else "studies_gpu")
            return done


def _score_next(row: ProgramValues, seconds: float) -> None:
    document = row.program.read
    attempts.do_slice(row, lambda: programs.refusal(document.run, document.device), lambda folder: _slice(row, folder, seconds))


def _slice(row: ProgramValues, folder: Path, seconds: float) -> bool:
    """Values on items of the next entry, for so many seconds; after the last entry, the figure. Values that are forbidden by now are not
    computed, and removed."""
    if ProgramValues.objects.filter(pk=row.pk).forbidden().delete()[0]:
        return False
    entries = list(scored_entries(row.study))
    reference, ids, groups = _items(row.study)
    # Also those whose values are of fewer samples than people have judged by now.
    wanted = set(groups)
    left = [entry for entry in entries if not wanted <= row.values.get(entry.label, {}).keys()]
    if not left:
        made_of = row.study.stamp  # before they are read: one that comes meanwhile makes the figure an old one
        counted, ratings = answers_of(row.study)
        x = table(row, counted)
        difference, figures = agreement.differences(counted, x), {}
        figure = replace(agreement.decided(difference), coverage=difference.coverage)
        if ratings is not None:
            scored = [Scored("program", x)]
            found = People(counted, scored, fragility=False, ratings=ratings, step=attempts.beat(row)).entries
            figures = {name: plain(getattr(found.metric("program"), name)) for name in FIGURES}
        return row.finish(figure, figures, made_of)
    of = [left[0].label, left[0].submission.artifact_key, reference.pk]
    scores = [SampleScores.from_dict(one) for one in row.under_way["scores"]] if row.under_way.get("of") == of else []
    done = {item for one in scores for item in one.item_ids}
    missing = [item for item in ids if item not in done]
    if missing:
        scores += _scored(row, left[0], reference, missing, folder, seconds)
    if sum(len(one.item_ids) for one in scores) < len(done) + len(missing):
        return row.keep_slice(of, scores, len(entries))
    values, failures = _values(row.program, left[0].label, scores, reference, wanted)
    return row.keep(left[0].label, values, failures, len(entries))


def scored_entries(study: Study) -> Any:
    """The entries of a study whose files are here, by label."""
    rows = StudyEntry.objects.filter(study=study, submission__isnull=False, left_out_at__isnull=True).exclude(submission__artifact_key="")
    return rows.select_related("submission").order_by("label")


def _items(study: Study) -> tuple[Reference, list[str], list[str]]:
    """The reference of a study, and its items on the samples that people judged, with the sample of each."""
    reference = study.reference or (study.batch.reference if study.batch is not None else None)
    if reference is None:
        reference = Reference.objects.filter(phase=study.phase).latest("version")
    samples = set(answers_of(study)[0].samples)
    items = [(name, group) for name, group in zip(reference.item_ids, reference.groups, strict=True) if group in samples]
    return reference, [name for name, _ in items], [group for _, group in items]


def _scored(
    row: ProgramValues, entry: StudyEntry, reference: Reference, ids: list[str], folder: Path, seconds: float
) -> list[SampleScores]:
    """Scores of some of these items of an entry, at least of one: as many as there is time for."""
    program, groups = row.program, dict(zip(reference.item_ids, reference.groups, strict=True))
    spec = program.spec
    with registry.with_programs([spec]):
        params = registry.resolve_params(spec.key, {})
        column = {"slug": "program", "key": spec.key, "params": params, "fingerprint": registry.fingerprint(spec.key, params)}
    job = {
        "kind": "program_values",
        "family": reference.family.key,
        "artifact": str(stored_files.store().local_path(entry.submission.artifact_key)),
        "reference": str(stored_files.store().local_path(reference.key)),
        "item_ids": ids,
        "groups": {item: groups[item] for item in ids},
        "unit_scale": reference.phase.unit_scale,
        "requests": [column | {"weights_sha256": spec.contents}],
        "programs": [program.order()],
        "program_seconds": PROGRAM_SHARE * MAX_SECONDS * PATIENCE,
        "slice": seconds,
    }

    def heartbeat() -> bool:
        shares.VALUES.yield_to_entries(program.read.device)
        return row.heartbeat()

    return [SampleScores.from_dict(one) for one in sandbox.run(folder, job, heartbeat, MAX_SECONDS, PATIENCE)["scores"]]


def _values(
    program: MetricProgram, label: str, slices: list[SampleScores], reference: Reference, samples: set[str]
) -> tuple[dict[str, float | None], Iterator[str]]:
    """The program's value of each sample for the entry with this label, the mean over the sample's items that have one. Also returns a
    sentence on each item on which it failed, which may quote the program. `slices` are of all items of the samples."""
    spec = program.spec
    done = {item for one in slices for item in one.item_ids}
    of_items = {item: group for item, group in zip(reference.item_ids, reference.groups, strict=True) if item in done}
    with registry.with_programs([spec]):
        request = MetricRequest("program", spec.key, registry.resolve_params(spec.key, {}))
        found = scoring.finish([request], [{"program": one} for one in slices], list(of_items), list(of_items.values()))["program"][0]
    by_sample: dict[str, list[float]] = {sample: [] for sample in samples}
    for group, value, status in zip(of_items.values(), found.values, found.statuses, strict=True):
        # Where the program failed it says nothing of the entry; the worst value, as on boards, would be a tie between two of them.
        if group in samples and value is not None and status != Status.FAILED:
            by_sample[group].append(value)
    failures = (f"{label}, {item}: {why}" for one in slices for item, why, _ in results.failures(one))
    return {name: float(np.mean(known)) if known else None for name, known in by_sample.items()}, failures


def answers_of(study: Study) -> tuple[Answers, Ratings | None]:
    """The counting answers on the study's leading criterion about existing entries of teams and baselines, and the opinion scores behind
    them, if any. Answers of raters that the study's rules leave out are excluded."""
    criteria = dict.fromkeys(sorted(study.judged_criteria()))
    criterion = study.leading(criteria) if criteria else study.main_criterion
    labels = set(scored_entries(study).values_list("label", flat=True)) - study.damaged
    if study.kind == Study.Kind.OPINIONS:
        ratings = mos_table.canonical(study.ratings(criterion, counted=True), study.scale)
        ratings = without_raters(ratings, screening.of_scores(ratings, study.screening))
        return answers(ratings.comparisons(), labels & set(ratings.methods)), ratings
    votes = voting.canonical(study.votes(criterion, counted=True))
    if study.screening:
        votes = without_raters(votes, screening.of_pairs(votes, study.screening, gold_labels(study)))
    return answers(votes, labels & set(votes.methods)), None


def table(row: ProgramValues, counted: Answers) -> Floats:
    """float64[samples, entries] of a program, turned so that higher is better, NaN where it has no value."""
    sign = 1.0 if row.program.read.higher_is_better else -1.0
    found = np.full((len(counted.samples), len(counted.entries)), math.nan)
    for e, label in enumerate(counted.entries):
        for s, sample in enumerate(counted.samples):
            value = row.values.get(label, {}).get(sample)
            if value is not None:
                found[s, e] = sign * value
    return found


def standings(contest: MetricChallenge) -> Standings:
    """Standings of the entries that count, on each half of the samples, by the entry's number; the entries without a figure; the halves.
    A sample stays in its half when others get or lose answers. `people` is the version of the rule for people's figures."""
    counted, ratings = answers_of(contest.study)
    entries, without = MetricEntry.counted(contest)
    rows = ProgramValues.objects.filter(study=contest.study, program__in=[entry.program_id for entry in entries]).select_related("program")
    by_program = {row.program_id: table(row, counted) for row in rows}
    scored = [Scored(str(entry.pk), by_program[entry.program_id]) for entry in entries]
    known = (contest.standings or {}).get("halves", [[], []])
    halves = metric_board.halves(counted.samples, contest.seed, (known[0], known[1]))
    sizes = sizes_of(contest.study, contest.study.batch, counted.samples, counted.entries)
    size, reference_size = (sizes.entries, sizes.reference) if sizes else (None, None)
    points = metric_board.reference_points(counted, contest.seed, size, reference_size if ratings else None)
    made: Standings = {"halves": [sorted(half) for half in halves], "without": [entry.pk for entry in without], "people": 3}
    public, final = (plain(metric_board.ranked(metric_board.part(counted, half), [*scored, *points]).standings) for half in halves)
    return {**made, "public": public, "final": final}

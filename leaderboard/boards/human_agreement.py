"""Findings of people for a ranking, of the moment at which it is made: how far each metric agrees with them, what they prefer, and where a
row contradicts them. A board asks nothing more for it; `leaderboard.boards.people` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leaderboard.records.board import Against, BoardEntry, ColumnAgreement, HumanAgreement, Mark, PeoplesFirst, StudyOf
from leaderboard.records.study import Summary, precedence
from leaderboard.stats.mos_table import USUAL
from leaderboard.stats.ranking import order, rank
from leaderboard.stats.records import places_among
from submissions.models import Phase

if TYPE_CHECKING:
    from leaderboard.models.analysis import StudyAnalysis

MAX_SAMPLES = 12  # that a mark names


def of_phase(phase: Phase, is_public: bool, entries: Sequence[BoardEntry], fingerprints: Mapping[str, str]) -> HumanAgreement | None:
    """Findings of people, for a ranking of `entries`: of the phase's studies that may be shown, those on entries of the ranking first, the
    one that stands for the others by `precedence`. None without a study that has been analysed.

    `fingerprints` are those of the ranking's columns: what was found of other values under the same slug is not said of them.
    """
    studies = phase.studies.filter(is_public=True) if is_public else phase.studies.all()
    of_study: dict[int, dict[str, tuple[StudyAnalysis, Summary]]] = {}
    for row in (row for study in studies.prefetch_related("analyses") for row in study.analyses.all()):
        summary = row.summary
        if summary is not None:
            of_study.setdefault(row.study_id, {})[row.criterion] = (row, summary)
    if not of_study:
        return None
    main = [by_criterion[next(iter(by_criterion.values()))[0].study.leading(by_criterion)] for by_criterion in of_study.values()]
    ids = {entry.id for entry in entries}

    def weight(one: tuple[StudyAnalysis, Summary]) -> tuple[Any, ...]:
        row, summary = one
        own = precedence(summary.metrics, row.study.simulated, summary.n_people, row.study_id, summary.of == "means")
        return bool(ids & set(summary.entries.values())), own

    row, summary = max(main, key=weight)
    used = [line for line in summary.metrics if line.reference_point or fingerprints.get(line.key, "") in ("", line.fingerprint)]
    label_of = {pk: label for label, pk in summary.entries.items()}
    line_of = {line.method: line for line in summary.scales if line.method not in summary.damaged}
    lines = [line_of.get(label_of.get(entry.id, "")) for entry in entries]
    # Entries of parts that never met have no common column: the board's is that of the part with most answers.
    column = [line.value if line is not None and line.part in (None, 1) else (None, None, None) for line in lines]
    # An entry that too few people judged, or on too few items, keeps its figure for programs, and has no place beside those with enough.
    few = {
        str(entry.id): line.reason
        for entry, line, value in zip(entries, lines, column, strict=True)
        if summary.reason is None and line is not None and line.reason is not None and value[0] is not None and not summary.shows(line)
    }
    counted = [value[0] if entry.counted and str(entry.id) not in few else None for value, entry in zip(column, entries, strict=True)]
    first = next((n for n in order(counted, True) if counted[n] is not None), None)
    entry_pairs = {frozenset((pair.first, pair.second)): pair for pair in summary.entry_pairs}
    top = None if first is None else lines[first]
    over: list[Against | None] = []
    for line in lines:
        pair = entry_pairs.get(frozenset((line.method, top.method))) if line is not None and top is not None else None
        over.append(None if pair is None else Against(value=pair.value, p_holm=pair.p_holm))

    # Said of the study's own first alone, and of none that shares first place: where another stands first here, its first is on this board
    # no more, or a baseline.
    firm, leading = None, next(iter(summary.ranked), None)
    one_part = len({line.part for line in summary.ranked}) == 1
    alone = rank(counted, True).count(1) == 1 and sum(value is not None for value in counted) > 1
    if leading is not None and one_part and alone and leading is top and top.rank is not None:
        firm = PeoplesFirst(
            rank=top.rank,
            settled=summary.enough is not None and summary.enough.settled > 0,
            fragile=summary.fragile,
            answers=summary.answers,
            raters_counted=summary.raters_counted,
            samples_counted=summary.samples_counted,
        )

    # Who may be first is asked among those who hold a rank here: a baseline before them all, or an entry that is not on this board, would
    # keep first place from every one of them.
    counted_ids = {entry.id for entry in entries if entry.counted}
    outside = {line.method for line in summary.ranked if summary.entries.get(line.method) not in counted_ids}
    rank_of = {line.method: line.rank for line in places_among(summary.scales, outside) if line.part in (None, 1)}
    ranges = [rank_of.get(label_of.get(entry.id, "")) for entry in entries]

    columns = []
    # By slug and entry: the entries that people prefer to it and the metric does not, those they are surest of first. What stands on the
    # board, or never was an entry, is named; others are not.
    marks: dict[str, dict[str, list[Mark]]] = {}
    for metric in used:
        beside = summary.all.metric(metric.key) if summary.all is not None and (summary.damaged or summary.left_out) else None
        columns.append(
            ColumnAgreement(
                slug=metric.key,
                decided=metric.decided,
                damaged=None if beside is None else beside.decided.brief,
                rho=metric.rho,
                tau=metric.tau,
                r=metric.r,
                reference_point=metric.reference_point,
                trained=metric.trained,
                above_size=metric.above_size,
                groups=metric.groups,
                difference=metric.difference,
                person=metric.person,
                standing=metric.standing,
                places=metric.places,
                may_be_best=metric.may_be_best,
            )
        )
        for one in metric.contradictions:
            worse, better = summary.entries.get(one.second), summary.entries.get(one.first)
            if worse in ids and (better is None or better in ids):
                mark = Mark(preferred=one.first, id=better, value=one.value, samples=one.samples[:MAX_SAMPLES], n=len(one.samples))
                marks.setdefault(metric.key, {}).setdefault(str(worse), []).append(mark)
    return HumanAgreement(
        study=StudyOf.model_validate({name: getattr(row.study, name) for name in StudyOf.model_fields}),
        kind=summary.kind,
        of=summary.of,
        criterion=row.criterion,
        raters=summary.n_people,
        groups=sorted({name for name in summary.groups if name}),
        answers=summary.counted,
        questions=summary.questions,
        at=row.finished_at,
        note=summary.note,
        left_out=[name for name in summary.left_out if summary.entries.get(name) in (None, *ids)],
        reason=summary.reason,
        why="",
        band=summary.ceiling if summary.another is not None else None,
        metrics=columns,
        value=[value[0] for value in column],
        low=[value[1] for value in column],
        high=[value[2] for value in column],
        n=[0 if line is None else line.answers for line in lines],
        first=first,
        over=over,
        marks=marks,
        firm=firm,
        may_be_first=[n for n, ends in enumerate(ranges) if ends is not None and ends[0] == 1] if any(ranges) else None,
        few=few or None,
        unsampled=summary.unsampled or None,
        places=ranges if any(ranges) else None,
        scale=None if summary.scale == USUAL else summary.scale,
    )

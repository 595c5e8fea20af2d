"""Cards of pasted links: of an entry, a study, a metric, a comparison. As all of `share`, they hold what somebody without an account may
see at that moment, whoever asks."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from evaluation.metrics import registry
from leaderboard.boards import certainty, human_agreement
from leaderboard.boards.human_agreement import lines_of
from leaderboard.boards.lineup import MAX_ENTRIES, lineup
from leaderboard.boards.rows import cell, ordinal, span
from leaderboard.boards.scorecard import current_evaluation, results
from leaderboard.lookup import current_ranking, shown_board, study_of
from leaderboard.stats.ranking import rank
from leaderboard.studies import metric_ranking, words
from leaderboard.studies.metric_ranking import MADE_UP, source_of
from leaderboard.views.compare import scored_entry
from leaderboard.views.metric_studies import measured, verdict_on
from leaderboard.views.share import NOBODY, Row, Sheet, sent
from leaderboard.views.studies import metric_titles
from submissions.lookup import EntryPlace, entry_place
from submissions.moments import day_in_words
from submissions.visibility import hidden_from

MAX_ROWS = 3


def entry_card(request: HttpRequest, pk: int) -> HttpResponse:
    """An entry's place on its board with its values, and with people."""
    place = entry_place(NOBODY, pk)
    phase = place.submission.phase
    snapshot = current_ranking(place.phase_place)
    index = snapshot.board.index_of(pk) if snapshot is not None else None
    if snapshot is None or index is None:
        raise Http404
    board = snapshot.board
    own_rank, ends = board.overall.rank[index], span(board.overall.rank_low[index], board.overall.rank_high[index])
    n = sum(one is not None for one in board.overall.rank)
    standing = "Shown, not ranked."
    if own_rank is not None:
        standing = f"Rank {own_rank} of {n}{f' (it may be {ends})' if ends not in ('', str(own_rank)) else ''}."
    people = human_agreement.of_board(board)
    column = people.column(board) if people is not None else None
    at = column.rank[index] if column is not None else None
    if at is not None and column is not None and people is not None:
        shown, low, high = cell(column, index).text, column.ci_low[index], column.ci_high[index]
        figure = f"{shown} of duels won" if column.percent else f"{shown} of 5"
        if low is not None and high is not None:
            figure += f" [{low:.0%}, {high:.0%}]".replace("%", " %") if column.percent else f" [{low:.2f}, {high:.2f}]"
        level = column.rank.count(at) - 1
        with_others = f", level with {level} other{'' if level == 1 else 's'}" if level else ""
        standing += f" With people: {ordinal(at)}{with_others}, {figure}, {people.basis}."
    ranking = [metric for metric in board.metrics if metric.slug in board.overall.metrics] or board.metrics
    rows = []
    for metric in ranking[:MAX_ROWS]:
        own = cell(metric, index)
        place_in = ordinal(metric.rank[index] or 0) if metric.rank[index] is not None else ""
        rows.append(
            Row("", metric.title, f"{own.text} {own.half or f'{own.up} {own.down}'}".strip() + (f"   {place_in}" if place_in else ""))
        )
    entry = board.entries[index]
    title = entry.name + (f", {entry.team}" if entry.team and not board.imported else "")
    made = day_in_words(snapshot.created_at, phase.time_zone)
    foot = f"{phase.challenge.title} · {phase.title} · snapshot {snapshot.digest[:4]}, {made}"
    return sent(Sheet(title, standing, tuple(rows), foot, phase.challenge.made_up))


def study_card(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """Card of a study: its own first sentences, and the first entries with people."""
    place = shown_board(NOBODY, challenge, phase)
    study = study_of(place.phase, False, slug=slug)
    summary = study.main_summary(hidden_from(place.viewer, place.phase))
    made_up = source_of(study) == MADE_UP
    if summary is None:
        return sent(Sheet(study.title, study.question, (), f"{place.challenge.title} · {place.phase.title}", made_up))
    said = words.sentences(summary, lines_of(summary, metric_titles(place.phase), study.noun))
    rows = []
    if summary.ordered:
        # Entries of parts that never met are in no common order: the first are those of the part with most answers.
        ranked = [line for line in summary.ranked if line.part in (None, 1)]
        places = rank([summary.value_of(line)[0] for line in ranked], True)
        for line, n in list(zip(ranked, places, strict=True))[:MAX_ROWS]:
            value, low, high = summary.value_of(line)
            if value is not None and low is not None and high is not None:
                figure = (
                    f"{value:.2f} [{low:.2f}, {high:.2f}]"
                    if summary.opinions
                    else f"{value:.0%} [{low:.0%}, {high:.0%}]".replace("%", " %")
                )
                rows.append(Row(str(n), line.method, figure))
    basis = human_agreement.people_words(summary.n_people)
    if summary.of != "means":
        basis = human_agreement.basis_words(summary.counted, summary.opinions, summary.n_people)
    counts = [basis, f"{place.challenge.title} · {place.phase.title}"]
    first = f"{said[0].first} {said[0].rest}" if said else study.question
    return sent(Sheet(study.title, first, tuple(rows), " · ".join(counts), made_up))


def metric_card(request: HttpRequest, key: str) -> HttpResponse:
    """A metric's verdict, of the studies that everybody may see."""
    spec = registry.REGISTRY.get(key)
    if spec is None:
        raise Http404
    family = metric_ranking.of(NOBODY).families[spec.family]
    standing = family.row(key, registry.fingerprint(key, {}))
    found = verdict_on(family, standing, measured(NOBODY, key))
    says = " ".join(part for part in (found.words, found.figure, found.rest) if part)
    arrow = "higher is better" if spec.higher_is_better else "lower is better"
    rows = (Row("", spec.doc.partition(". ")[0].removesuffix(".") + ".", ""),)
    return sent(Sheet(spec.title, says, rows, f"A metric of Plumbline · {arrow}", bool(family.made_up and standing)))


def compare_card(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Entries beside each other by the first metric that ranks them; `a`, `b` and `with` as on the page."""
    place = shown_board(NOBODY, challenge, phase)
    asked = [request.GET.get("a", ""), request.GET.get("b", ""), *request.GET.getlist("with")[:MAX_ENTRIES]]
    entries: dict[int, EntryPlace] = {}
    for text in filter(None, asked):
        found = scored_entry(NOBODY, place, text)
        entries[found.submission.pk] = found
    chosen = list(entries.values())[:MAX_ENTRIES]
    evaluations = [one for one in (current_evaluation(entry.submission) for entry in chosen) if one is not None]
    if len(chosen) < 2 or len(evaluations) < len(chosen):
        raise Http404
    batch = evaluations[0].batch
    sees_items = all(one.may("see_items") for one in chosen)
    unit = certainty.Unit.of(batch.groups, place.challenge)
    metrics = lineup(
        [results(one, None) for one in evaluations], batch.reference.groups, unit, sees_items, None, [one.submission.pk for one in chosen]
    )
    shown = next((one for one in metrics if one.metric.is_primary), next(iter(metrics), None))
    if shown is None:
        raise Http404
    names = [one.submission.method_name for one in chosen]
    rows = [
        Row(str(row.rank or "–"), names[row.at], f"{row.cell.text} {row.cell.half or f'{row.cell.up} {row.cell.down}'}".strip())
        for row in shown.rows[:MAX_ROWS]
    ]
    title = " or ".join(names) if len(names) < 4 else f"{len(names)} entries side by side"
    foot = f"{place.challenge.title} · {place.phase.title} · {unit.n:,} {certainty.plural(unit.noun, unit.n)}"
    return sent(Sheet(title, " ".join(shown.claim(names)), tuple(rows), foot, place.challenge.made_up))

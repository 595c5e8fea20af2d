"""Cards of pasted links: of a board, an entry, a study, a metric, a comparison, and of the site. As all of `share`, they hold what somebody
without an account may see at that moment, whoever asks."""

from __future__ import annotations

import io
import textwrap
from dataclasses import dataclass
from functools import lru_cache

from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from PIL import Image, ImageDraw, ImageFont

from evaluation.metrics import registry
from leaderboard.boards import certainty, human_agreement
from leaderboard.boards.front import Front
from leaderboard.boards.human_agreement import lines_of
from leaderboard.boards.lineup import MAX_ENTRIES, lineup
from leaderboard.boards.rows import cell, ordinal, span
from leaderboard.boards.scorecard import current_evaluation, results
from leaderboard.lookup import current_ranking, shown_board, study_of
from leaderboard.models import Snapshot
from leaderboard.service.responses import for_everybody
from leaderboard.stats.ranking import rank
from leaderboard.studies import metric_ranking, words
from leaderboard.studies.metric_ranking import MADE_UP, source_of
from leaderboard.views.compare import scored_entry
from leaderboard.views.metric_studies import measured, verdict_on
from leaderboard.views.studies import metric_titles
from submissions.lookup import EntryPlace, entry_place
from submissions.models import Phase
from submissions.moments import day_in_words
from submissions.visibility import hidden_from

NOBODY = AnonymousUser()
SIZE = (1200, 630)  # of a card, in pixels
INK, SOFT, ACCENT, WARN, GROUND, LINE = "#1b1d1f", "#62686d", "#1f5fbf", "#a35600", "#fbfbf9", "#e4e4df"
DASHES = str.maketrans("–−", "--")  # which the font of cards has no shapes for
MAX_ROWS = 3


@dataclass(frozen=True)
class Row:
    """A line of a card: what stands before a name, the name, and what stands at the right, `is_warning` where people contradict it."""

    left: str
    name: str
    right: str
    is_warning: bool = False


@dataclass(frozen=True)
class Sheet:
    """All that a card says, from top to bottom."""

    title: str
    words: str
    rows: tuple[Row, ...] = ()
    foot: str = ""
    made_up: bool = False


def public_front(phase: Phase) -> tuple[Snapshot, Front] | tuple[None, None]:
    """The newest public ranking of a phase and what may be said of it now."""
    snapshot = Snapshot.current(phase, Snapshot.Audience.PUBLIC)
    front = snapshot.front if snapshot is not None else None
    return (snapshot, front) if snapshot is not None and front is not None else (None, None)


def board_card(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The picture that a pasted link of a board shows: its claim, or its first, and the first three with their places with people."""
    place = shown_board(NOBODY, challenge, phase)
    snapshot, front = public_front(place.phase)
    rows = tuple(
        Row(str(one.rank), one.name, f"people: {one.place}" if one.place else "", one.against) for one in (front.top if front else ())
    )
    title = f"{place.challenge.title} · {place.phase.title}"
    foot = ""
    if snapshot is not None and front is not None:
        counts = [f"{front.judgements:,} judgements"] if front.judgements else []
        counts.append(f"{snapshot.n_teams:,} team{'' if snapshot.n_teams == 1 else 's'}")
        counts.append(f"{snapshot.n_entries:,} {'entry' if snapshot.n_entries == 1 else 'entries'}")
        made = day_in_words(snapshot.created_at, place.phase.time_zone)
        foot = f"{' · '.join(counts)} · snapshot {snapshot.digest[:4]}, {made}"
    return sent(Sheet(title, _claim(front), rows, foot, place.challenge.made_up))


def site_card(request: HttpRequest) -> HttpResponse:
    """The picture of a link that has none of its own."""
    return sent(Sheet("Plumbline", _claim(None)))


def _claim(front: Front | None) -> str:
    if front is None:
        return "See which 3D method is best, and whether the metric that says so agrees with people."
    parted = front.parted
    if parted is None:
        return f"First: {front.name}, {front.metric} {front.value}." if front.level == 1 else front.lead
    value, low, high = (0.0 if end is None else end for end in parted.ends)
    if parted.opinions:
        how = f"by {value:.2f} points [{low:.2f}, {high:.2f}]"
    else:
        how = f"in {round(100 * value)} of 100 duels [{round(100 * low)}, {round(100 * high)}]"
    return f"The metrics put {parted.metrics[0]} first. People prefer {parted.people[0]}, {how}."


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


def sent(sheet: Sheet) -> HttpResponse:
    """A card as the answer to who asks for it."""
    return for_everybody(HttpResponse(drawn(sheet), content_type="image/png"))


@lru_cache(maxsize=256)
def drawn(sheet: Sheet) -> bytes:
    """A card as PNG."""
    image = Image.new("RGB", SIZE, GROUND)
    draw = ImageDraw.Draw(image)

    def write(x: float, y: float, text: str, size: int, fill: str = INK, bold: bool = False, anchor: str = "la") -> None:
        draw.text((x, y), text, fill=fill, font=ImageFont.load_default(size), stroke_width=1 if bold else 0, anchor=anchor)

    draw.line([(64, 64), (64, 102)], fill=ACCENT, width=4)
    draw.polygon([(52, 102), (76, 102), (72, 120), (64, 138), (56, 120)], fill=ACCENT)
    write(96, 76, "Plumbline", 34, bold=True)
    if sheet.made_up:
        write(SIZE[0] - 64, 76, "made up", 28, WARN, anchor="ra")
    y = 176
    for line in textwrap.wrap(plain(sheet.title), 46)[:2]:
        write(64, y, line, 44, bold=True)
        y += 56
    y += 14
    lines = textwrap.wrap(plain(sheet.words), 58)
    room = 3 if sheet.rows else 5
    if len(lines) > room:
        lines = [*lines[: room - 1], textwrap.shorten(" ".join(lines[room - 1 :]), 58, placeholder=" …")]
    for line in lines:
        write(64, y, line, 36, INK if sheet.rows or sheet.foot else SOFT)
        y += 46
    y = max(y + 14, 410)
    for row in sheet.rows:
        write(64, y, row.left, 30, SOFT)
        write(
            110 if row.left else 64,
            y,
            textwrap.shorten(plain(row.name), 34 if row.right else 70, placeholder=" …"),
            30,
            ACCENT if row.left else SOFT,
        )
        if row.right:
            write(SIZE[0] - 64, y, plain(row.right), 30, WARN if row.is_warning else SOFT, anchor="ra")
        y += 42
    draw.line([(64, 560), (SIZE[0] - 64, 560)], fill=LINE, width=2)
    write(64, 576, textwrap.shorten(plain(sheet.foot), 92, placeholder=" …"), 24, SOFT)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def plain(text: str) -> str:
    """Without signs that turn the direction of writing round, or that a font has no shape for."""
    return "".join(letter for letter in text.translate(DASHES) if letter.isprintable())

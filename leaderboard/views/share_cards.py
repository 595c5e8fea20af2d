"""Cards of pasted links: of the site, a board, an entry, a study, a metric, a comparison. Like all of `share`, they hold what a visitor
without an account may see at that moment, for any reader.

A view decides what a card says, as a `Sheet`; `leaderboard.charts.cards` draws it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from evaluation.metrics import registry
from leaderboard.boards.comparison import main
from leaderboard.boards.entry_summary import entry_summary, strips
from leaderboard.boards.people import People, lines_of, of_board, spread
from leaderboard.charts.cards import Figure, Row, Sentence, Sheet, SlopeChart, Strip, Words, drawn, legible
from leaderboard.evidence.shown import resembling_words
from leaderboard.lookup import current_ranking, shown_board, study_of
from leaderboard.models import Snapshot, StudyAnalysis
from leaderboard.records.board import Board
from leaderboard.records.cell import bar, position
from leaderboard.records.chart import shortened
from leaderboard.records.front import Contradiction, Front, Turned
from leaderboard.records.study import Summary
from leaderboard.service.responses import for_everybody
from leaderboard.stats.ranking import rank
from leaderboard.stats.two_way_intervals import Ends
from leaderboard.studies.metric_ranking import SIMULATED, source_of
from leaderboard.viewer import thumbnails
from leaderboard.views.compare import asked, distinct, ground_of, scored_entry
from leaderboard.views.home import MAX_SHOWN, cards, surest_contradiction, visible
from leaderboard.views.metric import MetricPage
from leaderboard.views.studies import metric_titles
from leaderboard.wording import board as board_words
from leaderboard.wording import comparison as comparison_words
from leaderboard.wording import contradiction
from leaderboard.wording import entry_summary as summary_words
from leaderboard.wording import study as study_words
from leaderboard.wording.figures import interval, share
from leaderboard.wording.nouns import counted, decision, on_scale, plural
from leaderboard.wording.people import basis as basis_words
from leaderboard.wording.ranks import ordinal, place, span
from leaderboard.wording.statement import Statement, Tone
from submissions.format_time import day_in_words
from submissions.lookup import challenge_place, entry_place
from submissions.models import Phase
from submissions.storage.stored_files import store
from submissions.visibility import hidden_from

NOBODY = AnonymousUser()
MAX_STRIPS = 5
MAX_LETTERS = 36  # of a name in a sentence
FOOT = "where metrics and people differ most surely"
AGREEMENT = (0.45, 1.0)  # the scale of comparisons decided as people did, of which chance gets 50
SERVICE = "See which 3D method is best, and whether the metric that says so agrees with people."
SERVES = (
    Figure("Score", "Teams send wireframes, meshes or renders; the same metrics score every entry."),
    Figure("Rank", "Leaderboards say how certain each place is, and which entries are tied."),
    Figure("Ask people", "People compare entries side by side, and each metric is compared with people."),
)


def public_front(phase: Phase) -> tuple[Snapshot, Front] | tuple[None, None]:
    """The newest public ranking of a phase and its current summary."""
    snapshot = Snapshot.current(phase, Snapshot.Audience.PUBLIC)
    front = snapshot.front if snapshot is not None else None
    return (snapshot, front) if snapshot is not None and front is not None else (None, None)


def challenge_card(request: HttpRequest, challenge: str) -> HttpResponse:
    """Card of a challenge: its title and summary, its logo, and the first entry in the ranking of the phase that matters now."""
    place = challenge_place(NOBODY, challenge)
    found, card = place.challenge, cards([place.challenge], place.now)[0]
    figures = []
    if card.snapshot is not None and card.front is not None and card.front.top:
        first, n_entries = card.front.top[0], card.snapshot.n_entries
        by_teams = f" by {counted(card.snapshot.n_teams, 'team')}" if card.phase is not None and card.phase.has_teams else ""
        figures = [
            Figure(
                _name(first.name, first.id), f"{'is first' if card.front.level == 1 else 'shares first place'} in the ranking by metrics"
            ),
            Figure(f"{n_entries:,}", f"{plural('entry', n_entries)}{by_teams}"),
        ]
    picture = None
    if found.logo is not None:
        with suppress(FileNotFoundError):  # as on its page, where the file is gone
            picture = store().read(found.logo.key)
    sheet = Sheet(
        legible(card.phase.title, card.phase.slug) if card.phase else "",
        ((Words(legible(found.title, found.slug)),),),
        ((Words(legible(found.summary, SERVICE), "soft"),),),
        picture=picture,
        figures=tuple(figures),
        simulated=found.simulated,
    )
    return sent(sheet)


def board_card(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Card of a board: where metrics and people differ on it, or its first three."""
    place = shown_board(NOBODY, challenge, phase)
    snapshot, front = public_front(place.phase)
    if snapshot is None or front is None:
        title = legible(place.challenge.title, place.challenge.slug)
        words = legible(place.challenge.summary, SERVICE)
        claim, beneath = ((Words(title),),), ((Words(words, "soft"),),)
        return sent(Sheet(legible(place.phase.title, phase), claim, beneath, simulated=place.challenge.simulated))
    counts = f"{counted(snapshot.n_teams, 'team')} · " if place.phase.has_teams else ""
    counts += counted(snapshot.n_entries, "entry")
    foot = f"{counts} · {_snapshot_words(snapshot, place.phase)}"
    return sent(board_sheet(front, _line(place.phase), foot, place.challenge.simulated, place.phase.has_teams))


def board_sheet(front: Front, line: str, foot: str, simulated: bool, has_teams: bool = True) -> Sheet:
    """Card of a board by its summary: the contradiction of its first, else of a pair that a single metric reverses, else the first
    three."""
    found = front.parted or front.turned
    rows = tuple(
        Row(
            str(one.rank),
            legible(one.name, f"entry {one.id}"),
            f"people: {place(one.place) or '–'}" if front.has_places else legible(one.team, "") if has_teams else "",
        )
        for one in front.top
    )
    if found is not None:
        sheet = contradiction_sheet(found, line, foot, simulated)
        return sheet if sheet.chart is not None else replace(sheet, rows=rows)
    said = contradiction.first(front.model_copy(update={"name": _name(front.name, front.id)}))
    note = f"people: place with people, {basis_words(front.people)}" if front.people and front.has_places else ""
    note += ", simulated" if note and front.people_simulated and not simulated else ""
    return Sheet(line, (pieces(said),), rows=rows, note=note, foot=foot, simulated=simulated)


def contradiction_sheet(found: Contradiction, line: str, foot: str, simulated: bool) -> Sheet:
    """Card of a contradiction: both orders drawn, how often people would pick theirs, and of how many answers that is."""
    ahead, preferred = ((_name(*one), one[1]) for one in found.pair)
    if isinstance(found, Turned):
        found = found.model_copy(update={"metric": legible(found.metric, "One metric"), "first": ahead, "preferred": preferred})
    else:
        found = found.model_copy(update={"metrics": ahead, "people": preferred})
    figures = [Figure(*figure) for figure in contradiction.figures(found)]
    if found.simulated and not simulated:
        figures[-1] = replace(figures[-1], words=f"{figures[-1].words}, simulated")
    return Sheet(
        line,
        (pieces(contradiction.order(found)), pieces(contradiction.preferred(found))),
        chart=SlopeChart(found.lines, found.metric if isinstance(found, Turned) else "metrics") if found.lines else None,
        figures=tuple(figures),
        foot=foot,
        simulated=simulated,
    )


def site_card(request: HttpRequest) -> HttpResponse:
    """The picture of a link that has none of its own: the purpose of the service, and the surest contradiction that anybody may see."""
    found = surest_contradiction(cards(visible(NOBODY)[: 4 * MAX_SHOWN], timezone.now()))
    if found is None or found[0].phase is None:
        return sent(Sheet("", (), service=SERVICE, figures=SERVES))
    (card, surest), line = found, f"On {_line(found[0].phase)}"
    return sent(replace(contradiction_sheet(surest, line, FOOT, card.challenge.simulated), service=SERVICE))


def entry_card(request: HttpRequest, pk: int) -> HttpResponse:
    """Card of an entry: its place with people and by the metrics, its values among all entries', and an item of it if everybody may see
    that."""
    place = entry_place(NOBODY, pk)
    submission = place.submission
    phase = submission.phase
    snapshot = current_ranking(place.phase_place)
    index = snapshot.board.index_of(pk) if snapshot is not None else None
    if snapshot is None or index is None:
        raise Http404
    picture, item = None, thumbnails.item_of(snapshot.batch, submission.missing_items) if phase.has_files else ""
    is_public = phase.reference_access == Phase.ReferenceAccess.PUBLIC and place.may("see_render")
    if is_public and submission.artifact_key and item and item not in submission.missing_items:
        try:
            picture = thumbnails.picture(submission, item, thumbnails.LARGE)
        except FileNotFoundError:
            picture = None  # as on its page, where the file of an entry is gone
    sheet = entry_sheet(snapshot.board, index, _line(phase), _snapshot_words(snapshot, phase), picture)
    return sent(replace(sheet, simulated=phase.challenge.simulated))


def entry_sheet(board: Board, index: int, line: str, foot: str, picture: bytes | None = None) -> Sheet:
    """Card of the entry at `index` in the ranking's lists, with what its own page says first."""
    named = [
        entry if entry.name.isascii() and len(entry.name) <= MAX_LETTERS else entry.model_copy(update={"name": _name(entry.name, entry.id)})
        for entry in board.entries
    ]
    own, people = board.entries[index], of_board(board)
    summary = entry_summary(board.model_copy(update={"entries": named}), index)
    beneath: list[Sentence] = [(Words(summary_words.verdict(summary).text),)]
    if summary.people is not None:
        beneath.insert(0, pieces(summary_words.people(summary.people)))
    bars = _entry_strips(board, index, people)
    notes = []
    if people is not None and any(strip.is_people for strip in strips(board, index)):
        simulated = ", simulated" if people.study.simulated and not board.challenge.simulated else ""
        notes.append(f"People: {summary_words.people_basis(summary.people) if summary.people else basis_words(people.basis)}{simulated}.")
    if any(strip.width for strip in bars):
        notes.append("Thick lines: 95 % intervals.")
    team = legible(team, "") if (team := board.team_of(own)) else ""
    return Sheet(
        f"{line}{f' · {team}' if team else ''}",
        ((Words(legible(own.name, f"entry {own.id}")),),),
        tuple(beneath),
        picture=picture,
        strips=tuple(bars[:MAX_STRIPS]),
        note=" ".join([*notes, "Right is better."]) if bars else "",
        foot=foot,
    )


def _entry_strips(board: Board, index: int, people: People | None) -> list[Strip]:
    """The entry's values in the columns that decide the order, and with people."""
    bars = []
    for strip in strips(board, index):
        column = strip.column
        if strip.is_people or not board.overall.metrics or column.slug in board.overall.metrics:
            more = board_words.digits(strip.cell).spread
            if strip.is_people and people is not None:
                more = interval(people.found.low[index], people.found.high[index], 2 if people.opinions else None)
            title = f"{legible(column.title, column.slug)}{f', {column.unit}' if column.unit else ''}"
            bars.append(Strip(title, board_words.text(strip.cell), more, place(strip.place), strip.dot, strip.left, strip.width))
    return bars


def study_card(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """Card of a study: its own first sentences, and the first entries with people."""
    place = shown_board(NOBODY, challenge, phase)
    study = study_of(place.phase, False, slug=slug)
    summary = StudyAnalysis.main_summary(study, hidden_from(place.viewer, place.phase))
    sheet = Sheet(_line(place.phase), ((Words(legible(study.title, slug)),),), simulated=source_of(study) == SIMULATED)
    if summary is None:
        return sent(replace(sheet, beneath=((Words(study.question),),)))
    said = study_words.sentences(summary, lines_of(summary, metric_titles(place.phase), study.noun), study.noun)
    bars, note = _study_strips(summary), ""
    if bars:
        what = f"Mean scores {on_scale(summary.scale)}" if summary.opinions else "How often people would pick each entry"
        of = f"; the first {MAX_STRIPS} of {len(bars)} entries" if len(bars) > MAX_STRIPS else ""
        note = f"{what}, with 95 % intervals{of}."
    first = said[0].text if said else study.question
    for method in sorted(
        (line.method for line in summary.ranked if any(letter.isalnum() for letter in line.method)), key=len, reverse=True
    ):
        first = first.replace(method, _name(method, summary.entries.get(method, 0)))
    return sent(replace(sheet, beneath=((Words(first),),), strips=tuple(bars[:MAX_STRIPS]), note=note, foot=basis_words(summary.basis)))


def _study_strips(summary: Summary) -> list[Strip]:
    """People's values of the entries of the main part, where there are two or more, with their places."""
    ranked = [line for line in summary.ranked if line.in_main_part]
    values = [line.value for line in ranked] if len(ranked) > 1 else []
    bars = []
    for line, own, n in zip(ranked, values, rank([value for value, *_ in values], True), strict=False):
        value, low, high = own
        at = spread(value, low, high, values)
        if value is None or low is None or high is None or at is None or n is None:
            continue
        shown = f"{value:.2f}" if summary.opinions else f"{share(value)} %"
        where = ordinal(n) if line.rank is None or line.rank[0] == line.rank[1] else span(*line.rank)
        name = _name(line.method, summary.entries.get(line.method, 0))
        bars.append(Strip(name, shown, interval(low, high, 2 if summary.opinions else None), where, at["dot"], at["left"], at["width"]))
    return bars


def metric_card(request: HttpRequest, key: str) -> HttpResponse:
    """A metric's verdict, of the studies that everybody may see, and its agreement with people beside chance and another rater."""
    spec = registry.REGISTRY.get(key)
    if spec is None:
        raise Http404
    page = MetricPage(NOBODY, spec)
    as_published = "" if page.is_measured else resembling_words(page.named)
    standing = None if as_published else page.standing
    bars, note, foot = [], "", ""
    if standing is not None and not standing.line.trained and standing.line.shown:
        line, another = standing.line, standing.line.another
        figures: list[tuple[str, Ends]] = [(spec.title, line.figure.ends), ("Chance", (0.5, None, None))]
        if another is not None and another.value is not None:
            figures.insert(1, ("Another rater", another.ends))
        for title, (value, low, high) in figures:
            bars.append(Strip(title, share(value), interval(low, high), "", position(AGREEMENT, value or 0.0), *bar(AGREEMENT, low, high)))
        note = "In how many of 100 comparisons the metric picks the same winner as people (95 % interval)."
        votes = counted(standing.answers, decision(line.opinions))
        foot = f"{votes} that name a winner, by {'simulated ' if page.found.simulated else ''}raters"
    does = spec.brief
    return sent(
        Sheet(
            f"A metric for {page.family.lower()} · {'higher is better' if spec.higher_is_better else 'lower is better'}",
            ((Words(spec.title),),),
            ((Words(as_published),) if as_published else pieces(page.said), (Words(does, "soft"),)),
            strips=tuple(bars),
            note=note,
            foot=foot,
            simulated=bool(page.found.simulated and standing),
        )
    )


def compare_card(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Entries beside each other by the first metric that ranks them; named as on the page."""
    place = shown_board(NOBODY, challenge, phase)
    chosen = distinct(scored_entry(NOBODY, place, text) for text in asked(request) if text)
    if len(chosen) < 2:
        raise Http404
    ground = ground_of(chosen, None)
    if not (metrics := ground.compared()):
        raise Http404
    shown, unit = main(metrics), ground.unit
    names = [_name(one.submission.method_name, one.submission.pk) for one in chosen]
    bars = []
    for row in shown.rows:
        at, shown_as = row.bar or {}, board_words.digits(row.cell)
        where = ordinal(row.rank) if row.rank else ""
        bars.append(Strip(names[row.at], shown_as.text, shown_as.spread, where, at.get("dot"), at.get("left", 0.0), at.get("width", 0.0)))
    what = f"{shown.metric.title}{f' in {shown.metric.unit}' if shown.metric.unit else ''}, {shown.metric.direction}"
    return sent(
        Sheet(
            f"{_line(place.phase)} · {len(names)} entries side by side",
            tuple((Words(part.text),) for part in comparison_words.statement(shown.order, names).parts if part.text.strip()),
            strips=tuple(bars),
            note=f"{what}{'; thick lines: 95 % intervals' if any(strip.width for strip in bars) else ''}",
            foot=f"{unit.n:,} {plural(unit.noun, unit.n)}",
            simulated=place.challenge.simulated,
        )
    )


# --- words that several have


def pieces(said: Statement) -> Sentence:
    """A statement in the tones of a card."""
    return tuple(Words(part.text, "accent" if part.tone is Tone.PERSON else "ink") for part in said.parts)


def _line(phase: Phase) -> str:
    return f"{legible(phase.challenge.title, phase.challenge.slug)} · {legible(phase.title, phase.slug)}"


def _snapshot_words(snapshot: Snapshot, phase: Phase) -> str:
    return f"snapshot {snapshot.digest[:4]}, {day_in_words(snapshot.created_at, phase.time_zone)}"


def _name(name: str, pk: int) -> str:
    """An entry's name for a sentence."""
    return shortened(legible(name, f"entry {pk}"), MAX_LETTERS)


def sent(sheet: Sheet) -> HttpResponse:
    """A card as the answer to a request."""
    return for_everybody(HttpResponse(drawn(sheet), content_type="image/png"))

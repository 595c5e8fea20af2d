"""Methods, teams and people over all boards: the places of their entries on the boards that the reader may see.

Nothing here decides what is seen: an entry is listed where `visibility` shows it to the reader, its place where they may see the board.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards.people import of_board
from leaderboard.boards.unranked import unranked
from leaderboard.entry_states import states
from leaderboard.lookup import current_boards
from leaderboard.records.board import Board
from leaderboard.records.cell import Cell
from leaderboard.records.people import Basis
from leaderboard.wording.board import rule as rule_words
from leaderboard.wording.entry_summary import unranked as unranked_words
from leaderboard.wording.nouns import counted
from leaderboard.wording.ranks import place, rank_range
from submissions.entry_states import EntryState, State
from submissions.lookup import any_team, person_with_page
from submissions.models import Membership, Phase, Submission
from submissions.permissions import Viewer
from submissions.visibility import Person, persons, sees_board, sees_entry, visible_challenges
from submissions.wording import label, sentence

MAX_READ = 2000  # entries, the newest
MAX_METHODS = 200
MAX_NAMED = 12  # entries of one board that a line names
MAX_ELSEWHERE = 6  # boards beside an entry


@dataclass(frozen=True)
class PeoplesPlace:
    """Place that people give an entry: `3rd` of so many, resting on what; the study is at `url`."""

    place: str
    n: int
    value: Cell
    basis: Basis
    url: str
    simulated: bool


@dataclass(frozen=True)
class Standing:
    """One entry on one board: its rank of so many with its range, by which rule, its value in the metric `title`, and where people put it.
    Without a rank, `state` says why."""

    entry: Submission
    rank: int | None = None
    interval: str = ""
    n_ranked: int = 0
    rule: str = ""
    title: str = ""
    value: Cell | None = None
    people: PeoplesPlace | None = None
    state: str = ""


@dataclass(frozen=True)
class BoardStandings:
    """Standings on one phase's board: the best of the entries, and how many others of them there are."""

    phase: Phase
    best: Standing
    others: list[Standing]

    @property
    def every(self) -> list[Standing]:
        return [self.best, *self.others]

    @property
    def named(self) -> list[Standing]:
        return self.others[:MAX_NAMED]

    @property
    def n_more(self) -> int:
        return max(0, len(self.others) - MAX_NAMED)


def standings(user: Any, entries: QuerySet[Submission], now: datetime) -> list[BoardStandings]:
    """The entries that somebody may see, by phase, the newest phase first. However many boards there are, the queries are the same."""
    rows = list(entries.sent().select_related("team", "phase__challenge", "phase__parent").order_by("-created_at", "-pk")[:MAX_READ])
    by_person = persons(user, {row.phase.challenge_id: row.phase.challenge for row in rows}.values(), now)
    phases: dict[int, Phase] = {}
    found: dict[int, list[Submission]] = {}
    for row in rows:
        person = by_person[row.phase.challenge_id]
        row.phase = phases.setdefault(row.phase_id, row.phase)
        if sees_entry(person, row):
            found.setdefault(row.phase_id, []).append(row)
    boards = current_boards(by_person, [phases[pk] for pk in found])
    told = states([entry for own in found.values() for entry in own], now, boards=boards)
    lines = []
    for pk, own in found.items():
        viewer = by_person[phases[pk].challenge_id]
        stand = [_standing(entry, boards.get(pk), told[entry.pk], viewer) for entry in own]
        stand.sort(key=lambda one: (one.rank is None, one.rank or 0, bool(one.state)))
        lines.append(BoardStandings(phases[pk], stand[0], stand[1:]))
    return sorted(lines, key=lambda line: (line.phase.opens_at, line.phase.pk), reverse=True)


def _standing(entry: Submission, board: Board | None, it: EntryState, viewer: Person) -> Standing:
    """An entry that the reader sees, on the board as they see it."""
    index = board.index_of(entry.pk) if board is not None else None
    if board is None or index is None:
        if it.state == State.SCORED:
            words = "the next ranking is still to come" if sees_board(viewer, entry.phase) else "the leaderboard is not public yet"
            return Standing(entry, state=words)
        return Standing(entry, state=sentence(it, viewer.reader(entry)) if it.state == State.UNRANKED else label(it.state))

    overall = board.overall
    primary = board.primary or board.metrics[0]

    # None where people did not judge it, or too few did for a figure.
    people, with_people = of_board(board), None
    if people is not None and (column := people.column) is not None and column.rank[index] is not None:
        url = reverse("study", args=[entry.phase.challenge.slug, entry.phase.slug, people.study.slug])
        with_people = PeoplesPlace(
            place(people.place(index)), column.n_ranked, Cell(column, index), people.basis, url, people.study.simulated
        )
    return Standing(
        entry,
        overall.rank[index],
        rank_range(overall.rank_range(index)),
        overall.n_ranked,
        rule_words(board.rule),
        primary.title,
        Cell(primary, index, board.resampled),
        with_people,
        unranked_words(unranked(board, overall, index)),
    )


def elsewhere(user: Any, submission: Submission, now: datetime) -> list[tuple[Phase, Standing]]:
    """Other ranks of the entry's team that `user` may see, also under its name in other challenges, the newest phase first. A rank is of
    a method of the same name, or else of the team's best method there; of a published method only of the same name."""
    if submission.made_as:  # a damaged copy is nobody's method
        return []
    teams = Q(team=submission.team_id) | Q(team__in=submission.team.namesakes().order_by().values("pk"))
    entries, found = Submission.objects.filter(teams).exclude(phase=submission.phase_id), []
    if not submission.phase.has_teams:  # what has all imported entries is no team, with methods of its own
        entries = entries.filter(method_name=submission.method_name)
    for line in standings(user, entries, now):
        ranked = [one for one in line.every if one.rank is not None]
        ranked.sort(key=lambda one: one.entry.method_name != submission.method_name)  # each part by rank, as it was
        found += [(line.phase, one) for one in ranked[:1]]
    return found[:MAX_ELSEWHERE]


def method(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """A method of a team on all boards: of this challenge, and of others where the same team takes part under its name."""
    team = any_team(pk)
    now = timezone.now()
    teams = [team.pk, *team.namesakes().values_list("pk", flat=True)]
    lines = standings(request.user, Submission.objects.filter(team__in=teams, method_name=name), now)
    if not any(line.best.entry.team_id == team.pk for line in lines):
        raise Http404
    every = [one.entry for line in lines for one in line.every]
    newest = max(every, key=lambda entry: (bool(entry.card or entry.description), entry.created_at, entry.pk))
    # What a pasted link says: the method's best rank, where it has one.
    by = f"{name} by {team.name}" if newest.phase.has_teams else name
    about = f"{by}, on {counted(len(lines), 'board')}."
    if ranked := [line for line in lines if line.best.rank is not None]:
        first = min(ranked, key=lambda line: (line.best.rank or 0, -line.best.n_ranked))
        about = f"{by}: rank {first.best.rank} of {first.best.n_ranked} on {first.phase}."
    context = {
        "name": name,
        "team": team,
        "lines": lines,
        "it": newest,
        "phase": newest.phase,
        "challenge": newest.phase.challenge,
        "n_entries": len(every),
        "n_other_teams": len({entry.team_id for entry in every}) - 1,
        "n_challenges": len({line.phase.challenge_id for line in lines}),
        "about": about,
    }
    return render(request, "leaderboard/method.html", context)


def team(request: HttpRequest, pk: int) -> HttpResponse:
    """A team as boards show it: its methods and their places. Only members and organizers see its members, except those who publish a page
    of their own."""
    row = any_team(pk)
    viewer = Viewer(request.user, row.challenge, timezone.now())
    lines = standings(request.user, Submission.objects.filter(team=row), viewer.now)
    inside = viewer.may("team.see", row)
    if not lines and not inside:
        raise Http404
    methods: dict[str, list[Standing]] = {}
    for one in (one for line in lines for one in line.every):
        methods.setdefault(one.entry.method_name, []).append(one)
    members = [one.user for one in row.memberships.select_related("user").order_by("-is_leader", "joined_at") if one.user.is_active]
    context = {
        "team": row,
        "challenge": row.challenge,
        "lines": lines,
        "inside": inside,
        "is_own": viewer.team_id == row.pk,
        "members": [user for user in members if inside or user.shows_page],
        "methods": list(methods.items())[:MAX_METHODS],
        "n_methods": len(methods),
        "n_entries": sum(map(len, methods.values())),
    }
    return render(request, "leaderboard/team.html", context)


def person(request: HttpRequest, name: str) -> HttpResponse:
    """Somebody who lets everybody see where they take part: the challenges they organize, and their teams as boards show them."""
    them = person_with_page(request.user, name)
    now = timezone.now()
    teams = Membership.objects.filter(user=them).values("team")
    lines = standings(request.user, Submission.objects.filter(team__in=teams), now)
    entries = [one.entry for line in lines for one in line.every]
    # Challenges they organize that the reader may see, whose overview shows their name anyway.
    organized = visible_challenges(request.user).filter(pk__in=them.organized.values("pk")).order_by("-created_at", "pk")
    context = {
        "them": them,
        "lines": lines,
        "teams": list(dict.fromkeys(entry.team for entry in entries)),
        "is_self": them == request.user,
        "organized": organized,
        "n_entries": len(entries),
    }
    return render(request, "leaderboard/person.html", context)

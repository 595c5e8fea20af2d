"""The front page and the list of challenges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from evaluation.models import EvaluationBatch
from leaderboard.charts.published_sets import within_and_across
from leaderboard.charts.scatter import Scatter, scatter
from leaderboard.evidence import shown, store
from leaderboard.evidence.results import results
from leaderboard.lookup import page_numbers, page_of, search_text, with_board_out
from leaderboard.models import Snapshot, Study
from leaderboard.records.agreement import Line
from leaderboard.records.front import Contradiction, Front, Parted, Turned
from leaderboard.studies import metric_ranking
from leaderboard.studies.metric_ranking import Family
from leaderboard.viewer import thumbnails
from leaderboard.views import evidence
from leaderboard.wording import contradiction as wording
from leaderboard.wording.statement import Statement
from submissions.kinds import FAMILIES
from submissions.models import Announcement, Challenge, ChallengeFile, Phase, Submission
from submissions.models.challenge import MAX_TAGS, TAG
from submissions.visibility import board_is_out, visible_challenges

MAX_SHOWN = 12  # cards of each kind on the front page
MAX_NEWS = 5
MAX_METRICS = 7  # of a family
MAX_SETS = 2  # of published answers, whose metrics are drawn
PER_PAGE = 50
PUBLISHED_TAG = "published"  # of challenges that were made of a published set
MAX_SHOWN_TAGS = 30
STATES = {"running": "running", "upcoming": "upcoming", "past": "past"}
PEOPLE = {"yes": "with people", "no": "without people"}


@dataclass(frozen=True)
class Card:
    """A challenge as the front page shows it: the phase that matters now with its newest public ranking, and the other phases."""

    challenge: Challenge
    phase: Phase | None
    when: str  # running, upcoming or past
    snapshot: Snapshot | None
    others: list[Phase]
    rate_url: str
    missing: Mapping[int, Sequence[str]]  # items that entries lack, by entry

    @cached_property
    def front(self) -> Front | None:
        return self.snapshot.front if self.snapshot is not None else None

    @property
    def by_means(self) -> Statement | None:
        found = self.front.by_means if self.front is not None else None
        return wording.by_means(found) if found is not None else None

    @property
    def batch(self) -> EvaluationBatch | None:
        """The batch whose items the pictures show; None where not everybody may see them."""
        is_seen = self.phase and self.phase.has_files and self.phase.reference_access == Phase.ReferenceAccess.PUBLIC
        return self.snapshot.batch if self.snapshot is not None and is_seen else None

    @property
    def pictured(self) -> str:
        """Name of the pictures of the first entries; empty without pictures."""
        return f"{self.batch.pk}.{thumbnails.VERSION}" if self.batch is not None else ""

    @property
    def item(self) -> str:
        """The item that the pictures show."""
        missing = self.missing.get(self.front.id, ()) if self.front is not None else ()
        return thumbnails.item_of(self.batch, missing) if self.batch is not None else ""

    @property
    def turned_item(self) -> str:
        """The item where a metric contradicts people: its sample, or the first item of the group that is its sample."""
        turned = self.front.turned if self.front is not None else None
        if turned is None or self.batch is None:
            return ""
        units = zip(self.batch.reference.item_ids, self.batch.reference.groups, strict=True)
        return next((item for item, group in units if turned.sample in (item, group)), "")


def home(request: HttpRequest) -> HttpResponse:
    """The front page: the service's purpose, where metrics and people part, the challenges running, upcoming and past, and what is new."""
    now = timezone.now()
    every = cards(visible(request.user)[: 4 * MAX_SHOWN], now)
    real, demo = ([card for card in every if card.challenge.simulated is simulated] for simulated in (False, True))
    by_state = [(state, [card for card in real if card.when == state][:MAX_SHOWN]) for state in STATES]
    context = {
        "families": families(request.user),
        "max_metrics": MAX_METRICS,
        "sections": [(state.capitalize(), shown) for state, shown in by_state if shown],
        "demo": [card.challenge.title for card in demo],
        "demo_board": next((card for card in demo if card.phase), None),
        "now": now,
        "news": news(request.user, now),
        "board": next((card for card in (*real, *demo) if card.front), None),
        "rate_url": next((card.rate_url for card in (*real, *demo) if card.rate_url), ""),
    }
    return render(request, "leaderboard/home.html", context | _evidence_context() | _contradiction_context(real))


def news(user: Any, now: datetime) -> list[tuple[Announcement, str]]:
    """The newest announcements, each with the time zone of its challenge's main phase."""
    rows = Announcement.objects.filter(challenge__in=visible_challenges(user), published_at__lte=now).select_related("challenge")
    phases = Prefetch("challenge__phases", Phase.objects.order_by("position", "opens_at", "id"))
    newest = rows.order_by("-published_at").prefetch_related(phases)[:MAX_NEWS]
    main = [(row, main_phase(list(row.challenge.phases.all()), now, set())[0]) for row in newest]
    return [(row, phase.time_zone if phase else "UTC") for row, phase in main]


def families(user: Any) -> list[tuple[str, Family, list[Line]]]:
    """Metrics ranked by real studies: the title of their kind of data, the ranking, and its lines that have a figure."""
    return [
        (FAMILIES[key].title, found, lines)
        for key, found in metric_ranking.of(user).families.items()
        if not found.simulated and (lines := [row.line for row in found.rows if row.line.shown])
    ]


def _evidence_context() -> dict[str, Any]:
    """Context of the published sets."""
    all_sets = evidence.sets()
    finding = shown.finding(all_sets)
    ranked = [one for one in all_sets if one.rows]
    published = [one for one in ranked if one.has_people][:MAX_SETS]
    return {
        "published": published,
        # What size alone gets is the first thing to know.
        "warned": min(published, key=lambda one: "size" not in one.criterion.metrics, default=None),
        "by_means": [one for one in ranked if not one.has_people],
        "all_sets": all_sets,
        "finding": finding,
        "finding_chart": within_and_across(*finding.example) if finding is not None else None,
        "drawn": drawn_results(finding) if finding is not None else None,
    }


def _contradiction_context(real: Iterable[Card]) -> dict[str, Any]:
    """Context of the surest contradiction of metrics and people: its card, by its kind, and its statement."""
    where, found = surest_contradiction(real) or (None, None)
    return {
        "contradiction": where if isinstance(found, Parted) else None,
        "turned": where if isinstance(found, Turned) else None,
        "differ": wording.statement(found) + wording.how_often(found) if found is not None else None,
    }


@dataclass(frozen=True)
class DrawnResults:
    """Single results of a published set, drawn."""

    set: shown.Set
    scatter: Scatter


def drawn_results(finding: shown.Finding) -> DrawnResults | None:
    """The results of the first set of a finding that was fetched here and whose challenge the operator opened to all. Else None: values of
    single results do not ship."""
    for one, row in finding.rows:
        record = one.record
        opened = Challenge.objects.tagged(PUBLISHED_TAG).filter(slug=record.name, visibility=Challenge.Visibility.PUBLIC)
        found = results(store.folder_of(record.name) / store.TABLES, row.figures.name, one.name) if record.scale else []
        if found and record.scale and (parted := scatter(found, record.scale, finding.title)) is not None and opened.exists():
            return DrawnResults(one, parted)
    return None


@dataclass(frozen=True)
class TagLink:
    """A tag above the list of challenges: of how many that the viewer may see, and the address that takes it in or out."""

    name: str
    n: int
    is_chosen: bool
    url: str


def challenge_list(request: HttpRequest) -> HttpResponse:
    """All challenges the viewer may see, by name or words of it, tags, what teams send, whether they run, and whether people judge."""
    text, now = search_text(request), timezone.now()
    asked = {name: request.GET.get(name, "") for name in ("kind", "state", "people")}
    tags = [tag for tag in dict.fromkeys(request.GET.getlist("tag")[:MAX_TAGS]) if TAG.fullmatch(tag)]
    challenges = visible(request.user).order_by("simulated", "-created_at")  # real ones first
    every = Counter(tag for row in challenges.exclude(tags=[]).order_by().values_list("tags", flat=True) for tag in row)
    if text:
        challenges = challenges.filter(Q(title__icontains=text) | Q(summary__icontains=text))
    for tag in tags:
        challenges = challenges.tagged(tag)
    if asked["kind"] in FAMILIES:
        challenges = challenges.filter(family=asked["kind"])
    if asked["state"] in STATES:
        challenges = challenges.in_state(asked["state"], now)
    if asked["people"] in PEOPLE:  # with a study that is shown on a board that is out
        out = with_board_out(Phase.objects.filter(challenge__in=challenges.order_by().values("pk")), now)
        judged = Q(pk__in=Study.objects.shown().filter(phase__in=out).values("phase__challenge"))
        challenges = challenges.filter(judged if asked["people"] == "yes" else ~judged)

    # The most frequent tags, and those that are chosen.
    often = [tag for tag, _ in sorted(every.items(), key=lambda one: (-one[1], one[0]))[:MAX_SHOWN_TAGS]]
    links = []
    for tag in dict.fromkeys([*tags, *often]):
        query = request.GET.copy()
        query.pop("page", None)
        query.setlist("tag", [one for one in tags if one != tag] if tag in tags else [*tags, tag])
        links.append(TagLink(tag, every[tag], tag in tags, f"?{query.urlencode()}"))

    page = page_of(request, challenges, PER_PAGE)
    context = {
        "cards": cards(page.object_list, now),
        "text": text,
        "total": page.paginator.count,
        "asked": asked,
        "tags": links,
        "families": [(key, family.title) for key, family in FAMILIES.items()],
        "states": STATES.items(),
        "people": PEOPLE.items(),
        "chosen_tags": tags,
        "is_filtered": bool(text or tags or any(asked.values())),
        "pages": page_numbers(page.number, page.paginator.num_pages),
        "page": page.number,
    }
    return render(request, "leaderboard/challenge_list.html", context)


def visible(user: Any) -> QuerySet[Challenge]:
    """Challenges `user` may see, newest first."""
    phases = Prefetch("phases", Phase.objects.order_by("position", "opens_at", "id"))
    pictures = Prefetch("files", ChallengeFile.objects.filter(kind=ChallengeFile.Kind.PICTURE))  # for the logo, of all its files
    return visible_challenges(user).prefetch_related(phases, pictures)


def cards(challenges: Iterable[Challenge], now: datetime) -> list[Card]:
    """A card for each challenge, with the newest public ranking of its main phase."""
    phases = {challenge: list(challenge.phases.all()) for challenge in challenges}
    every = list(chain.from_iterable(phases.values()))
    public = {phase.pk: Snapshot.Audience.PUBLIC for phase in every if board_is_out(phase, now)}
    snapshots = {snapshot.phase_id: snapshot for snapshot in Snapshot.newest_of(public).select_related("batch__reference")}
    ranked = {pk for pk, snapshot in snapshots.items() if snapshot.n_entries}
    asking: dict[int, str] = {}
    for study in Study.objects.filter(phase__in=[phase.pk for phase in every]).asking_everybody(now):
        asking.setdefault(study.phase_id, reverse("rate", args=[study.key]))
    leads = [snapshot.lead.get("id") for snapshot in snapshots.values()]
    missing = dict(Submission.objects.filter(pk__in=leads).exclude(missing_items=[]).values_list("pk", "missing_items"))
    made = []
    for challenge, own in phases.items():
        phase, when = main_phase(own, now, ranked)
        snapshot = snapshots.get(phase.pk) if phase is not None else None
        if snapshot is not None and phase is not None:
            snapshot.redact_since(phase)
        rate_url = next((asking[one.pk] for one in own if one.pk in asking), "")
        made.append(Card(challenge, phase, when, snapshot, [one for one in own if one != phase], rate_url, missing))
    return made


def surest_contradiction(shown: Iterable[Card]) -> tuple[Card, Contradiction] | None:
    """The surest contradiction of metrics and people, and its challenge. Real challenges come before simulated ones, then the first of a
    board before a pair that a single metric reverses, then by the lower end of how often people prefer theirs."""
    found = [(card, one) for card in shown if card.front is not None for one in (card.front.parted, card.front.turned) if one is not None]

    def sureness(of: tuple[Card, Contradiction]) -> tuple[bool, bool, float]:
        card, one = of
        return not (card.challenge.simulated or one.simulated), isinstance(one, Parted), one.ends[1] or 0.0

    return max(found, key=sureness, default=None)


def main_phase(phases: list[Phase], now: datetime, ranked: set[int]) -> tuple[Phase | None, str]:
    """The phase a visitor looks for, and whether it is running, upcoming or past: of several that
    run, the last one with a ranking (`ranked` holds the keys of such phases)."""
    running = [phase for phase in phases if phase.is_open(now)]
    if running:
        return [*running[:1], *(phase for phase in running if phase.pk in ranked)][-1], "running"
    upcoming = [phase for phase in phases if not phase.has_opened(now)]
    if upcoming:
        return upcoming[0], "upcoming"
    return ([*phases[-1:], *(phase for phase in phases if phase.pk in ranked)][-1], "past") if phases else (None, "upcoming")

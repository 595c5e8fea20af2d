"""Load a demo: write its bundle, apply it, and send its entries as their teams would."""

from __future__ import annotations

import contextlib
import io
import time
import zipfile
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path

from allauth.account.models import EmailAddress
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import timezone

from leaderboard.bundle.apply import apply
from leaderboard.bundle.parse import parse
from leaderboard.demo import acceptance_tests, interiors, rooflines, solids
from leaderboard.demo.story import PASSWORD, PEOPLE, Demo, Entry, Items
from leaderboard.models import Snapshot, Study
from leaderboard.studies.live import campaign
from leaderboard.studies.live.campaign import Design
from leaderboard.studies.live.criteria import ready_made
from submissions.client import command
from submissions.formats.archive import readable_member
from submissions.models import ApiToken, Challenge, Participation, Status, Submission, Team, User
from submissions.models.quota import quota_of

APART = timedelta(days=3)  # between two uploads of a demo, by the dates that it shows

DEMOS = (rooflines.DEMO, solids.DEMO, interiors.DEMO)


# Nothing in it is simulated: what a paper prints of twelve methods, five metrics and people.
PUBLISHED = Path(__file__).with_name("osim")


class DemoError(Exception):
    """The demo could not be loaded; the text says why."""


def write_bundle(demo: Demo, folder: Path) -> None:
    """The challenge as a bundle, as an organizer would have written it."""
    (folder / "challenge.yaml").write_text(demo.yaml)
    what, files = demo.given
    for slug, items in demo.references().items():
        _write(demo.reference_files(items), folder / slug)
        with zipfile.ZipFile(folder / f"{slug}-{what}.zip", "w", zipfile.ZIP_DEFLATED) as package:
            for name, content in files(items):
                package.writestr(readable_member(name), content)


def _write(files: Iterable[tuple[str, bytes]], folder: Path) -> None:
    for name, content in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def load_published() -> str:
    """The path of the board of a paper's figures, which is made where it is not there yet; the workers rank and analyse it."""
    definition = parse(PUBLISHED).definition
    if not Challenge.objects.filter(slug=definition.slug).exists():
        apply(definition)
    return reverse("board", args=[definition.slug, definition.phases[0].slug])


def make_accounts() -> None:
    """The people of all demos; who is there already stays as they are."""
    for person in PEOPLE:
        user, made = User.objects.get_or_create(
            username=person.name,
            defaults={
                "email": f"{person.name}@demo.example",
                "notify_by_email": False,
                "is_staff": not person.team,
                "is_superuser": not person.team,
            },
        )
        if made:
            user.set_password(PASSWORD)
            user.save(update_fields=["password"])
            EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)


def load_challenge(demo: Demo, folder: Path) -> Challenge:
    """The challenge, by way of its bundle in the empty `folder`."""
    write_bundle(demo, folder)
    apply(parse(folder).definition, actor=User.objects.get(username="olga"))
    challenge = Challenge.objects.get(slug=demo.slug)
    acceptance_tests.restore(challenge.phases.get(slug=demo.phase))
    return challenge


def form_teams(demo: Demo, challenge: Challenge) -> None:
    """Each person accepts the rules and names their team, through the acts the pages use."""
    for person in PEOPLE:
        if person.name not in demo.people or Team.objects.filter(challenge=challenge, name=person.team).exists():
            continue
        user = User.objects.get(username=person.name)
        Participation.accept_rules(challenge, user, challenge.rules_version)
        (Team.of(challenge, user) or Team.of_one(challenge, user)).rename(person.team)


def send(demo: Demo, entry: Entry, server: str, path: Path) -> None:
    """One upload through the participants' client, over HTTP, with a token made for it."""
    user = User.objects.get(username=entry.who)
    token, key = ApiToken.make(user, "demo", timezone.now() + timedelta(hours=1))
    arguments = [
        "upload",
        str(path),
        "--server",
        server,
        "--challenge",
        demo.slug,
        "--phase",
        demo.phase,
        "--token",
        key,
        "--method",
        entry.method,
        "--description",
        entry.description,
        *entry.card,
    ]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = command.main([*arguments, *(["--no-check"] if entry.breaks else [])])
    token.revoke()
    if code != 0:
        raise DemoError(f"“{entry.method}” could not be sent (exit code {code}): {output.getvalue().strip()[-500:]}")


def write_entry(demo: Demo, entry: Entry, references: Items, folder: Path) -> None:
    """The entry's files, as its team would have them."""
    files = dict(demo.entry_files(entry.items(references)))
    if entry.breaks:
        files[next(iter(files))] = entry.breaks(next(iter(references.values())))
    _write(files.items(), folder)


def send_entries(demo: Demo, folder: Path, server: str, say: Callable[[str], None]) -> None:
    """All entries, each from a folder of its own below `folder`."""
    references = demo.references()[demo.phase]
    for number, entry in enumerate(demo.entries, 1):
        target = folder / f"entry-{number}"
        target.mkdir()
        write_entry(demo, entry, references, target)
        send(demo, entry, server, target)
        sent_at = timezone.now() - (len(demo.entries) + 1 - number) * APART
        uploads(demo).filter(method_name=entry.method).update(created_at=sent_at, received_at=sent_at)
        say(f"sent {number} of {len(demo.entries)}: {entry.method}")
        wait_for_room(demo, entry.who)


def backdate(demo: Demo) -> None:
    """Spread the rankings of a new demo over the weeks of its uploads, as the history of a challenge does: each is of the day of its newest
    entry. The contents of the rankings do not change."""
    uploads(demo).filter(finished_at__isnull=False).update(finished_at=F("received_at") + timedelta(minutes=2))
    for phase in Challenge.objects.get(slug=demo.slug).phases.all():
        at: dict[str, datetime] = {}
        for snapshot in Snapshot.objects.filter(phase=phase).order_by("created_at", "pk"):
            received = [entry.received_at for entry in snapshot.board.entries if entry.received_at is not None]
            earliest = at.get(snapshot.audience, phase.opens_at) + timedelta(minutes=5)
            at[snapshot.audience] = max([earliest, *(moment + timedelta(minutes=3) for moment in received)])
            Snapshot.objects.filter(pk=snapshot.pk).update(created_at=at[snapshot.audience])


def uploads(demo: Demo) -> QuerySet[Submission]:
    """Uploads to the demo's challenge."""
    return Submission.objects.sent().filter(phase__challenge__slug=demo.slug)


def wait_for_room(demo: Demo, who: str) -> None:
    """The phase takes a few entries of a team at once; wait like any other team."""
    person = next(person for person in PEOPLE if person.name == who)
    team = Team.objects.get(challenge__slug=demo.slug, name=person.team)
    phase = team.challenge.phases.get(slug=demo.phase)
    wait(lambda: quota_of(phase, team).left_at_once, "the team's earlier entries")


def wait(true: Callable[[], object], what: str, seconds: float = 3600.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise DemoError(f"Waited {seconds:.0f} s for {what}; is a worker running? `manage.py doctor` tells.")
        time.sleep(0.2)


def finish(demo: Demo) -> None:
    """Once all is scored: badges from the organizer, and the teams that withdraw an entry."""
    organizer = User.objects.get(username="olga")
    for entry in demo.entries:
        if entry.breaks:
            continue
        row = uploads(demo).filter(method_name=entry.method, status=Status.SCORED).first()
        if row is None:
            raise DemoError(f"“{entry.method}” was not scored; its page says why.")
        if entry.baseline and not row.is_baseline:
            row.mark(organizer, is_baseline=True, is_verified=True)
        if entry.withdraw and not row.withdrawn_at:
            row.withdraw()


OPEN_STUDY = "rate-roofs"
ASKED_SAMPLES, ASKED = 8, 40


def ask_everybody(demo: Demo) -> str:
    """The path of an open study that whoever looks at the demo can rate at once; empty where the demo has none.

    Boards show the study by simulated raters as long as it has more raters.
    """
    if not demo.asks:
        return ""
    phase = Challenge.objects.get(slug=demo.slug).phases.get(slug=demo.phase)
    study = Study.objects.filter(phase=phase, slug=OPEN_STUDY).first()
    if study is None:
        olga = User.objects.get(username="olga")
        rows = list(uploads(demo).filter(phase=phase).eligible().order_by("id"))
        values = {
            "slug": OPEN_STUDY,
            "title": "Judge the roofs yourself",
            "question": "Which of the two wireframes is closer to the house?",
            "kind": Study.Kind.PAIRS,
            "plan": Study.Plan.BALANCED,
            "questions_per_rater": ASKED,
            "access": Study.Access.OPEN,
            "criteria": [one.to_dict() for one in ready_made("pairs", phase.challenge.family)],
            "is_public": True,
            "runs_other_programs": True,
        }
        samples = campaign.groups_of(phase)[:ASKED_SAMPLES]
        study = campaign.make(phase, olga, Design(values, rows, samples=samples, discloses=True))
        campaign.open_study(study, olga)
    return reverse("rate", args=[study.key])

"""Load the demo: write its bundle, apply it, and send its entries as their teams would."""

from __future__ import annotations

import contextlib
import io
import time
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import numpy as np
from allauth.account.models import EmailAddress
from django.utils import timezone

from evaluation.synthetic.houses import houses
from evaluation.synthetic.simplified import sampled_points
from leaderboard.bundle.apply import apply
from leaderboard.bundle.parse import parse
from leaderboard.demo import story
from submissions import client
from submissions.formats.wireframe import Wireframe, write_npz, write_obj
from submissions.models import ApiToken, Challenge, Participation, Status, Submission, Team, User

POINTS, POINT_NOISE = 1500, 0.05  # points a house, metres


class DemoError(Exception):
    """The demo could not be loaded; the text says why."""


def phase_houses() -> dict[str, dict[str, Wireframe]]:
    """The references of the two phases."""
    return {
        story.PHASE: houses(story.N_HOUSES, seed=story.SEED),
        "final": houses(story.N_HOUSES, seed=story.SEED + 1),
    }


def write_bundle(folder: Path) -> None:
    """The demo challenge as a bundle, as an organizer would have written it."""
    (folder / "challenge.yaml").write_text(story.YAML)
    for slug, items in phase_houses().items():
        (folder / slug).mkdir()
        with zipfile.ZipFile(folder / f"{slug}-points.zip", "w", zipfile.ZIP_DEFLATED) as points:
            for position, (name, item) in enumerate(items.items()):
                (folder / slug / f"{name}.npz").write_bytes(write_npz(item))
                buffer = io.BytesIO()
                np.savez_compressed(buffer, points=sampled_points(item, POINTS, POINT_NOISE, seed=position))
                points.writestr(f"{name}.npz", buffer.getvalue())


def load_challenge(folder: Path) -> Challenge:
    """Accounts, then the challenge."""
    for person in story.PEOPLE:
        user, made = User.objects.get_or_create(
            username=person.name,
            defaults={
                "email": f"{person.name}@demo.example", "notify_by_email": False,
                "is_staff": not person.team, "is_superuser": not person.team,
            },
        )  # fmt: skip
        if made:
            user.set_password(story.PASSWORD)
            user.save(update_fields=["password"])
            EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    write_bundle(folder)
    apply(parse(folder).definition, actor=User.objects.get(username="olga"))
    return Challenge.objects.get(slug=story.SLUG)


def form_teams(challenge: Challenge) -> None:
    """Each person accepts the rules and names their team, through the acts the pages use."""
    for person in story.PEOPLE:
        if not person.team or Team.objects.filter(challenge=challenge, name=person.team).exists():
            continue
        user = User.objects.get(username=person.name)
        Participation.accept_rules(challenge, user, challenge.rules_version)
        (Team.of(challenge, user) or Team.of_one(challenge, user)).rename(person.team)


def send(server: str, who: str, method: str, description: str, path: Path, checked: bool = True) -> None:
    """One upload through the participants' client, over HTTP, with a token made for it."""
    user = User.objects.get(username=who)
    token, key = ApiToken.make(user, "demo", timezone.now() + timedelta(hours=1))
    arguments = [
        "upload", str(path), "--server", server, "--challenge", story.SLUG, "--phase", story.PHASE,
        "--token", key, "--method", method, "--description", description,
    ]  # fmt: skip
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = client.main([*arguments, *([] if checked else ["--no-check"])])
    token.revoke()
    if code != 0:
        raise DemoError(f"“{method}” could not be sent (exit code {code}): {said.getvalue().strip()[-500:]}")


def send_entries(folder: Path, server: str, say: Callable[[str], None]) -> list[Submission]:
    """All entries, and one upload that is rejected."""
    references = phase_houses()[story.PHASE]
    for number, entry in enumerate(story.ENTRIES):
        target = folder / f"entry-{number}"
        target.mkdir()
        for name, item in story.entry_items(entry, references).items():
            (target / f"{name}.obj").write_bytes(write_obj(item))
        send(server, entry.who, entry.method, entry.description, target)
        say(f"sent {number + 1} of {len(story.ENTRIES) + 1}: {entry.method}")
        wait_for_room(entry.who)
    broken = folder / "broken"
    broken.mkdir()
    for name, item in references.items():
        (broken / f"{name}.obj").write_bytes(write_obj(item))
    name, item = next(iter(references.items()))
    (broken / f"{name}.obj").write_bytes(story.broken_file(item))
    send(server, "dan", "sketch-2, broken file", "Made up: an edge names a vertex that is not there.", broken, checked=False)
    say(f"sent {len(story.ENTRIES) + 1} of {len(story.ENTRIES) + 1}: an upload that is rejected")
    return list(Submission.objects.filter(phase__challenge__slug=story.SLUG))


def wait_for_room(who: str) -> None:
    """The phase takes a few entries of a team at once; wait like any other team."""
    person = next(person for person in story.PEOPLE if person.name == who)
    team = Team.objects.get(challenge__slug=story.SLUG, name=person.team)
    phase = team.challenge.phases.get(slug=story.PHASE)
    wait(lambda: phase.quota(team).left_at_once, "the team's earlier entries")


def wait(true: Callable[[], object], what: str, seconds: float = 600.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise DemoError(f"Waited {seconds:.0f} s for {what}; is a worker running? `manage.py doctor` tells.")
        time.sleep(0.2)


def finish(challenge: Challenge) -> None:
    """Once all is scored: badges from the organizer, and the team that withdraws its entry."""
    organizer = User.objects.get(username="olga")
    for entry in story.ENTRIES:
        row = Submission.objects.filter(phase__challenge=challenge, method_name=entry.method, status=Status.SCORED).first()
        if row is None:
            raise DemoError(f"“{entry.method}” was not scored; its page says why.")
        if entry.baseline and not row.is_baseline:
            row.mark(organizer, is_baseline=True, is_verified=True)
        if entry.withdraw and not row.withdrawn_at:
            row.withdraw()

"""`manage.py demo`: the made-up challenge "Rooflines", sent through the real doors of a running server."""

from __future__ import annotations

import tempfile
from pathlib import Path

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from leaderboard.demo import load, story
from submissions.models import Challenge, Status, Submission


class Command(BaseCommand):
    help = "Load the demo challenge into a running service; does nothing where it is there already."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--server", default=settings.SITE_URL, help="Address of the running service.")

    def handle(self, *args, server: str, **options) -> None:
        try:
            httpx.get(f"{server}/-/health", timeout=5).raise_for_status()
        except httpx.HTTPError as error:
            raise CommandError(f"No service answers at {server} ({error}); start it with `manage.py run --demo`.") from error
        try:
            self._load(server)
        except load.DemoError as error:
            raise CommandError(str(error)) from error
        self._introduce(server)

    def _load(self, server: str) -> None:
        sent = Submission.objects.filter(phase__challenge__slug=story.SLUG)
        if sent.count() <= len(story.ENTRIES):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                (folder / "bundle").mkdir()
                self.stdout.write("Loading the demo challenge ...")
                challenge = load.load_challenge(folder / "bundle")
                load.form_teams(challenge)
                if not sent.exists():
                    load.send_entries(folder, server, self._say)
        challenge = Challenge.objects.get(slug=story.SLUG)
        total = sent.count()
        if sent.filter(status__in=Status.in_progress()).exists():
            self._say(f"{total} entries are being scored ...")
        load.wait(lambda: not sent.filter(status__in=Status.in_progress()).exists(), "the demo's entries")
        load.finish(challenge)

    def _say(self, text: str) -> None:
        self.stdout.write(f"  {text}")
        self.stdout.flush()

    def _introduce(self, server: str) -> None:
        lines = [
            "",
            "The demo challenge (everything in it is made up; its scores were computed here):",
            f"  {server}/challenges/{story.SLUG}/{story.PHASE}/",
            f"Log in with one of these names and the password {story.PASSWORD}:",
            *(f"  {person.name:<6} {person.role}" for person in story.PEOPLE),
            "",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()

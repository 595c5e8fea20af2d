"""`manage.py demo`: a paper's figures, and the simulated challenges "Rooflines", "Solids" and "Rooms", sent through the pages and the API
of a running server."""

from __future__ import annotations

import tempfile
from pathlib import Path

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.demo import acceptance_tests, load, studies
from leaderboard.demo.story import PASSWORD, PEOPLE, Demo
from submissions.models import Status


class Command(BaseCommand):
    help = "Load the demo challenges into a running service, unless they exist."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--server", default=settings.SITE_URL, help="Address of the running service.")
        parser.add_argument("--keep-acceptance-tests", action="store_true", help="Write the demo's acceptance tests beside the code.")

    def handle(self, *args, server: str, keep_acceptance_tests: bool, **options) -> None:
        if keep_acceptance_tests:
            self._say(f"{acceptance_tests.write(load.DEMOS)} acceptance tests kept in {acceptance_tests.FILE}.")
            return
        try:
            httpx.get(f"{server}/-/health", timeout=5).raise_for_status()
        except httpx.HTTPError as error:
            raise CommandError(f"No service answers at {server} ({error}); start it with `manage.py run --demo`.") from error
        published, sent_now = load.load_published(), []
        try:
            for demo in load.DEMOS:
                sent = load.uploads(demo)
                if sent.count() < len(demo.entries):
                    self.stdout.write(f"Loading the demo challenge {demo.slug} ...")
                    load.make_accounts()
                    with tempfile.TemporaryDirectory() as name:
                        (Path(name) / "bundle").mkdir()
                        load.form_teams(demo, load.load_challenge(demo, Path(name) / "bundle"))
                        if not sent.exists():
                            load.send_entries(demo, Path(name), server, self._say)
                            sent_now.append(demo)
                if demo.asks:  # its board says what people found before the next challenge keeps the workers busy
                    self._wait(demo)
            for demo in load.DEMOS:
                self._wait(demo)
            for demo in sent_now:
                load.backdate(demo)
        except load.DemoError as error:
            raise CommandError(str(error)) from error
        asking = [f"  {server}{path}" for path in map(load.ask_everybody, load.DEMOS) if path]
        lines = [
            "",
            "A board of a paper's printed figures (nothing in it is simulated, nothing was measured here):",
            f"  {server}{published}",
            "The demo challenges (everything in them is simulated; their scores were computed here):",
            *(f"  {server}/challenges/{demo.slug}/{demo.phase}/" for demo in load.DEMOS),
            *(["Judge their entries yourself, without an account:", *asking] if asking else []),
            f"Log in with one of these names and the password {PASSWORD}:",
            *(f"  {person.name:<6} {person.role}" for person in PEOPLE),
            "",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()

    def _wait(self, demo: Demo) -> None:
        waiting = load.uploads(demo).filter(status__in=Status.in_progress()).exclude(status=Status.UPLOADING)  # those are a visitor's
        if count := waiting.count():
            self._say(f"{count} {'entry' if count == 1 else 'entries'} of {demo.slug} still to be scored ...")
        load.wait(lambda: not waiting.exists(), "the demo's entries")
        load.finish(demo)
        load.ask_everybody(demo)
        studies.compare(demo)

    def _say(self, text: str) -> None:
        self.stdout.write(f"  {text}")
        self.stdout.flush()

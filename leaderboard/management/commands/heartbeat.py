"""`manage.py heartbeat worker`: is a process of that kind alive on this machine? For health checks of containers."""

from __future__ import annotations

import socket

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.models import Process


class Command(BaseCommand):
    help = "Exit with 0 if a process of that kind was heard of on this machine lately, else with 1 and a sentence."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=Process.Kind.values)

    def handle(self, *args, kind: str, **options) -> None:
        host = socket.gethostname()
        here = Process.objects.filter(kind=kind, name__startswith=f"{host}:")
        if here.live().exists():
            self.stdout.write(f"A {kind} on {host} is alive.")
            return
        last = here.order_by("-seen_at").first()
        known = f"was last heard of at {last.seen_at:%Y-%m-%d %H:%M:%S} UTC" if last else "has not been heard of"
        raise CommandError(f"A {kind} on {host} {known}; see its log, and restart it.")

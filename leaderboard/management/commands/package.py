"""`manage.py package`: make the participants' package, which this server then serves."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError

from leaderboard.exports import wheel


class Command(BaseCommand):
    help = "Make the package that participants and remote workers install from this server, unless it exists."
    requires_system_checks = ()

    def handle(self, *args, **options) -> None:
        try:
            wheel.make()
        except (wheel.CannotBuild, OSError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"python -m pip install {wheel.address()}")

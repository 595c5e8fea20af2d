"""`manage.py fetch_weights`: get the weights of networks into the folder that all processes share, or list them."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.networks import fetch_command
from evaluation.networks.weights import WeightsError
from submissions.storage import stored_files
from submissions.storage.store import StorageError


class Command(BaseCommand):
    help = "Get files of weights by name, by metric, or all; a partial download continues, and every file is checked."

    def add_arguments(self, parser: CommandParser) -> None:
        fetch_command.add_options(parser)

    def handle(self, *args, names: list[str], all: bool, list: bool, source: str, **options) -> None:
        if source.startswith("s3://"):  # a local copy of s3://BUCKET/KEY, which must be the service's own bucket
            bucket, _, key = source.removeprefix("s3://").partition("/")
            own = settings.S3_BUCKET
            if not own or bucket != own:
                raise CommandError(f"{source} is not in this service's bucket ({own or 'it has none'}); copy it there first.")
            try:
                source = str(stored_files.store().local_path(key))
            except FileNotFoundError as error:
                raise CommandError(f"There is nothing at {source}.") from error
            except StorageError as error:
                raise CommandError(str(error)) from error
        try:
            for line in fetch_command.carry_out(names, all, list, source):
                self.stdout.write(line)
        except WeightsError as error:
            raise CommandError(str(error)) from error

"""`rotate_secret_key`: seal what organizers entrusted to the service with its present secret key, so that earlier ones may be dropped."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard.models import JudgeKey
from leaderboard.wording.nouns import counted, verb


class Command(BaseCommand):
    help = "Encrypt organizers' keys with the current secret key, so that those in PLUMBLINE_SECRET_KEY_FALLBACKS are not needed for them."

    def handle(self, **_: object) -> None:
        done, lost = JudgeKey.reseal()
        self.stdout.write(f"{counted(done, 'key')} {verb('is', done)} sealed with the present secret key.")
        if lost:
            self.stdout.write(f"{lost:,} cannot be read with any secret key that is set; their owners must put them in again.")

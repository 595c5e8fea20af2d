from django.apps import AppConfig

from submissions.wording import failure


class SubmissionsConfig(AppConfig):
    name = "submissions"

    def ready(self) -> None:
        from submissions.leases import Leased  # a model, which is there once Django is set up

        Leased.say = failure

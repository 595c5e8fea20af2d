from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    name = "submissions"

    def ready(self) -> None:
        from submissions.leases import Leased
        from submissions.wording import failure

        Leased.say = failure

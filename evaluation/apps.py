from django.apps import AppConfig
from django.conf import settings

from evaluation.metrics import registry
from evaluation.networks import weights


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        # Models are there only now. Nudges are sent by name through Celery's current app, from the web process too.
        from evaluation.celery import app
        from evaluation.models.program import spec_of

        app.set_default()
        registry.look_up_others(spec_of)
        weights.use_cache(settings.WEIGHTS)

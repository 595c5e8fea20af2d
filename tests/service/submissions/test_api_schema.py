"""Whatever is sent to the API, it answers as its own schema says, and never with an error of its own."""

from __future__ import annotations

import itertools
import json

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, given
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from leaderboard.api.service import api
from leaderboard.boards import snapshots
from leaderboard.models import Snapshot
from submissions.models import ApiToken, Status
from tests.support.examples import examples
from tests.support.factories import archive, received

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
FEW = examples(6, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def world(phase, people, references, settings):
    """A phase with a ranked entry and one upload in progress, and the token of their team's leader."""
    from evaluation.work.worker import drain

    settings.API_RATE = settings.UPLOAD_RATE = "1000000/h"
    settings.CACHES = {"default": {"BACKEND": "tests.support.memory_cache.MemoryCache"}}
    entry = received(phase, people.team, archive(references), user=people.owner)
    drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED
    snapshot = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    found = {
        "challenge": phase.challenge.slug,
        "phase": phase.slug,
        "submission": entry.pk,
        "digest": snapshot.digest,
        "key": "hss",
        "number": 1,
    }
    return found, {"Authorization": f"Bearer {ApiToken.make(people.owner, 'test')[1]}"}


@pytest.fixture
def kept_connection():
    """Requests of this test run inside its transaction, as those of Django's own test client do."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_answer_keeps_to_the_schema(world, mode, kept_connection):
    found, headers = world
    schema = schemathesis.openapi.from_dict(api.get_openapi_schema(path_params={}))
    schema.app = get_wsgi_application()
    broken = {}
    for label, operation in ((result.ok().label, result.ok()) for result in schema.get_all_operations()):
        try:
            probe(operation, mode, found, headers)
        except Exception as error:  # all operations are asked before any is reported
            broken[label] = str(error)
    assert not broken, "\n\n".join(f"{label}: {error}" for label, error in broken.items())


def probe(operation, mode: GenerationMode, found: dict, headers: dict) -> None:
    """A dozen generated calls, every other one at things that are there."""
    calls = itertools.count()

    @FEW
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case) -> None:
        if next(calls) % 2:
            known = {name: found[name] for name in case.path_parameters if name in found}
            case.path_parameters = {**case.path_parameters, **known}
            if isinstance(case.body, dict):
                case.body |= {name: found[name] for name in ("challenge", "phase") if name in case.body}
        with transaction.atomic():  # what one call changes, the next does not find changed
            response = case.call(headers=headers | {"Accept-Encoding": "identity"})  # its client reads nothing compressed
            transaction.set_rollback(True)
        case.validate_response(response, checks=CHECKS)

    send()


def test_no_two_schemas_of_answers_have_one_name():
    """The document keeps one of each name, so that another of the same name would be described by it."""
    found: dict[str, set[str]] = {}
    operations = [one for _, router in api._routers for view in router.path_operations.values() for one in view.operations]
    for model in {model for one in operations for model in one.response_models.values() if hasattr(model, "model_json_schema")}:
        for name, schema in model.model_json_schema(mode="serialization").get("$defs", {}).items():
            found.setdefault(name, set()).add(json.dumps(schema, sort_keys=True))
    assert len(found) > 50 and [name for name, schemas in found.items() if len(schemas) > 1] == []

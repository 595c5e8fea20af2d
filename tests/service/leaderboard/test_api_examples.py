"""Every operation of the API has an example in curl and in Python, and each of them runs against a service and does what it says."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from evaluation.models import MetricProgram
from leaderboard.api.examples import EDITED, FIELDS, SAMPLES, Example
from leaderboard.api.service import api
from leaderboard.models import Snapshot, Study
from leaderboard.tasks import build_due_boards
from leaderboard.views.api_docs import every_example as every
from submissions.models import ApiToken, ChallengeFile, Phase, Scope, Status, Submission, TeamMerge, User
from submissions.storage import stored_files, uploads
from tests import environment
from tests.conftest import PROBES, need
from tests.service.leaderboard.views.test_board import scores
from tests.support.evaluation import programs
from tests.support.factories import TeamFactory, UserFactory, archive, gables, join, received
from tests.support.leaderboard.scores import entry

BYTES = b"x" * int(FIELDS["size"])


def test_every_operation_of_the_schema_has_an_example():
    paths = api.get_openapi_schema()["paths"]
    wanted = {
        (method.upper(), path.removeprefix("/api/v1"))
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "workers" not in operation["tags"]  # these call with keys of their own
    }
    assert {(one.method, one.path) for one in every()} == wanted and len(wanted) >= 49
    assert len({one.key for one in every()}) == len(wanted)
    for one in every():
        asked = {*re.findall(r"\{(\w+)\}", one.path), *one.query}
        assert asked <= set(SAMPLES) and set(one.body) <= set(FIELDS) | set(EDITED), one.key


def test_what_needs_no_token_is_shown_without():
    public = {one.act for one in every() if one.public}
    assert {"list_challenges", "get_manifest", "get_board", "list_metrics", "get_study"} <= public
    assert not public & {"me", "join", "create_submission", "get_participation", "add_program", "list_tokens"}


def test_quotation_marks_of_a_value_end_no_word_of_the_shell():
    (one,) = [one for one in every() if one.act == "make_team"]
    values = SAMPLES | {"body.name": 'O\'Neil & "Co"'}
    command = one.curl("http://localhost", values)
    words = subprocess.run(["bash", "-c", command.replace("curl ", "printf '%s\\n' ", 1)], capture_output=True, text=True, check=True)
    assert '{"name": "O\'Neil & \\"Co\\""}' in words.stdout
    scope: dict = {}
    body = next(line for line in one.python("http://localhost", values).splitlines() if line.startswith("body"))
    exec(body, scope)
    assert scope["body"] == {"name": 'O\'Neil & "Co"'}


# Runs each program that it is sent in a fork of its own, with what all of them import loaded, and says how that ended.
RUNS = """
import json, os, sys, traceback
import requests
for line in sys.stdin:
    code, variables, folder = json.loads(line)
    child = os.fork()
    if child == 0:
        said = os.open(folder + "/said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.environ.clear()
        os.environ.update(variables)
        status = 1
        try:
            exec(code, {"__name__": "__main__"})
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Scene:
    """A service in which every example has what it asks for; what an act uses up is made anew for each run."""

    def __init__(self, phase: Phase, people, folder: Path) -> None:
        self.phase, self.people, self.folder = phase, people, folder
        Phase.objects.filter(challenge=phase.challenge).update(entries="chosen")
        phase.refresh_from_db()
        stored_files.store().save_bytes("files/points.zip", b"points")
        self.file = ChallengeFile.objects.create(
            challenge=phase.challenge, phase=phase, name="points.zip", key="files/points.zip", size=6, sha256="0" * 64
        )
        Study.objects.create(phase=phase, slug="readers", title="Readers", question="Which?", is_public=True, state=Study.State.CLOSED)
        self.scored = entry(phase, people.team, scores(0.9), method_name="scored", is_chosen=True)
        Submission.objects.filter(pk=self.scored.pk).update(file_key="files/points.zip")
        build_due_boards()
        self.program = programs.ready(phase.challenge, folder / "ready")
        shutil.make_archive(str(folder / "program"), "zip", programs.written(folder / "given", key="given"))
        (folder / "entry.zip").write_bytes(BYTES)

    def uploading(self) -> Submission:
        digest = hashlib.sha256(BYTES).hexdigest()
        before = timezone.now() - timedelta(minutes=2)  # within one minute, what was sent already would answer for it
        Submission.objects.filter(sha256=digest, received_at__isnull=False).update(received_at=before)
        return uploads.start(self.people.owner, self.phase, file_name="entry.zip", size=len(BYTES), sha256=digest, method_name="m")

    def fresh(self) -> User:
        """Somebody else who leads a team of one."""
        user = UserFactory()
        join(user, TeamFactory(challenge=self.phase.challenge), leader=True)
        return user

    def prepare(self, one: Example) -> tuple[User, Mapping[str, str]]:
        """Person who asks, and the values of the example."""
        user, phase, people = self.people.owner, self.phase, self.people
        values = {
            "challenge": phase.challenge.slug,
            "phase": phase.slug,
            "file": str(self.file.pk),
            "digest": Snapshot.current(phase, "public").short,
            "submission": str(self.scored.pk),
            "metric": "corner_f1",
            "number": "1",
            "key": "hss",
            "published": "nerf-qa",
            "study": "readers",
            "pk": str(self.program.pk),
            "name": self.program.key.rpartition("/")[2],
            "token": str(ApiToken.make(user, "spare")[0].pk),
            "body.rules_version": phase.challenge.rules_version,
        }
        if one.act == "join":
            user = UserFactory()
        elif one.act in ("make_team", "leave"):
            user = self.fresh()
        elif one.act == "join_team":
            user, values["body.token"] = self.fresh(), people.team.make_link()
        elif one.act == "remove":
            user, gone = self.fresh(), UserFactory()
            join(gone, user.teams.get(), leader=False)
            values["body.username"] = gone.username
        elif one.act in ("list_merges", "ask_merge", "agree_merge", "end_merge"):
            user, other = self.fresh(), self.fresh().teams.get()
            values["body.name"] = other.name
            if one.act != "ask_merge":
                values["merge"] = str(TeamMerge.objects.create(asking=other, asked=user.teams.get()).pk)
        elif one.act == "rename_team":
            user = self.fresh()
            values["body.name"] = f"Renamed {user.pk}"
        elif one.act in ("list_programs", "add_program", "get_program"):
            user = people.organizer
            MetricProgram.objects.filter(challenge=phase.challenge).exclude(pk=self.program.pk).delete()
        elif one.act in ("put_part", "complete", "resume", "pause"):
            sent = self.uploading()
            values["submission"] = str(sent.pk)
            if one.act == "complete":
                self.run(next(it for it in every() if it.act == "put_part"), user, values, "python")
        elif one.act in ("cancel", "retry", "confirm"):
            other = received(phase, people.team, archive(gables()), user=user)
            if one.act == "retry":
                Submission.objects.filter(pk=other.pk).update(status=Status.FAILED)
            elif one.act == "confirm":
                Submission.objects.filter(pk=other.pk).update(status=Status.REJECTED, reason="inputs", finished_at=timezone.now())
            values["submission"] = str(other.pk)
        elif one.act in ("withdraw", "choose", "edit"):
            values["submission"] = str(entry(phase, people.team, scores(0.5), method_name=one.act).pk)
        if one.act == "make_team":
            values["body.name"] = f"Team of {user.pk}"
        return user, values

    def run(self, one: Example, user: User, values: Mapping[str, str], language: str) -> None:
        variables = {"PATH": os.environ["PATH"], "PLUMBLINE_TOKEN": ApiToken.make(user, "example", scopes=list(Scope))[1]}
        if one.public:
            del variables["PLUMBLINE_TOKEN"]
        if language == "curl":
            code = one.curl(self.site, values)
            done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, cwd=self.folder, env=variables, timeout=120)
            status, said = done.returncode, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        else:
            code = one.python(self.site, values)
            assert self.python.stdin is not None and self.python.stdout is not None
            print(json.dumps([code, variables, str(self.folder)]), file=self.python.stdin, flush=True)
            status, said = int(self.python.stdout.readline()), (self.folder / "said").read_text()[-4000:]
        assert status == 0, f"{one.method} {one.path} in {language}:\n{code}\n{said}"

    site = ""
    python: subprocess.Popen[str]


@pytest.fixture
def scene(live_server, phase, people, tmp_path) -> Iterator[Scene]:
    found = Scene(phase, people, tmp_path)
    found.site = live_server.url
    with subprocess.Popen([sys.executable, "-c", RUNS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as python:
        found.python = python
        yield found
        python.stdin.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", ["curl", "python"])
def test_every_example_runs(scene, language):
    if language == "curl":
        need("curl")
    boxed = PROBES["sandbox"]()
    for one in every():
        if one.act == "add_program" and not boxed:
            continue  # no program is taken where nothing isolates it
        if one.key.startswith("worker_"):
            continue  # between this service and its own workers, which have tokens of their own
        if environment.CLUSTER and one.act in ("put_part", "complete"):
            continue  # there parts go to signed addresses of the storage, as the answer to the first call says
        user, values = scene.prepare(one)
        scene.run(one, user, values, language)
    assert scene.people.team.submissions.filter(method_name=FIELDS["method_name"], status=Status.UPLOADING).exists()
    need("sandbox")

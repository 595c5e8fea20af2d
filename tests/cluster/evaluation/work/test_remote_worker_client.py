"""The worker that only calls out, as a process of its own with nothing but an address and a token."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationBatch, MetricProgram, Part, PartRecord, PhaseMetric, Score, WorkerToken
from evaluation.models import remote_worker as models_of_remote_workers
from evaluation.programs import files
from evaluation.work import hostile_results, remote_worker_client, remote_worker_server, worker
from submissions.models import Status, Submission
from tests.conftest import need
from tests.nightly.__main__ import SAID
from tests.support.evaluation import programs
from tests.support.factories import archive, perturbed, received
from tests.support.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
KILLS = int(os.environ.get("PLUMBLINE_OUTBOUND_KILLS", "6"))


@pytest.fixture
def sent(phase, people, references):
    def send(n: int = 1) -> list[Submission]:
        found = []
        for number in range(n):
            found.append(received(phase, people.team, archive(perturbed(references, 0.1, number)), user=people.owner))
            worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
        return found

    return send


@pytest.fixture
def start(live_server, tmp_path):
    """`start(key, "--drain", folder="a")`: a worker with an empty environment, but for its token."""
    running = []

    def begin(key: str, *words: str, folder: str = "kept") -> subprocess.Popen:
        command = [
            sys.executable,
            "-m",
            "leaderboard.package",
            "worker",
            "--server",
            live_server.url,
            "--folder",
            str(tmp_path / folder),
            *words,
        ]
        env = {"PATH": os.defpath, "HOME": str(tmp_path), "PLUMBLINE_WORKER_TOKEN": key, "PYTHONPATH": str(settings.BASE_DIR)}
        process = subprocess.Popen(command, env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
        running.append(process)
        return process

    yield begin
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def make(phase, name: str = "lab", **about) -> tuple[WorkerToken, str]:
    token, key = WorkerToken.make(phase.challenge, None, name, ["cpu"], 30, about.pop("share", 0.0))
    WorkerToken.objects.filter(pk=token.pk).update(agreed=about.pop("agreed", 50))
    return token, key


@pytest.fixture
def run(live_server, tmp_path, capsys):
    """`run(key)`: exit code and words of a worker in this process, that ends by itself before a part is scored."""

    def to_its_end(key: str) -> tuple[int, str]:
        words = ["--server", live_server.url, "--folder", str(tmp_path / "kept"), "--drain"]
        return remote_worker_client.main(words, {"PLUMBLINE_WORKER_TOKEN": key} if key else {}), capsys.readouterr().err

    return to_its_end


def ended(process: subprocess.Popen, seconds: float = 120) -> tuple[int, str]:
    said = process.communicate(timeout=seconds)[1]
    return process.returncode, said


def test_it_drains_what_waits_and_ends_and_keeps_inputs(phase, sent, start, tmp_path):
    entries = sent(2)
    token, key = make(phase)
    code, said = ended(start(key, "--drain"))
    assert code == 0 and "8 parts done." in said, said
    outside = {score.slug: score.value for score in Score.objects.filter(evaluation__submission=entries[0])}
    assert set(PartRecord.objects.values_list("token", "verdict")) == {(token.pk, "unchecked")}
    assert [record for record in PartRecord.objects.all() if not (record.core_seconds > 0 and record.environment["numpy"])] == []
    assert len(list((tmp_path / "kept" / "inputs").iterdir())) == 3, "two entries and one reference"
    Evaluation.objects.all().delete()
    Submission.objects.filter(pk=entries[0].pk).update(status=Status.SCORING)
    from evaluation.models import EvaluationBatch

    Evaluation.make(entries[0], EvaluationBatch.current(phase))
    worker.drain()
    assert outside == {score.slug: score.value for score in Score.objects.filter(evaluation__submission=entries[0])}, "to the last digit"


def test_it_says_at_once_what_it_is_connected_to_and_that_it_waits(phase, start, live_server):
    _, key = make(phase)
    process = start(key)
    first, second = process.stderr.readline(), process.stderr.readline()
    named = (live_server.url, f"“{phase.challenge.title}” ({phase.challenge.slug})", "“lab”", "cpu")
    assert [word for word in named if word not in first] == [] and "Nothing waits" in second
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (143, "Stopped.\n"), "once only"


def test_one_whose_token_is_for_another_queue_ends_and_says_which(phase, run):
    _, key = WorkerToken.make(phase.challenge, None, "cards", ["gpu"], 30)
    code, said = run(key)
    assert code == 3 and "“cards”" in said and "--queue gpu" in said


def test_one_whose_token_was_wrong_says_that_it_gets_nothing(phase, sent, run):
    sent()
    token, key = make(phase)
    WorkerToken.objects.filter(pk=token.pk).update(wrong_at=timezone.now())
    code, said = run(key)
    assert code == 0 and "0 parts done" in said


def test_it_ends_in_time_and_has_no_part_left(phase, sent, start):
    sent(3)
    _, key = make(phase)
    code, said = ended(start(key, "--max-minutes", "0.05"))
    assert code == 0 and re.search(r"\d+ parts? done\.", said)
    assert not Part.objects.filter(lease_token__isnull=False).exists()


def test_it_waits_for_a_server_that_is_not_there_until_its_time_is_over(capsys, tmp_path):
    begun = time.monotonic()
    words = ["--server", "http://127.0.0.1:9", "--token", "plumbw_x", "--folder", str(tmp_path), "--max-minutes", "0.04"]
    assert remote_worker_client.main(words) == 4
    said = capsys.readouterr().err
    assert "http://127.0.0.1:9 " in said and "Check the address." in said and time.monotonic() - begun < 20


def test_its_token_may_lie_in_a_file_that_nobody_else_can_read(phase, start, tmp_path, capsys):
    _, key = make(phase)
    file = tmp_path / "token"
    file.write_text(f"{key}\n")
    file.chmod(0o600)
    code, said = ended(start("", "--drain", "--token-file", str(file)))
    assert code == 0 and "“lab”" in said
    asked = ["--server", "http://127.0.0.1:9", "--folder", str(tmp_path / "kept"), "--patience", "0"]
    named = {"PLUMBLINE_WORKER_TOKEN_FILE": str(file)}
    assert remote_worker_client.main(asked, named) == 4 and "cannot be reached" in capsys.readouterr().err, (
        "it was taken from the environment"
    )
    for mode in (0o640, 0o604):
        file.chmod(mode)
        assert remote_worker_client.main(asked, named) == 2
        assert f"{file} can be read" in capsys.readouterr().err
    file.chmod(0o600)
    for content, sentence in (("", "holds 0 words"), ("token: plumbw_x", "holds 2 words"), (b"\xff", "not a text")):
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        assert remote_worker_client.main([*asked, "--token-file", str(file)]) == 2
        assert sentence in capsys.readouterr().err
    assert remote_worker_client.main([*asked, "--token-file", str(tmp_path / "none")]) == 2


def test_it_says_what_is_wrong_with_its_token(phase, run):
    assert run("plumbw_wrong")[0] == 3
    code, said = run("")
    assert code == 2 and "PLUMBLINE_WORKER_TOKEN" in said


def test_asked_to_stop_it_gives_its_part_back_at_once(phase, sent, start):
    sent()
    _, key = make(phase)
    process = start(key)
    wait_until(lambda: Part.objects.filter(lease_token__isnull=False).exists(), what="a part at work")
    process.send_signal(signal.SIGTERM)
    code, said = ended(process)
    assert code == 143 and "Stopped." in said
    assert not Part.objects.filter(lease_token__isnull=False).exists() and not Part.objects.filter(losses__gt=0).exists()


def test_a_token_that_is_revoked_ends_its_worker(phase, sent, start):
    sent()
    token, key = make(phase)
    process = start(key)
    wait_until(lambda: Part.objects.filter(lease_token__isnull=False).exists(), what="a part at work")
    token.revoke(None)
    code, said = ended(process)
    assert code == 3 and "revoked" in said
    worker.drain()
    assert Submission.objects.get().status == Status.SCORED


def test_one_that_can_do_nothing_ends_before_it_is_given_the_same_again(tmp_path, monkeypatch):
    gone = []

    class Answers:
        url, patience = "http://there/", 0.0

        def get(self, address):
            return {"name": "lab", "challenge": "roofs", "title": "Roofs", "queues": ["cpu"], "trusted": True}

        def request(self, method, address, json):
            number = next(n for n in range(1, 1000) if n not in json["without"])
            return httpx.Response(200, json={"id": number, "fence": "f", "heartbeat_seconds": 60, "item_ids": ["a"]})

        def once(self, address, body, seconds):
            gone.append(address.split("/")[4])

    one = remote_worker_client.Worker(Answers(), ["cpu"], tmp_path, "w", print)

    def scored(part, folder, lease):
        raise remote_worker_client.Missing("torch is not installed.")

    monkeypatch.setattr(one, "_scored", scored)
    with pytest.raises(
        remote_worker_client.Useless, match=r"None of the last 100 parts could be done here, so this worker ends\..*torch is not installed"
    ):
        one.run(drain=True)
    assert gone == [str(n) for n in range(1, 101)], "each once"


@pytest.mark.timeout(1800)
def test_workers_that_are_killed_again_and_again_leave_one_set_of_true_scores(phase, sent, start, monkeypatch):
    monkeypatch.setattr(models_of_remote_workers, "FIRST_WAIT", 0.5)  # a worker that is killed leaves its lease
    moments = random.Random(7)
    entries = sent(3)
    keys = [make(phase, f"lab {n}", share=0.3)[1] for n in range(2)]
    kills = 0
    workers = {n: start(key, folder=f"w{n}") for n, key in enumerate(keys)}
    while kills < KILLS or Submission.objects.exclude(status=Status.SCORED).exists():
        time.sleep(moments.uniform(0.5, 3.0))
        if kills < KILLS:
            n = moments.choice(list(workers))
            os.killpg(workers[n].pid, signal.SIGKILL)
            workers[n].wait()
            kills += 1
            workers[n] = start(keys[n], folder=f"w{n}")
            if kills % 3 == 0 and kills < KILLS:
                entries += sent(1)
    assert not WorkerToken.objects.filter(wrong_at__isnull=False).exists()
    found = {(score.evaluation.submission_id, score.slug): score.value for score in Score.objects.select_related("evaluation")}
    assert len(found) == len(entries) * Score.objects.values("slug").distinct().count(), "one of each"
    from evaluation.metrics import scoring
    from evaluation.models import Reference
    from submissions.formats.wireframe.wireframe_files import unpack
    from submissions.storage import stored_files

    store = stored_files.store()
    references, batch = unpack(store.read(Reference.objects.get().key)), phase.batches.get(state="current")
    for entry in Submission.objects.all():
        items = unpack(store.read(entry.artifact_key))
        finished = scoring.finish(
            batch.requests(), [scoring.score_items(items, references, batch.requests())], batch.item_ids, batch.groups
        )
        assert {slug: found[entry.pk, slug] for slug in finished} == {slug: summary.value for slug, (_, summary) in finished.items()}
    if SAID in os.environ:
        done = PartRecord.objects.count()
        Path(os.environ[SAID]).write_text(f"{kills} kills; {len(entries)} entries, {done} results of parts taken, 0 wrong, none given up")


class TestMetricPrograms:
    """Parts with an organizer's program, which go to workers that can isolate it."""

    @pytest.fixture
    def column(self, phase, tmp_path) -> PhaseMetric:
        need("sandbox")
        row = programs.ready(phase.challenge, tmp_path / "program")
        made = PhaseMetric.objects.create(phase=phase, slug="own_lengths", key=row.full_key, position=9)
        EvaluationBatch.start(phase, reference=phase.references.get(), reason="a program")
        return made

    def test_it_fetches_programs_and_finds_what_the_service_finds(self, phase, column, sent, start, tmp_path):
        entries = sent(2)
        _, key = make(phase)
        code, said = ended(start(key, "--drain"))
        assert code == 0 and "8 parts done." in said, said
        contents = MetricProgram.objects.get().contents
        assert (tmp_path / "kept/programs" / contents / "score.py").exists()
        assert {record.token_id is None for record in PartRecord.objects.all()} == {False}
        outside_values = {entry.pk: Score.objects.get(evaluation__submission=entry, slug="own_lengths").values for entry in entries}
        WorkerToken.objects.all().delete()
        EvaluationBatch.start(phase, reference=phase.references.get(), reason="again")
        worker.drain()
        for entry in entries:
            own = entry.evaluations.get(batch__state="current").scores.get(slug="own_lengths")
            assert own.values.tolist() == outside_values[entry.pk].tolist() and not own.failures

    def test_one_without_a_sandbox_gets_none_of_them(self, phase, column, sent):
        sent()
        token, _ = make(phase)
        assert remote_worker_server.claim(token, ["cpu"], "bare", "there") is None
        assert not Part.objects.filter(own_only=True).exists() and not Part.objects.filter(lease_token__isnull=False).exists()
        part = remote_worker_server.claim(token, ["cpu"], "with", "there", sandboxes=["python"])
        (described,) = remote_worker_server.described(part, token, "http://here/")["programs"]
        assert described["contents"] == MetricProgram.objects.get().contents

    def test_other_files_than_were_named_are_not_run(self, column, tmp_path, monkeypatch):
        one = remote_worker_client.Worker(None, ["cpu"], tmp_path / "there", "w", print)
        path = tmp_path / "program.zip"
        path.write_bytes(files.read(programs.written(tmp_path / "other", "def score(p, r, q): return 1")).archive())
        monkeypatch.setattr(one, "_input", lambda described: path)
        with pytest.raises(remote_worker_client.Missing, match="other files of a metric program than it names"):
            one._program({"scope": "roofs", "contents": MetricProgram.objects.get().contents}, "wireframe")
        assert not list((tmp_path / "there/programs").iterdir())

    def test_what_it_says_of_a_program_is_hostile_until_checked(self, phase, column, sent):
        sent()
        token, _ = make(phase)
        part = remote_worker_server.claim(token, ["cpu"], "w", "there", sandboxes=["python"])
        columns = [one for one in part.evaluation.batch.columns if one.slug == "own_lengths"]
        ids = part.evaluation.batch.item_ids[part.start : part.stop]

        def told(**changed) -> dict:
            one = {"slug": "own_lengths", "item_ids": ids, "values": [1.0] * len(ids), "statuses": ["ok"] * len(ids)}
            one |= {"parts": [{}] * len(ids), "flags": [[]] * len(ids)} | changed
            return {"scores": {"own_lengths": one}}

        failed = {"statuses": ["failed"] * len(ids), "flags": [["failed: AssertionError: it's <odd> & long"]] * len(ids)}
        hostile_results.checked(told(), columns, ids, (), 9.0)
        hostile_results.checked(told(values=[100.0] * len(ids), **failed), columns, ids, (), 9.0)
        spoken = failed | {"values": [100.0] * len(ids), "flags": [["stopped: read evil.example", "note: stopped: x"]] * len(ids)}
        scores, _, _ = hostile_results.checked(told(**spoken), columns, ids, (), 9.0)
        told_by = [["failed: read evil.example", "note: stopped: x"]]
        assert scores["own_lengths"]["flags"] == told_by * len(ids), "it is not the service's own sentence"
        for changed, said in (
            ({"values": [-1.0] * len(ids)}, "beyond the metric's bound"),
            ({"values": [5.0] * len(ids), **failed}, "gets 100"),
            ({"flags": [["failed: " + "x" * 2_500]] * len(ids)}, "is not a flag"),
            ({"flags": [["failed: a\nb"]] * len(ids)}, "is not a flag"),
            ({"flags": [["said: <b>"]] * len(ids)}, "is not a flag"),
        ):
            with pytest.raises(hostile_results.BadResult, match=said):
                hostile_results.checked(told(**changed), columns, ids, (), 9.0)

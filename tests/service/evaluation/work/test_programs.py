"""Metric programs of organizers, from their files to scores: checked by a worker, scored in the sandbox, re-evaluated as ours are."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import EvaluationBatch, MetricProgram, PhaseMetric, Process, SuiteRun
from evaluation.models import program as program_module
from evaluation.models import score as score_module
from evaluation.programs import sandbox
from evaluation.properties.datasets import PROGRAM_MODELS
from evaluation.properties.suite import Progress
from evaluation.work import programs as work_programs
from evaluation.work import sandbox as work_sandbox
from evaluation.work import suites
from evaluation.work.sweep import sweep
from evaluation.work.worker import drain, work_once
from submissions.entry_states import Reason
from submissions.errors import Refused
from submissions.models import Status
from tests.conftest import need
from tests.support.evaluation.escapes import image
from tests.support.evaluation.programs import DRAWN, LENGTHS, LIAR, SLOW, added, passed, written
from tests.support.factories import PhaseFactory, gables, give_reference
from tests.support.processes import end_leases

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.own_parts]

COUNT = """
import json

def edges(path):
    return len(json.load(open(path))["edges"])

items = [one for one in json.load(open("items.json"))["items"] if one["prediction"]]
values = {one["id"]: {"value": abs(edges(one["prediction"]) - edges(one["reference"]))} for one in items}
json.dump({"items": values}, open("output/scores.json", "w"))
"""


@pytest.fixture(autouse=True)
def _sandbox():
    need("sandbox")


@pytest.fixture
def new(challenge, phase, tmp_path) -> MetricProgram:
    """One that is to be checked."""
    params = '[{name: factor, kind: float, default: 1, low: 0, high: 10, doc: "Times the difference."}]'
    return added(challenge, written(tmp_path / "program", params=params))


@pytest.fixture
def program(new) -> MetricProgram:
    """One that may score."""
    return passed(new)


def column(program, **values) -> PhaseMetric:
    """Its column, in a new batch."""
    phase = program.challenge.phases.get()
    made = PhaseMetric.objects.create(phase=phase, slug="lengths", key=program.full_key, position=9, **values)
    EvaluationBatch.start(phase, reference=phase.references.get(), reason="another metric")
    drain()
    return made


class TestArrival:
    def test_a_program_is_checked_by_a_worker_before_it_may_score(self, new):
        assert drain() >= 2
        program = MetricProgram.objects.get()
        assert program.state == MetricProgram.State.READY, program.failure
        assert [program.report[name]["passed"] for name in ("run", "determinism")] == [True, True]
        assert len(program.report["run"]["rows"]) == 6
        assert program.environment["python"]
        spec = registry.get(program.full_key)
        assert (spec.title, spec.contents, spec.params[0].name) == ("Lengths", program.contents, "factor")

    @pytest.mark.parametrize(
        ("code", "fields", "said"),
        [
            (DRAWN, {}, "not deterministic"),
            (LIAR, {"bounds": "[0, 1]", "worst": "1"}, "above 1, an end of the bounds"),
            (SLOW, {"effort": "{seconds: 0.1, memory_mb: 60}"}, "took longer than 1 s, ten times the 0.1 s"),
            (LENGTHS, {"higher_is_better": "true", "worst": "0"}, "every damaged item has a better value"),
            ("import nonesuch", {}, "does not load"),
            ("raise SystemExit('a' * 600 + ' the very end')", {"run": "script", "entry": "python3 score.py"}, "the very end"),
        ],
    )
    def test_what_does_not_keep_its_word_cannot_score(self, challenge, tmp_path, code, fields, said):
        give_reference(PhaseFactory(challenge=challenge), gables(1))
        row = added(challenge, written(tmp_path, code, **fields))
        drain()
        row.refresh_from_db()
        assert row.state == MetricProgram.State.FAILED
        assert said in row.failure
        assert registry.find(row.full_key) is None

    def test_without_a_sandbox_it_is_refused(self, challenge, tmp_path, monkeypatch, settings):
        settings.BROKER_URL = ""  # with workers elsewhere, these say so
        monkeypatch.setattr(sandbox, "refusal", lambda *_: "This machine has no sandbox for metric programs, so none is run: bwrap.")
        with pytest.raises(Refused, match="no sandbox"):
            added(challenge, written(tmp_path))
        assert not MetricProgram.objects.exists()

    @pytest.mark.parametrize(
        ("fields", "said"),
        [({"device": "gpu"}, "gpu"), ({"kind": "mesh"}, "wireframes"), ({"packages": "[nonesuch]"}, "nonesuch")],
    )
    def test_a_wrong_one_is_refused_in_a_sentence(self, challenge, tmp_path, fields, said):
        with pytest.raises(Refused, match=said):
            added(challenge, written(tmp_path, **fields))

    def test_one_of_files_is_of_its_challenges_kind(self, challenge, phase, tmp_path):
        code = "import json\n\ndef score(p, r, q):\n    return len(json.load(open(p.path))['edges'])"
        row = added(challenge, written(tmp_path, code, kind="files"))
        drain()
        row.refresh_from_db()
        assert (row.state, row.read.kind, row.read.as_files) == (MetricProgram.State.READY, "wireframe", True), row.failure
        assert registry.get(row.full_key).family == "wireframe"

    def test_one_for_a_card_is_checked_by_a_worker_of_the_queue_gpu_alone(self, challenge, phase, tmp_path, monkeypatch):
        monkeypatch.setattr(sandbox, "card_devices", lambda: ["/dev/full"])
        now = timezone.now()
        Process.objects.create(kind="worker", name="there", queues=["gpu"], started_at=now, seen_at=now)
        row = added(challenge, written(tmp_path, device="gpu"))
        drain("cpu")
        row.refresh_from_db()
        assert (row.state, row.report) == (MetricProgram.State.WAITING, {})
        checked = []
        monkeypatch.setattr(work_programs, "check", lambda program: checked.append(program))
        assert work_once("gpu")
        assert checked == [row]

    def test_what_follows_the_checks_waits_for_a_card_too_and_not_for_ever(self, program, monkeypatch):
        SuiteRun.objects.all().delete()
        MetricProgram.objects.update(document={**program.document, "device": "gpu"})
        program.refresh_from_db()
        program_module.forget()
        measured: list[str] = []
        monkeypatch.setattr(suites, "do", lambda run, device: measured.append(device) or run.keep(asdict(Progress()), 0.1))
        sweep()
        run = SuiteRun.objects.get()
        assert program.waits_for_card and run.lacking_since is not None
        drain("cpu")
        assert measured == []
        sweep()
        assert SuiteRun.objects.get().state == "waiting"
        # A worker with a card comes, and takes it.
        now = timezone.now()
        Process.objects.create(kind="worker", name="there", queues=["gpu"], started_at=now, seen_at=now)
        assert not program.waits_for_card and work_once("gpu") and measured == ["gpu"]
        # It goes, and does not come again.
        Process.objects.all().delete()
        SuiteRun.objects.update(lacking_since=now - timedelta(days=1))
        assert sweep()["without_card"] == 1
        run.refresh_from_db()
        assert (run.state, run.reason) == ("failed", Reason.NO_CARD)

    def test_a_version_has_one_content(self, program, tmp_path):
        again = added(program.challenge, tmp_path / "program")
        assert again == program
        (tmp_path / "program/score.py").write_text("def score(p, r, q): return 0")
        with pytest.raises(Refused, match=r"metric\.yaml to 2\.$") as refused:
            added(program.challenge, tmp_path / "program")
        assert refused.value.code == "version_taken"


class TestSlices:
    """A check in slices of one call each finds what one in a single slice finds, also where workers are killed in between."""

    def test_a_check_goes_on_from_what_is_kept_and_finds_the_same(self, challenge, phase, tmp_path, monkeypatch):
        row = added(challenge, written(tmp_path))
        monkeypatch.setattr(work_programs, "SLICE_SECONDS", 600.0)
        assert work_once("cpu")
        row.refresh_from_db()
        whole = row.report["run"]
        assert row.restart()
        monkeypatch.setattr(work_programs, "SLICE_SECONDS", 0.0)
        for n in range(1, 6):  # of six calls
            assert work_once("cpu")
            row.refresh_from_db()
            assert (len(row.under_way["calls"]), row.report, row.lease_token) == (n, {}, None)
            if n == 3:  # a worker claims it and is killed; what it had found by then is lost, and no more
                MetricProgram.objects.waiting().claim("killed")
                assert end_leases(MetricProgram.objects.all()) == 1
        assert work_once("cpu")
        row.refresh_from_db()
        assert (row.report, row.under_way, row.losses) == ({"run": whole}, {}, 0)

    def test_what_was_found_on_a_reference_does_not_count_for_a_newer_one(self, challenge, phase, tmp_path, monkeypatch):
        row = added(challenge, written(tmp_path))
        monkeypatch.setattr(work_programs, "SLICE_SECONDS", 0.0)
        assert work_once("cpu") and work_once("cpu")
        row.refresh_from_db()
        assert len(row.under_way["calls"]) == 2
        MetricProgram.objects.update(under_way=row.under_way | {"of": ["run", -1]})
        assert work_once("cpu")
        row.refresh_from_db()
        assert len(row.under_way["calls"]) == 1

    def test_a_late_slice_changes_nothing(self, new):
        late = MetricProgram.objects.waiting().claim("slow")
        assert end_leases(MetricProgram.objects.all()) == 1
        assert not late.keep_slice([], [1])
        new.refresh_from_db()
        assert new.under_way == {}

    def test_the_program_whose_last_slice_was_longest_ago_is_next(self, challenge, phase, tmp_path):
        first, second = (added(challenge, written(tmp_path / key, key=key, title=key)) for key in ("slow", "other"))
        claimed = MetricProgram.objects.waiting().claim("w")
        assert claimed == first and claimed.keep_slice([], [])
        assert list(MetricProgram.objects.waiting()) == [second, first]


class TestScoring:
    def test_its_columns_stand_beside_ours_with_its_parameters(self, program, scored, references):
        program.challenge.phases.update(missing="worst")
        column(program, params={"factor": 2.0})
        entry = scored(items=dict(list(references.items())[1:]))
        assert entry.status == Status.SCORED
        score = entry.evaluations.get(batch__state="current").scores.get(slug="lengths")
        assert score.values.tolist() == [100.0, 0.0, 0.0, 0.0]
        assert score.fingerprint == PhaseMetric.objects.get(slug="lengths").fingerprint
        assert list(score.parts) == ["length"]

    def test_an_item_on_which_it_fails_has_the_worst_value_and_the_entry_is_scored(self, challenge, phase, tmp_path, scored):
        code = (
            LENGTHS
            + "\n    plain = score\n\n    def score(p, r, q):\n        assert len(p.edges) > 1, 'no roof'\n        return plain(p, r, q)\n"
        )
        row = added(challenge, written(tmp_path, code))
        drain()
        row.refresh_from_db()
        assert row.state == MetricProgram.State.READY, row.failure
        column(row)
        items = {name: replace(item, edges=item.edges[:1]) for name, item in phase.references.get().items().items()}
        entry = scored(items=items)
        score = entry.evaluations.get(batch__state="current").scores.get(slug="lengths")
        assert (entry.status, score.n_invalid, score.values.tolist()) == (Status.SCORED, 4, [100.0] * 4)
        assert score.failures[0][1] == "AssertionError: no roof"

    def test_why_it_failed_is_read_by_who_may_and_quotes_no_hidden_reference(self, challenge, phase, tmp_path, scored, client, people):
        code = (
            LENGTHS
            + """
    plain = score

    def score(p, r, q):
        if len(p.edges) == 1:
            raise ValueError(f"the reference has {len(r.vertices)} corners")
        while len(p.edges) == 2:
            pass
        return plain(p, r, q)
"""
        )
        row = passed(added(challenge, written(tmp_path, code, effort="{seconds: 0.1, memory_mb: 60}")))
        column(row)
        items = phase.references.get().items()
        first, second, *_ = items
        items |= {name: replace(items[name], edges=items[name].edges[:n]) for n, name in enumerate((first, second), 1)}
        entry = scored(items=items)
        quoted, own = f"the reference has {len(items[first].vertices)} corners", "The program took longer than 1 s"
        seen = {}
        for who in (people.owner, people.organizer):
            client.force_login(who)
            api = client.get(f"/api/v1/submissions/{entry.pk}/items?metric=lengths").json()["items"]
            seen[who] = [one["failure"] for one in api if one["item"] in (first, second)]
            for page in (f"/entries/{entry.pk}/", f"/entries/{entry.pk}/items/{first}/"):
                text = client.get(page).content.decode()
                assert (quoted in text) == (who == people.organizer)
                assert (score_module.FAILED_UNSAID in text) == (who == people.owner)
            assert own in client.get(f"/entries/{entry.pk}/items/{second}/").content.decode()
        assert quoted in seen[people.organizer][0]
        assert seen[people.owner][0] == score_module.FAILED_UNSAID
        assert seen[people.owner][1] == seen[people.organizer][1] != ""
        client.logout()  # others read what the team does, where the phase shows values per item
        assert score_module.FAILED_UNSAID in client.get(f"/entries/{entry.pk}/items/{first}/").content.decode()
        challenge.phases.update(withhold_items=True)
        client.force_login(people.other)
        assert client.get(f"/entries/{entry.pk}/items/{first}/").status_code in (403, 404)
        assert client.get(f"/api/v1/submissions/{entry.pk}/items?metric=lengths").status_code in (403, 404)
        assert own not in client.get(f"/entries/{entry.pk}/").content.decode()
        client.force_login(people.organizer)
        console = client.get(f"/console/challenges/{challenge.slug}/phases/{phase.slug}/metrics/edit/lengths/").content.decode()
        assert "on 2 items" in console

    def test_a_newer_version_waits_for_a_re_evaluation_as_ours_do(self, program, scored, tmp_path):
        column(program)
        entry = scored()
        before = entry.evaluations.get(batch__state="current").scores.get(slug="lengths")
        passed(added(program.challenge, written(tmp_path / "newer", LENGTHS.replace("abs(", "2 * abs("), version=2)))
        batch = EvaluationBatch.current(entry.phase)
        assert [program.full_key in found.sentence for found in batch.outdated()] == [True]
        EvaluationBatch.start(entry.phase, reference=entry.phase.references.get(), reason="version 2")
        drain()
        after = entry.evaluations.get(batch__state="current").scores.get(slug="lengths")
        assert after.value == pytest.approx(2 * before.value)
        assert after.fingerprint != before.fingerprint
        before.refresh_from_db()  # it stays

    def test_one_of_the_whole_set_sees_all_items_at_once(self, challenge, phase, tmp_path, scored, settings):
        settings.PART_SAMPLES = 1
        code = "def score(predictions, references, params):\n    return float(len(predictions))"
        row = added(challenge, written(tmp_path, code, level="set"))
        drain()
        row.refresh_from_db()
        assert row.state == MetricProgram.State.READY, row.failure
        column(row)
        score = scored().evaluations.get(batch__state="current").scores.get(slug="lengths")
        assert (score.value, score.values.tolist()) == (4.0, [4.0] * 4)

    def test_it_is_not_taken_away_while_a_phase_uses_it(self, program):
        column(program)
        with pytest.raises(Refused) as refused:
            program.remove(None)
        assert refused.value.code == "in_use"

    def test_its_properties_are_measured_when_nothing_else_is_to_be_done(self, program):
        sweep()
        run = SuiteRun.objects.get(key=program.full_key)
        while not (run.done and run.done >= run.total / PROGRAM_MODELS):
            assert work_once("cpu")
            run.refresh_from_db()
        # What it found of one model it finds of all but the last.
        SuiteRun.objects.update(rows=run.rows[:1] * (PROGRAM_MODELS - 1), at=[])
        drain()
        run.refresh_from_db()
        assert (run.state, run.table.of > 0) == (SuiteRun.State.DONE, True), run.failure


class TestImage:
    @pytest.fixture
    def phase(self, challenge):
        """Two houses, which an entry's two jobs score: a container of each takes long."""
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(2))
        return phase

    def test_one_of_an_image_is_checked_and_scores_and_the_scoring_process_takes_the_next_job(self, challenge, phase, tmp_path, scored):
        """Podman makes its input a pipe that does not wait. That was the pipe of the orders, and each next job lost its process."""
        if refusal := sandbox.podman_refusal():
            pytest.skip(f"images are not run on this machine: {refusal}")
        (tmp_path / "count.py").write_text(COUNT)
        made = {"run": "image", "image": image.make(tmp_path, tmp_path / "count.py"), "entry": "/usr/bin/python3 /attempts.py"}
        row = added(challenge, written(tmp_path / "program", **made))
        drain()
        row.refresh_from_db()
        assert row.state == MetricProgram.State.READY, row.failure
        process = work_sandbox.sandbox._process
        column(row)
        entry = scored()
        assert entry.status == Status.SCORED
        score = entry.evaluations.get(batch__state="current").scores.get(slug="lengths")
        assert (score.n_ok, score.values.tolist()) == (2, [0.0] * 2)
        assert work_sandbox.sandbox._process is process and process.poll() is None

"""Shares of a worker's time, on a simulated clock. The promises: entries come first; metric programs proceed all the same; what nobody
waits for is done when nothing else is to be done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import pytest

from evaluation.models import Evaluation, EvaluationBatch, MetricProgram, Part, PhaseMetric, SuiteRun
from evaluation.properties.suite import Progress
from evaluation.work import programs, shares, suites, view_images, worker
from evaluation.work.shares import SHARE, SLICE_SECONDS
from submissions.models import Status, Submission
from tests.support.evaluation.programs import added, written
from tests.support.factories import archive, gables, received

pytestmark = pytest.mark.django_db(transaction=True)


KEYS = ("p1", "p2", "p3", "p4")


class Day:
    """The clock of a worker and what it did: "part", "check" and so on. A part takes `part` seconds, a slice of a check `slice`."""

    def __init__(self, part: float = 5.0, slice: float = SLICE_SECONDS) -> None:
        self.now, self.part, self.slice = 0.0, part, slice
        self.did: list[str] = []

    def clock(self) -> float:
        return self.now

    def takes(self, what: str, seconds: float) -> None:
        self.did.append(what)
        self.now += seconds


@pytest.fixture
def day(monkeypatch) -> Day:
    """Work that is only noted: parts are done at once, checks go on for ever."""
    day = Day()

    def score(part: Part) -> None:
        day.takes("part", day.part)
        Part.objects.filter(pk=part.pk).update(state=Part.State.DONE, lease_token=None, lease_until=None)

    def check(program: MetricProgram) -> None:
        day.takes(f"check {program.key}", day.slice)
        program.keep_slice(["run", None], [])

    monkeypatch.setattr(shares, "clock", day.clock)
    for share in shares.SHARES:
        monkeypatch.setattr(share, "owed", 0.0)
    monkeypatch.setattr(worker, "score", score)
    monkeypatch.setattr(programs, "check", check)
    return day


@pytest.fixture
def slow(challenge, phase, tmp_path, monkeypatch) -> list[MetricProgram]:
    """Four programs that arrived and are to be checked."""
    monkeypatch.setattr("evaluation.programs.sandbox.refusal", lambda *_: "")
    return [added(challenge, written(tmp_path / name, key=name, title=name)) for name in KEYS]


def parts(n: int, phase) -> None:
    """So many parts that wait."""
    entry = Submission.objects.filter(phase=phase).first()
    evaluation, _ = Evaluation.objects.get_or_create(submission=entry, batch=EvaluationBatch.current(phase), defaults={"n_items": 4})
    Part.objects.bulk_create(Part(evaluation=evaluation, slugs=["x"], start=0, stop=1, turn=float(k)) for k in range(n))


@pytest.fixture
def entry(phase, people) -> Submission:
    found = received(phase, people.team, archive(gables(4)))
    Submission.objects.filter(pk=found.pk).update(status=Status.SCORING)
    return found


def until(true: Callable[[], bool], most: int = 500) -> None:
    for _ in range(most):
        if true():
            return
        worker.work_once("cpu")
    raise AssertionError(f"not within {most} pieces of work")


def test_a_part_goes_before_a_programs_check(day, slow, entry, phase):
    parts(1, phase)
    worker.work_once("cpu")
    worker.work_once("cpu")
    assert day.did == ["part", "check p1"]


def test_an_upload_is_checked_before_a_programs(day, slow, phase, people, monkeypatch):
    monkeypatch.setattr(worker, "check", lambda submission: day.takes("upload", 1.0))
    received(phase, people.team, archive(gables(4)))
    assert worker.work_once("cpu") and day.did == ["upload"]


def test_a_re_evaluation_of_24_parts_proceeds_while_four_slow_programs_wait(day, slow, entry, phase):
    parts(24, phase)
    until(lambda: day.did.count("part") == 24)
    # 120 seconds of parts are worth 15 of programs: three slices.
    assert len(day.did) == 27
    assert day.did[:6] == ["part"] * 6 and day.now == pytest.approx(24 * 5 + 3 * SLICE_SECONDS)


def test_programs_proceed_in_turn_under_entries_without_end(day, slow, entry, phase):
    day.part = 8.0
    parts(40, phase)
    until(lambda: day.did.count("part") == 40)
    checks = [one for one in day.did if one != "part"]
    assert checks[:8] == [f"check {key}" for key in KEYS * 2]
    assert len(checks) * SLICE_SECONDS == pytest.approx(SHARE * 320, abs=SLICE_SECONDS)


def test_an_item_that_takes_longer_than_a_slice_is_paid_back(day, slow, entry, phase):
    day.part, day.slice = 25.0, 40.0
    parts(40, phase)
    until(lambda: day.did.count("part") == 40)
    seconds = sum(40.0 for one in day.did if one != "part")
    assert 40 <= seconds <= SHARE * 1000 + 40


def test_without_entries_programs_have_the_worker_and_owe_nothing(day, slow, entry, phase):
    for _ in range(8):
        worker.work_once("cpu")
    assert len(day.did) == 8 and shares.CHECKS.owed == 0
    parts(1, phase)
    worker.work_once("cpu")
    assert day.did[-1] == "part"


def test_a_long_item_that_began_before_an_entry_came_is_dropped_for_it_and_runs_to_its_end_once_due(
    slow, entry, phase, tmp_path, monkeypatch
):
    for share in shares.SHARES:
        monkeypatch.setattr(share, "owed", 0.0)
    ended: list[str] = []

    def long_item(folder: object, job: dict, heartbeat: Callable[[], bool], *_: object) -> dict:
        if not Part.objects.exists():
            parts(1, phase)  # an entry comes
        assert heartbeat()
        ended.append(job["check"])
        return {"found": None, "calls": [[]]}

    monkeypatch.setattr(programs.sandbox, "run", long_item)
    assert worker.work_once("cpu")
    row = MetricProgram.objects.waiting().first()
    assert (ended, row.key, row.attempts, row.lease_token, row.under_way) == ([], "p1", 0, None, {})
    shares.CHECKS.owed = SLICE_SECONDS
    assert worker.work_once("cpu") and ended == ["run"]
    assert shares.CHECKS.owed < SLICE_SECONDS and Part.objects.waiting("cpu").exists()


class TestOtherQueues:
    """Values on studies, analyses and judges, which have a queue of their own."""

    def test_they_stand_back_while_entries_wait_until_a_slice_is_due(self, day, entry, phase, monkeypatch):
        from leaderboard import tasks

        did: list[str] = []

        def noted(name: str, seconds: float = SLICE_SECONDS) -> Callable[..., int]:
            def do(*_: object, **__: object) -> int:
                did.append(name)
                day.now += seconds
                return 1

            return do

        monkeypatch.setattr(tasks, "analyse_due", lambda **_: 0)
        monkeypatch.setattr(tasks.joint, "analyse_due", lambda **_: 0)
        monkeypatch.setattr(tasks.programs, "score_due", noted("values"))
        monkeypatch.setattr(tasks, "ask_due", noted("judge"))
        assert tasks.studies() == 1 and did == ["values"], "nothing else waits"
        parts(20, phase)
        assert (tasks.studies(), tasks.judges(), did) == (0, 0, ["values"])
        until(lambda: day.did.count("part") == 7)  # 35 seconds
        assert (tasks.studies(), tasks.studies()) == (1, 0)
        assert (tasks.judges(), tasks.judges()) == (1, 0), "each has a share of its own"
        assert did == ["values", "values", "judge"]

    def test_an_analysis_that_lasts_gives_way_to_entries(self, day, entry, phase, monkeypatch):
        from leaderboard import tasks

        parts(30, phase)
        shares.ANALYSES.owed = SLICE_SECONDS

        class Analysis:
            def heartbeat(self) -> bool:
                return True

        def analyse(between: Callable[[object], None]) -> int:
            for _ in range(12):
                day.takes("step", 1.0)
                between(Analysis())
            return 1

        monkeypatch.setattr(tasks, "analyse_due", analyse)
        others: list[str] = []
        monkeypatch.setattr(tasks, "build_due_boards", lambda: others.append("boards"))
        monkeypatch.setattr(tasks, "send_due_mail", lambda: others.append("mail"))
        assert tasks.studies() == 1
        assert day.did[:4] == ["step"] * 4 and day.did[4:11] == ["part"] * 7 and day.did[11] == "step"
        assert day.did.count("step") == 12 and day.did.count("part") == 3 * 7 and others == ["boards", "mail"] * 21


class TestIdle:
    @pytest.fixture
    def idle(self, day, monkeypatch) -> None:
        for module, name in ((suites, "acceptance_test_once"), (view_images, "make_once"), (suites, "sanity_tests_once")):

            def do(*_: object, name: str = name, overdue: bool = False) -> bool:
                if overdue:
                    return False
                day.takes(name, 1.0)
                return True

            monkeypatch.setattr(module, name, do)

    def test_nothing_is_done_while_a_part_waits(self, day, idle, entry, phase):
        parts(3, phase)
        for _ in range(4):
            worker.work_once("cpu")
        assert day.did == ["part", "part", "part", "acceptance_test_once"]

    def test_a_part_that_another_worker_could_begin_stops_it_too(self, day, idle, entry, phase, monkeypatch):
        parts(1, phase)
        monkeypatch.setattr(worker, "entry_once", lambda device: False)  # this one was not quick enough
        monkeypatch.setattr(view_images, "make_once", lambda *_: False)
        assert not worker.work_once("cpu") and day.did == []

    def test_what_a_study_waits_for_stops_measuring_but_not_pictures_for_whoever_looks_at_them(self, day, idle, phase, monkeypatch):
        monkeypatch.setattr(shares, "others_wait", lambda device="cpu": True)
        assert worker.work_once("cpu") and day.did == ["make_once"]

    def test_programs_on_studies_count_as_waiting(self, day, phase, tmp_path, slow):
        import leaderboard.tasks  # noqa: F401  # whose kinds of work are known to workers from then on

        kinds = {rows("cpu").model.__name__ for rows in shares.BEFORE_IDLE}
        assert kinds == {"MetricProgram", "ProgramValues", "StudyAnalysis", "JointAnalysis", "AnswerSet"}
        assert shares.others_wait("cpu") and not shares.others_wait("gpu")
        MetricProgram.objects.all().delete()
        assert not shares.others_wait("cpu")

    def test_a_measurement_runs_at_low_priority(self, phase, monkeypatch):
        from evaluation.work.sweep import sweep

        phase.metrics.all().delete()
        PhaseMetric.objects.create(phase=phase, slug="tight", key="corner_f1", position=9, params={"tau": 0.21})
        sweep()
        jobs: list[dict] = []
        monkeypatch.setattr(suites.sandbox, "run", lambda folder, job, *rest: jobs.append(job) or asdict(Progress()))
        assert worker.work_once("cpu")
        assert [job.get("idle") for job in jobs] == [True] and SuiteRun.objects.get().state == "waiting"

"""Tables for other parameters: made when nothing else is to be done, once, and never lost."""

from __future__ import annotations

import threading
from dataclasses import asdict, replace

import pytest
from django.db import connection

from evaluation.metrics import registry
from evaluation.models import PhaseMetric, SuiteRun
from evaluation.properties import datasets, measure, suite
from evaluation.properties.suite import SANITY, Dataset, Progress, Table
from evaluation.work import suites, worker
from evaluation.work.sandbox import JobFailed
from evaluation.work.sweep import sweep
from submissions.entry_states import Reason, Why
from submissions.models import Status, Submission
from submissions.wording import failed
from tests.support.factories import archive, perturbed, received
from tests.support.processes import end_leases

pytestmark = pytest.mark.django_db(transaction=True)

TIGHT = {"tau": 0.21}


@pytest.fixture
def column(phase):
    """The one column of the phase, with parameters that no table ships for."""
    phase.metrics.all().delete()
    return PhaseMetric.objects.create(phase=phase, slug="tight", key="corner_f1", position=9, params=TIGHT)


@pytest.fixture
def run(column):
    sweep()
    return SuiteRun.objects.get()


def rates(table: Table) -> dict:
    return dict(table.tests)


class TestRequest:
    def test_the_row_is_made_by_the_sweeper_once_and_for_unshipped_fingerprints_only(self, column):
        assert sweep()["unmeasured"] and not sweep()["unmeasured"]
        run = SuiteRun.objects.get()
        assert (run.fingerprint, run.key, run.params["tau"]) == (column.fingerprint, "corner_f1", 0.21)
        assert run.state == SuiteRun.State.WAITING

    def test_two_columns_of_the_same_definition_are_measured_once(self, column, phase):
        PhaseMetric.objects.create(phase=phase, slug="again", key="corner_f1", position=10, params=TIGHT)
        sweep()
        assert SuiteRun.objects.count() == 1

    def test_a_newer_suite_measures_anew(self, run):
        SuiteRun.objects.update(state=SuiteRun.State.DONE, version="sanity/0", results=[{"old": True}])
        sweep()
        run.refresh_from_db()
        assert (run.state, run.table, run.version) == (SuiteRun.State.WAITING, None, SANITY.version)

    def test_a_metric_that_needs_an_accelerator_or_that_is_no_more_is_left(self, column, monkeypatch):
        PhaseMetric.objects.create(phase=column.phase, slug="gone", key="no_such_metric", position=11)
        monkeypatch.setattr("evaluation.models.sanity_tests.is_measurable", lambda spec: False)
        sweep()
        assert not SuiteRun.objects.exists()

    def test_what_nothing_asks_for_any_more_is_dropped(self, run):
        PhaseMetric.objects.all().delete()
        sweep()
        assert not SuiteRun.objects.exists()

    def test_a_slow_run_does_not_hold_up_the_others(self, run, phase):
        SuiteRun.objects.update(seconds=900.0)
        PhaseMetric.objects.create(phase=phase, slug="other", key="corner_f1", position=10, params={"tau": 0.22})
        sweep()
        assert SuiteRun.objects.waiting().first().params["tau"] == 0.22


class TestSlices:
    def test_slices_make_the_suites_own_table(self, run, monkeypatch):
        few = datasets.main("corner_f1")[1]
        few = {name: few[name] for name in list(few)[:3]}
        monkeypatch.setattr(suites.sandbox, "run", lambda folder, job, *rest: _in_this_process(job, few))
        rounds = 0
        while worker.work_once("cpu"):
            rounds += 1
            run.refresh_from_db()
            assert (run.lease_token is None and run.attempts == 0) or run.state == SuiteRun.State.DONE
        assert rounds > 1 and run.done == run.total == 3 * 17 and run.rows == []
        whole = measure.run("corner_f1", TIGHT, few, DATASET)
        assert rates(run.table) == rates(whole)
        assert run.table.fingerprint == run.fingerprint

    def test_uploads_come_first(self, run, people, references, monkeypatch):
        monkeypatch.setattr(suites, "SLICE_SECONDS", 0.0)
        entry = received(run_phase(run), people.team, archive(perturbed(references, 0.1)))
        order = []
        while not order or Submission.objects.get(pk=entry.pk).status != Status.SCORED:
            assert worker.work_once("cpu")
            run.refresh_from_db()
            order.append(run.done)
        assert not any(order), "nothing was measured before the entry was scored"

    def test_a_slice_in_the_limited_child_ends_at_its_time_and_keeps_what_it_measured(self, run, monkeypatch):
        monkeypatch.setattr(suites, "SLICE_SECONDS", 0.0)  # is over after one value of the metric
        for n in (1, 2):
            assert worker.work_once("cpu")
            run.refresh_from_db()
            assert (len(run.at), run.done, run.total) == (n, 0, 128 * 17) and run.seconds > 0

    def test_a_long_slice_is_dropped_for_an_upload_and_is_no_attempt(self, run, people, references, monkeypatch):
        received(run_phase(run), people.team, archive(references))
        held = SuiteRun.objects.waiting().claim("w")
        monkeypatch.setattr(suites.sandbox, "run", _asks_to_go_on)
        suites.do(held)
        run.refresh_from_db()
        assert (run.attempts, run.lease_token, run.state) == (0, None, SuiteRun.State.WAITING)
        assert SuiteRun.objects.waiting().claim("next") is not None


class TestBrokenOnPurpose:
    def test_two_claims_at_once_give_the_run_to_one(self, run):
        start, won = threading.Barrier(2), []

        def claim() -> None:
            start.wait()
            try:
                won.append(SuiteRun.objects.waiting().claim("w"))
            finally:
                connection.close()

        threads = [threading.Thread(target=claim) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(one is not None for one in won) == [False, True]

    def test_a_late_slice_under_an_old_token_changes_nothing(self, run):
        late = SuiteRun.objects.waiting().claim("slow")
        assert end_leases(SuiteRun.objects.all()) == 1
        current = SuiteRun.objects.waiting().claim("next")
        assert current.keep(asdict(Progress([{"identity": [True, None, None]}], [0.5], done=1, total=128 * 17)), 1.0)
        assert late.keep(asdict(Progress(results=[_a_table().to_dict()])), 1.0) is False
        late.give_up_or_retry(Why(Reason.ERROR), "", final=True)
        run.refresh_from_db()
        assert (run.done, run.state) == (1, SuiteRun.State.WAITING)

    def test_a_run_that_never_gets_on_fails_with_a_sentence(self, run, monkeypatch):
        def broken(*_):
            raise JobFailed("crash", "Traceback: secret/path.py")

        monkeypatch.setattr(suites.sandbox, "run", broken)
        for _ in range(9):
            SuiteRun.objects.update(lease_until=None)
            worker.drain()
        run.refresh_from_db()
        assert run.state == SuiteRun.State.FAILED and run.attempts == 3
        assert run.reason == Reason.CRASH and "Traceback" not in failed(run)
        assert "Traceback" in run.failure_detail
        assert not sweep()["unmeasured"], "a failure is not tried again and again"
        assert run.restart() and SuiteRun.objects.get().state == SuiteRun.State.WAITING

    def test_killed_twelve_times_at_the_same_slice_it_gives_up(self, run, settings):
        for n in range(1, settings.MAX_LOSSES + 1):
            assert SuiteRun.objects.waiting().claim("killed")
            assert end_leases(SuiteRun.objects.all()) == 1
            run.refresh_from_db()
            assert (run.losses, run.attempts) == (n, 0)
        assert run.state == SuiteRun.State.FAILED
        assert (run.reason, run.numbers["times"]) == (Reason.LOST, 12)


DATASET = Dataset("three", "houses", 3, True)


def run_phase(run: SuiteRun):
    return PhaseMetric.objects.get(slug="tight").phase


def _in_this_process(job: dict, items: dict) -> dict:
    """Do what the child does, on a few models, one value a slice."""
    from evaluation.properties import slices

    (column,) = job["requests"]
    metric = (column["key"], column["params"], None)
    found = slices.advance(metric, items, Progress(**job["progress"]), 0.0)
    if slices.is_complete("wireframe", found.rows, len(items)):
        found = replace(found, results=[slices.table(metric, DATASET, found.rows, 1.0).to_dict()])
    return asdict(found)


def _asks_to_go_on(folder, job, heartbeat, seconds):
    heartbeat()
    raise AssertionError("an entry waits, and it goes on")


def _a_table() -> Table:
    rate = suite.Rate(1.0, None, None, 3, 0)
    return Table("corner_f1", {}, registry.fingerprint("corner_f1", {}), DATASET, "2026-01-01", 1.0, {"identity": rate})


def test_operators_see_how_far_it_is_and_can_have_a_failed_run_measured_again(run, client, people):
    from django.core.management import CommandError
    from django.urls import reverse

    from leaderboard.management.commands.doctor import Command

    assert Command()._suites().endswith(": 1, corner_f1 at 0 %")
    SuiteRun.objects.update(state=SuiteRun.State.FAILED, failure="It failed.", failure_detail="Traceback: line 7")
    with pytest.raises(CommandError, match="corner_f1: It failed"):
        Command()._suites()
    client.force_login(people.staff)
    assert 'plumbline_property_runs{state="failed"} 1.0' in client.get("/-/metrics").content.decode()
    assert "Traceback: line 7" in client.get(reverse("admin:evaluation_suiterun_change", args=[run.pk])).content.decode()
    address = reverse("admin:evaluation_suiterun_changelist")
    client.post(address, {"action": "test_again", "_selected_action": [run.pk]})
    assert SuiteRun.objects.get().state == SuiteRun.State.WAITING
    assert ": 1" in Command()._suites()

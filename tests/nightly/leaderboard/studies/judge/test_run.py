"""A judge whose real worker is killed while it asks."""

from __future__ import annotations

import pytest

from leaderboard.models import JudgeRun
from tests.cluster.leaderboard.studies.judge.test_run import elos, make, server
from tests.support.leaderboard.studies.judge.endpoint import KEY, Answer
from tests.support.leaderboard.studies.judge.studies import brighter, study_of_objects
from tests.support.processes import Worker, sweeping, wait_until

__all__ = ["server"]  # the fixture


@pytest.mark.django_db(transaction=True)
def test_kill_9_and_nothing_is_asked_twice_that_was_answered(phase, server):
    phase.batches.all().delete()
    study = study_of_objects(phase)
    server.behave = lambda body: Answer(brighter(body).body, wait=0.8)
    run = make(study)
    run.start(None)
    env = {
        "PLUMBLINE_JUDGE_URL": server.url,
        "PLUMBLINE_JUDGE_KEY": KEY,
        "PLUMBLINE_JUDGE_MODEL": "seer-1",
        "PLUMBLINE_JUDGE_RATE": "0",
        "PLUMBLINE_JUDGE_PARALLEL": "2",
        "PLUMBLINE_LEASE_SECONDS": "20",  # to load and draw the first question takes seconds
    }

    def answered() -> int:
        return JudgeRun.objects.get(pk=run.pk).n_answered

    with sweeping(**env):
        with Worker(**env) as worker:
            wait_until(lambda: answered() >= 4, what="the first answers")
            worker.kill()
        kept = set(run.answers.filter(state="answered").values_list("pk", flat=True))
        assert 4 <= len(kept) < 18
        with Worker(**env):
            wait_until(lambda: JudgeRun.objects.get(pk=run.pk).state == "done", what="the rest")
    run.refresh_from_db()
    assert run.n_answered == 18 == run.requests and run.answers.filter(requests=1).count() == 18
    assert 18 <= len(server.requests) <= 20  # at most the two that were on their way were asked again
    assert elos(run)["ruby"] > elos(run)["coal"]

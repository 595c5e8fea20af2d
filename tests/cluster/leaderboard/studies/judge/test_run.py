"""A judge asked over real HTTP from planned questions to scores: well, badly, in part, twice, and after kill -9."""

from __future__ import annotations

import io
import logging
from datetime import timedelta
from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from django.utils import timezone
from PIL import Image

from leaderboard.models import JudgeAnswer, JudgeRun, Rater, StudyEntry
from leaderboard.models.judge import ENOUGH_UNREAD, MAX_FRUITLESS, MAX_ROUNDS
from leaderboard.stats import judges
from leaderboard.studies.judge import planning, setup
from leaderboard.studies.judge.instructions import instruction, wireframe_instruction
from leaderboard.studies.judge.materials import Materials, image_of
from leaderboard.studies.judge.planning import Wish
from leaderboard.studies.judge.run import ask_due, work_on
from leaderboard.tasks import wake_judges
from submissions.models import AuditEntry, Submission
from tests.support.factories import boxes, gables, give_reference, perturbed
from tests.support.leaderboard.studies.judge.endpoint import KEY, Answer, fault, instruction_of, says, serving
from tests.support.leaderboard.studies.judge.studies import (
    PRICE,
    QUALITY,
    brighter,
    criteria,
    entry,
    object_of,
    picture,
    study_of,
    study_of_objects,
)
from tests.support.leaderboard.studies.judge.studies import PROMPTS as TEXTS
from tests.support.processes import end_leases

pytestmark = pytest.mark.django_db
PAIRS, PROMPTS = 6, 3
S = 32


@pytest.fixture
def server(settings, monkeypatch):
    monkeypatch.setattr("leaderboard.studies.judge.run.PATIENCE", 0.3)
    monkeypatch.setattr("leaderboard.studies.judge.images.SIDE", S)  # 512 pixels a view would be most of the time
    for name in ("elo", "place"):  # and a thousand resamples for intervals, which nothing here looks at, most of the rest
        monkeypatch.setattr(judges, name, partial(getattr(judges, name), resamples=20))
    with serving(brighter) as found:
        settings.JUDGE_URL, settings.JUDGE_KEY, settings.JUDGE_MODEL = found.url, KEY, "seer-1"
        settings.JUDGE_RATE, settings.JUDGE_TIMEOUT, settings.JUDGE_PRICE_IN, settings.JUDGE_PRICE_OUT = 0, 60.0, Decimal(2), Decimal(10)
        yield found


@pytest.fixture
def study(phase):
    phase.batches.all().delete()
    return study_of_objects(phase)


def make(study, plan: str = "one-view", budget: int = 1000, **values) -> JudgeRun:
    return planning.make(study, None, "seer-1", Wish(plan, budget, **values))


def finish(run: JudgeRun, turns: int = 300) -> JudgeRun:
    """Start it and work on it until nobody need work on it any more."""
    run.start(None)
    for _ in range(turns):
        JudgeRun.objects.update(lease_until=None)
        if not ask_due():
            break
    run.refresh_from_db()
    return run


def elos(run: JudgeRun, criterion: str = "overall") -> dict[str, float]:
    return {row["method"]: row["elo"] for row in run.result["criteria"][criterion]["rows"]}


# --- well


def test_every_question_is_asked_once_and_scores_follow(study, server):
    run = finish(make(study, anchor="onyx"))
    assert run.state == "done" and run.n_planned == run.n_answered == run.requests == PAIRS * PROMPTS == len(server.requests)
    assert run.left == 0 and run.n_unparsed == 0 and run.lease_token is None and run.finished_at
    assert (run.tokens_in, run.tokens_out) == (18 * 1000, 18 * 150)
    assert run.cost == 18 * PRICE and run.reserved == 0 and run.n_uncosted == 0 and run.images == 18 * 4
    for body in server.requests:
        assert body["model"] == "seer-1" and body["n"] == 3
    assert {instruction_of(body) for body in server.requests} == {instruction(run.questions[0], text) for text in TEXTS}
    assert "text_asset_alignment" in run.result["criteria"] and len(run.result["criteria"]) == 6  # PostgreSQL keeps no order of keys
    scores = elos(run)
    assert list(scores) == ["ruby", "opal", "onyx", "coal"] and scores["onyx"] == 1000
    assert run.result["criteria"]["overall"]["answers"] == 54 and run.result["criteria"]["overall"]["comparisons"] == 18
    answer = run.answers.first()
    assert len(answer.said) == 3 and answer.verdicts[0] == answer.verdicts[2] and answer.state == "answered"
    better = answer.left if QUALITY[answer.left.label] > QUALITY[answer.right.label] else answer.right
    assert answer.verdicts[0] == [-1 if better == answer.left else 1] * 6
    rater = Rater.objects.get(study=study)
    assert rater.kind == "judge" and rater == run.rater and rater.name == f"seer-1 · one-view · {run.created_at:%Y-%m-%d} · prompts v1"


def test_the_key_and_the_methods_stay_here(study, server, caplog):
    caplog.set_level(logging.DEBUG)
    run = finish(make(study))
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert KEY not in caplog.text and KEY not in str(vars(run)) and KEY not in str(list(AuditEntry.objects.values()))
    sent = " ".join(instruction_of(body) for body in server.requests)
    assert [name for name in QUALITY if name in sent] == []


def test_the_image_holds_the_views_of_the_two_sides(study, server):
    run = finish(make(study, "joint"))
    assert run.state == "done"
    by_text = {}
    for body in server.requests:
        shown = picture(body)
        assert shown.shape == (4 * S, 4 * S, 3)
        by_text.setdefault(instruction_of(body).partition('is: "')[2].partition('"')[0], []).append(
            {int(shown[S // 2, S // 2, 0]), int(shown[S // 2, -S // 2, 0])}
        )
    for answer in run.answers.select_related("left", "right"):
        assert {QUALITY[answer.left.label], QUALITY[answer.right.label]} in by_text[TEXTS[int(answer.sample)]]


def test_a_new_entry_is_placed_and_the_others_stay(study, phase, server):
    base = finish(make(study, anchor="onyx"))
    before = elos(base)
    items = {item: object_of(120, 4) for item in Materials(study).reference.item_ids}
    new = StudyEntry.objects.create(study=study, label="new", submission=entry(phase, "new", items))
    run = finish(planning.make(study, None, "seer-1", Wish("one-view", 1000, newcomer=new, base=base)))
    assert run.state == "done" and run.n_planned == 4 * PROMPTS and "places new" in run.rater.name
    after = elos(run)
    assert {name: after[name] for name in before} == before and before["opal"] > after["new"] > before["onyx"]
    assert [row["placed"] for row in run.result["criteria"]["overall"]["rows"]] == [False, False, True, False, False]
    with pytest.raises(ValueError, match="remove those first"):
        base.remove(None)
    with pytest.raises(ValueError, match="an ended run"):
        planning.make(study, None, "seer-1", Wish("one-view", 1000, newcomer=new))
    study.remove(None)
    assert not JudgeRun.objects.exists()


# --- what cannot be asked


def test_plans_take_what_is_there(study, phase):
    with pytest.raises(ValueError, match="takes 1,500 requests and the budget is 1,500"):
        make(study, "ensemble", 1500)
    with pytest.raises(ValueError, match="There is no plan 'tarot'"):
        make(study, "tarot")
    with pytest.raises(ValueError, match="no entry 'nobody' to anchor"):
        make(study, anchor="nobody")
    with pytest.raises(ValueError, match="nothing to ask"):
        make(study, "nine-views")  # there are four views
    run = make(study, "both-ways")
    assert run.n_planned == 2 * PAIRS * PROMPTS and run.state == "planned"
    # 9 views are asked for in one of the ensemble's rows, and there are four: no sample can be shown in all of them.
    with pytest.raises(ValueError, match="nothing to ask"):
        make(study, "ensemble", 1501)


def test_without_normals_and_texts_the_rest_is_asked(phase):
    phase.batches.all().delete()
    study = study_of_objects(phase, normals=False)
    with pytest.raises(ValueError, match="needs files that these entries lack"):
        make(study, "joint")
    assert [row.criteria for row in make(study, "colour").questions] == [(0, 1, 3)]


def test_entries_without_a_sample_are_not_asked_on_it(study):
    Submission.objects.filter(method_name="coal").update(missing_items=["0/0-2", "1/0-0"])
    run = make(study)
    assert run.n_planned == 3 * PROMPTS + 3 * 1
    Submission.objects.filter(method_name="coal").update(withdrawn_at=timezone.now())
    assert make(study).n_planned == 3 * PROMPTS


def test_meshes_are_drawn_once_and_judged_without_a_text(phase, server, monkeypatch):
    phase.batches.all().delete()
    phase.challenge.family = "mesh"
    phase.challenge.save()
    give_reference(phase, boxes(n=1), ())
    rows = {f"h{height}": entry(phase, f"h{height}", boxes(height, 1)) for height in (0.5, 2.0)}
    run = finish(make(study_of(phase, rows)))
    assert run.state == "done" and [row.criteria for row in run.questions] == [(1, 2, 3, 4, 5)]
    assert "same thing" in instruction_of(server.requests[0]) and picture(server.requests[0]).shape == (2 * S, 2 * S, 3)
    monkeypatch.setattr("leaderboard.studies.judge.images.mesh_views", None)
    assert np.array_equal(picture(server.requests[0]), _decoded(image_of(run.answers.get())))


def _decoded(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def test_wireframes_are_judged_for_display_only(phase, server):
    references = gables()
    rows = {f"n{scale}": entry(phase, f"n{scale}", perturbed(references, scale)) for scale in (0.01, 2.0)}
    server.behave = lambda body: says(*["Both are fine, RIGHT is fuller, yet LEFT\nis closer. LEFT"] * body["n"])
    run = finish(make(study_of(phase, rows), "wireframe"))
    assert run.state == "done" and run.is_for_display_only and run.n_answered == 4
    assert run.result["criteria"] == {"overall": {"anchor": "", "rows": [], "comparisons": 4, "answers": 12}}
    assert instruction_of(server.requests[0]) == wireframe_instruction()
    with pytest.raises(ValueError, match="judged by the plan wireframe"):
        make(study_of(phase, rows, slug="other"), "joint")


# --- badly


def test_an_endpoint_that_gives_one_text_is_asked_three_times(study, server):
    server.behave = lambda body: says(*[_text(brighter(body))])
    run = finish(make(study, budget=1000))
    assert run.state == "done" and run.requests == 3 * run.n_planned and {len(a.said) for a in run.answers.all()} == {3}
    assert sorted({body.get("n", 1) for body in server.requests}) == [1, 2, 3]


def _text(answer: Answer) -> str:
    return answer.body["choices"][0]["message"]["content"]


def test_what_cannot_be_read_is_asked_again_and_given_up_after_ten_rounds(study, server):
    poor = {"n": 0}

    def behave(body):
        if "a boat" in instruction_of(body):
            return says(*["I prefer the left one."] * 3)
        poor["n"] += 1
        return brighter(body) if poor["n"] % 2 else says("1, 1", "1 2", _text(brighter(body)))

    server.behave = behave
    run = finish(make(study))
    assert run.state == "done" and run.n_failed == PAIRS and run.n_answered == 2 * PAIRS
    failed = run.answers.filter(state="failed")
    assert {answer.sample for answer in failed} == {"2"}
    assert {(answer.rounds, answer.requests, answer.n_unparsed, len(answer.said)) for answer in failed} == {(MAX_ROUNDS, 10, 30, 30)}
    assert failed.first().failure
    assert run.n_unparsed == 30 * PAIRS + 2 * (2 * PAIRS // 2) and elos(run)["ruby"] > elos(run)["coal"]


def test_one_who_refuses_gets_no_second_and_third_try_in_a_round(study, server):
    said = "I will not compare these."
    declined = Answer({"choices": [{"message": {"content": None, "refusal": said}}]})
    server.behave = lambda body: declined if "a boat" in instruction_of(body) else brighter(body)
    run = finish(make(study))
    assert run.state == "done" and run.n_failed == PAIRS and run.requests == 2 * PAIRS + PAIRS * MAX_ROUNDS
    answer = run.answers.filter(state="failed").first()
    assert answer.said[0] == {"text": said, "verdicts": None, "refused": True, "cut": False}
    assert run.n_uncosted == run.n_refused == PAIRS * MAX_ROUNDS and run.n_unread == 0


@pytest.mark.parametrize("parallel", [1, 4])
@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        (says("<think>I prefer\nthe left one.</think>", "2", "3"), "“<think>I prefer the left one.</think>”"),
        (says("", "", ""), "an empty text"),
        (Answer({"choices": [{"message": {"content": None, "refusal": "I will not."}}]}), "declined: “I will not.”"),
        (Answer({"choices": [{"message": {"content": "Let me think"}, "finish_reason": "length"}]}), "cut off"),
    ],
)
def test_a_judge_that_cannot_be_read_is_asked_no_more_and_its_first_answer_is_shown(study, server, settings, parallel, answer, quoted):
    settings.JUDGE_PARALLEL = parallel
    server.behave = lambda body: answer
    run = finish(make(study))
    asked = run.answers.filter(requests__gt=0).count()
    # What was on its way when it stopped is kept; a text that was cut short takes three requests a round.
    assert run.state == "failed" and ENOUGH_UNREAD <= run.requests < ENOUGH_UNREAD + parallel and run.requests == len(server.requests)
    assert quoted in run.failure
    assert run.n_answered == run.n_failed == 0 and asked >= ENOUGH_UNREAD // 3
    # Once it is mended the run goes on where it stopped.
    server.behave = brighter
    run = finish(run)
    assert run.state == "done" and run.n_answered == run.n_planned and run.failure == ""


def test_a_run_of_a_small_budget_stops_before_half_of_it_is_spent_on_what_cannot_be_read(study, server, settings):
    settings.JUDGE_PARALLEL = 1
    server.behave = lambda body: says(*["I prefer the left one."] * 3)
    run = finish(make(study, budget=6))
    assert (run.state, run.requests, run.n_answered) == ("failed", 3, 0) and "3 questions" in run.failure


def test_a_first_question_that_cannot_be_read_says_nothing_of_the_others(study, server, settings):
    """It is asked again after them."""
    settings.JUDGE_PARALLEL = 1
    first: list[str] = []

    def behave(body):
        first.append(instruction_of(body) + str(body)[-200:])
        return says("no", "no", "no") if first[-1] == first[0] else brighter(body)

    server.behave = behave
    run = finish(make(study))
    assert run.state == "done" and (run.n_answered, run.n_failed) == (run.n_planned - 1, 1)


def test_a_wrong_key_ends_it_without_showing_it_and_the_run_can_go_on(study, server):
    server.behave = lambda body: fault(401, f"bad key {KEY}")
    run = finish(make(study))
    assert run.state == "failed" and run.failure and KEY not in run.failure and run.n_answered == 0
    server.behave = brighter
    assert finish(run).state == "done"


def test_no_endpoint_set_up_is_said(study, settings):
    settings.JUDGE_URL = ""
    run = finish(make(study))
    assert run.state == "failed" and "PLUMBLINE_JUDGE_URL" in run.failure


def test_a_busy_endpoint_is_left_alone_as_long_as_it_asks(study, server):
    server.behave = lambda body: fault(429, "slow down", Retry_After="50")
    run = make(study)
    run.start(None)
    assert ask_due() == 0
    run.refresh_from_db()
    assert run.state == "asking" and "429" in run.failure and 40 < (run.lease_until - timezone.now()).total_seconds() < 51
    assert ask_due() == 0 and len(server.requests) <= 4  # nobody claims it before
    server.behave = brighter
    assert finish(run).state == "done" and run.failure == ""


def test_an_endpoint_that_is_away_for_good_fails_the_run_and_costs_no_question_its_rounds(study, server):
    server.behave = lambda body: fault(500)
    run = make(study)
    run.start(None)
    for n in range(MAX_FRUITLESS):
        JudgeRun.objects.update(lease_until=None)
        assert JudgeRun.objects.get().state == "asking", n
        ask_due()
    run.refresh_from_db()
    assert run.state == "failed" and "The endpoint answered 500" in run.failure
    assert not run.answers.exclude(faults=0, rounds=0, state="waiting").exists()


@pytest.mark.parametrize("parallel", [1, 4])
def test_questions_that_break_the_endpoint_hold_up_no_other_and_are_asked_again_once_it_is_mended(study, server, settings, parallel):
    settings.JUDGE_PARALLEL = parallel
    server.behave = lambda body: fault(500) if "a boat" in instruction_of(body) else brighter(body)
    run = make(study)
    for answer in run.answers.all():  # the worst of orders: all that break it come first
        JudgeAnswer.objects.filter(pk=answer.pk).update(number=answer.number + (0 if answer.sample == "2" else 1000))
    run.start(None)
    while JudgeRun.objects.filter(state="asking").update(lease_until=None):
        ask_due()
    run = JudgeRun.objects.get()
    assert (run.state, run.n_answered, run.n_failed, run.left, "500" in run.failure) == ("failed", 2 * PAIRS, 0, PAIRS, True) and elos(run)
    server.behave = brighter
    assert (finish(run).state, run.n_answered, run.left) == ("done", 3 * PAIRS, 0)


def test_slow_answers_are_waited_for_under_the_lease(study, server, settings):
    settings.HEARTBEAT_SECONDS = 0.2
    server.behave = lambda body: Answer(brighter(body).body, wait=1.2)
    run = make(study, budget=4)
    run.start(None)
    run = JudgeRun.objects.waiting().claim("slow")
    until = run.lease_until
    assert work_on(run) == 4
    run.refresh_from_db()
    assert run.state == "done" and until < timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)


# --- in part


def test_the_budget_ends_it_and_a_larger_one_goes_on(study, server, settings):
    run = finish(make(study, budget=7))
    assert run.state == "done" and run.n_planned == 7 and run.requests == 7  # a sweep plans no more than that
    server.requests.clear()
    server.behave = lambda body: brighter(body) if len(server.requests) == 1 else says("?", "?", "?")
    settings.JUDGE_PARALLEL = 1
    run = finish(make(study, "joint", budget=5, seed=3))
    assert run.state == "spent" and run.requests == 5 == run.budget and run.n_answered == 1
    with pytest.raises(ValueError, match="5 requests were made already"):
        run.start(None)
    server.behave = brighter
    run.start(None, budget=100)
    finish(run)
    assert run.state == "done" and run.n_answered == 5 and run.requests == 5 + 4


def test_a_most_cost_without_prices_is_refused(study, server, settings):
    settings.JUDGE_PRICE_OUT = None
    with pytest.raises(ValueError, match=r"PLUMBLINE_JUDGE_PRICES\. Or leave it out"):
        make(study, most_cost=Decimal(1))
    assert not JudgeRun.objects.exists()


def test_a_run_that_is_stopped_while_nobody_has_it_gets_its_scores(study, server):
    run = make(study)
    run.start(None)
    server.answers = [fault(500)]  # ends the turn once what else was on its way is answered
    work_on(JudgeRun.objects.waiting().claim("w"))
    run.refresh_from_db()
    assert run.state == "asking" and run.n_answered and run.result is None and run.lease_token is None
    run.pause(None)
    assert wake_judges() == 1 and ask_due() == 0
    run.refresh_from_db()
    assert run.state == "paused" and run.result["answered"] == run.n_answered and run.result["criteria"]["overall"]["answers"]
    assert wake_judges() == 0


def test_what_was_cancelled_meanwhile_is_not_started(study):
    run = make(study)
    seen = JudgeRun.objects.get()
    run.cancel(None)
    with pytest.raises(ValueError, match="has ended a moment ago"):
        seen.start(None)
    assert JudgeRun.objects.get().state == "cancelled"


def test_paused_is_paused_and_what_was_on_its_way_is_kept(study, server, settings):
    settings.HEARTBEAT_SECONDS = 0.1
    run = make(study)
    server.behave = lambda body: Answer(brighter(body).body, wait=0.5)
    run.start(None)
    claimed = JudgeRun.objects.waiting().claim("w")
    done = work_on(claimed, progress=lambda: JudgeRun.objects.get(pk=run.pk).pause(None))
    run.refresh_from_db()
    assert run.state == "paused" and 1 <= done == run.n_answered < 18 and run.lease_token is None
    assert len(server.requests) == run.requests == run.n_answered and run.result["criteria"]
    assert ask_due() == 0
    server.behave = brighter
    assert finish(run).state == "done" and run.requests == 18
    assert len(server.requests) == 18


def test_cancelled_is_for_good(study, server):
    run = make(study)
    run.start(None)
    run.cancel(None)
    assert run.state == "cancelled" and ask_due() == 0
    with pytest.raises(ValueError, match="cancelled; plan a new one"):
        run.start(None)
    run.remove(None)
    assert not Rater.objects.exists() and not JudgeAnswer.objects.exists()
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {"judge.plan", "judge.start", "judge.cancel", "judge.remove"}


def test_a_late_worker_writes_nothing(study, server):
    run = make(study)
    run.start(None)
    late = JudgeRun.objects.waiting().claim("late")
    assert end_leases(JudgeRun.objects.all()) == 1
    server.behave = lambda body: Answer(brighter(body).body, wait=0.2)
    prompt = JudgeRun.objects.waiting().claim("prompt")
    work_on(late)
    assert not run.answers.exclude(said=[]).exists() and JudgeRun.objects.get().lease_token == prompt.lease_token
    assert work_on(prompt, seconds=600.0) == 18


def test_a_worker_is_woken_for_what_waits(study):
    run = make(study)
    assert wake_judges() == 0
    run.start(None)
    assert wake_judges() == 1


def test_estimates_become_the_runs_own_figures(study, server):
    run = make(study)
    before = planning.expected(run, setup.endpoint())
    assert before.requests == 18 and before.images == 72 and before.tokens_in > 18 * 500 and before.cost > 0
    assert planning.expected(run, None).cost is None
    finish(make(study, "joint", budget=4))
    run.start(None)
    JudgeRun.objects.filter(pk=run.pk).update(budget=9)
    ask_due()
    run.refresh_from_db()
    assert run.state == "spent"
    after = planning.expected(run, setup.endpoint())
    assert (after.requests, after.tokens_in, after.tokens_out) == (9, 9000, 1350) and criteria(server.requests[0]) == 6

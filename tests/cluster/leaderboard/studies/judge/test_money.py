"""No limit of money is passed: by parallel requests and workers, after kill -9, for any prices and usages; and the cap is met exactly."""

from __future__ import annotations

import threading
from decimal import Decimal

import numpy as np
import pytest

from leaderboard.models import JudgeBudget, JudgeRun
from leaderboard.models.judge_budget import Unpaid, month_of
from leaderboard.studies.judge import planning, setup
from leaderboard.studies.judge.client import FRAME_TOKENS, Endpoint, question
from leaderboard.studies.judge.materials import Materials
from leaderboard.studies.judge.planning import Wish
from leaderboard.studies.judge.run import ask_due, work_on
from tests.cluster.leaderboard.studies.judge.test_run import make, server
from tests.support.at_once import together
from tests.support.examples import examples
from tests.support.leaderboard.studies.judge.endpoint import KEY, Answer, fault, instruction_of, says
from tests.support.leaderboard.studies.judge.studies import brighter, study_of_objects
from tests.support.processes import Worker, end_leases, wait_until

__all__ = ["server"]  # the fixture
pytestmark = pytest.mark.django_db
IMAGE, OUT = 2000, 100  # tokens of an image and of a text at most


@pytest.fixture
def study(phase, server, settings):
    phase.batches.all().delete()
    settings.JUDGE_IMAGE_TOKENS, settings.JUDGE_MAX_TOKENS = IMAGE, OUT
    server.behave = dearest
    return study_of_objects(phase)


def dearest(body) -> Answer:
    """An answer that takes all that it may."""
    answer = brighter(body)
    tokens = FRAME_TOKENS + len(instruction_of(body).encode()) + IMAGE
    answer.body["usage"] = {"prompt_tokens": tokens, "completion_tokens": OUT * body.get("n", 1)}
    return answer


def bounds(run: JudgeRun) -> list[Decimal]:
    """Most that each question can cost, in the order in which they are asked."""
    materials, endpoint = Materials(run.study), setup.endpoint()
    texts = [materials.instruction(run.questions[answer.row], answer.sample) for answer in run.answers.all()]
    return [endpoint.bound(question(text, b""), run.choices) for text in texts]


def taken(server) -> Decimal:
    """Cost of what the endpoint has been asked for, at what it took."""
    usages = [dearest(body).body["usage"] for body in server.requests]
    return sum((setup.endpoint().cost(one["prompt_tokens"], one["completion_tokens"]) for one in usages), Decimal(0))


def work() -> None:
    while ask_due():
        pass


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_run_stops_at_its_cap_to_the_last_decimal(study, server, settings, parallel):
    settings.JUDGE_PARALLEL = parallel
    cap = sum(bounds(make(study))[:7])
    run = make(study, most_cost=cap)
    planning.begin(run, None)
    work()
    run.refresh_from_db()
    assert (run.state, run.requests, run.sent, run.reserved, run.cost) == ("spent", 7, 7, 0, cap) and taken(server) == cap
    with pytest.raises(ValueError, match="plan another"):
        planning.begin(run, None)
    less = make(study, most_cost=cap - Decimal("0.0000000001"))
    less.start(None)
    work()
    less.refresh_from_db()
    assert (less.state, less.requests) == ("spent", 6) and less.cost < cap


def test_what_came_back_for_less_pays_for_more(study, server):
    """Each question may cost 0.009 or so and costs a tenth of that: a cap of three of them pays for all 18."""
    server.behave = lambda body: Answer(brighter(body).body | {"usage": {"prompt_tokens": 100, "completion_tokens": 10}})
    run = make(study, most_cost=3 * max(bounds(make(study))))
    planning.begin(run, None)
    work()
    run.refresh_from_db()
    assert (run.state, run.requests, run.reserved, run.cost) == ("done", 18, 0, 18 * Decimal("0.0003"))


def test_lost_unknown_and_refused_requests_count_as_they_should(study, server, settings):
    settings.JUDGE_PARALLEL = 1
    first, second, *_ = bounds(make(study))
    unknown = says("1 1 1 1 1 1", "1 1 1 1 1 1", "1 1 1 1 1 1", tokens=None)
    declined = Answer({"choices": [{"message": {"refusal": "No."}}], "usage": {"prompt_tokens": 10, "completion_tokens": 1}})
    unread = says("?", "?", "?", tokens=(10, 1))
    server.answers = [Answer(b"half an answ"), unknown, fault(500, "overloaded"), declined, unread]
    run = make(study, budget=100)
    run.start(None)
    for _ in range(8):
        JudgeRun.objects.update(lease_until=None)
        ask_due()
    run.refresh_from_db()
    assert run.state == "done" and run.n_answered == 18 and len(server.requests) == run.sent + 1, "the refused one costs nothing"
    assert (run.n_read, run.n_refused, run.n_unread, run.n_errors, run.n_lost, run.n_uncosted) == (18, 1, 1, 2, 1, 1)
    assert "500: overloaded" in run.last_error and run.last_error_at
    assert run.sent == run.requests + run.n_lost == 21 and run.reserved in {first + first, first + second}


def test_an_endpoint_that_counts_more_than_it_was_told_is_asked_nothing_more(study, server, settings):
    settings.JUDGE_PARALLEL = 1
    server.behave = lambda body: Answer(brighter(body).body | {"usage": {"prompt_tokens": 90_000, "completion_tokens": 10}})
    run = make(study)
    run.start(None)
    work()
    run.refresh_from_db()
    assert (run.state, run.requests, run.cost) == ("failed", 1, Decimal("0.1801")) and "PLUMBLINE_JUDGE_IMAGE_TOKENS" in run.failure


def test_budgets_of_the_month_hold_a_run_back_before_and_while_it_asks(study, server, people):
    challenge = study.phase.challenge
    run, (one, *_) = make(study), bounds(make(study))
    JudgeBudget.set_limit(challenge, one / 2, people.organizer)
    with pytest.raises(ValueError, match=rf"is left of the .* that judge models may cost the challenge “{challenge.title}” in"):
        planning.begin(run, people.organizer)
    JudgeBudget.set_limit(challenge, Decimal(9), people.organizer)
    JudgeBudget.set_limit(people.organizer, one, people.organizer)
    with pytest.raises(ValueError, match=r"What is left to be asked is estimated at .* may cost runs that organizer starts"):
        planning.begin(run, people.organizer)
    assert JudgeRun.objects.get(pk=run.pk).state == "planned" and not server.requests
    run.start(people.organizer)  # as if the budget had been enough a moment ago
    work()
    run.refresh_from_db()
    assert run.state == "spent" and run.failure and len(server.requests) == 1
    mine, its = JudgeBudget.of(people.organizer), JudgeBudget.of(challenge)
    assert mine.counted == its.counted == run.cost == taken(server) <= one
    JudgeBudget.objects.update(month="2020-01")  # the next month begins
    assert JudgeBudget.of(challenge).counted == 0 and JudgeBudget.of(challenge).remaining == 9
    run.remove(people.organizer)
    JudgeBudget.objects.update(month=mine.month)
    assert JudgeBudget.of(challenge).counted == its.counted, "what was spent stays counted"


def test_what_is_limited_needs_prices(study, server, settings, people):
    settings.JUDGE_CHALLENGE_BUDGET = Decimal(5)
    other = planning.make(study, None, "dear-2", Wish("one-view", 50))
    with pytest.raises(ValueError, match="prices of this model are not known"):
        planning.begin(other, people.organizer)
    settings.JUDGE_PRICES = {"dear-2": (Decimal(1), Decimal(1))}
    planning.begin(other, people.organizer)
    settings.JUDGE_PRICES = {"dear-2": (Decimal(4000), Decimal(9000))}
    with pytest.raises(ValueError, match=r"is left of the 5\.00 USD"):
        planning.begin(planning.make(study, None, "dear-2", Wish("one-view", 50)), None)


def test_no_order_of_answers_losses_and_refusals_passes_a_cap_at_any_price(study, people):
    """Prices, usages, caps and outcomes by chance: what the endpoint may ask for stays within every limit, and sums are exact."""
    rng = np.random.default_rng(5)
    challenge, month = study.phase.challenge, None
    for _ in range(examples(12).max_examples):
        JudgeBudget.objects.all().delete()
        price_in, price_out = (Decimal(int(n)).scaleb(-4) for n in rng.integers(0, 10**6, 2))
        most = [(int(i), int(o)) for i, o in rng.integers(1, 60_000, (25, 2))]
        cost = Endpoint("", "", price_in=price_in, price_out=price_out).cost
        total = sum((cost(*one) for one in most), Decimal(0))
        own, shared = (total * Decimal(int(n)) / 100 for n in rng.integers(5, 120, 2))
        own, shared = own.quantize(Decimal("0.0001")), shared.quantize(Decimal("0.0001"))
        run = make(study, most_cost=own)
        JudgeBudget.set_limit(challenge, shared, people.organizer)
        run.start(people.organizer)
        run = JudgeRun.objects.waiting().filter(pk=run.pk).claim("w")
        owed, known, open_ = Decimal(0), Decimal(0), []
        answer = run.answers.first()
        for tokens_in, tokens_out in most:
            bound = cost(tokens_in, tokens_out)
            try:
                open_.append((run.reserve(bound), tokens_in, tokens_out))
            except Unpaid:
                assert run.counted + bound > own or JudgeBudget.of(challenge).counted + bound > shared
            while open_ and rng.random() < 0.4:
                paid, i, o = open_.pop(int(rng.integers(len(open_))))
                took = cost(int(rng.integers(i + 1)), int(rng.integers(o + 1)))
                end = rng.choice(["answered", "lost", "unknown", "refused"], p=[0.6, 0.15, 0.1, 0.15])
                if end == "refused":
                    run.give_back(paid)
                    continue
                owed += took
                if end == "answered":
                    known += took
                    assert run.keep(answer, {}, {"requests": 1}, paid, took)
                elif end == "unknown":
                    assert run.keep(answer, {}, {"requests": 1}, paid, None)
            run.refresh_from_db()
            budget = JudgeBudget.of(challenge)
            assert owed <= run.counted == budget.counted <= min(own, shared) and run.cost == budget.spent == known
        month = month or month_of(run.started_at)
        assert JudgeBudget.of(people.organizer).counted == run.counted and budget.month == month
        run.release_lease("done")


@pytest.mark.django_db(transaction=True)
def test_two_workers_on_two_runs_share_a_budget_and_stay_within_it(study, server, people):
    runs = [make(study, seed=n) for n in range(2)]
    JudgeBudget.set_limit(study.phase.challenge, sum(bounds(runs[0])[:9]), people.organizer)
    server.behave = lambda body: Answer(dearest(body).body, wait=0.05)
    for run in runs:
        run.start(people.organizer)
    together([lambda: work_on(JudgeRun.objects.waiting().claim("w"))] * 2)
    budget = JudgeBudget.of(study.phase.challenge)
    assert taken(server) == budget.spent <= budget.cap and budget.reserved == 0
    assert budget.remaining < max(bounds(runs[0])) and {run.requests > 0 for run in JudgeRun.objects.filter(state="spent")} == {True}


@pytest.mark.django_db(transaction=True)
def test_kill_9_between_asking_and_keeping_leaves_the_most_it_can_have_cost(study, server):
    held = threading.Event()

    def behave(body) -> Answer:
        held.wait(60)
        return dearest(body)

    server.behave = behave
    run = make(study, most_cost=sum(bounds(make(study))[:6]))
    run.start(None)
    env = {
        "PLUMBLINE_JUDGE_URL": server.url,
        "PLUMBLINE_JUDGE_KEY": KEY,
        "PLUMBLINE_JUDGE_MODEL": "seer-1",
        "PLUMBLINE_JUDGE_RATE": "0",
        "PLUMBLINE_JUDGE_PARALLEL": "2",
        "PLUMBLINE_JUDGE_PRICE_IN": "2",
        "PLUMBLINE_JUDGE_PRICE_OUT": "10",
        "PLUMBLINE_JUDGE_IMAGE_TOKENS": str(IMAGE),
        "PLUMBLINE_JUDGE_MAX_TOKENS": str(OUT),
    }
    with Worker(**env) as worker:
        wait_until(lambda: len(server.requests) == 2, what="two requests on their way")
        worker.kill()
    run.refresh_from_db()
    lost = sum(bounds(run)[:2])
    assert (run.sent, run.requests, run.cost, run.reserved) == (2, 0, 0, lost) and taken(server) == lost
    held.set()
    assert end_leases(JudgeRun.objects.all()) == 1
    work()
    run.refresh_from_db()
    assert run.state == "spent" and run.reserved == lost and run.requests == run.sent - 2 >= 3
    assert taken(server) == run.counted <= run.most_cost

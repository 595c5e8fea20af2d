"""The asking: a worker takes a run for a turn, keeps each answer as it comes, and gives the run back.

Answers are stored before the next question is asked, so a worker that is killed loses only the answers on their way at that moment. Nothing
is written but under the lease. The threads only wait for the endpoint; images, rows, money and the lease are the main thread's.

Before a request is sent it is counted at the most that it can cost, which is committed to the database; afterwards what it has cost
stands in its place. So no limit is passed, whoever else asks at the same time and whenever a worker is killed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.utils import timezone

from evaluation.work.attempts import attempt, logged
from evaluation.work.heartbeat import process_name
from evaluation.work.sandbox import LeaseLost
from evaluation.work.shares import SLICE_SECONDS, entries_wait
from leaderboard.models import JudgeAnswer, JudgeRun
from leaderboard.models.judge import ENOUGH_UNREAD, FIRST_PAUSE, LEAST_READ, MAX_FAULTS, MAX_FRUITLESS, MAX_ROUNDS, Said
from leaderboard.models.judge_budget import Reservation, Unpaid
from leaderboard.studies.judge import instructions, setup
from leaderboard.studies.judge.answers import result_of
from leaderboard.studies.judge.client import PATIENCE, Away, Client, Refused, Reply, question
from leaderboard.studies.judge.materials import Materials, image_of
from leaderboard.studies.judge.paid import miscounted
from submissions import database_clock
from submissions.entry_states import Why
from submissions.formats.errors import excerpt

MAX_QUOTED = 200  # characters of an answer that could not be read
LAST_PAUSE = 300.0  # of a run whose endpoint does not answer, doubled from turn to turn
State = JudgeRun.State


def ask_due() -> int:
    """Score what has stopped, claim a run and ask for one turn; how much was done, as `work_on` counts it."""
    for stopped in JudgeRun.objects.unscored():
        keep_scores(stopped)
    run = JudgeRun.objects.waiting().claim(process_name())
    if run is None:
        return 0
    with logged("judge asked", run, run.study.phase, study=run.study.slug, model=run.model):
        return work_on(run)


def keep_scores(run: JudgeRun) -> None:
    """The scores of a run that was stopped while no worker had it, or whose worker could not give them."""
    JudgeRun.objects.filter(pk=run.pk, n_answered=run.n_answered, state=run.state).update(result=result_of(run))


def work_on(run: JudgeRun, seconds: float = SLICE_SECONDS, progress: Callable[[], object] | None = None) -> int:
    """One turn of a claimed run; how many questions were settled, or how many replies came where none was. `progress` is called after
    each answer."""
    try:
        endpoint = setup.endpoint_paid_by(run.key, run.model)
    except ValueError as error:
        run.release_lease(State.FAILED, JudgeRun.stopped_by(error))
        return 0
    before = run.left
    replies = 0
    with attempt(run), Client(endpoint, PATIENCE, counts=True) as client:
        turn = _Turn(run, client, seconds, progress)
        turn.go()
        replies = turn.replies
    return before - run.left or replies


@dataclass(frozen=True)
class _Asked:
    """A question, so many texts of which are wanted, and once it is on its way what was reserved for it."""

    answer: JudgeAnswer
    messages: list[dict]
    texts: int = 1
    paid: Reservation | None = None


class _Turn:
    """One worker's turn with a run."""

    def __init__(self, run: JudgeRun, client: Client, seconds: float, progress: Callable[[], object] | None) -> None:
        self.run, self.client = run, client
        self.until = time.monotonic() + seconds
        self.progress = progress
        self.materials: Materials | None = None
        self.rows = run.questions
        self.fault: Away | None = None  # the last one
        self.failed_at: list[JudgeAnswer] = []
        self.again: deque[_Asked] = deque()
        self.later: deque[_Asked] = deque()  # those of which no text could be read, which come after all others
        self.replies = 0
        self.longest = 0.0  # seconds of a reply
        self.unpaid: Unpaid | None = None  # why the next request cannot be paid, once none is under way
        self.noted = 0  # of the client's errors
        self.beaten = time.monotonic()

    def go(self) -> None:
        """Ask until the turn is over, then say how the run stands."""
        stopped: Refused | None = None
        with ThreadPoolExecutor(settings.JUDGE_PARALLEL) as pool:
            under_way: dict[Future[Reply], _Asked] = {}
            source = self._waiting()
            try:
                while True:
                    self.unpaid = None  # what came back meanwhile may have cost less than was reserved for it
                    while stopped is None and len(under_way) < settings.JUDGE_PARALLEL and self._may_ask():
                        asked = self.again.popleft() if self.again else next(source, None)
                        if asked is None and self.later:
                            asked = self.later.popleft()
                        self._beat()  # to draw a question may take seconds
                        if asked is None or (paid := self._paid(asked)) is None:
                            break
                        under_way[pool.submit(self.client.ask, paid.messages, paid.texts)] = paid
                    if not under_way:
                        break
                    done, _ = wait(under_way, timeout=settings.HEARTBEAT_SECONDS, return_when=FIRST_COMPLETED)
                    self._beat()
                    for future in done:
                        stopped = self._came(future, under_way.pop(future)) or stopped
                    self._note_errors()
            except BaseException:
                self.client.stop()
                raise
        self._note_errors()
        # A question at which the endpoint failed while it answered others comes after these, and is given up in the end.
        for answer in self.failed_at if self.replies else ():
            values: dict[str, Any] = {"faults": answer.faults + 1}
            counts: dict[str, int] = {}
            if values["faults"] >= MAX_FAULTS:
                values |= {"state": JudgeAnswer.State.FAILED, "failure": str(self.fault)[:400]}
                counts["n_failed"] = 1
            self._keep(answer, values, counts)
        self._end(stopped)

    def _end(self, stopped: Refused | None) -> None:
        """Say how the run stands after this turn. `stopped` is why the endpoint is asked nothing more, if so."""
        run = self.run
        if run.left == 0:
            end(run, State.DONE)
        elif stopped is not None:
            end(run, State.FAILED, JudgeRun.stopped_by(stopped))
        elif self.unpaid is not None:
            end(run, State.SPENT, JudgeRun.stopped_by(self.unpaid))
        elif self.fault is not None and not self.replies:
            run.put_back(JudgeRun.stopped_by(self.fault), max(self.fault.seconds, min(FIRST_PAUSE * 2**run.fruitless, LAST_PAUSE)))
            if failed := JudgeRun.objects.filter(pk=run.pk, state=State.FAILED).first():
                keep_scores(failed)
        elif self.fault is not None:
            run.release_lease(lease_until=database_clock.now() + timedelta(seconds=max(1.0, self.fault.seconds)))
        elif not JudgeRun.objects.filter(pk=run.pk, state=State.ASKING).exists():
            end(run, None)
        else:
            run.release_lease()

    def _beat(self) -> None:
        """Keep the lease, where it is time to, and end the turn where nobody wants its answers any more."""
        if time.monotonic() - self.beaten <= settings.HEARTBEAT_SECONDS / 2:
            return
        self.beaten = time.monotonic()
        if not self.run.is_wanted():
            if not self.run.heartbeat():
                raise LeaseLost
            self.until = 0.0

    # --- asking

    def _waiting(self) -> Iterator[_Asked]:
        """The questions that are left, each once. After a turn without any answer it begins further on: if the failed request itself is to
        blame, others are still answered before the run gives up."""
        seen: set[int] = set()
        waiting = self.run.answers.filter(state=JudgeAnswer.State.WAITING)
        rows = waiting.select_related("left__submission", "right__submission").order_by("faults", "rounds", "number")
        first = waiting.count() * self.run.fruitless // MAX_FRUITLESS if self.run.fruitless else 0
        while found := list(rows.exclude(pk__in=seen)[first : first + 4 * settings.JUDGE_PARALLEL]):
            first = 0
            for answer in found:
                seen.add(answer.pk)
                answer.run = self.run
                try:
                    self.materials = self.materials or Materials(self.run.study)
                    text = self.materials.instruction(self.rows[answer.row], answer.sample)
                    messages = question(text, image_of(answer, self.materials))
                except (ValueError, KeyError, FileNotFoundError) as error:
                    sentence = str(error) if isinstance(error, ValueError) else "What was to be shown is not there any more."
                    self._keep(answer, {"state": JudgeAnswer.State.FAILED, "failure": sentence[:400]}, {"n_failed": 1})
                    continue
                yield _Asked(answer, messages)

    def _may_ask(self) -> bool:
        """True if the turn and the endpoint allow one more, and the last one could be paid."""
        if time.monotonic() + self.longest > self.until or self.fault is not None or self.unpaid is not None:
            return False
        if self.replies and entries_wait():
            self.until = 0.0
            return False
        return True

    def _paid(self, asked: _Asked) -> _Asked | None:
        """The question with the money set aside for it; None where that cannot be, and then it waits."""
        texts = self.run.choices - asked.answer.in_round % self.run.choices
        reservation = None
        try:
            reservation = self.run.reserve(self.client.endpoint.bound(asked.messages, texts))
        except Unpaid as error:
            self.unpaid = error
        else:
            if reservation is None:  # stopped, or somebody else has it by now
                self.until = 0.0
        if reservation is None:
            self.again.appendleft(asked)
            return None
        return replace(asked, texts=texts, paid=reservation)

    # --- what comes back

    def _came(self, future: Future[Reply], asked: _Asked) -> Refused | None:
        """Keep an answer; a fault of the endpoint is remembered, and that it refuses everything is handed back."""
        assert asked.paid is not None
        try:
            reply = future.result()
        except Away as error:
            self.fault = error
            self.failed_at.append(asked.answer)
            if error.lost:  # it stays counted
                self.run.note_errors(0, 1, "")
            else:
                self.run.give_back(asked.paid)
            return None
        except Refused as error:
            self.run.give_back(asked.paid)
            return error
        self.replies += 1
        self.longest = max(self.longest, reply.seconds)
        row = self.rows[asked.answer.row]
        read = instructions.side if self.run.is_for_display_only else lambda text: instructions.verdicts(text, len(row.criteria))
        texts: list[Said] = [
            {"text": one.text, "verdicts": None if one.refused else read(one.text), "refused": one.refused, "cut": one.cut}
            for one in reply.texts
        ]
        cost = self.client.endpoint.cost(reply.tokens_in, reply.tokens_out)
        values, counts = self._settled(asked.answer, reply, texts, cost)
        self._keep(asked.answer, values, counts, asked.paid, cost)
        is_unread = counts["n_unparsed"] == len(texts)
        if asked.answer.state == JudgeAnswer.State.WAITING:  # fewer texts came than were asked for, or none that could be read
            (self.later if is_unread else self.again).append(replace(asked, paid=None))
        if cost is not None and cost > asked.paid.amount:
            return miscounted(reply, cost, asked.paid.amount)
        return self._unreadable() if is_unread else None

    def _settled(self, answer: JudgeAnswer, reply: Reply, texts: list[Said], cost: Decimal | None) -> tuple[dict[str, Any], dict[str, int]]:
        """Values of a question after a reply, and what this adds to the run's counts. The question is settled, wants another request,
        begins again, or is given up."""
        images, unparsed = self.rows[answer.row].images, sum(one["verdicts"] is None for one in texts)
        refused = any(one["refused"] for one in texts)
        counts = {"requests": 1, "images": images, "n_unparsed": unparsed, "n_uncosted": int(cost is None)}
        if unparsed == len(texts):
            counts["n_refused" if refused else "n_unread"] = 1
        counts |= {"tokens_in": reply.tokens_in or 0, "tokens_out": reply.tokens_out or 0}
        values: dict[str, Any] = {
            "said": answer.said + texts,
            "requests": answer.requests + 1,
            "images": answer.images + images,
            "n_unparsed": answer.n_unparsed + unparsed,
            "seconds": answer.seconds + reply.seconds,
            "answered_at": timezone.now(),
            "tokens_in": _sum(answer.tokens_in, reply.tokens_in),
            "tokens_out": _sum(answer.tokens_out, reply.tokens_out),
            "cost": _sum(answer.cost, cost),
            "in_round": answer.in_round + len(texts),
        }
        # One who declines to answer would do so again; the round is over.
        if values["in_round"] >= self.run.choices * answer.repeats or refused:
            values["in_round"] = 0
            if any(one["verdicts"] is not None for one in values["said"]):
                values["state"] = JudgeAnswer.State.ANSWERED
                counts["n_answered"] = 1
            else:
                values["rounds"] = answer.rounds + 1
                if values["rounds"] >= MAX_ROUNDS:
                    values |= {"state": JudgeAnswer.State.FAILED, "failure": f"No text of {MAX_ROUNDS} rounds ended as it was asked to."}
                    counts["n_failed"] = 1
        return values, counts

    def _unreadable(self) -> Refused | None:
        """Return why nothing more should be asked of this judge: hardly any of its answers since the run was started could be read."""
        run = self.run
        asked = run.answers.filter(requests__gt=0, answered_at__gte=run.asking_since)
        read = Count("pk", filter=Q(state=JudgeAnswer.State.ANSWERED))
        found = asked.aggregate(asked=Count("pk"), read=read, requests=Sum("requests"))
        if found["requests"] < min(ENOUGH_UNREAD, max(1, run.budget // 2)) or found["read"] >= LEAST_READ * found["asked"]:
            return None
        first = asked.exclude(state=JudgeAnswer.State.ANSWERED).order_by("answered_at").first()
        assert first is not None  # one came just now
        text = first.said[0]
        words = excerpt(" ".join(text["text"].split()), MAX_QUOTED)
        what = (
            "The model declined" if text["refused"] else "The first was cut off at the limit of tokens" if text["cut"] else "The first was"
        )
        return Refused(
            f"Of {found['asked']} questions {found['read'] or 'none'} had an answer that could be read, so the run stopped before its "
            f"budget was used. {what}: {f'“{words}”' if words else 'an empty text'}"
        )

    def _keep(
        self, answer: JudgeAnswer, values: dict, counts: dict[str, int], paid: Reservation | None = None, cost: Decimal | None = None
    ) -> None:
        if not self.run.keep(answer, values, counts, paid, cost):
            raise LeaseLost
        if values.get("state") and self.progress:
            self.progress()

    def _note_errors(self) -> None:
        """Show what went wrong at the endpoint, while those who ask try again."""
        errors = self.client.errors
        if errors > self.noted:
            self.run.note_errors(errors - self.noted, 0, self.client.last_error)
            self.noted = errors


def end(run: JudgeRun, state: str | None, why: Why | None = None) -> None:
    """Give the run back with the scores that follow from what was answered."""
    run.release_lease(state, why, result=result_of(run))


def _sum(before: Any, more: Any) -> Any:
    """The sum of two numbers of one kind, of which nothing is known where both are None."""
    return more if before is None else before if more is None else before + more

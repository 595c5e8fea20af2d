"""Requests to a judge's endpoint outside runs, paid from the monthly budget of a challenge or an account for judge models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import structlog
from django.db import transaction

from leaderboard.models.judge_budget import JudgeBudget, Reservation, Unpaid, money
from leaderboard.studies.judge.client import Away, Client, Endpoint, Refused, Reply
from submissions.models import Challenge, User

log = structlog.get_logger(__name__)


class PaidClient(Client):
    """Counts each request before it is sent at its maximum cost, and at its real cost once known. A request whose answer is lost stays
    counted. Raises `Refused`, in a sentence, where a request does not fit into the payer's budget."""

    def __init__(self, endpoint: Endpoint, patience: float, payer: Challenge | User) -> None:
        super().__init__(endpoint, patience, counts=True)
        self._payer = payer

    def ask(self, messages: Sequence[Mapping[str, Any]], choices: int = 1) -> Reply:
        try:
            paid = JudgeBudget.set_aside(self._payer, self.endpoint.bound(messages, choices), self.endpoint.model)
        except Unpaid as error:
            raise Refused(str(error)) from None
        try:
            reply = super().ask(messages, choices)
        except Away as error:
            if not error.lost:
                _settle(paid, Decimal(0))
            raise
        except Refused:
            _settle(paid, Decimal(0))
            raise
        cost = self.endpoint.cost(reply.tokens_in, reply.tokens_out)
        log.info(
            "judge model answered without a run",
            payer=str(self._payer),
            model=self.endpoint.model,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=None if cost is None else str(cost),
        )
        if cost is not None:
            _settle(paid, cost)
            if cost > paid.amount:
                raise miscounted(reply, cost, paid.amount)
        return reply


def miscounted(reply: Reply, cost: Decimal, expected: Decimal) -> Refused:
    """Refusal to ask an endpoint anything more that counted more than a request could have taken."""
    return Refused(
        f"The endpoint counted {reply.tokens_in:,} tokens of a question and {reply.tokens_out:,} of its answer. That costs {money(cost)}, "
        f"and at most {money(expected)} was expected. Ask an operator to raise PLUMBLINE_JUDGE_IMAGE_TOKENS or to correct the prices, then "
        "continue."
    )


def _settle(paid: Reservation, cost: Decimal) -> None:
    with transaction.atomic():
        JudgeBudget.settle(paid, cost)

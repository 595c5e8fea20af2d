"""Requests to a judge's endpoint that are of no run, paid from what judge models may cost an account in a month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction

from leaderboard.models.judge_budget import JudgeBudget, Reservation, Unpaid
from leaderboard.studies.judge.client import Away, Client, Endpoint, Refused, Reply
from submissions.models import User


class PaidClient(Client):
    """Counts each request before it is sent, at the most that it can cost, and what it has cost once that is known; one whose answer is
    lost stays counted. Raises `Refused`, in a sentence, where a request does not fit into the account's budget."""

    def __init__(self, endpoint: Endpoint, patience: float, payer: User) -> None:
        super().__init__(endpoint, patience, counts=True)
        self._payer = payer

    def ask(self, messages: Sequence[Mapping[str, Any]], choices: int = 1) -> Reply:
        try:
            paid = JudgeBudget.set_aside(self._payer, self.endpoint.bound(messages, choices))
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
        if cost is not None:
            _settle(paid, cost)
        return reply


def _settle(paid: Reservation, cost: Decimal) -> None:
    with transaction.atomic():
        JudgeBudget.settle(paid, cost)

"""The judge as the settings have it."""

from __future__ import annotations

from django.conf import settings

from leaderboard.studies.judge.client import Endpoint


def endpoint(model: str = "") -> Endpoint | None:
    """Where judges are asked; None where no address, or no model, is set. `model` stands for the one of the settings."""
    name = model or settings.JUDGE_MODEL
    if not settings.JUDGE_URL or not name:
        return None
    return Endpoint(
        settings.JUDGE_URL, name, settings.JUDGE_KEY, settings.JUDGE_TIMEOUT, settings.JUDGE_RATE, settings.JUDGE_MAX_TOKENS,
        settings.JUDGE_PRICE_IN, settings.JUDGE_PRICE_OUT,
    )  # fmt: skip


MISSING = "No judge is set up; set PLUMBLINE_JUDGE_URL and PLUMBLINE_JUDGE_MODEL, and PLUMBLINE_JUDGE_KEY where the endpoint wants one."

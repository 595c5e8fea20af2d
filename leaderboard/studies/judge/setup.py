"""The judge as the settings have it, and as an organizer's own key has it."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from leaderboard.models import JudgeKey
from leaderboard.studies.judge.client import Endpoint

MISSING = "No judge is set up; set PLUMBLINE_JUDGE_URL and PLUMBLINE_JUDGE_MODEL, and PLUMBLINE_JUDGE_KEY where the endpoint wants one."


def endpoint(model: str = "") -> Endpoint | None:
    """Endpoint at which judges are asked with the service's key; None where no address, or no model, is set. `model` stands for the one of
    the settings."""
    name = model or settings.JUDGE_MODEL
    if not settings.JUDGE_URL or not name:
        return None
    return _at(settings.JUDGE_URL, name, settings.JUDGE_KEY)


@sensitive_variables("secret")
def endpoint_paid_by(key: JudgeKey | None, model: str) -> Endpoint:
    """Endpoint at which a model is asked with an organizer's key, or with the service's where there is none. ValueError, in a sentence,
    where it cannot be."""
    if key is not None:
        if not key.may_be_sent:
            raise ValueError(
                f"The key that pays for this run goes to {key.url}, which the operator allows no more; put in one for another."
            )
        secret = key.unsealed()
        return _at(key.url, model, secret)
    found = endpoint(model)
    if found is None:
        raise ValueError(MISSING)
    return found


def addresses() -> list[str]:
    """Addresses to which an organizer's own key may be sent: what the operator has set, and nothing that anybody types."""
    return list(dict.fromkeys(filter(None, (settings.JUDGE_URL, *settings.JUDGE_KEY_URLS))))


def prices(model: str) -> tuple[Decimal | None, Decimal | None]:
    """Prices of a million tokens of questions, and of answers, of that model; None where nobody has stated them."""
    if model in settings.JUDGE_PRICES:
        return settings.JUDGE_PRICES[model]
    return (settings.JUDGE_PRICE_IN, settings.JUDGE_PRICE_OUT) if model == settings.JUDGE_MODEL else (None, None)


@sensitive_variables("key")
def _at(url: str, model: str, key: str) -> Endpoint:
    return Endpoint(
        url,
        model,
        key,
        settings.JUDGE_TIMEOUT,
        settings.JUDGE_RATE,
        settings.JUDGE_MAX_TOKENS,
        *prices(model),
        settings.JUDGE_IMAGE_TOKENS,
    )

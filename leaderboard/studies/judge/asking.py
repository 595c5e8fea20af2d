"""Texts to make objects from, asked of a language model."""

from __future__ import annotations

from leaderboard.studies.judge import prompts
from leaderboard.studies.judge.client import Client, Endpoint, JudgeError
from leaderboard.studies.judge.prompts import Wanted

MOST_REQUESTS = 4  # models stop short of long lists
PATIENCE = 20.0


class AskError(Exception):
    """The model gave no such texts; the text is a sentence for people."""


def ask_for(wanted: Wanted, endpoint: Endpoint, patience: float = PATIENCE) -> list[str]:
    """As many texts as are wanted, or fewer where the model does not give more. AskError where it gives none."""
    found: list[str] = []
    with Client(endpoint, patience) as client:
        for _ in range(MOST_REQUESTS):
            try:
                reply = client.ask(prompts.conversation(wanted))
            except JudgeError as error:
                if found:
                    break
                raise AskError(str(error)) from None
            more = prompts.distinct([*found, *prompts.parse(reply.texts[0].text, wanted)], wanted)
            if len(more) in (len(found), wanted.count):
                found = more
                break
            found = more
    if not found:
        raise AskError("The model's answer holds no numbered list of texts; try again, or another model.")
    return found

"""The error that a model method raises to refuse an act, in one sentence for people."""

from __future__ import annotations

from datetime import datetime


class Refused(Exception):
    """An act that is not possible now, for a reason the person can read.

    `sentence` says what is wrong, where, and what to do. `code` is a stable short name for programs (`limit_reached`, `phase_closed`, ...).
    `retry_at` is when the same act may work. Pages show the sentence, the API answers with problem details of the same words.
    """

    def __init__(self, sentence: str, code: str = "refused", retry_at: datetime | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.code, self.retry_at = sentence, code, retry_at

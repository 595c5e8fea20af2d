"""Answers come in, once each, and the last one can be taken back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from leaderboard.models import Opinion, Question, Rater, Study, StudyVote
from leaderboard.stats.mos_table import HIGHEST, LOWEST
from leaderboard.studies.live import history, practice
from leaderboard.studies.live.ask import open_questions
from leaderboard.studies.live.criteria import asked_of
from leaderboard.studies.live.rater_setup import pixels
from submissions.errors import Refused

LONGEST = 3600.0  # seconds that one answer may have taken


@dataclass(frozen=True)
class Conditions:
    """Circumstances of an answer as the rater's browser states them: the window's size in pixels of CSS and the kind of device, empty where
    not known."""

    viewport_width: int | None = None
    viewport_height: int | None = None
    device: str = ""

    @classmethod
    def read(cls, sent: Mapping[str, object]) -> Self:
        """Conditions from what a browser sent; all that is of another form is not known, and nothing else is read."""
        device = sent.get("device")
        known = device if isinstance(device, str) and device in StudyVote.Device.values else ""
        return cls(pixels(sent.get("viewport_width")), pixels(sent.get("viewport_height")), known)


UNKNOWN = Conditions()


def answer(
    study: Study,
    rater: Rater,
    token: str,
    answers: Mapping[str, object],
    seconds: object = None,
    now: datetime | None = None,
    conditions: Conditions = UNKNOWN,
) -> str:
    """Store the answers to a question, one to each criterion; a sentence where the rater should know what became of them.

    The question is one that the rater was shown, or their following one. The first answer to it stands: the same
    request again, from a second click or another tab, changes nothing. Raises `Refused` where no answer is taken
    (closed, removed, not theirs) and for answers that are none.
    """
    now = now or timezone.now()
    with transaction.atomic():
        rater = _locked(study, rater, now)
        if trial := rater.practice.filter(token=token).first():
            practice.store(study, trial, checked(study, rater.pk, answers), _seconds(seconds), now)
            return ""
        question = Question.objects.filter(rater=rater, token=token).select_related("sample").first()
        if question is None:
            raise Refused("This is not one of your questions; load the page again.", "no_question")
        chosen = checked(study, rater.pk, answers)
        if question.answered_at is not None:
            pairs = study.kind == Study.Kind.PAIRS
            given = question.votes.values_list("criterion", "choice") if pairs else question.opinions.values_list("criterion", "score")
            return (
                "" if dict(given) == chosen else "You have already answered that question, and we keep that answer. Here is the next one."
            )
        if study.entries.own_of(rater).filter(pk__in=[question.left_id, question.right_id]).exists():
            return "That question was on an entry of your own team, so your answer was not stored; here is the next one."
        if question.shown_at is None and token not in [row.token for row in open_questions(study, rater)[:2]]:
            raise Refused("This question has not been asked yet; load the page again.", "not_asked")
        # The time is by the rater's own clock, but no longer than since they were shown the question, or shown it again.
        taken, since = _seconds(seconds), question.reopened_at or question.shown_at
        if taken is not None and since is not None:
            taken = round(min(taken, max(0.0, (now - since).total_seconds() + 1.0)), 2)
        _store(study, rater, question, chosen, taken, now, conditions)
        Question.objects.filter(pk=question.pk).update(answered_at=now, shown_at=question.shown_at or now)
        begun, sitting_answers = history.session_started(rater, now)
        Rater.objects.filter(pk=rater.pk).update(sitting_from=begun, sitting_answers=sitting_answers, answered_last=now)
    return ""


def _store(
    study: Study, rater: Rater, question: Question, chosen: Mapping[str, Any], taken: float | None, now: datetime, conditions: Conditions
) -> None:
    """Write the answers that were chosen, by criterion. The seconds are shared evenly, so that the times of a question add up."""
    each = None if taken is None else round((taken + question.seconds_before) / len(chosen), 3)
    shared = {"study": study, "rater": rater, "question": question, "sample": question.sample.name, "seconds": each, "given_at": now}
    shared |= {"order": question.number + 1, **asdict(conditions)}
    steps = [{**shared, "step": step, "criterion": key, "value": value} for step, (key, value) in enumerate(chosen.items(), start=1)]
    if study.kind == Study.Kind.OPINIONS:
        Opinion.objects.bulk_create(Opinion(score=one.pop("value"), entry_id=question.left_id, **one) for one in steps)
        return
    about = {
        "left_id": question.left_id,
        "right_id": question.right_id,
        "swapped": "1" if question.swapped else "",
        "repeat_of": "" if question.repeat_of_id is None else str(question.repeat_of.number + 1),
        "is_gold": question.is_gold,
    }
    StudyVote.objects.bulk_create(StudyVote(choice=one.pop("value"), **about, **one) for one in steps)
    history.note(rater, question, chosen.get(study.main_criterion))


def take_back(study: Study, rater: Rater, token: str) -> str:
    """Reopen the question that was answered last, without its answer; a sentence where nothing was taken back.

    One step only: the question that comes back has to be answered before another answer can be taken back.
    """
    now = timezone.now()
    with transaction.atomic():
        rater = _locked(study, rater, now)
        last = rater.questions.filter(answered_at__isnull=False).order_by("-answered_at", "-number").first()
        # One whose entry has dropped out since is not asked again, and stands in nobody's way.
        reopened = next((row for row in open_questions(study, rater) if row.reopened_at is not None), None)
        if reopened is not None and reopened.token == token:
            return ""  # the same request again
        if reopened is not None or last is None or last.token != token:
            return "Only your last answer can be taken back."
        # The clock goes on: what the first answer took is part of what the next one takes.
        rows: Any = (StudyVote if study.kind == Study.Kind.PAIRS else Opinion).objects.filter(question=last)
        spent = rows.aggregate(total=Sum("seconds"))["total"] or 0.0
        rows.delete()
        Question.objects.filter(pk=last.pk).update(answered_at=None, reopened_at=now, seconds_before=spent)
        if study.kind == Study.Kind.PAIRS:
            history.note(rater, last, None)
        Rater.objects.filter(pk=rater.pk).update(sitting_answers=max(0, rater.sitting_answers - 1), finished_at=None)
    return ""


def removed_sentence(rater: Rater) -> str:
    """Reason why this rater cannot answer any more; empty where they can."""
    if rater.removed_at is None:
        return ""
    if rater.left_at is not None:
        return "You have left this study, and what you answered is deleted."
    return "Your part in this study has ended; what you answered is kept. Thank you."


def _locked(study: Study, rater: Rater, now: datetime) -> Rater:
    """The rater's row under its lock: of two answers at once the second sees the first, and a rater removed meanwhile cannot answer."""
    locked = Rater.objects.select_for_update().get(pk=rater.pk)
    study.refresh_from_db(fields=["state", "opens_at", "closes_at"])
    sentence = removed_sentence(locked) or study.closed_sentence(now)
    if sentence:
        raise Refused(sentence, "study_closed")
    return locked


def checked(study: Study, rater: int, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers in the order in which the rater of that id is asked the criteria; `Refused` unless there is exactly one to each."""
    keys = [criterion["key"] for criterion in asked_of(study, rater)]
    if not isinstance(answers, Mapping) or set(answers) != set(keys):
        raise Refused(f"A question has one answer on each of {', '.join(keys)}; send these and no others.", "bad_answer")
    for key, value in answers.items():
        if study.kind == Study.Kind.PAIRS:
            fits = isinstance(value, str) and value in StudyVote.Choice.values
            wanted = "left, right or tie"
        else:
            fits = isinstance(value, int) and not isinstance(value, bool) and LOWEST <= value <= HIGHEST
            wanted = f"a whole number from {LOWEST} to {HIGHEST}"
        if not fits:
            raise Refused(f"The answer on {key} must be {wanted}.", "bad_answer")
    return {key: answers[key] for key in keys}


def _seconds(sent: object) -> float | None:
    """A time of the rater's own clock; None for what is none."""
    if isinstance(sent, bool) or not isinstance(sent, (int, float)) or not math.isfinite(sent) or sent < 0:
        return None
    return round(min(float(sent), LONGEST), 2)

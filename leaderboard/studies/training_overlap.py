"""Metrics that a study gives no place: those whose training overlaps with the answers that it holds them against, so that their
agreement with these is no evidence, and those whose weights may order nothing."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from evaluation.metrics.column import Column
from evaluation.networks import weights
from leaderboard.models import Rater, Study
from leaderboard.stats import votes as voting

THESE, ENTRIES, UNKNOWN, REFUSED, NO = "these", "entries", "unknown", "refused", ""
LEARNT = ("wf_learned", "locase")  # the networks that are trained on what studies export
MIN_SHARED = 2  # methods that a study and what was learnt from must have in common to have a pair in common


def trained_on(study: Study, metric: Column, samples: Collection[str], methods: Collection[str]) -> str:
    """Overlap of a study with the training of a column's weights, by their model card. THESE: the weights learnt from the study's answers.
    ENTRIES: they learnt from other answers about entries of the same phase. UNKNOWN: the card does not say enough. REFUSED: the card
    forbids ranking by these weights, or they are no longer used. NO: none of these.

    `metric` is the column as the batch has it, `samples` and `methods` are what the study's answers are about.
    """
    spec = metric.spec
    no = NO if metric.imported or weights.may_rank(spec, metric.params) else REFUSED
    learnt = [(network, name) for network, name in spec.networks if network in LEARNT]
    if not learnt:
        return no
    if weights.digest_of(spec, metric.params) != metric.weights_sha256:
        return UNKNOWN  # the card is of other weights than the values
    verdicts = {_of_card(study, weights.get(network, str(metric.params[name])).card, samples, methods) for network, name in learnt}
    return next((one for one in (THESE, UNKNOWN, ENTRIES) if one in verdicts), no)


def _of_card(study: Study, card: Mapping[str, Any], samples: Collection[str], methods: Collection[str]) -> str:
    if not card.get("human_scores", True):
        return NO
    said = card.get("data", {})
    known = "samples" in said and "methods" in said
    if known and (not set(samples) & set(said["samples"]) or len(set(methods) & set(said["methods"])) < MIN_SHARED):
        return NO
    if said.get("study_created_at") == study.created_at.isoformat():
        return THESE
    # The study's votes as the service writes them: all of them, and in a folder the votes that count. Earlier files had no
    # conditions of answers, and the first had no gold, order and time stamps.
    people = set(study.raters.filter(kind=Rater.Kind.PERSON, is_counted=True).values_list("name", flat=True))
    votes = list(study.votes())
    before = (*voting.COLUMNS, *voting.MORE)
    for some in (votes, [vote for vote in votes if vote.rater in people]):
        for columns in ((*before, *voting.CONDITIONS), before, voting.COLUMNS):
            digest = hashlib.sha256()
            csv.writer(_Into(digest)).writerows(voting.write(some, columns))
            if digest.hexdigest() == said.get("votes_sha256"):
                return THESE
    if "phase" in said and said["phase"] != f"{study.phase.challenge.slug}/{study.phase.slug}":
        return NO
    return ENTRIES if "phase" in said and "study_created_at" in said else UNKNOWN


class _Into:
    """A file of which only the digest is wanted."""

    def __init__(self, digest: Any) -> None:
        self.digest = digest

    def write(self, text: str) -> None:
        self.digest.update(text.encode())

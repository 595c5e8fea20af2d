"""The agreement of a board's metrics and its other orders, as the API tells them."""

from __future__ import annotations

import math
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import Field

from leaderboard.api.boards import board_place
from leaderboard.boards import ranking_variants
from leaderboard.lookup import current_ranking
from leaderboard.wording.board import no_order
from submissions import throttling
from submissions.api.common import ANYBODY, ERRORS, Slug

router = Router(tags=["boards"], auth=ANYBODY)


class RankOut(Schema):
    id: int = Field(description="The entry.")
    rank: int = Field(
        description=("Among the entries compared, by the board's own rule; another rank than on the board if some lack a value.")
    )


class WayOut(Schema):
    kind: str = Field(description="board, rule (another rule), metric (one alone) or without (one left out).")
    title: str = Field(description="The rule, or the metric that is alone or left out.")
    moved: int = Field(description="Entries with another rank than on the board.")
    flipped: int = Field(description="Pairs in the reverse order of the board.")
    tau: float | None = Field(description="Kendall's tau-b with the board's order; null where either ties all.")
    ranks: list[RankOut]


class AgreementOut(Schema):
    digest: str = Field(description="The ranking that was compared.")
    n: int = Field(description="Entries compared: counted, with a value in every metric.")
    incomplete: int
    beyond: int = Field(description="Entries too far down the board to be compared.")
    metrics: list[str] = Field(description="Slugs, in the order of the matrices.")
    tau: list[list[float | None]] = Field(description="Kendall's tau-b of each pair of metrics; null if one of them ties all entries.")
    rho: list[list[float | None]] = Field(description="Spearman's rho.")
    groups: list[list[str]] = Field(description="Metrics that agree, by slug.")
    ways: list[WayOut]
    problem: str = Field(description="Reason why there are no other ways to rank; otherwise empty.")


@router.get(
    "/challenges/{challenge}/phases/{phase}/agreement",
    response={200: AgreementOut, **ERRORS},
    summary="How much the metrics of a board agree, and what other choices would change",
)
def get_agreement(request: HttpRequest, challenge: Slug, phase: Slug) -> Any:
    with throttling.LONG_REQUESTS.place(throttling.who(request)):
        place = board_place(request, challenge, phase)
        snapshot = current_ranking(place)
        if snapshot is None:
            raise Http404
        agreement = ranking_variants.of_snapshot(snapshot)
    slugs = [metric.slug for metric in agreement.metrics]
    variants = [
        {
            "kind": variant.kind,
            "title": variant.title,
            "moved": variant.moved,
            "flipped": variant.flipped,
            "tau": _number(variant.tau),
            "ranks": [{"id": agreement.entries[index].id, "rank": variant.ranks[index]} for index in agreement.order],
        }
        for variant in agreement.variants
    ]
    return {
        "digest": snapshot.digest,
        "n": agreement.n,
        "incomplete": agreement.incomplete,
        "beyond": agreement.beyond,
        "metrics": slugs,
        "tau": [[_number(value) for value in row] for row in agreement.matrix.tau.tolist()],
        "rho": [[_number(value) for value in row] for row in agreement.matrix.rho.tolist()],
        "groups": [[slugs[index] for index in group] for group in agreement.matrix.groups],
        "ways": variants,
        "problem": no_order(agreement.problem),
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value

"""Live studies of scored entries, as organizers make them."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.models import Rater, Study
from leaderboard.studies.live import access, campaign
from leaderboard.studies.live.ask import Standing, standing
from leaderboard.studies.live.campaign import Design
from leaderboard.studies.live.criteria import ready_made
from submissions.models import Phase, Submission, User
from tests.support.leaderboard import scores

SLUGS = ("corner_f1", "edge_f1", "hss")


def entries(phase: Phase, people, n: int = 4) -> list[Submission]:
    """`n` scored entries of two teams, from good to bad."""
    items = len(phase.references.get().item_ids)
    teams = (people.team, people.other_team)
    return [
        scores.entry(phase, teams[k % 2], {slug: scores.spread(0.9 - 0.1 * k, items) for slug in SLUGS}, method_name=f"secret-method-{k}")
        for k in range(n)
    ]


def live(phase: Phase, actor: User, rows: Sequence[Submission], *, opened: bool = True, **values) -> Study:
    """An open study of pairs of these entries on two samples, without repeats; `values` change that."""
    design = {"samples": values.pop("samples", ("house_01", "house_02")), "gold": values.pop("gold", None)}
    made = values.pop("artifacts", ())
    kind = values.get("kind", Study.Kind.PAIRS)
    given = {
        "slug": "live",
        "title": "Which roof?",
        "question": "Which is closer?",
        "kind": kind,
        "repeat_share": 0.0,
        "access": "open",
        "criteria": [one.to_dict() for one in ready_made(kind, "wireframe")],
        **values,
    }
    study = campaign.make(phase, actor, Design(given, rows, made, discloses=True, **design))
    if opened:
        campaign.open_study(study, actor)
        study.refresh_from_db()
    return study


def rater(study: Study, user: User | None = None, group: str = "") -> Rater:
    return access.join(study, user, group=group).rater


def at(study: Study, rater: Rater) -> Standing:
    study.refresh_from_db()
    rater.refresh_from_db()
    return standing(study, rater)


def same_answer(study: Study, value: object) -> dict[str, object]:
    """The same answer on every criterion."""
    return {criterion["key"]: value for criterion in study.criteria}

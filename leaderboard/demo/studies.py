"""The demo's finished studies: simulated raters on its entries, and simulated judges beside them. All that they say is invented."""

from __future__ import annotations

from typing import Any

from evaluation.models import EvaluationBatch
from leaderboard.demo import interiors, rooflines, solids
from leaderboard.demo.judge import Liking, simulated_judge
from leaderboard.demo.raters import SEED, quality, simulated_votes
from leaderboard.demo.story import Demo, Taste
from leaderboard.models import Study
from leaderboard.stats.votes import Vote
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.judge.planning import WIREFRAME_PLAN
from leaderboard.studies.live.criteria import ready_made
from submissions.models import Challenge, Phase, Submission, User

STUDY = "simulated-raters"
SHAPE_PLAN = "shape"  # the demo's meshes have no colours
SOURCE = "Simulated: raters answer by the strength of the damage, and by no metric."


class Damaged:
    """The demo's ranked entries on a phase with their damages by name, its items, and what of them is missing."""

    def __init__(self, demo: Demo, phase: Phase) -> None:
        batch = EvaluationBatch.current(phase)
        assert batch is not None  # the demo has scored it
        names = Submission.objects.filter(phase=phase).ranked().order_by("id").values_list("method_name", flat=True)
        self.damages = {name: demo.damages[name] for name in names if name in demo.damages}
        self.items = list(dict.fromkeys(batch.groups))
        of_item, sent = dict(zip(batch.item_ids, batch.groups, strict=True)), list(demo.references()[demo.phase])
        self.missing = {(entry.method, of_item[sent[position]]) for entry in demo.entries for position in entry.leave_out}

    def votes(self, tastes: tuple[Taste, ...], criterion: str = "", seed: int = SEED) -> list[Vote]:
        """Votes of all simulated raters on a criterion."""
        return simulated_votes(self.damages, self.items, self.missing, tastes, criterion, seed)

    def liking(self, seed: int = SEED) -> Liking:
        """Quality of each entry on each item for a simulated judge, who minds all kinds of damage alike."""
        seen = quality(self.damages, self.items, self.missing, {}, seed)
        return {(name, item): seen[n, h] for n, name in enumerate(self.damages) for h, item in enumerate(self.items)}


def compare(demo: Demo) -> None:
    """A finished study by simulated raters, and a simulated judge, where the demo has one and it is not there yet."""
    make = {rooflines.SLUG: _roofs, solids.SLUG: _solids, interiors.SLUG: _rooms}.get(demo.slug)
    phase = Challenge.objects.get(slug=demo.slug).phases.get(slug=demo.phase)
    if make is not None and not Study.objects.filter(phase=phase, slug=STUDY).exists():
        make(phase, Damaged(demo, phase), User.objects.get(username="olga"))


def _roofs(phase: Phase, damaged: Damaged, olga: User) -> None:
    study = _study(
        phase,
        olga,
        damaged.votes(rooflines.TASTES),
        title="Which roof is closer to the house?",
        question="Which of the two wireframes is closer to the house?",
    )
    simulated_judge(study, olga, {"overall": damaged.liking()}, WIREFRAME_PLAN)
    while analyse_due():  # here and now, because the workers have entries of the next challenge to score
        continue


def _solids(phase: Phase, damaged: Damaged, olga: User) -> None:
    """Three criteria, so that the judge's scores make a radar chart; the workers analyse it, for nothing comes after it."""
    seeds = {criterion: SEED + number for number, criterion in enumerate(solids.TASTES, 1)}
    study = _study(
        phase,
        olga,
        [vote for criterion, tastes in solids.TASTES.items() for vote in damaged.votes(tastes, criterion, seeds[criterion])],
        title="Which solid is made better?",
        question="Which of the two objects is better, by its shape?",
        criteria=[one.to_dict() for one in ready_made("pairs", phase.challenge.family) if one.key in solids.TASTES],
    )
    simulated_judge(study, olga, {criterion: damaged.liking(seed) for criterion, seed in seeds.items()}, SHAPE_PLAN)


def _rooms(phase: Phase, damaged: Damaged, olga: User) -> None:
    """One criterion, without a judge; the workers analyse it."""
    _study(
        phase,
        olga,
        damaged.votes(interiors.TASTES, seed=SEED + 9),
        title="Which render shows the room better?",
        question="Which of the two renders shows the room better?",
    )


def _study(phase: Phase, olga: User, votes: list[Vote], **values: Any) -> Study:
    return Study.import_votes(
        phase, olga, votes, slug=STUDY, source=SOURCE, simulated=True, is_public=True, runs_other_programs=True, **values
    )

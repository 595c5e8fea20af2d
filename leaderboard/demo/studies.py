"""The demo's finished studies: made-up raters on its entries, and made-up judges beside them. All that they say is invented."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.models import EvaluationBatch, Score
from leaderboard.demo import interiors, rooflines, solids
from leaderboard.demo.judge import Liking, made_up_judge
from leaderboard.demo.raters import SEED, Taste, liked, made_up_votes
from leaderboard.demo.story import Demo
from leaderboard.models import Study
from leaderboard.stats.votes import Vote
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.judge.planning import WIREFRAME_PLAN
from leaderboard.studies.live.criteria import ready_made
from submissions.models import Challenge, Phase, Submission, User

STUDY = "made-up-raters"
SHAPE_PLAN = "shape"  # the demo's meshes have no colours
# What raters of the solids feel by criterion, and what the judge does.
SOLID_TASTES = {
    "overall": (Taste("makers", 4, {"chamfer_l1": -1.0}), Taste("viewers", 4, {"normal_difference": -0.7, "chamfer_l1": -0.3})),
    "plausibility_3d": (Taste("makers", 4, {"volume_iou": 1.0}), Taste("viewers", 4, {"volume_iou": 0.5, "normal_difference": -0.5})),
    "geometry_details": (Taste("makers", 4, {"mesh_fscore": 1.0}), Taste("viewers", 4, {"normal_difference": -1.0})),
}
SOLID_JUDGE = {
    "overall": {"chamfer_l1": -0.5, "normal_difference": -0.5},
    "plausibility_3d": {"volume_iou": 1.0},
    "geometry_details": {"normal_difference": -1.0},
}


class Scores:
    """Scores of the phase's metrics for its scored entries: `values` by slug, float64[entries, groups], over groups of items."""

    def __init__(self, phase: Phase) -> None:
        batch = EvaluationBatch.current(phase)
        assert batch is not None  # the demo has scored it
        rows = Submission.objects.filter(phase=phase).ranked().order_by("id")
        self.names, self.items = [row.method_name for row in rows], list(dict.fromkeys(batch.groups))
        self.values = {metric["slug"]: np.zeros((len(rows), len(self.items))) for metric in batch.metrics}
        of_group = np.array([[group == name for name in self.items] for group in batch.groups], dtype=np.float64)
        for slug, matrix in self.values.items():
            scores = Score.objects.filter(evaluation__batch=batch, evaluation__state="done", slug=slug, evaluation__submission__in=rows)
            vectors = dict(scores.values_list("evaluation__submission_id", "vector"))
            for n, row in enumerate(rows):
                matrix[n] = np.frombuffer(vectors[row.pk], dtype=np.float64) @ of_group / of_group.sum(axis=0)

    def by_entry(self, liking: np.ndarray) -> Liking:
        """A matrix like the values as a mapping by entry and item."""
        return {(name, item): liking[n, h] for n, name in enumerate(self.names) for h, item in enumerate(self.items)}


def compare(demo: Demo) -> None:
    """A finished study by made-up raters, and a made-up judge, where the demo has one and it is not there yet."""
    make = {rooflines.SLUG: _roofs, solids.SLUG: _solids, interiors.SLUG: _rooms}.get(demo.slug) if demo.compared else None
    phase = Challenge.objects.get(slug=demo.slug).phases.get(slug=demo.phase)
    if make is not None and not Study.objects.filter(phase=phase, slug=STUDY).exists():
        make(phase, Scores(phase), User.objects.get(username="olga"))


def _roofs(phase: Phase, scores: Scores, olga: User) -> None:
    votes = made_up_votes(scores.values, scores.names, scores.items)
    study = _study(
        phase,
        olga,
        votes,
        title="Which roof is closer to the house?",
        question="Which of the two wireframes is closer to the house?",
        source="Twelve invented raters of two tastes answered by a formula with noise.",
    )
    made_up_judge(study, olga, {"overall": scores.by_entry(scores.values["corner_f1"])}, WIREFRAME_PLAN)
    while analyse_due():  # here and now, because the workers have entries of the next challenge to score
        continue


def _solids(phase: Phase, scores: Scores, olga: User) -> None:
    """Three criteria, so that the judge's scores make a radar chart; the workers analyse it, for nothing comes after it."""
    votes: list[Vote] = []
    for number, (criterion, tastes) in enumerate(SOLID_TASTES.items(), 1):
        votes += made_up_votes(scores.values, scores.names, scores.items, tastes, criterion, SEED + number)
    criteria = [one.to_dict() for one in ready_made("pairs", phase.challenge.family) if one.key in SOLID_TASTES]
    study = _study(
        phase,
        olga,
        votes,
        title="Which solid is made better?",
        question="Which of the two objects is better, by its shape?",
        source="Eight invented raters of two tastes answered by a formula with noise, on each of three criteria.",
        criteria=criteria,
    )
    made_up_judge(study, olga, {key: scores.by_entry(liked(scores.values, weights)) for key, weights in SOLID_JUDGE.items()}, SHAPE_PLAN)


def _rooms(phase: Phase, scores: Scores, olga: User) -> None:
    """One criterion, without a judge; the workers analyse it."""
    tastes = (Taste("near", 5, {"ssim": 1.0}), Taste("far", 5, {"psnr": 0.6, "ssim": 0.4}))
    votes = made_up_votes(scores.values, scores.names, scores.items, tastes, "", SEED + 9)
    _study(
        phase,
        olga,
        votes,
        title="Which render shows the room better?",
        question="Which of the two renders shows the room better?",
        source="Ten invented raters of two tastes answered by a formula with noise.",
    )


def _study(phase: Phase, olga: User, votes: list[Vote], **values: Any) -> Study:
    return Study.import_votes(phase, olga, votes, slug=STUDY, made_up=True, is_public=True, runs_other_programs=True, **values)

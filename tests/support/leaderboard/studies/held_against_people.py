"""Studies in the database whose analyses hold the metrics of a family against simulated people, without anything being scored."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from django.utils import timezone

from evaluation.metrics import registry
from leaderboard.models import Study, StudyAnalysis
from leaderboard.stats.records import plain
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import Vote, canonical
from submissions.models import Phase
from tests.support.leaderboard.stats.ballots import vote

ENTRIES = 6
# How far each metric's values are off what people feel, in units of the difference between two entries.
NOISE = {
    "wireframe": {"edge_f1": 0.2, "hss": 0.3, "corner_f1": 0.6, "ecd_chamfer": 2.0, "wf_hausdorff": 4.0, "spectral_l2": 40.0},
    "mesh": {"volume_iou": 0.2, "chamfer_l1": 0.8, "uhd": 6.0},
    "render": {"lpips_alex": 0.2, "ssim": 1.0, "psnr": 5.0},
}


def votes_of(raters: int, samples: int, each: int, seed: int, doubt: float = 1.5) -> list[Vote]:
    """Answers by people who like m0 best and m5 least, each of whom is asked `each` comparisons; the greater the `doubt`, the less sure
    they are."""
    rng = np.random.default_rng(seed)
    rows = []
    for rater in range(raters):
        for _ in range(each):
            left, right = rng.choice(ENTRIES, 2, replace=False).tolist()
            felt = (right - left) / doubt + rng.logistic()
            choice = "tie" if abs(felt) < 0.2 else "left" if felt > 0 else "right"
            rows.append(vote(f"m{left}", f"m{right}", choice, f"r{rater}", f"s{rng.integers(samples)}"))
    return rows


def held(
    phase: Phase,
    slug: str,
    seed: int = 0,
    raters: int = 12,
    samples: int = 12,
    each: int = 60,
    noise: Mapping[str, float] | None = None,
    trained: Mapping[str, str] | None = None,
    **about: object,
) -> Study:
    """A closed study of the phase, brought from elsewhere unless it has a `key`, with its analysis. Lower noise agrees more."""
    votes = votes_of(raters, samples, each, seed)
    study = Study.import_votes(phase, None, votes, slug=slug, question="Which is closer?", **({"title": slug, "is_public": True} | about))
    family, given = phase.challenge.family, canonical(study.votes())
    rng, metrics = np.random.default_rng(1000 + seed), []
    for key, spread in (NOISE[family] if noise is None else noise).items():
        spec = registry.get(key)
        liked = -np.arange(ENTRIES) + rng.normal(0, spread, (len(given.samples), ENTRIES))
        metrics.append(
            MetricScores(
                key,
                liked if spec.higher_is_better else -liked,
                spec.higher_is_better,
                trained=(trained or {}).get(key, ""),
                metric=key,
                title=spec.title,
                fingerprint=registry.fingerprint(key, {}),
            )
        )
    size = rng.normal(0, 1, (len(given.samples), ENTRIES))
    summary = analyse(given, metrics, damaged=(), fragility=False, size=size)
    StudyAnalysis.objects.create(
        study=study, state=StudyAnalysis.State.DONE, wanted="1", made_of="1", finished_at=timezone.now(), content=plain(summary)
    )
    return study

"""Sentences on the scoring of a phase."""

from __future__ import annotations

from leaderboard.wording.scoring import estimated_from


def test_an_estimate_says_which_metrics_were_timed():
    assert estimated_from(3, 3) == "the newest scores"
    assert estimated_from(1, 3) == "the newest scores for 1 of 3 metrics, and what the others declare"
    assert estimated_from(0, 3) == "what the metrics declare, because the phase has no timed scores yet"

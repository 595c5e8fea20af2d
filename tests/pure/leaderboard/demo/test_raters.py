import numpy as np

from leaderboard.demo.raters import made_up_votes
from leaderboard.stats.study import analyse
from leaderboard.stats.votes import canonical

METHODS, SAMPLES = [f"m{n}" for n in range(6)], [f"house_{n}" for n in range(8)]


def values() -> dict[str, np.ndarray]:
    """Two metrics that put the middle methods in opposite orders, and one that mirrors the second."""
    rng = np.random.default_rng(1)
    corners = np.linspace(0.95, 0.1, 6)[:, None] + rng.normal(0, 0.03, (6, 8))
    edges = np.array([0.9, 0.2, 0.4, 0.55, 0.7, 0.05])[:, None] + rng.normal(0, 0.03, (6, 8))
    return {"corner_f1": corners, "edge_f1": edges, "ecd_chamfer": 1 - edges}


def test_the_same_votes_every_time_in_two_clusters_with_ties_and_repeats():
    votes = made_up_votes(values(), METHODS, SAMPLES)
    assert votes == made_up_votes(values(), METHODS, SAMPLES)
    found = analyse(canonical(votes))
    assert found.counted == 12 * 8 * 15 and 0.03 < found.repeats / found.counted < 0.08
    assert sorted(found.agreement.cluster) == [0] * 6 + [1] * 6
    groups = dict(zip(found.groups, found.agreement.cluster, strict=True))
    assert groups["corners"] != groups["edges"]
    assert 0.03 < found.ties < 0.4
    assert found.scales[0].method == "m0" and found.scales[-1].method == "m5"
    assert 0.75 < found.reliability.self_consistency.value < 1


def test_missing_values_are_the_worst_there_is():
    known = values()
    known["corner_f1"][0, 0] = np.nan
    votes = [vote for vote in made_up_votes(known, METHODS, SAMPLES) if vote.sample == "house_0" and "m0" in (vote.left, vote.right)]
    of_corners = [vote for vote in votes if vote.group == "corners" and not vote.repeat_of]
    won = sum(vote.choice == ("left" if vote.left == "m0" else "right") for vote in of_corners)
    assert len(of_corners) == 6 * 5 and won < 10  # it loses where it would have won nearly all

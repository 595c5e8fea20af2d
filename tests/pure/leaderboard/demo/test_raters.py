import numpy as np
import pytest

from leaderboard.demo import interiors, rooflines, solids
from leaderboard.demo.raters import quality, simulated_votes
from leaderboard.demo.story import Damage, Taste
from leaderboard.stats.study import analyse
from leaderboard.stats.votes import canonical

SAMPLES = [f"house_{n}" for n in range(12)]


def test_an_item_looks_as_bad_as_its_damage_is_strong_shows_there_and_is_minded():
    damages = {"none": Damage("bent", 0.0), "weak": Damage("bent", 0.3), "strong": Damage("bent", 0.6), "lost": Damage("bent", 0.1)}
    seen = quality(damages, SAMPLES, {("lost", "house_0")}, {})
    assert np.all(seen[0] == 1) and seen.min() == 0 == seen[3, 0] and np.all(seen[3, 1:] > 0.5)
    assert seen[1].mean() > seen[2].mean() and (seen[1] > seen[2]).sum() < 12 * 4 and np.unique(seen[1]).size == 12
    # Somebody who minds a kind twice as much sees it as if it were twice as strong, at the same places.
    kinds = {"a": Damage("bent", 0.4), "b": Damage("missing", 0.2)}
    doubled = {"a": Damage("bent", 0.4), "b": Damage("missing", 0.4)}
    np.testing.assert_allclose(quality(kinds, SAMPLES, (), {"missing": 2.0}), quality(doubled, SAMPLES, (), {}))


@pytest.mark.parametrize(
    ("damages", "tastes", "items"),
    [
        (rooflines.DAMAGES, rooflines.TASTES, 12),
        *((solids.DAMAGES, tastes, 8) for tastes in solids.TASTES.values()),
        (interiors.DAMAGES, interiors.TASTES, 8),
    ],
)
def test_the_same_votes_every_time_of_people_who_agree_within_their_group_more_than_between_groups(damages, tastes, items):
    votes = simulated_votes(damages, SAMPLES[:items], (), tastes)
    assert votes == simulated_votes(damages, SAMPLES[:items], (), tastes)
    found = analyse(canonical(votes))
    n, methods = sum(taste.raters for taste in tastes), len(damages)
    assert found.counted == n * items * methods * (methods - 1) // 2 and 0.02 < found.repeats / found.counted < 0.09
    assert 0.03 < found.ties < 0.4 and 0.7 < found.reliability.self_consistency.value <= 1
    people = np.array(found.agreement.all)[:n, :n]  # metrics and others follow
    group, others = np.array(found.groups), ~np.eye(n, dtype=bool)
    same = group[:, None] == group
    assert people[same & others].mean() > people[~same].mean() and 0.75 < people[others].mean() < 0.88


def test_every_kind_of_damage_that_a_group_minds_is_one_of_the_demo():
    kinds = [{damage.kind for damage in demo.DAMAGES.values()} for demo in (rooflines, solids, interiors)]
    for minded, tastes in zip(kinds, (rooflines.TASTES, sum(solids.TASTES.values(), ()), interiors.TASTES), strict=True):
        assert [taste for taste in tastes if not set(taste.minds) <= minded] == []
    assert [set(demo.DAMAGES) - {entry.method for entry in demo.ENTRIES} for demo in (rooflines, solids, interiors)] == [set()] * 3


def test_raters_know_nothing_but_the_damage():
    """Two kinds that a group does not mind are tied, whatever a metric makes of them."""
    votes = simulated_votes(
        {"a": Damage("tint", 0.5), "b": Damage("blur", 0.5)}, SAMPLES, (), (Taste("blind", 5, {"tint": 0.0, "blur": 0.0}),)
    )
    chosen = [vote.left if vote.choice == "left" else vote.right for vote in votes if vote.choice != "tie"]
    assert 0.3 < chosen.count("a") / len(chosen) < 0.7

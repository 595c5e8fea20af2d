"""Whose turn it is: worked by hand, and simulated for fifty teams."""

from __future__ import annotations

import pytest

from submissions.fair_share import turns
from tests.support.queueing import by_arrival, by_turns, fifty_teams, run, share_fairly, waiting


class TestByHand:
    def test_parts_of_the_first_entry_come_one_after_the_other(self):
        assert turns(100.0, 0.0, 0, [3.0, 1.0, 2.0]) == [103.0, 104.0, 106.0]

    def test_as_long_an_entry_as_what_waits_of_its_team_comes_behind_it(self):
        assert turns(0.0, 10.0, 1, [10.0]) == [20.0]
        assert turns(0.0, 30.0, 3, [10.0]) == [40.0]

    def test_a_short_one_comes_before_what_is_long(self):
        """The second of a team counts a quarter, the sixth a 36th: two pictures behind five meshes of 300 s."""
        assert turns(0.0, 300.0, 1, [2.0]) == [8.0]
        assert turns(0.0, 1500.0, 5, [1.0, 1.0]) == [36.0, 72.0]

    def test_none_comes_later_than_in_the_order_of_sending_and_a_team_takes_no_two_shares(self):
        backlog, taken = 0.0, []
        for k, seconds in enumerate([100.0, 50.0, 33.0, 25.0, 20.0, 16.0, 2.0, 1.0]):
            (turn,) = turns(0.0, backlog, k, [seconds])
            assert turn <= backlog + seconds
            backlog += seconds
            taken.append((turn, seconds))
        for until in range(1, 250):
            assert sum(seconds for turn, seconds in taken if turn <= until) <= 1.65 * until


@pytest.mark.parametrize("load", [0.7, 0.9, 1.2])
@pytest.mark.parametrize("known", [0.0, 0.5])
def test_of_fifty_teams_nobody_waits_more_than_five_times_a_fair_share(load, known):
    """Even where a part's seconds are known to within a factor of 1.6 only; and half of the entries are done in a tenth of
    the time that the order of arrival took."""
    for seed in range(4):
        found = {}
        for order in (by_arrival, by_turns):
            sent = fifty_teams(seed, load=load, known=known)
            run(sent, 4, order)
            share_fairly(sent, 4)
            found[order] = waiting(sent)
        before, after = found[by_arrival], found[by_turns]
        assert after.worst_ratio < 5 < before.worst_ratio
        assert after.median < before.median / 10 and after.short_worst < before.short_worst / 10
        assert after.worst < 2.5 * before.worst, "what is long pays for it, within bounds"


def test_a_team_alone_has_all_workers():
    """Nobody idles while something waits: the last entry is done when it was in the order of arrival."""
    ends = []
    for order in (by_arrival, by_turns):
        sent = fifty_teams(1)
        run(sent, 4, order)
        ends.append(max(piece.done for piece in sent.pieces))
    assert ends[1] == pytest.approx(ends[0], rel=0.1)

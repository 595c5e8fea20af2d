"""Words for the parts of a metric's value."""

from __future__ import annotations

from leaderboard.wording.metric_parts import part_words


def test_a_part_has_words_or_its_key_with_spaces():
    assert [part_words(key) for key in ("n_gt", "gt2pred", "sap_2", "share_below_0.6")] == [
        "in the reference",
        "reference to entry",
        "at distance 2",
        "share below 0.6",
    ]

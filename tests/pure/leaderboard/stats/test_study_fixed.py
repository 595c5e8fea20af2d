"""Numbers of a fixed study and a fixed board, which stay as they are while the statistics' version stays."""

from __future__ import annotations

import json

import pytest

from tests.support.leaderboard.stats import fixed

COMMAND = "python -m tests.support.leaderboard.stats.fixed"
# Shares of 20,000 draws: processors round sums differently, and a draw near the threshold then falls on its other side.
DRAWN, MOST = "/enough/plans/", 0.002


@pytest.mark.parametrize(("part", "raised"), [("study", "VERSION in stats/votes.py"), ("board", "RULE in stats/uncertainty.py")])
def test_numbers_change_with_the_version_alone(part, raised):
    kept, found = json.loads(fixed.FILE.read_text()), getattr(fixed, f"of_{part}")()
    if kept["versions"][part] != fixed.VERSIONS[part]:
        pytest.fail(f"{raised} was raised: keep the new numbers with {COMMAND}")
    assert len(found) > 50
    room = {where: MOST if DRAWN in where else 1e-12 for where in found}
    close = {where: value == pytest.approx(kept[part].get(where, "absent"), rel=1e-12, abs=room[where]) for where, value in found.items()}
    changed = [f"{where}: {found[where]}, kept {kept[part].get(where)}" for where, same in close.items() if not same]
    assert changed[:10] == [], f"{len(changed)} numbers changed under the same version; raise {raised}, then run {COMMAND}"

"""The tests that `make test-touched` runs after a change."""

from __future__ import annotations

from tests import ROOT
from tests.touched import to_run

TESTS = [ROOT / "tests" / name for name in ("pure/test_house.py", "pure/leaderboard/stats/test_ranking.py", "pure/evaluation/test_main.py")]
TESTS += [ROOT / "tests" / "service" / "leaderboard" / "boards" / "test_build.py"]


def test_a_test_is_run_that_mirrors_imports_or_is_what_was_touched_and_the_houses_own_always():
    house = "tests/pure/test_house.py"
    assert to_run([], TESTS) == [house]
    build = "tests/service/leaderboard/boards/test_build.py"  # names an enum of the ranking's
    assert to_run(["leaderboard/stats/ranking.py"], TESTS) == ["tests/pure/leaderboard/stats/test_ranking.py", house, build]
    assert to_run(["leaderboard/boards/build.py"], TESTS) == [house, build]
    assert to_run(["tests/pure/evaluation/test_main.py"], TESTS) == ["tests/pure/evaluation/test_main.py", house]
    assert build in to_run(["leaderboard/templates/x.html", "tests/support/factories.py"], TESTS)

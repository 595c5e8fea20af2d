"""`make nightly` runs every nightly test: a file that no stage names would never run."""

from __future__ import annotations

from tests import ROOT
from tests.nightly.__main__ import STAGES


def test_every_nightly_test_is_in_one_stage_of_a_profile_and_every_path_is_there():
    paths = [(stage, [ROOT / one for one in stage.pytest if one.startswith("tests/nightly")]) for stage in STAGES]
    assert [str(path) for _, found in paths for path in found if not path.exists()] == []
    for test in (ROOT / "tests" / "nightly").rglob("test_*.py"):
        stages = [stage for stage, found in paths if any(test == path or path in test.parents for path in found)]
        profiles = [stage.env.get("PLUMBLINE_PROFILE", "embedded") for stage in stages]
        assert "embedded" in profiles, f"no stage runs {test.relative_to(ROOT)}"
        assert len(set(profiles)) == len(profiles), f"{test.relative_to(ROOT)} is in two stages"

"""Two installations are the same: every version is named, those of requirements' own requirements too."""

from __future__ import annotations

from tests.support import pinned


def test_everything_that_is_installed_is_pinned_to_its_version():
    assert pinned.required() == pinned.pins("deploy/constraints.txt"), "run `make constraints`"
    assert pinned.written() == pinned.FILE.read_text(), "`make constraints` would change what another Python needs"


def test_the_service_is_installed_under_these_constraints():
    assert (pinned.ROOT / "requirements.txt").read_text().startswith("-c deploy/constraints.txt\n")
    for line in ("!requirements.txt", "!deploy/constraints.txt"):
        assert line in (pinned.ROOT / ".dockerignore").read_text().splitlines(), "the image is built with them"

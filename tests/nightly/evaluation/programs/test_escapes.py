"""Every attempt to leave the sandbox as a script and as an image, each alone; the usual run makes all as a function, and some of these."""

from __future__ import annotations

import pytest

from tests.pure.evaluation.programs.test_escapes import ALONE_IN_AN_IMAGE, AS_A_SCRIPT, image_holds, outside, python_image, script_holds  # noqa: F401
from tests.support.evaluation.escapes.attempts import ATTEMPTS


@pytest.mark.parametrize("attempt", [one for one in ATTEMPTS if one not in AS_A_SCRIPT])
def test_a_script_stays_inside(attempt, outside):  # noqa: F811
    script_holds(attempt, outside)


@pytest.mark.parametrize("attempt", [one for one in ATTEMPTS if one not in ALONE_IN_AN_IMAGE])
def test_an_image_stays_inside(attempt, python_image, outside):  # noqa: F811
    image_holds(attempt, python_image, outside)

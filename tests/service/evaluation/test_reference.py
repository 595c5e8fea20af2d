"""Facts that a reference tells those who may not see it."""

from __future__ import annotations

import pytest

from submissions.formats.wireframe.wireframe_files import Wireframe
from tests.support.factories import PhaseFactory, gable, gables, give_reference

pytestmark = pytest.mark.django_db


def test_the_manifest_does_not_tell_how_large_each_hidden_item_is(challenge):
    one = gable()
    items = gables(2) | {"triangle": Wireframe(one.vertices[:3], one.edges[:2], None)}
    phase = PhaseFactory(challenge=challenge, size_factor=50)
    give_reference(phase, items)
    bounds = {item.limits for item in phase.manifest.items}
    assert bounds == {(16 * 50, 32 * 50)}, "the largest has 10 vertices and 17 edges"

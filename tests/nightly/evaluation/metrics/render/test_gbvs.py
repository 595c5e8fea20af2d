"""Saliency of larger pictures against a plain second writing of it."""

import pytest

from tests.pure.evaluation.metrics.render.test_gbvs import compare_with_plain
from tests.support.evaluation.metrics.render import pictures


@pytest.mark.parametrize("shape", [(120, 160), (97, 61), (200, 333)], ids=str)
@pytest.mark.parametrize("compat", [False, True])
def test_it_is_what_a_plain_implementation_says(shape, compat):
    compare_with_plain(pictures.blobs(*shape, sum(shape)), compat)

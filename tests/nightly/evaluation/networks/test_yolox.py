"""The larger YOLOX networks against an independent implementation with the same, random parameters."""

import pytest

from tests.pure.evaluation.networks.test_yolox import compare_with_peer


@pytest.mark.parametrize("name", ["yolox-tiny", "yolox-m", "yolox-l", "yolox-x"])
def test_features_and_boxes_are_those_of_an_independent_implementation(name, tmp_path, monkeypatch):
    compare_with_peer(name, tmp_path, monkeypatch)

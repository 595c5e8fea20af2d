"""Versions of libraries: the service's, those here, and which differ."""

from __future__ import annotations

from importlib.metadata import version

from evaluation import library_versions


def test_the_services_versions_are_those_of_its_requirements():
    assert set(library_versions.exact()) == set(library_versions.COMPUTING)
    assert library_versions.exact()["numpy"] == version("numpy") and library_versions.here().items() >= {("scipy", version("scipy"))}


def test_a_library_that_is_not_there_and_a_build_of_the_same_version_are_no_difference():
    wanted = {"numpy": "2.4.6", "torch": "2.13.0", "scipy": "1.17.1"}
    assert library_versions.differences({"torch": "2.13.0+cpu", "numpy": "2.4.6"}, wanted) == {}
    assert library_versions.differences({"numpy": "1.26.4", "scipy": "1.17.1", "cores": 8}, wanted) == {"numpy": ("1.26.4", "2.4.6")}


def test_a_checkout_has_no_extras():
    assert library_versions.extras() == {}

import dataclasses
import json

import pytest

from submissions.manifest import Bounds, Item, Manifest, ManifestError, MetricEntry

MANIFEST = Manifest(
    challenge="rooflines",
    phase="final",
    family="wireframe",
    items=(Item("house_01", "street_a", (880, 900)), Item("house-02.v1", "street_a")),
    formats=("obj", "json"),
    missing="worst",
    unit="cm",
    unit_scale=0.01,
    metrics=(MetricEntry("corner_f1_tight", "corner_f1", {"tau": 0.1}), MetricEntry("hss", "hss")),
    bounds=Bounds(max_entries=50),
    reference_version=3,
)


def changed(**values: object) -> dict[str, object]:
    return {**MANIFEST.to_dict(), **values}


def test_a_manifest_survives_json_unchanged() -> None:
    assert Manifest.from_json(MANIFEST.to_json()) == MANIFEST
    assert Manifest.from_dict(json.loads(json.dumps(MANIFEST.to_dict()))) == MANIFEST


def test_item_ids_keep_the_reference_order() -> None:
    assert MANIFEST.item_ids == ("house_01", "house-02.v1")


def test_a_short_manifest_gets_the_defaults() -> None:
    least = {"challenge": "c", "phase": "p", "family": "wireframe", "formats": ["obj"], "items": [{"id": "a"}]}
    manifest = Manifest.from_dict(least)
    assert manifest.items == (Item("a", "a", (20_000, 60_000)),)
    assert (manifest.missing, manifest.unit, manifest.unit_scale, manifest.bounds) == ("reject", "m", 1.0, Bounds())


def test_keys_of_a_newer_server_are_passed_over() -> None:
    assert Manifest.from_dict(changed(colour="blue")) == MANIFEST


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"family": "cloud"}, "The manifest's family must be one of wireframe, mesh, render, not 'cloud'."),
        ({"formats": []}, "formats must be some of json, obj, npz, s23dr"),
        ({"formats": ["obj", "stl"]}, "formats must be some of"),
        ({"formats": "obj"}, "formats must be a list"),
        ({"missing": "skip"}, "missing must be one of reject, worst"),
        ({"unit_scale": 0}, "unit_scale must be metres per unit"),
        ({"unit_scale": float("nan")}, "unit_scale must be metres per unit"),
        ({"unit_scale": True}, "unit_scale must be a number"),
        ({"items": []}, "items must be at least one item"),
        ({"items": [{"id": "../x"}]}, "items.id must be an id of letters"),
        ({"items": [{"id": "a\n"}]}, "items.id must be an id of letters"),
        ({"items": [{"id": "a"}, {"id": "a"}]}, "must be ids that differ by more than case, not 'a, a'"),
        ({"items": [{"id": "Roof"}, {"id": "roof"}]}, "must be ids that differ by more than case"),
        ({"items": [{"id": "a", "max_vertices": 20_001}]}, "a.max_vertices must be 1 to 20000"),
        ({"items": [{"group": "a"}]}, "has no items[0].id"),
        ({"items": ["a"]}, "items[0] must be an object"),
        ({"bounds": {"max_entries": 0}}, "bounds.max_entries must be a whole number above 0"),
        ({"bounds": {"max_entries": "many"}}, "bounds.max_entries must be a whole number"),
        ({"metrics": [{"key": "hss"}, {"key": "hss"}]}, "metrics must be a different slug for each metric"),
        ({"reference_version": True}, "reference_version must be a whole number"),
    ],
)
def test_a_wrong_manifest_names_the_key_and_what_was_expected(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(ManifestError) as caught:
        Manifest.from_dict(changed(**change))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"<html>", b"[" * 100_000, b"[]", "{}".encode("utf-16"), b'{"challenge": "c"}'])
def test_a_file_that_is_no_manifest_is_one_sentence(data: bytes) -> None:
    with pytest.raises(ManifestError, match=r"^The manifest"):
        Manifest.from_json(data)


def test_constructing_checks_as_reading_does() -> None:
    with pytest.raises(ManifestError, match="missing must be"):
        dataclasses.replace(MANIFEST, missing="ignore")


def test_a_wireframe_manifest_is_what_older_clients_read() -> None:
    """Names and places of keys are fixed: clients of the first release read exactly these."""
    assert MANIFEST.to_dict() == {
        "challenge": "rooflines",
        "phase": "final",
        "family": "wireframe",
        "formats": ["obj", "json"],
        "missing": "worst",
        "unit": "cm",
        "unit_scale": 0.01,
        "reference_version": 3,
        "bounds": {
            "max_archive_bytes": 500_000_000,
            "max_total_bytes": 2_000_000_000,
            "max_file_bytes": 50_000_000,
            "max_entries": 50,
            "max_ratio": 200,
            "max_depth": 6,
        },
        "metrics": [{"slug": "corner_f1_tight", "key": "corner_f1", "params": {"tau": 0.1}}, {"slug": "hss", "key": "hss", "params": {}}],
        "items": [
            {"id": "house_01", "group": "street_a", "max_vertices": 880, "max_edges": 900},
            {"id": "house-02.v1", "group": "street_a", "max_vertices": 20_000, "max_edges": 60_000},
        ],
    }


def test_a_mesh_manifest_bounds_vertices_and_faces() -> None:
    least = {
        "challenge": "c",
        "phase": "p",
        "family": "mesh",
        "formats": ["glb", "obj"],
        "items": [{"id": "a"}, {"id": "b", "max_faces": 9}],
    }
    manifest = Manifest.from_dict(least)
    assert manifest.items == (Item("a", "a", (2_000_000, 4_000_000)), Item("b", "b", (2_000_000, 9)))
    assert manifest.to_dict()["items"][1] == {"id": "b", "group": "b", "max_vertices": 2_000_000, "max_faces": 9}
    assert Manifest.from_json(manifest.to_json()) == manifest
    with pytest.raises(ManifestError, match="formats must be some of glb, obj, ply, stl, off"):
        Manifest.from_dict({**least, "formats": ["json"]})
    with pytest.raises(ManifestError, match=r"a\.max_faces must be 1 to 4000000"):
        Manifest.from_dict({**least, "items": [{"id": "a", "max_faces": 4_000_001}]})

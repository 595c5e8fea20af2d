"""Manifests of published sets: the record, the catalogue that ships, and the words that personal columns are known by."""

from __future__ import annotations

import re

import pytest

from leaderboard.evidence import catalogue, manifest
from leaderboard.evidence.catalogue import NoSuchSet
from leaderboard.evidence.manifest import (
    EntryLabel,
    Judgements,
    MetricColumn,
    MetricValues,
    Printed,
    PrintedCell,
    PrintedTable,
    SourceFile,
    is_personal,
    published_names,
)
from submissions.formats.yaml_document import keys_of
from tests import ROOT
from tests.support.leaderboard.evidence.small_set import MANIFEST, manifest_of

NAMES = ("basics", "geo-metric", "gsc", "icip2020", "mate-3d", "nerf-qa")


def test_the_record_says_what_the_document_says():
    found = manifest_of()
    assert (found.name, found.material, found.scale, found.better_is_higher) == ("small", "pictures", (1.0, 5.0), True)
    assert found.licence.name == "none stated" and found.source.version == f"commit {'ab' * 20}"
    (file,) = found.files
    assert file.url == f"https://raw.githubusercontent.com/example/small/{'ab' * 20}/data/Results.csv" and file.name == "Results.csv"
    assert found.judgements[0].is_wide and found.size == 10


def test_a_scale_may_be_a_word_and_a_version_a_doi_or_a_release():
    assert manifest_of([("[1, 5]", "JOD")]).scale is None and manifest_of([("[1, 5]", "JOD")]).scale_name == "JOD"
    assert manifest_of([("commit: " + "ab" * 20, "doi: 10.5281/zenodo.123")]).files[0].url == ""
    assert manifest_of([("commit: " + "ab" * 20, "release: v1.2 of 2026-02-04")]).source.version == "release v1.2 of 2026-02-04"
    own = manifest_of([("bytes: 10", "bytes: 10, url: https://example.org/files/Results.csv")])
    assert own.files[0].url == "https://example.org/files/Results.csv"


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_that_ships_is_read_and_pinned(name, tmp_path):
    found = catalogue.find(name, tmp_path)
    assert found.name == name and len(found.source.commit) == 40 and found.authors
    for file in found.files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256) and file.bytes and found.source.commit in file.url
    assert [
        (block, column)
        for block in found.judgements
        for column in block.columns
        if column not in _columns(block.rater) and is_personal(column)
    ] == []


def _columns(rule) -> tuple[str, ...]:
    return rule.columns if rule is not None else ()


def test_the_catalogue_holds_six_sets_and_those_that_nobody_tried(tmp_path):
    assert tuple(catalogue.shipped()) == NAMES
    waiting = catalogue.not_tried()
    assert len(waiting) >= 10 and not {one.name for one in waiting} & set(NAMES)
    assert not re.search(r"\b[0-9a-f]{40,64}\b", (catalogue.FOLDER / catalogue.NOT_TRIED).read_text())
    with pytest.raises(NoSuchSet, match=r"gscomp-qa was not tried here: write .*/gscomp-qa/evidence.yaml for it\. Where it is: https://"):
        catalogue.find("gscomp-qa", tmp_path)
    with pytest.raises(NoSuchSet, match="There is no set gcs; there are: basics, geo-metric, gsc"):
        catalogue.find("gcs", tmp_path)


def test_an_operators_own_manifest_is_found_and_goes_before_the_catalogues(tmp_path):
    for name in ("small", "gsc"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "evidence.yaml").write_text(MANIFEST.replace("name: small", f"name: {name}"))
    assert catalogue.find("small", tmp_path).title == catalogue.find("gsc", tmp_path).title == "A small set"
    (tmp_path / "gsc" / "evidence.yaml").write_text(MANIFEST)
    with pytest.raises(NoSuchSet, match="is the manifest of small, not of gsc"):
        catalogue.find("gsc", tmp_path)


def test_no_file_of_answers_is_in_the_catalogue():
    room = ROOT / "leaderboard" / "evidence"
    assert {path.suffix for path in room.rglob("*") if path.is_file() and "__pycache__" not in path.parts} <= {".py", ".yaml", ".toml"}
    assert max(path.stat().st_size for path in (room / "sets").iterdir()) < 20_000


def test_published_names_say_what_each_must_be_and_link_to_metrics_that_exist():
    from evaluation.metrics.registry import REGISTRY

    for key, about in published_names().items():
        assert re.fullmatch(r"[a-z0-9-]+", key) and about["title"] and about["is"] and about.keys() == {"title", "is", "resembles"}
        assert about["resembles"] in {"", *REGISTRY}, key


@pytest.mark.parametrize(
    "header",
    [
        *("Name", "name", "First name", "firstname", "Participant Name", "Rater_Name", "FirstName", "e-mail", "E-Mail address", "mail"),
        *(
            "Age",
            "age group",
            "participant_age",
            "Sex",
            "gender",
            "Address",
            "IP",
            "ip address",
            "IPAddress",
            "user name",
            "Date of birthday",
        ),
    ],
)
def test_headers_of_personal_columns(header):
    assert is_personal(header)


@pytest.mark.parametrize(
    "header",
    [
        *(
            "pc_name",
            "image name",
            "Scene",
            "Subject_1",
            "obs1",
            "rater",
            "participant",
            "message",
            "storage",
            "Image",
            "coverage",
            "codec name",
        ),
        *("PSNR", "zip", "chip", "mailbox scene", "average", "language", "model_name", "memory address space", ""),
    ],
)
def test_headers_of_other_columns(header):
    assert not is_personal(header)


def test_every_manifest_of_the_documentation_is_read():
    text = (ROOT / "leaderboard" / "docs" / "evidence.md").read_text()
    documents = re.findall(r"```yaml\n(evidence: 1\n.*?)```", text, re.S)
    assert documents
    for document in documents:
        manifest.parse(document.encode())


@pytest.mark.parametrize(
    "mapping", [manifest.Manifest, SourceFile, Judgements, MetricColumn, MetricValues, EntryLabel, Printed, PrintedTable, PrintedCell]
)
def test_the_documentation_names_every_key(mapping):
    page = (ROOT / "leaderboard" / "docs" / "evidence.md").read_text()
    section = page.partition("## Add another set")[2].partition("\n## ")[0]
    assert keys_of(mapping)
    assert [key for key in keys_of(mapping) if not re.search(rf"`{key}`|\b{key}:", section)] == []


def test_what_people_were_asked_and_what_is_missing_is_said_by_the_manifest():
    found = manifest_of(
        [("name: small", 'name: small\nshort: S\nasked: {task: rate one picture, shown: ""}\nnot_available: [the pictures]')]
    )
    assert (found.short, found.asked.task, found.asked.shown, found.not_available) == ("S", "rate one picture", "", ("the pictures",))
    assert not manifest_of().asked.task and manifest_of().not_available == ()
    for path in catalogue.shipped().values():
        one = manifest.parse(path.read_bytes(), path.name)
        assert one.short and one.asked.task and one.not_available

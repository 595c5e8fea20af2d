"""Contents that a bundle may have, and the sentence for everything it may not."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from evaluation.networks import weights
from leaderboard.bundle.parse import parse
from submissions.formats.yaml_document import DocumentError
from tests.support.factories import gables
from tests.support.leaderboard.bundle.folders import SMALL, WHOLE, write_bundle


def problems(folder, text) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        parse(write_bundle(folder, text))
    return [str(problem) for problem in caught.value.problems]


def test_a_small_bundle_takes_every_default_of_the_models(tmp_path):
    challenge = parse(write_bundle(tmp_path)).definition
    phase = challenge.phases[0]
    assert (challenge.rules_version, challenge.visibility, challenge.team_size) == ("1", "draft", None)
    assert (challenge.item_noun, challenge.unit_noun, challenge.tags, challenge.licence) == ("item", "group", (), "")
    assert phase.opens_at == datetime(2025, 12, 31, 23, tzinfo=UTC)
    assert (phase.board, phase.entries, phase.ranking, phase.missing, phase.size_factor) == ("live", "best", "primary", "reject", 10)
    assert [(metric.slug, metric.is_primary) for metric in phase.metrics] == [("corner_f1", True)]
    assert phase.reference.item_ids == ("house_01", "house_02", "house_03")


def test_everything_a_bundle_can_say_arrives(tmp_path):
    challenge = parse(write_bundle(tmp_path, WHOLE)).definition
    final = challenge.phase("final")
    assert challenge.rules_version == "1.10"
    assert challenge.rules == "Be fair.\n"
    assert challenge.admitted_emails == ("ann@example.org", "bo@example.org")
    assert challenge.announcements[0].body == "The data is there.\n\nHave fun.\n"
    assert challenge.files[0].title == "Points of all roofs"
    assert final.closes_at == datetime(2026, 12, 14, 22, 59, tzinfo=UTC)
    assert (final.parent, final.limit_at_once, final.unit_scale, final.max_archive_bytes) == ("warm-up", 2, 0.01, 20_000_000)
    assert dict(final.metrics[0].params) == {"n": 2000, "one_sided": "off", "merge_tol": 0.05}
    assert [(m.slug, m.is_primary, m.in_ranking, m.weight) for m in final.metrics] == [
        ("ecd_chamfer", False, True, 2.0),
        ("corner_f1@25", True, True, 1.0),
        ("hss", False, False, 1.0),
    ]
    assert final.reference.groups == (("house_01", "north"), ("house_02", "north"))
    assert [(file.kind, file.name) for file in final.files] == [("input", "final points.zip"), ("example", "example.zip")]


def test_reference_items_keep_every_bit(tmp_path):
    reference = parse(write_bundle(tmp_path)).definition.phases[0].reference
    for name, item in gables(3).items():
        assert np.array_equal(reference.load()[name].vertices, item.vertices)


def test_a_reference_is_read_in_the_limited_process_that_uploads_are_read_in(tmp_path, monkeypatch):
    from evaluation.work.sandbox import JobFailed, sandbox
    from submissions.formats.wireframe import wireframe_files

    def here(*_: object) -> None:
        raise AssertionError("read in this process")

    monkeypatch.setattr(wireframe_files, "load_folder", here)
    assert parse(write_bundle(tmp_path)).definition.phases[0].reference.item_ids == ("house_01", "house_02", "house_03")

    def bomb(*_: object) -> None:
        raise JobFailed("memory", "", 1, 256 << 20)

    monkeypatch.setattr(sandbox, "run", bomb)
    (said,) = problems(tmp_path, SMALL)
    assert "phases[0].reference.path: " in said and "256 MB" in said


def test_a_wrong_date_is_named_by_line_key_and_what_was_expected(tmp_path):
    text = SMALL.replace("time_zone: Europe/Prague", "time_zone: Europe/Prague\n    closes_at: tomorrow")
    expected = 'challenge.yaml: line 8: phases[0].closes_at: expected a date and time such as 2026-12-14T23:59, found "tomorrow"'
    assert problems(tmp_path, text) == [expected]


def test_a_metric_whose_weights_are_not_here_is_refused(tmp_path):
    """It would score nobody; the console refuses it with the same sentence."""
    text = SMALL.replace("key: corner_f1", "key: saucd_w")
    text = text.replace("title:", "family: mesh\ntitle:", 1)
    (fault,) = [problem for problem in problems(tmp_path, text) if "metrics[0].key" in problem]
    assert "'shape_grading'" in fault


@pytest.mark.parametrize(("key", "files"), [("lpips_alex", "alexnet lpips-alex"), ("psnr@bbox", "yolox-x"), ("fid", "inception-fid")])
def test_a_metric_whose_published_weights_were_not_fetched_is_refused_with_the_command(tmp_path, monkeypatch, key, files):
    monkeypatch.setattr(weights, "_folder", [tmp_path / "empty"])
    text = SMALL.replace("key: corner_f1", f"key: {key}")
    text = text.replace("title:", "family: render\ntitle:", 1)
    (fault,) = [problem for problem in problems(tmp_path, text) if "metrics[0].key" in problem]
    assert f"manage.py fetch_weights {files}" in fault


def test_all_faults_come_at_once_in_the_order_of_lines(tmp_path):
    text = SMALL.replace("title: Roofs", "titel: Roofs").replace("corner_f1", "corner_f2").replace("path: reference", "path: ../x")
    found = problems(tmp_path, text)
    assert [line.split(": ")[1] for line in found] == ["line 1", "line 2", "line 9", "line 11"]
    assert "titel: " in found[1] and "title?" in found[1] and "corner_f1" in found[2]


WRONG = {
    "a key that is given twice": ("title: Roofs", "title: Roofs\ntitle: Again", "line 3: title: is given twice, first on line 2"),
    "an anchor": ("title: Roofs", "title: &t Roofs", "line 2: expected plain values; anchors"),
    "an alias": ("title: Roofs", "title: *t", "line 2: expected plain values; anchors"),
    "a python tag": ("title: Roofs", "title: !!python/object/apply:os.system [ls]", "line 2: expected plain values; the tag"),
    "an earlier key": ("title: Roofs", "title: Roofs\nmade_up: true", "line 3: made_up: unknown key; it is called simulated now"),
    "a merge key": ("title: Roofs", "title: Roofs\n<<: {a: 1}", "line 3: <<: unknown key"),
    "broken YAML": ("title: Roofs", "title: [Roofs", "expected YAML"),
    "a control character": ("title: Roofs", "title: Ro\x01ofs", "line 2: expected YAML; character"),
    "a NUL in a text": ("title: Roofs", 'title: "Ro\\0ofs"', "title: expected a text without NUL"),
    "a slug with capitals": ("slug: roofs", "slug: Roofs", "line 1: slug: Use lower-case letters"),
    "an empty title": ("title: Roofs", 'title: ""', "title: expected a text that is not empty"),
    "a long title": ("title: Roofs", f"title: {'x' * 121}", "expected at most 120 characters, found 121"),
    "an unknown time zone": ("Europe/Prague", "Europe/Pragu", "not an IANA time zone"),
    "a reserved slug": ("slug: final", "slug: rules", "own pages"),
    "a limit below zero": ("title: Final", "title: Final\n    limit_total: -1", "expected a whole number from 0 to"),
    "a limit in words": ("title: Final", "title: Final\n    limit_total: many", 'found "many"'),
    "a unit scale of nothing": ("title: Final", "title: Final\n    unit_scale: 0", "metres per unit, a number above 0"),
    "a choice that is none": ("title: Final", "title: Final\n    ranking: elo", "expected one of primary, mean_rank"),
    "a hidden board without a date": ("title: Final", "title: Final\n    board: hidden", "board_at: expected"),
    "closing before opening": ("title: Final", "title: Final\n    closes_at: 2025-01-01T00:00", "expected a moment after opens_at"),
    "a parent that is not there": ("title: Final", "title: Final\n    parent: semi", 'found "semi"'),
    "a parent that is itself": ("title: Final", "title: Final\n    parent: final", "in a circle"),
    "an unknown parameter": ("- key: corner_f1", "- key: corner_f1\n        params: {tao: 1}", "has no parameter 'tao'"),
    "a parameter out of range": ("- key: corner_f1", "- key: corner_f1\n        params: {tau: -1}", "must be more than 0"),
    "one metric slug twice": ("- key: corner_f1", "- key: corner_f1\n      - key: corner_f1", "expected another slug than"),
    "two primary metrics": (
        "- key: corner_f1",
        "- {key: corner_f1, primary: true}\n      - {key: hss, primary: true}",
        "expected one primary column",
    ),
    "a group of no item": ("path: reference", "path: reference\n      groups: {shed: north}", "groups.shed: expected an item"),
    "a reference that is not there": ("path: reference", "path: refs", 'there is no "refs" in the bundle'),
    "a name longer than names can be": ("path: reference", f"path: {'r' * 300}", 'there is no "' + "r" * 120 + '" in the bundle'),
    "a reference of texts": ("path: reference", "path: texts", "found none"),
    "an input that is a folder": ("title: Roofs", "title: Roofs\ninputs: [{path: texts}]", "expected one file, found a folder"),
    "a file name with a slash": ("title: Roofs", "title: Roofs\ninputs: [{path: inputs/points.zip, name: a/b}]", "a plain file name"),
    "rules twice": ("title: Roofs", "title: Roofs\nrules: a\nrules_file: texts/rules.md", "expected rules or rules_file, not both"),
    "no e-mail": ("title: Roofs", "title: Roofs\nadmitted_emails: [ann]", "admitted_emails[0]: expected an e-mail address"),
    "an organizer twice": ("title: Roofs", "title: Roofs\norganizers: [a, a]", "organizers[1]: expected each once"),
    "phases that are no list": ("title: Roofs", "title: Roofs\nannouncements: {a: b}", "announcements: expected a list"),
    "an unknown kind": ("title: Roofs", "title: Roofs\nfamily: point_cloud", "line 3: family: expected one of wireframe, mesh, render"),
    "weights that are all 0": (
        "- key: corner_f1",
        "- {key: corner_f1, weight: 0}\n      - {key: hss, weight: 0}\n      - {key: wed_ap, in_ranking: false}\n    ranking: weighted",
        "line 12: phases[0].ranking: expected a weight above 0 in a column that counts for the overall rank; all weights are 0",
    ),
    "a zone that is anywhere on Earth": ("Europe/Prague", "AoE", "“AoE” is not an IANA time zone; write Etc/GMT+12"),
    "a moment anywhere on Earth": (
        "title: Final",
        "title: Final\n    closes_at: 2026-12-14 23:59 AoE",
        "closes_at: expected a date and time such as 2026-12-14T23:59, with the zone in time_zone; for anywhere on Earth write Etc/GMT+12",
    ),
    "a mapping for a text": ("title: Roofs", "title: {a: b}", "title: expected a text, found keys with values"),
}


@pytest.mark.parametrize(("old", "new", "words"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_said_with_its_place(tmp_path, old, new, words):
    found = problems(tmp_path, SMALL.replace(old, new, 1))
    assert any(words in line for line in found), found
    assert [line for line in found if not line.startswith("challenge.yaml: ")] == []


def test_a_bomb_of_aliases_or_of_depth_is_refused_before_it_grows(tmp_path):
    bomb = "a: &a [x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20))
    assert "anchors" in problems(tmp_path, bomb)[0]
    assert "at most 12 levels" in problems(tmp_path, "a: " + "[" * 5000)[0]
    assert "at most 12 levels" in problems(tmp_path, "- " * 10_000)[0]
    assert "at most 12 levels" in problems(tmp_path, "? " * 10_000)[0]
    assert "at most 100,000 values" in problems(tmp_path, "a:\n" + "- b\n" * 200_000)[0]
    assert "at most 1,000,000 bytes" in problems(tmp_path, "# " + "x" * 1_000_001)[0]


def test_many_faults_end_the_reading_and_many_members_are_a_fault(tmp_path):
    unknown = problems(tmp_path, SMALL + "".join(f"k{n}: 1\n" for n in range(30_000)))
    assert len(unknown) == 100 and [line for line in unknown if "unknown key" not in line] == []
    members = "".join(f"      - {{key: corner_f1, slug: m{n}}}\n" for n in range(501))
    (fault, *_) = problems(tmp_path, SMALL.replace("      - key: corner_f1\n", members))
    assert "phases[0].metrics: " in fault and "501" in fault


def test_what_a_document_led_to_is_quoted_short_and_safely(tmp_path):
    (fault,) = problems(tmp_path, SMALL.replace("title: Roofs", f'title: Roofs\nvisibility: "\\e[31m{"x" * 5000}"'))
    assert r'found "\x1b[31mxxx' in fault and len(fault) < 1500


def test_a_broken_reference_file_is_named_with_its_line(tmp_path):
    folder = write_bundle(tmp_path)
    (folder / "reference" / "house_01.json").unlink()
    (folder / "reference" / "house_01.obj").write_text("v 0 0 0\nv 1 0 0\nl 1 9\n")
    with pytest.raises(DocumentError, match=r"phases\[0\].reference.path: .*house_01.obj: line 3: .*9"):
        parse(folder)


def test_a_reference_without_a_length_is_refused_by_item(tmp_path):
    folder = write_bundle(tmp_path)
    (folder / "reference" / "house_09.obj").write_text("v 0 0 0\nv 0 0 0\nl 1 2\n")
    with pytest.raises(DocumentError, match="house_09: expected at least one edge with a length"):
        parse(folder)


def test_a_picture_of_too_many_bytes_is_refused_unread(tmp_path):
    with (tmp_path / "huge.png").open("wb") as file:
        file.truncate(40 << 30)  # takes no room on the disk, and would not fit into memory
    (said,) = problems(tmp_path, SMALL + "pictures:\n  - path: huge.png\n")
    assert "pictures[0].path" in said and "42,949,672,960" in said


def test_a_link_out_of_the_bundle_is_not_followed(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    folder = write_bundle(tmp_path / "bundle", SMALL.replace("title: Roofs", "title: Roofs\nrules_file: rules.md", 1))
    (folder / "rules.md").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(DocumentError, match="leads out of it"):
        parse(folder)


def test_a_folder_without_the_file_says_which_file_is_wanted(tmp_path):
    with pytest.raises(DocumentError, match=r"challenge.yaml: expected this file"):
        parse(tmp_path)


def test_an_unknown_kind_is_told_alone_with_its_line(tmp_path):
    """The kind says how metrics and references are read, so that no faults of these follow from a wrong one."""
    text = SMALL.replace("title: Roofs", "title: Roofs\nfamily: point_cloud").replace("corner_f1", "chamfer")
    (said,) = problems(tmp_path, text)
    assert said.startswith("challenge.yaml: line 3: family: ") and "wireframe, mesh, render" in said


def test_a_weight_above_0_is_asked_for_by_the_weighted_mean_alone(tmp_path):
    text = SMALL.replace("- key: corner_f1", "- {key: corner_f1, weight: 0}")
    assert parse(write_bundle(tmp_path, text)).definition.phases[0].ranking == "primary"
    more = "- {key: corner_f1, weight: 0}\n      - {key: hss, weight: 0.1}\n    ranking: weighted"
    assert parse(write_bundle(tmp_path, SMALL.replace("- key: corner_f1", more))).definition.phases[0].ranking == "weighted"

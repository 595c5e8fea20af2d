"""The six published sets, read from the files that their authors published; skipped by name where those are not here."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaderboard.evidence import catalogue, reading, record_file, recording, shown
from leaderboard.evidence.reading import Reading
from leaderboard.stats.evidence.judged import Basis
from leaderboard.wording import evidence as wording
from submissions.formats.spreadsheet import read_sheet
from tests.support.leaderboard.evidence.published import FOLDERS

# Stimuli, items, groups, entries, families, metrics; of these stimuli no references.
SIZES = {
    "gsc": (96, 12, 6, 8, 2, 10, 96),
    "nerf-qa": (56, 8, 8, 12, 4, 17, 56),
    "basics": (296, 15, 15, 20, 4, 1, 296),
    "icip2020": (96, 6, 6, 16, 4, 14, 90),
    "geo-metric": (3000, 100, 100, 30, 6, 6, 2400),
    "mate-3d": (1280, 160, 160, 8, 8, 0, 1280),
}


@pytest.fixture(scope="module")
def sets(data_folder) -> dict[str, Reading]:
    root = data_folder / "evidence"
    if not root.is_dir():
        pytest.skip("PLUMBLINE_DATA has no folder evidence with the published sets")
    return {name: reading.read(catalogue.find(name, Path("/nowhere")), root / FOLDERS[name], read_sheet) for name in FOLDERS}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_set_has_the_size_that_its_publication_has(sets, name):
    tables = sets[name].tables
    of = tables.stimuli
    found = (
        len(of),
        len(of.items),
        len(of.groups),
        len(of.entries),
        len(of.families),
        len(tables.metrics),
        len(tables.entries_only().stimuli),
    )
    assert found == SIZES[name]


def test_scores_and_raters(sets):
    def scored(name: str) -> tuple[int, int, tuple[str, ...]]:
        (criterion,) = sets[name].tables.criteria
        assert criterion.scores is not None
        return len(criterion.scores), criterion.scores.n_raters, criterion.scores.sessions

    assert scored("gsc") == (1536, 16, ("",))
    assert scored("nerf-qa") == (2015, 80, ("1", "2"))
    assert scored("basics") == (17788, 63, ("",))
    (criterion,) = sets["nerf-qa"].tables.criteria
    assert criterion.scores is not None
    assert np.bincount(criterion.scores.session_of).tolist() == [36, 44]


def test_means_and_criteria(sets):
    (criterion,) = sets["icip2020"].tables.criteria
    assert criterion.means is not None and np.isfinite(criterion.means.se).all()
    assert criterion.means.se[0] == pytest.approx(0.17264090479724306 / 1.959964, rel=1e-7)
    seen = ["seen_from_close_by", "seen_from_afar"]
    assert [one.name for one in sets["geo-metric"].tables.criteria] == [f"{one}{turned}" for one in seen for turned in ("", "_turned_over")]
    assert [one.name for one in sets["mate-3d"].tables.criteria] == ["overall", "alignment", "geometry", "texture"]
    for name in ("geo-metric", "mate-3d"):
        for one in sets[name].tables.criteria:
            assert one.means is not None and np.isfinite(one.means.mean).all() and np.isnan(one.means.se).all()


def test_what_is_left_out_is_said(sets):
    (remark,) = sets["basics"].tables.remarks
    assert remark.startswith("1,204 of 1,500 rows ") and "p02_geocnn_r01, p02_geocnn_r02, p02_geocnn_r03" in remark
    told = [(remark.split()[0], re.findall(r"\d+", remark)) for remark in sets["geo-metric"].tables.remarks]
    assert told == [("DAME", ["500"]), ("MSDM", ["500"])]
    for name in ("gsc", "nerf-qa", "icip2020", "mate-3d"):
        assert sets[name].tables.remarks == ()


def test_every_value_joins_its_stimulus(sets, data_folder):
    tables = sets["nerf-qa"].tables
    assert np.isfinite(tables.values).all()
    of = tables.stimuli
    at = [(of.items[item], of.entries[entry]) for item, entry in zip(of.item, of.entry, strict=True)].index(("chair", "tensoRF_VM"))
    psnr = [one.column for one in tables.metrics].index("PSNRy")
    assert tables.values[at, psnr] == 36.1949303627014  # whose row is called tensorf_chair_VM there


@pytest.mark.parametrize(
    ("name", "chief", "said"),
    [
        ("nerf-qa", 16, "The source prints DISTS SRCC .8615; the same data give .8615 here (144 of 144 printed numbers match)."),
        ("icip2020", 12, "The source prints TDF_PL_C9 SRCC .947; the same data give .947 here (12 of 12 printed numbers match)."),
        ("geo-metric", 4, "The source prints METRO SRCC −.3479; the same data give −.3479 here (660 of 660 printed numbers match)."),
    ],
    ids=["nerf-qa", "icip2020", "geo-metric"],
)
def test_the_numbers_that_a_source_prints_come_out_of_its_data(sets, name, chief, said):
    """The lines of the record are the chief ones: rank correlations over all rows."""
    found = recording.reproduced(catalogue.find(name, Path("/nowhere")), sets[name].printed)
    assert found is not None and shown.leading(dataclasses.replace(shown.shipped()[name], reproduction=found)).reproduced == said
    assert found.same == found.printed and len(found.lines) == chief and [one for one in found.lines if not one.same] == []
    assert "DISTS SRCC with BT-500: printed .8615, here .8615" in [wording.told(one) for one in found.lines] or name != "nerf-qa"


def test_a_printed_number_that_differs_is_shown(sets):
    first, *rest = sets["nerf-qa"].printed
    wrong = dataclasses.replace(first, printed=dataclasses.replace(first.printed, value=0.5))
    found = recording.reproduced(catalogue.find("nerf-qa", Path("/nowhere")), [wrong, *rest])
    assert found is not None and (found.printed, found.same) == (144, 143)
    rows = "reference_folder gt_chair or gt_mic or gt_hotdog or gt_materials"
    told = wording.told(found.lines[0])
    assert told.startswith(f"DISTS PLCC with BT-500, {rows}: ") and re.findall(r"\.\d{4}", told) == [".5000", ".8138"]


def test_a_record_is_made_of_what_was_read(sets):
    """Figures of the set with one group of persons, as they are written of it."""
    record = recording.record_of(catalogue.find("gsc", Path("/nowhere")), sets["gsc"], "2026-11-28")
    (found,) = record.criteria.values()
    assert (found.basis, found.raters, found.stimuli, found.items, found.groups) == (Basis.PERSONS, 16, 96, 12, 6)
    assert found.check is not None and found.check.people
    assert (found.check.p_across, found.check.p_inside) == pytest.approx((0.001, 0.005), abs=0.02)
    assert found.ladders is not None and (found.ladders.left_out, found.ladders.compared) == (1831, 4179)

    def percent(figure: Any) -> tuple[int, int, int]:
        return round(100 * figure.value), round(100 * figure.low), round(100 * figure.high)

    psnr, size = found.metrics["psnr-y"], found.metrics["size"]
    assert percent(psnr.decided) == (88, 83, 91) and percent(psnr.decided_between) == (85, 79, 90)
    assert percent(size.decided) == (84, 81, 86) and percent(size.decided_between) == (77, 73, 82)
    assert psnr.decided is not None and psnr.srocc is not None and psnr.decided_split is not None
    assert psnr.decided.value == pytest.approx(0.879158, abs=1e-6) and round(psnr.srocc.value or 0, 2) == 0.61
    assert (round(psnr.decided_split.value, 3), round(psnr.decided_split.bound, 3), psnr.decided_split.n) == (0.591, 0.656, 776)
    assert percent(found.metrics["ms-ssim"].srocc) == (77, 15, 96)
    assert {key for key in found.compared if not found.metrics[key].srocc.may_be_best} == {"ssim"}
    assert [key for key in found.compared if not found.metrics[key].decided.above_size] == ["psnr-y"]
    assert found.within is not None and percent(found.within.another_rater) == (85, 80, 88)
    assert [round(found.across.one, 2), round(found.across.srocc, 2)] == [0.77, 0.98]
    assert record_file.differences(record_file.of_toml(record_file.to_toml(record)), record) == []
    assert "Subject" not in record_file.to_toml(record)

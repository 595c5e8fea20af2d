"""Records that ship, as pages show them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from leaderboard.evidence import catalogue, record_file, shown
from leaderboard.evidence.shown import Set, leading
from leaderboard.stats.evidence.record import STATISTICS
from leaderboard.wording import evidence as wording

RECORDS = shown.shipped()
SETS = [Set(record, name, figures) for record in RECORDS.values() for name, figures in record.criteria.items()]


def test_a_record_ships_for_every_set_that_can_be_fetched_made_by_the_current_statistics():
    assert RECORDS.keys() == catalogue.shipped().keys()
    assert {record.statistics for record in RECORDS.values()} == {STATISTICS}


def test_sets_with_more_raters_come_first_and_those_without_metrics_last():
    assert list(RECORDS) == ["nerf-qa", "gsc", "basics", "geo-metric", "icip2020", "mate-3d"]


@pytest.mark.parametrize(("raters", "place"), [(100, 0), (20, 1), (2, 2)])
def test_an_operators_own_set_is_listed_by_its_raters_among_those_that_ship(tmp_path, raters, place):
    known = RECORDS["gsc"]
    mine = replace(known, name="mine", criteria={"quality": replace(known.criteria["quality"], raters=raters)})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "evidence.yaml").write_text("")
    (tmp_path / "mine" / "record.toml").write_text(record_file.to_toml(mine))
    assert list(shown.records(tmp_path)).index("mine") == place


@pytest.mark.parametrize("one", SETS, ids=lambda one: f"{one.record.name}-{one.name}")
def test_every_number_has_its_interval_or_its_reason(one):
    for row in one.rows:
        for cell in (row.within, row.between, row.across):
            assert cell.figure is None or cell.interval or cell.why, (row.key, cell)
            assert cell.shown == (cell.text != "–")
    assert one.rows or one.entries


@pytest.mark.parametrize("one", SETS, ids=lambda one: f"{one.record.name}-{one.name}")
def test_reference_points_stand_last_without_places_and_the_constant_at_chance(one):
    assert [row for row in one.reference_points if not (row.is_reference_point and not row.across.places)] == []
    assert [row for row in one.rows if row.is_reference_point] == []
    if one.reference_points:
        constant = next(row for row in one.reference_points if row.key == "constant")
        assert (constant.within.text, constant.within.interval, constant.across.text) == ("50", "", "–")


def test_rows_are_in_the_order_of_their_value_across_items():
    values = [row.across.figure.value for row in leading(RECORDS["nerf-qa"]).rows]
    assert values == sorted(values, reverse=True) and len(values) == 17


def test_metrics_that_were_not_compared_come_last_and_a_set_of_several_criteria_names_its_own():
    one = leading(RECORDS["geo-metric"])
    assert [row.title for row in one.rows] == ["MSDM2", "FMPD", "RMS", "METRO", "DAME", "MSDM"]
    assert "seen from close by" in one.called and leading(RECORDS["gsc"]).called == "GSC"


def test_a_claim_names_the_metrics_that_it_says_nothing_of():
    said = leading(RECORDS["geo-metric"]).claim
    assert said[-1].startswith("DAME and MSDM ") and len(said) == 3
    assert leading(RECORDS["basics"]).claim == [] and len(leading(RECORDS["gsc"]).claim) == 2


def test_every_set_has_a_main_result_which_gives_an_only_metric_its_interval():
    said = {name: leading(record).main_result for name, record in RECORDS.items()}
    (metric,) = leading(RECORDS["basics"]).rows
    assert metric.title in said["basics"] and metric.across.interval in said["basics"] and metric.across.interval.startswith("[")
    assert said["gsc"] == leading(RECORDS["gsc"]).claim[0] and said["mate-3d"] == wording.NO_METRICS
    assert [name for name, sentence in said.items() if not sentence] == []


def test_little_room_holds_what_readers_look_for_and_size():
    one = leading(RECORDS["gsc"])
    chief = [row.key for row in one.chief]
    assert len(chief) <= 8 and chief[-1] == "size" and {"psnr-y", "ssim", "vif", "lpips"} < set(chief)


def test_a_set_without_values_of_metrics_is_an_order_of_entries():
    one = leading(RECORDS["mate-3d"])
    means = [float(mean) for _, mean, _ in one.entries]
    assert not one.rows and len(means) == 8 and means == sorted(means, reverse=True)
    others = [Set(one.record, name, figures).beside_leading for name, figures in one.record.criteria.items()]
    assert others[0] == "" and [said for said in others[1:] if not re.search(r"\d\] of 100 ", said)] == []


def test_no_answer_ships():
    """A record names no rater, and holds no more numbers than its figures need."""
    for path in catalogue.RECORDS.glob("*.toml"):
        assert "Subject" not in path.read_text() and "rater_" not in path.read_text()


def test_a_familiar_metric_whose_figures_part_is_found_by_its_places():
    found = shown.finding([leading(record) for record in RECORDS.values()])
    assert "PSNR (luma)" in found.claim.text and found.claim.text.endswith("(NeRF-QA).")
    assert found.title == "PSNR (luma)" and [one.record.name for one, _ in found.rows] == ["nerf-qa", "gsc"]
    assert [row for _, row in found.rows if row.within.is_out] == [] and [row.across.is_out for _, row in found.rows] == [True, False]
    # Of the metrics that may be the best there it names the one whose places reach least far, not the one of the highest value.
    assert "TOPIQ-FR, .84 [.71, .92]," in found.sentence and "DISTS" not in found.sentence
    one, lower, rival = found.example
    assert (one.record.name, lower, rival.title) == ("nerf-qa", found.rows[0][1], "TOPIQ-FR")
    assert shown.finding([leading(RECORDS["gsc"])]).title == "SSIM", "there PSNR may be the best"
    assert shown.finding([leading(RECORDS["icip2020"])]) is None
    # Where it was not compared within items, nothing says that none agrees better there.
    criterion = one.criterion
    alone = replace(lower.figures, decided=replace(lower.figures.decided, may_be_best=None, places=None))
    untested = replace(one, criterion=replace(criterion, metrics={**criterion.metrics, lower.key: alone}))
    assert getattr(shown.finding([untested]), "title", "") != "PSNR (luma)"


def test_metrics_in_several_sets_are_listed_until_three_of_one_material_have_them():
    gsc, nerf = leading(RECORDS["gsc"]), leading(RECORDS["nerf-qa"])
    listed = shown.in_several([gsc, nerf])
    assert [one.title for one in listed] == ["FSIMc", "MS-SSIM", "PSNR (luma)", "SSIM", "VIF"] and [one for one in listed if one.over] == []
    three = [Set(replace(gsc.record, name=name), gsc.name, gsc.criterion) for name in ("a", "b", "c")]
    one = next(one for one in shown.in_several([*three, nerf]) if one.title == "PSNR (luma)")
    (over,) = one.over
    assert (over.material, over.k, len(one.rows)) == ("splat videos", 3, 4) and over.within.text == "88" and over.within.interval
    assert over.across.interval and over.within.places


def test_a_metric_without_some_values_is_said_not_to_be_compared():
    rows = {row.key: row for row in leading(RECORDS["geo-metric"]).rows}
    assert rows["mesh-dame"].is_uncompared and not rows["mesh-dame"].across.places and not rows["mesh-msdm2"].is_uncompared


def test_little_room_has_the_familiar_metrics_also_of_clouds_and_meshes():
    for name, keys in (("icip2020", {"cloud-d1-psnr", "cloud-d2-psnr", "cloud-y-psnr", "size"}), ("geo-metric", {"mesh-metro"})):
        brief = [row.key for row in leading(RECORDS[name]).brief]
        assert leading(RECORDS[name]).n_brief == 4 and len(brief) == 4 + ("size" in keys) and keys < set(brief)


def test_a_metric_of_this_service_finds_what_is_published_under_its_name():
    sets = [leading(record) for record in RECORDS.values()]
    assert [one.record.name for one, _ in shown.resembling(sets, "lpips_alex")] == ["nerf-qa"] and not shown.resembling(sets, "hss")

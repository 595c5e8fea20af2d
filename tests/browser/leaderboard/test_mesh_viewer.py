"""The view of meshes in a real browser: panels under one camera, colourings, read-out, keys, legend, fallback."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
import trimesh
from PIL import Image

from leaderboard.viewer.mesh_scene import scene
from submissions.formats.arrays import Mesh
from tests.browser.leaderboard.test_viewer import HEAD, SPY, comes_to_rest, state
from tests.support.factories import boxes
from tests.support.leaderboard.static_site import Answer, until

OFFSET = np.array([548_123.25, 6_512_345.5, 412.0])
BOX, HIGHER = boxes()["box_1"], boxes(1.25)["box_1"]  # 4 × 2 × 1, and a quarter higher
LIDLESS = Mesh(BOX.vertices, np.delete(BOX.faces, [2, 3], axis=0), np.full((10, 3), (200, 30, 30), np.uint8))


def moved(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices + OFFSET, mesh.faces, mesh.face_colours)


def file(prediction: Mesh | None, name: str = "box-net", **more) -> bytes:
    return scene(moved(BOX), prediction and moved(prediction), name, **more)


@pytest.fixture
def view(show, site):
    """`view(file) -> tab` with one viewer of meshes, drawn; with two files it compares them."""

    def opened(*files: bytes, by=None, wait: bool = True, **options):
        site.routes["/spy.js"] = lambda request: Answer(body=SPY, type="text/javascript")
        for number, data in enumerate(files):
            site.routes[f"/{number}.mesh"] = lambda request, data=data: Answer(body=data, type="application/octet-stream")
        second = ' data-meshes-b="/1.mesh"' if len(files) > 1 else ""
        options.setdefault("viewport", {"width": 760, "height": 700})
        body = f'<div class="viewer" data-meshes="/0.mesh"{second}>3D needs JavaScript.</div>'
        tab = show(body, '<script src="/spy.js" defer></script>' + HEAD, by=by, **options)
        if wait:
            until(tab, "window.viewers.length === 1")
        return tab

    return opened


def words(tab, selector: str) -> str:
    return re.sub(r"\s+", " ", tab.locator(selector).first.inner_text()).strip()


def panels(tab) -> list[np.ndarray]:
    """Picture of each panel, without the names over it, the scale bar and the axes."""
    until(tab, "viewers.every(v => !v.pending)")
    tab.add_style_tag(path=None, content=".viewer-labels,.viewer-scale,.viewer-axes,.viewer-marks{visibility:hidden}")
    shot = np.asarray(Image.open(io.BytesIO(tab.locator(".viewer-stage").screenshot())).convert("RGB")).astype(int)
    return [shot[p["y"] : p["y"] + p["height"], p["x"] : p["x"] + p["width"]] for p in tab.evaluate("viewers[0].panels()")]


def colours(picture: np.ndarray) -> set[tuple[int, int, int]]:
    """The colours that make up more than a hundredth of a picture, its ground apart."""
    rows, counts = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    return {tuple(row) for row, n in zip(rows.tolist(), counts.tolist(), strict=True) if n > picture.size / 300} - {tuple(picture[3, 3])}


def point_at(tab, panel: int, x: float, y: float) -> None:
    """Moves the pointer to a place of a panel, in parts of its sides."""
    box, place = tab.locator(".viewer-stage").bounding_box(), tab.evaluate("viewers[0].panels()")[panel]
    tab.mouse.move(box["x"] + place["x"] + x * place["width"], box["y"] + place["y"] + y * place["height"])
    until(tab, "!viewers[0].waiting || viewers[0].shown")


def test_the_panels_show_reference_and_prediction_with_one_camera_and_without_a_complaint(view) -> None:
    tab = view(file(BOX))
    assert tab.locator(".viewer-labels span").all_inner_texts() == ["reference", "box-net"]
    home = state(tab)
    tab.focus(".viewer-stage")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("+")
    assert state(tab)["azimuth"] != home["azimuth"] and state(tab)["size"] == pytest.approx(home["size"] / 1.2)
    left, right = panels(tab)
    inside = np.s_[8:-8, 8:-8]  # what has the focus has an outline
    assert left.shape == right.shape and np.abs(left - right)[inside].max() <= 2  # the same box, seen the same way
    assert len(np.unique(left.reshape(-1, 3), axis=0)) > 3
    tab.keyboard.press("r")
    assert state(tab) == home
    assert tab.failures == []


def test_the_colourings_differ_and_are_named_by_what_they_mean(view) -> None:
    tab = view(file(LIDLESS))
    met = {}
    for mode in ("Distance", "Normals", "Shaded"):
        tab.get_by_role("button", name=mode, exact=True).click()
        assert tab.get_by_role("button", name=mode, exact=True).get_attribute("aria-pressed") == "true"
        tab.mouse.move(5, 5)
        met[mode] = panels(tab)
        if mode == "Distance":
            assert words(tab, ".viewer-caption") == "Distance in m" and tab.locator(".viewer-choices").is_visible()
        if mode == "Normals":
            assert "where a face points" in words(tab, ".viewer-told") and tab.locator(".viewer-chip").count() == 6
            assert any(np.abs(np.array(one) - (128, 128, 255)).max() <= 2 for one in colours(met[mode][0]))  # the lid looks up
    assert not tab.locator(".viewer-choices").is_visible() and "as in the file" in words(tab, ".viewer-told")
    reds = [sum(1 for r, g, b in colours(panel) if r > 2 * g and r > 2 * b) for panel in met["Shaded"]]
    assert reds[0] == 0 < reds[1]
    # The middle of the lid, which is missing, has the top of the scale.
    assert any(r > 150 and g > 150 and b < 120 for r, g, b in colours(met["Distance"][0]))
    assert [(r, g, b) for r, g, b in colours(met["Distance"][1]) if r > 150 and g > 150 and b < 120] == []
    assert tab.failures == []


def test_the_scale_states_its_end_its_unit_and_what_is_beyond(view) -> None:
    tab = view(file(HIGHER))
    assert tab.locator(".viewer-ticks span").last.inner_text() in ("0.25", "≥ 0.25")
    choices = tab.locator(".viewer-choices select")
    choices.nth(0).select_option("largest")
    assert tab.locator(".viewer-ticks span").all_inner_texts() == ["0", "0.0625", "0.125", "0.188", "0.25"]
    choices.nth(1).select_option("share")
    assert words(tab, ".viewer-caption") == "Distance in % of the reference’s longest side"
    assert tab.locator(".viewer-ticks span").last.inner_text() == "6.25"  # a quarter of 4
    assert "6.25 %" in words(tab, ".viewer-table") and "0.25 m" in tab.get_attribute(".viewer-stage", "aria-label")


def test_pointing_reads_the_distance_at_true_coordinates_and_marks_every_panel(view) -> None:
    tab = view(file(HIGHER))
    tab.get_by_role("button", name="Top", exact=True).click()
    point_at(tab, 1, 0.5, 0.5)
    until(tab, "picks.length > 0")
    pick = tab.evaluate("picks.at(-1)")
    assert pick["role"] == "prediction" and pick["distance"] == pytest.approx(0.25, abs=1e-6)
    assert pick["coordinates"] == pytest.approx(OFFSET + np.array([2, 1, 1.25]), abs=0.15) and pick["coordinates"][2] == pytest.approx(
        413.25, abs=1e-6
    )
    assert words(tab, ".viewer-words").startswith("box-net: 0.25 m from the surface of the reference, at (548125.")
    until(tab, "document.querySelectorAll('.viewer-marks .over').length === 2")
    point_at(tab, 0, 0.5, 0.5)
    until(tab, "picks.at(-1)?.role === 'reference'")
    assert "from the surface of box-net" in words(tab, ".viewer-words")


def test_keys_switch_everything_and_walk_to_the_worst_spots(view) -> None:
    tab = view(file(LIDLESS))
    tab.focus(".viewer-stage")
    tab.keyboard.press("n")
    worst = tab.evaluate("picks.at(-1)")
    assert worst["role"] == "reference" and worst["distance"] == pytest.approx(1, abs=0.01)
    for key, expected in [("m", "normals"), ("m", "shaded"), ("m", "distance")]:
        tab.keyboard.press(key)
        assert tab.evaluate("viewers[0].settings.mode") == expected
    tab.keyboard.press("w")
    tab.keyboard.press("o")
    assert tab.evaluate("[viewers[0].settings.wire, viewers[0].settings.overlay, viewers[0].panels().length]") == [True, True, 1]
    tab.keyboard.press("u")
    assert tab.evaluate("viewers[0].camera.basis().up[1]") > 0.5
    tab.keyboard.press("Escape")
    assert "Drag to turn" in words(tab, ".viewer-words") and tab.failures == []


def test_wires_show_the_faces_of_the_file_not_those_of_splitting(view) -> None:
    tab = view(file(BOX))
    tab.get_by_role("button", name="Normals", exact=True).click()
    tab.get_by_role("button", name="Top", exact=True).click()
    before = panels(tab)[0]
    tab.get_by_role("button", name="Wires", exact=True).click()
    tab.mouse.move(5, 5)
    changed = np.abs(panels(tab)[0] - before).max(axis=2) > 30
    # The lid has an outline and one diagonal; split, it would be full of lines.
    assert 0.002 < changed.mean() < 0.06


def test_nothing_is_drawn_while_nothing_changes(view) -> None:
    comes_to_rest(view(file(HIGHER)))


def test_two_entries_stand_beside_the_reference_with_one_scale(view) -> None:
    tab = view(file(HIGHER, "high-net"), file(LIDLESS, "open-net"), viewport={"width": 1100, "height": 700})
    assert tab.locator(".viewer-labels span").all_inner_texts() == ["A high-net", "reference", "B open-net"]
    end = tab.locator(".viewer-ticks span").last.inner_text()
    before = panels(tab)
    tab.locator(".viewer-choices select").nth(2).select_option(label="B open-net")
    tab.mouse.move(5, 5)
    after = panels(tab)
    assert tab.locator(".viewer-ticks span").last.inner_text() == end
    assert (before[1] != after[1]).any() and (before[0] == after[0]).all() and (before[2] == after[2]).all()
    rows = [re.sub(r"\s+", " ", row) for row in tab.locator(".viewer-table tbody tr").all_inner_texts()]
    assert [row.split(" 1")[0] for row in rows[:2]] == ["reference to A high-net", "reference to B open-net"] and len(rows) == 4
    assert tab.failures == []


def test_on_a_phone_the_panels_stand_below_each_other_and_nothing_is_wider_than_the_page(view) -> None:
    tab = view(file(HIGHER, "a-net-with-a-rather-long-name-of-its-own"), viewport={"width": 390, "height": 844})
    first, second = tab.evaluate("viewers[0].panels()")
    assert first["x"] == second["x"] == 0 and second["y"] > first["height"] - 1
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_simplified_mesh_says_so_and_a_missing_one_leaves_the_reference(view) -> None:
    ball = trimesh.creation.icosphere(subdivisions=2)
    tab = view(file(Mesh(np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int64)), most=150))
    assert re.search(r"box-net: shown simplified to [\d,]+ faces.*scores are of the whole mesh", words(tab, ".viewer-figures"))
    tab = view(file(None))
    assert tab.locator(".viewer-labels span").all_inner_texts() == ["reference"]
    assert tab.get_by_role("button", name="Distance", exact=True).is_disabled() and tab.failures == []


def test_without_webgl_the_same_picture_is_drawn_and_read(view, browser) -> None:
    from tests.conftest import CHROMIUM

    plain = browser.browser_type.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-3d-apis"])
    try:
        tab = view(file(LIDLESS), by=plain)
        assert tab.get_attribute(".viewer", "data-renderer") == "flat" and "no WebGL" in tab.inner_text(".viewer-note")
        assert any(r > 150 and g > 150 and b < 120 for r, g, b in colours(panels(tab)[0]))
        tab.get_by_role("button", name="Top", exact=True).click()
        point_at(tab, 0, 0.5, 0.5)
        until(tab, "picks.length > 0")
        assert tab.evaluate("picks.at(-1).distance") == pytest.approx(1, abs=0.1)
    finally:
        plain.close()


def test_the_colours_of_distances_grow_evenly_in_lightness(view) -> None:
    tab = view(file(HIGHER))
    stops = re.findall(r"rgb\((\d+), (\d+), (\d+)\)", tab.locator(".viewer-bar").evaluate("bar => getComputedStyle(bar).backgroundImage"))
    linear = [[(int(v) / 255 / 12.92) if int(v) <= 10 else ((int(v) / 255 + 0.055) / 1.055) ** 2.4 for v in stop] for stop in stops]
    light = [116 * np.cbrt(0.2126 * r + 0.7152 * g + 0.0722 * b) - 16 for r, g, b in linear]
    steps = np.diff(light)
    assert len(stops) == 10 and steps.min() > 0.5 * steps.mean() and light[-1] - light[0] > 70


def test_bytes_that_are_no_meshes_are_a_sentence(view) -> None:
    tab = view(b"PK and so on", wait=False)
    tab.wait_for_selector(".viewer .alert")
    assert "are no meshes" in tab.inner_text(".viewer .alert")

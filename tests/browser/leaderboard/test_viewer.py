"""The 3D viewer in a real browser, with software rendering: precision, cameras, keys, legend, fallback, speed."""

from __future__ import annotations

import io
import json
import math
import re

import numpy as np
import pytest
from PIL import Image

from tests.support.leaderboard.static_site import STATIC, Answer, until
from tests.support.processes import wait_until

VIEWER = STATIC / "viewer"
HEAD = '<link rel="stylesheet" href="/static/viewer/viewer.css"><script src="/static/viewer/viewer.js" defer></script>'
# Keeps the viewers and what they say; a file of its own, because the policy allows no inline script.
SPY = """window.viewers = []; window.picks = [];
const place = (viewer) => Array.from(document.querySelectorAll(".viewer")).indexOf(viewer.element);
document.addEventListener("viewer:ready", (e) => {
  window.viewers.push(e.detail); window.viewers.sort((a, b) => place(a) - place(b)); window.readyAt = performance.now();
});
document.addEventListener("viewer:pick", (e) => window.picks.push(e.detail));"""
ORIGIN = [548_123.25, 6_512_345.5, 412.0]
TRUE_CORNER = (548_128.123456789, 6_512_341.987654321, 415.000000123)


def house() -> dict:
    """A box with a ridge; vertex 5 is TRUE_CORNER. One missed edge triangle, two extra edges."""
    base = [(x, y, z) for z in (0, 3) for x, y in ((-5, -4), (5, -4), (5, 4), (-5, 4))]
    reference = [*base, (-5, 0, 6), (5, 0, 6), (-2, -4, 4.5), (0, -4, 4.5), (-1, -2.8, 5.2)]
    reference[5] = tuple(a - b for a, b in zip(TRUE_CORNER, ORIGIN, strict=True))
    shared = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 0),
        (4, 5),
        (5, 6),
        (6, 7),
        (7, 4),
        (0, 4),
        (1, 5),
        (2, 6),
        (3, 7),
        (4, 8),
        (7, 8),
        (5, 9),
        (6, 9),
        (8, 9),
    ]
    prediction = [*reference[:10], (0, -7, 3)]
    return {
        "unit": "m",
        "origin": ORIGIN,
        "models": [
            {
                "name": "reference",
                "role": "reference",
                "vertices": reference,
                "edges": [*shared, (10, 11), (10, 12), (11, 12)],
                "vertex_class": ["matched"] * 10 + ["missed"] * 3,
                "edge_class": ["matched"] * 17 + ["missed"] * 3,
            },
            {
                "name": "gable-net v3",
                "role": "prediction",
                "vertices": prediction,
                "edges": [*shared, (4, 10), (5, 10)],
                "vertex_class": ["matched"] * 10 + ["extra"],
                "edge_class": ["matched"] * 17 + ["extra"] * 2,
            },
        ],
    }


@pytest.fixture
def view(show, site):
    """`view(*datas, sync="", by=None, wait=True, **options) -> tab` with one viewer per data set, all drawn."""

    def opened(*datas, sync: str = "", by=None, wait: bool = True, **options):
        site.routes["/spy.js"] = lambda request: Answer(body=SPY, type="text/javascript")
        boxes = []
        for number, data in enumerate(datas):
            answer = data if isinstance(data, Answer) else Answer(body=json.dumps(data), type="application/json")
            site.routes[f"/data{number}.json"] = lambda request, answer=answer: answer
            boxes.append(f'<div class="viewer" data-src="/data{number}.json" data-sync="{sync}"><p>3D needs JavaScript.</p></div>')
        body = f'<div class="halves">{"".join(boxes)}</div>' if len(datas) > 1 else "".join(boxes)
        options.setdefault("viewport", {"width": 760, "height": 600})
        tab = show(body, '<script src="/spy.js" defer></script>' + HEAD, by=by, **options)
        if wait:
            until(tab, f"window.viewers.length === {len(datas)}")
        return tab

    return opened


def state(tab, number: int = 0) -> dict:
    return tab.evaluate(
        f"(({{target, azimuth, elevation, size, parallel}}) => ({{target, azimuth, elevation, size, parallel}}))(viewers[{number}].camera)"
    )


def pixel(tab, point, number: int = 0) -> tuple[float, float]:
    """Pixel at which a point of the scene must be in the picture, worked out here from the camera's angles alone."""
    camera = state(tab, number)
    width, height = tab.evaluate(f"viewers[{number}].extent()")
    ca, sa, ce, se = (f(camera[angle]) for angle in ("azimuth", "elevation") for f in (math.cos, math.sin))
    right, up, back = np.array([-sa, ca, 0]), np.array([-se * ca, -se * sa, ce]), np.array([ce * ca, ce * sa, se])
    offset = np.array(point) + tab.evaluate(f"viewers[{number}].shift") - camera["target"]
    side = min(width, height)
    scale = side / camera["size"]
    if not camera["parallel"]:
        distance = camera["size"] / (2 * math.tan(math.radians(15)))
        scale *= distance / (distance - offset @ back)
    return width / 2 + offset @ right * scale, height / 2 - offset @ up * scale


def point_at(tab, point, number: int = 0) -> None:
    box = tab.locator(".viewer-stage").nth(number).bounding_box()
    x, y = pixel(tab, point, number)
    tab.mouse.move(box["x"] + x, box["y"] + y)


def picture(tab, number: int = 0) -> np.ndarray:
    until(tab, "viewers.every(v => !v.pending)")
    shot = tab.locator(".viewer-stage").nth(number).screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def vertex(model: int, index: int):
    return house()["models"][model]["vertices"][index]


def test_a_picked_vertex_near_six_and_a_half_million_reads_true_to_a_micrometre(view) -> None:
    tab = view(house())
    point_at(tab, vertex(1, 5))
    pick = tab.evaluate("picks.at(-1)")
    assert (pick["role"], pick["vertex"]) == ("prediction", 5)
    assert pick["coordinates"] == pytest.approx(TRUE_CORNER, abs=1e-6, rel=0)
    assert "(548128.123457, 6512341.987654, 415)" in tab.inner_text(".viewer-words")


def test_a_picked_edge_reads_its_length_and_true_ends(view) -> None:
    tab = view(house())
    ends = np.array([vertex(1, 1), vertex(1, 5)])
    point_at(tab, ends.mean(axis=0))
    pick = tab.evaluate("picks.at(-1)")
    assert (pick["role"], pick["edge"], pick["kind"]) == ("prediction", 9, "matched")
    assert pick["length"] == pytest.approx(np.linalg.norm(ends[0] - ends[1]), abs=1e-9)
    assert pick["ends"][1] == pytest.approx(TRUE_CORNER, abs=1e-6, rel=0)
    tab.mouse.move(5, 5)
    assert "Drag to turn" in tab.inner_text(".viewer-words")


def test_the_drawing_puts_every_vertex_where_the_camera_says_with_and_without_perspective(view) -> None:
    tab = view(house())
    for _ in range(2):
        shown = picture(tab)
        for index in range(10):
            x, y = (round(value) for value in pixel(tab, vertex(1, index)))
            assert np.abs(shown[y, x] - shown[2, 2]).max() > 60, f"vertex {index} is not drawn at {x}, {y}"
        tab.get_by_role("button", name="Parallel").click()


def test_matched_missed_and_extra_differ_in_line_and_marker_not_only_in_colour(view) -> None:
    tab = view(house())
    looks = {}
    for role, kind in [("reference", "missed"), ("prediction", "matched"), ("prediction", "extra")]:
        row = tab.locator(f'[data-role="{role}"] [data-kind="{kind}"]')
        line = row.locator("line")
        marker = row.locator("circle, path")
        dash = line.get_attribute("stroke-dasharray")
        looks[kind] = (dash, line.get_attribute("stroke-width"), marker.evaluate("m => m.tagName + m.getAttribute('fill')"))
        assert line.get_attribute("stroke").startswith("var(--")
    assert looks["matched"][0] is None and looks["missed"][0] != looks["extra"][0]
    assert len({look[2] for look in looks.values()}) == 3


def test_the_legend_counts_what_the_data_holds(view) -> None:
    tab = view(house())
    words = [re.sub(r"\s+", " ", text).strip() for text in tab.locator(".viewer-model label").all_inner_texts()]
    assert words == [
        "reference",
        "matched 17 edges, 10 vertices",
        "missed 3 edges, 3 vertices",
        "gable-net v3 prediction",
        "matched 17 edges, 10 vertices",
        "extra 2 edges, 1 vertex",
    ]
    label = tab.get_attribute(".viewer-stage", "aria-label")
    assert "gable-net v3 with 19 edges (17 matched, 2 extra)" in label


def test_hiding_a_class_or_a_model_takes_it_from_picture_and_pointer(view) -> None:
    tab = view(house())
    before = picture(tab)
    tab.locator('[data-role="prediction"] [data-kind="extra"] input').uncheck()
    assert (picture(tab) != before).any()
    point_at(tab, vertex(1, 10))
    assert tab.evaluate("picks.at(-1) ?? null") is None
    tab.locator('[data-role="prediction"] label input').first.uncheck()
    point_at(tab, vertex(1, 5))
    assert tab.evaluate("picks.at(-1).role") == "reference"


def test_two_viewers_of_a_group_share_one_camera_exactly(view) -> None:
    tab = view(house(), house(), sync="pair")
    box = tab.locator(".viewer-stage").first.bounding_box()
    tab.mouse.move(box["x"] + 100, box["y"] + 100)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 180, box["y"] + 140, steps=4)
    tab.mouse.up()
    tab.mouse.wheel(0, -300)
    assert state(tab, 0) == state(tab, 1)
    tab.mouse.move(5, 5)  # off the picture, so that nothing is highlighted in one of them only
    assert (picture(tab, 0) == picture(tab, 1)).all()


def test_a_group_shows_one_place_at_one_pixel_although_origins_differ(view) -> None:
    moved = house()
    moved["origin"] = [ORIGIN[0] + 3.5, *ORIGIN[1:]]
    for model in moved["models"]:
        model["vertices"] = [(x - 3.5, y, z) for x, y, z in model["vertices"]]
    tab = view(house(), moved, sync="pair")
    assert np.abs(picture(tab, 0) - picture(tab, 1)).max() <= 40  # float32 on two different numbers: only edges' antialiasing
    x, y = pixel(tab, vertex(1, 5), number=0)
    tab.evaluate(f"viewers[1].hover({x}, {y})")
    assert tab.evaluate("picks.at(-1).coordinates") == pytest.approx(TRUE_CORNER, abs=1e-6, rel=0)


def test_keys_turn_zoom_move_and_reset(view) -> None:
    tab = view(house())
    home = state(tab)
    tab.focus(".viewer-stage")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("+")
    tab.keyboard.press("Shift+ArrowUp")
    moved = state(tab)
    assert moved["azimuth"] != home["azimuth"] and moved["size"] == pytest.approx(home["size"] / 1.2) and moved["target"] != home["target"]
    tab.keyboard.press("-")
    assert state(tab)["size"] == pytest.approx(home["size"])
    tab.keyboard.press("r")
    assert state(tab) == home


def test_the_named_views_look_along_an_axis_with_z_up(view) -> None:
    tab = view(house())
    tab.get_by_role("button", name="Parallel").click()
    for name, across, upward in [("Top", 0, 1), ("Front", 0, 2), ("Side", 1, 2)]:
        tab.get_by_role("button", name=name, exact=True).click()
        centre = np.array(state(tab)["target"])
        middle = np.array(pixel(tab, centre))
        for axis, sign in ((across, (1, 0)), (upward, (0, -1))):
            step = np.array(pixel(tab, centre + np.eye(3)[axis])) - middle
            assert step / np.linalg.norm(step) == pytest.approx(sign, abs=1e-9), name


def test_next_difference_walks_missed_and_extra_edges_and_comes_round(view) -> None:
    tab = view(house())
    tab.focus(".viewer-stage")
    seen = []
    for _ in range(6):
        tab.keyboard.press("n")
        seen.append(tab.evaluate("(({role, edge}) => [role, edge])(picks.at(-1))"))
    assert seen == [["reference", 17], ["reference", 18], ["reference", 19], ["prediction", 17], ["prediction", 18], ["reference", 17]]


def test_the_scale_bar_is_as_long_as_it_says(view) -> None:
    tab = view(house())
    said = float(re.fullmatch(r"([\d.]+) m", tab.inner_text(".viewer-scale")).group(1))
    width = tab.locator(".viewer-scale").bounding_box()["width"]
    stage = tab.evaluate("viewers[0].extent()")
    assert width == pytest.approx(said * min(stage) / state(tab)["size"], abs=0.6)


def test_the_theme_is_followed_without_loading_again(view) -> None:
    tab = view(house(), color_scheme="light")
    x, y = (round(value) for value in pixel(tab, vertex(1, 1)))
    light = picture(tab)[y, x]
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    wait_until(lambda: picture(tab)[2, 2].max() < 60, what="a dark ground")
    dark = picture(tab)
    assert np.abs(dark[y, x] - light).max() > 40


def test_nothing_is_drawn_while_nothing_changes(view) -> None:
    tab = view(house())
    tab.mouse.move(5, 5)
    comes_to_rest(tab)


def comes_to_rest(tab) -> None:
    """After a while no frame is drawn any more."""

    def rests() -> bool:
        before = tab.evaluate(frames)
        tab.wait_for_timeout(400)
        return tab.evaluate(frames) == before

    frames = "viewers[0].stage.renderer.info.render.frame"
    wait_until(rests, 20, "no frame within 400 ms")


def test_it_runs_under_the_strict_policy_without_a_complaint(view) -> None:
    tab = view(house())
    tab.get_by_role("button", name="Top").click()
    assert tab.failures == []


def test_two_hundred_edges_are_on_the_screen_within_a_second(view) -> None:
    rng = np.random.default_rng(7)
    corners = rng.uniform(-10, 10, (140, 3)).round(6).tolist()
    edges = [sorted(rng.choice(140, 2, replace=False).tolist()) for _ in range(200)]
    model = {"name": "x", "vertices": corners, "edges": edges, "vertex_class": ["matched"] * 140}
    reference = model | {"role": "reference", "edge_class": ["matched"] * 100 + ["missed"] * 100}
    data = {
        "unit": "m",
        "origin": ORIGIN,
        "models": [reference, model | {"role": "prediction", "edge_class": ["matched"] * 100 + ["extra"] * 100}],
    }
    times = [view(data).evaluate("readyAt") for _ in range(3)]
    assert min(times) < 1000, f"first frames after {[round(t) for t in times]} ms"


def test_without_webgl_the_same_picture_is_drawn_as_svg(view, browser) -> None:
    from tests.conftest import CHROMIUM

    plain = browser.browser_type.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-3d-apis"])
    try:
        tab = view(house(), by=plain)
        assert tab.get_attribute(".viewer", "data-renderer") == "flat"
        assert "no WebGL" in tab.inner_text(".viewer-note")
        assert tab.locator("svg.flat line").count() == 39
        ends = tab.evaluate("Array.from(document.querySelectorAll('svg.flat line'), l => [+l.getAttribute('x1'), +l.getAttribute('y1')])")
        assert min(math.dist(end, pixel(tab, vertex(1, 5))) for end in ends) < 1e-6
        point_at(tab, vertex(1, 5))
        assert tab.evaluate("picks.at(-1).coordinates") == pytest.approx(TRUE_CORNER, abs=1e-6, rel=0)
    finally:
        plain.close()


def test_a_refusal_of_the_data_is_shown_as_a_sentence(view) -> None:
    refusal = Answer(
        403, json.dumps({"detail": "The reference of this item is hidden until the phase closes."}), "application/problem+json"
    )
    tab = view(refusal, wait=False)
    tab.wait_for_selector(".viewer .alert")
    assert tab.inner_text(".viewer .alert") == "The reference of this item is hidden until the phase closes."


def test_without_script_the_words_inside_stay(view) -> None:
    tab = view(house(), wait=False, java_script_enabled=False)
    assert tab.inner_text(".viewer") == "3D needs JavaScript."


def test_the_bundle_is_built_from_the_pinned_three_with_its_licence_and_without_eval() -> None:
    bundle = (VIEWER / "viewer.js").read_text()
    pins = json.loads((VIEWER / "package.json").read_text())
    assert [
        (group, pin)
        for group in ("dependencies", "devDependencies")
        for pin in pins[group].values()
        if not re.fullmatch(r"\d+\.\d+\.\d+", pin)
    ] == []
    assert f'"{pins["dependencies"]["three"].split(".")[1]}"' in bundle
    assert "SPDX-License-Identifier: MIT" in bundle and "MIT License" in (VIEWER / "LICENSE.three.txt").read_text()
    assert not re.search(r"\beval\(|new Function\(", bundle)


def test_what_the_metrics_did_not_look_at_is_neither_matched_nor_extra(view) -> None:
    data = house()
    data["models"][1]["edge_class"][0] = None
    tab = view(data)
    assert re.sub(r"\s+", " ", tab.locator('[data-kind="ignored"]').inner_text()).strip() == "not counted 1 edge, 0 vertices"
    assert tab.locator('[data-kind="ignored"] line').get_attribute("stroke") == "var(--soft)"

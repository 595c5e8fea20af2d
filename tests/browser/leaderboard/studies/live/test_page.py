"""A rater's page in a browser: keys, cameras, several criteria, undo, breaks."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from tests.browser.leaderboard.studies.live.conftest import PAGE, looked_at, part, ready, until_stored
from tests.support.leaderboard.static_site import until
from tests.support.leaderboard.studies.live.desk import SCORES

PHONE = {"width": 390, "height": 844}


def camera(tab) -> dict:
    fields = "{azimuth, elevation, size, target}"
    return tab.evaluate(f"(({fields}) => ({fields}))({PAGE}.ratePage.view.camera)")


def frames(tab) -> list[str]:
    return part(tab, "stage").locator(".rate-frame").evaluate_all("frames => frames.map(frame => frame.dataset.side)")


def drawn(tab) -> None:
    """Wait until the last change is drawn."""
    until(tab, f"!{PAGE}.ratePage.view.pending")


def seen(tab, side: str) -> np.ndarray:
    """The pixels of one frame, without its border and words."""
    drawn(tab)
    box = part(tab, "stage").locator(f".rate-frame[data-side={side}]").bounding_box()
    clip = {"x": box["x"] + 4, "y": box["y"] + 40, "width": box["width"] - 8, "height": box["height"] - 110}
    return np.asarray(Image.open(io.BytesIO(tab.screenshot(clip=clip))).convert("RGB")).astype(int)


def between(tab) -> list[float]:
    """Milliseconds from each answer to the next question painted."""
    return tab.evaluate("performance.getEntriesByName('rate:between').map(one => one.duration)")[1:]


def test_a_study_is_answered_with_keys_alone(rate):
    tab, desk = rate(total=4)
    for number, (key, choice) in enumerate(
        [("ArrowLeft", "left"), ("ArrowRight", "right"), ("ArrowDown", "tie"), ("Space", "tie")], start=1
    ):
        ready(tab, number)
        tab.keyboard.press(key)
        until(tab, f"document.querySelector('[data-part=bar]').value === {number}")
        until_stored(desk, number)
        assert desk.stored[number] == {"overall": choice}
    until(tab, "!document.querySelector('[data-part=end]').hidden")
    assert "That was all" in part(tab, "end-title").inner_text() and "4 questions" in part(tab, "end-words").inner_text()
    assert not part(tab, "stage").is_visible() and tab.failures == []


@pytest.mark.parametrize(
    ("completion", "seen"),
    [
        (None, ""),
        ({"address": "https://panel.example/done?cc=C1"}, "Finish at your panel"),
        ({"code": "<C1>"}, "Your completion code: <C1>"),
    ],
)
def test_who_is_done_is_sent_back_to_their_panel(rate, completion, seen):
    tab, _ = rate(total=1, completion=completion)
    ready(tab, 1)
    assert not part(tab, "completion").is_visible()
    tab.keyboard.press("ArrowLeft")
    until(tab, "!document.querySelector('[data-part=end]').hidden")
    assert part(tab, "completion").inner_text() == seen and tab.failures == []
    address = (completion or {}).get("address")
    assert tab.locator("[data-part=completion] a").count() == bool(address)
    if address:
        assert tab.locator("[data-part=completion] a").get_attribute("href") == address


@pytest.mark.parametrize("form", ["wireframe", "mesh", "render"])
def test_the_next_pair_is_there_before_it_is_needed(rate, form):
    tab, desk = rate(form=form, total=6, options={"reduced_motion": "reduce"})
    for number in range(1, 6):
        ready(tab, number)
        looked_at(tab)
        # The scene of the question after this one came while this one was looked at.
        assert f"{min(number + 1, 6)}/scene.json" in desk.loaded
        tab.keyboard.press("ArrowLeft")
    ready(tab, 6)
    # How long this takes, `tests.benchmarks.bench_rating_page` says.
    assert len(between(tab)) == 5
    assert [desk.loaded.count(f"{number}/scene.json") for number in range(1, 7)] == [1] * 6


def test_clicks_touch_and_buttons_do_as_the_keys_do(rate):
    tab, desk = rate(viewport={"width": 768, "height": 1024}, options={"has_touch": True})
    tab.get_by_role("button", name="Right is better").tap()
    ready(tab, 2)
    tab.get_by_role("button", name="Equal").click()
    ready(tab, 3)
    assert desk.stored == {1: {"overall": "right"}, 2: {"overall": "tie"}}
    part(tab, "undo").click()
    ready(tab, 2)
    assert desk.stored == {1: {"overall": "right"}}


def test_two_fingers_zoom_and_move_both_pictures(rate):
    tab, desk = rate(viewport={"width": 768, "height": 1024}, options={"has_touch": True})
    before = camera(tab)
    box = part(tab, "stage").locator(".rate-frame[data-side=left]").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = tab.context.new_cdp_session(tab)

    def fingers(kind: str, *gaps: float) -> None:
        points = [{"x": x + gap, "y": y, "id": n} for n, gap in enumerate(gaps)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", -40, 40)
    for gap in (50, 65, 80):
        fingers("touchMove", -gap, gap)
    fingers("touchEnd")
    after = camera(tab)
    assert after["size"] == pytest.approx(before["size"] / 2, rel=0.02) and after["azimuth"] == before["azimuth"]
    assert tab.evaluate("document.scrollingElement.scrollTop") == 0 and desk.posts == []


def test_a_double_click_and_a_key_held_down_answer_one_question(rate):
    tab, desk = rate()
    tab.get_by_role("button", name="Left is better").dblclick()
    ready(tab, 2)
    tab.keyboard.down("ArrowRight")
    for _ in range(8):
        tab.keyboard.down("ArrowRight")  # the keyboard repeats it
    tab.keyboard.up("ArrowRight")
    ready(tab, 3)
    tab.wait_for_timeout(400)
    assert [post["question"] for post in desk.posts] == ["t1", "t2"] and sorted(desk.stored) == [1, 2]


def test_both_pictures_are_seen_by_one_camera(rate):
    tab, _ = rate()
    before, left, right = camera(tab), seen(tab, "left"), seen(tab, "right")
    box = part(tab, "stage").locator(".rate-frame[data-side=left]").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + 120, y + 10, steps=4)
    tab.mouse.up()
    after = camera(tab)
    assert after["azimuth"] == pytest.approx(before["azimuth"] - 120 * 0.008, abs=1e-6)
    assert (seen(tab, "left") != left).any() and (seen(tab, "right") != right).any()
    tab.mouse.wheel(0, -300)
    assert camera(tab)["size"] < after["size"]
    tab.mouse.move(x, y)
    tab.mouse.down(button="right")
    tab.mouse.move(x + 50, y, steps=3)
    tab.mouse.up(button="right")
    assert camera(tab)["target"] != after["target"]
    tab.keyboard.press("Shift+ArrowLeft")
    assert camera(tab)["azimuth"] == pytest.approx(after["azimuth"] - np.pi / 36)
    tab.keyboard.press("t")
    assert camera(tab)["elevation"] == pytest.approx(np.pi / 2)
    # What one looked from stays with the next pair; how much of it is seen is fitted anew.
    tab.keyboard.press("ArrowLeft")
    ready(tab, 2)
    assert camera(tab)["elevation"] == pytest.approx(np.pi / 2)


def test_the_reference_lies_under_both_or_beside_or_is_away(rate):
    tab, _ = rate()
    assert frames(tab) == ["left", "right"] and "reference" in part(tab, "legend").inner_text()
    over = seen(tab, "left")
    tab.keyboard.press("b")
    drawn(tab)
    assert frames(tab) == ["left", "reference", "right"]
    tab.keyboard.press("x")
    drawn(tab)
    assert frames(tab) == ["left", "right"] and "reference" not in part(tab, "legend").inner_text()
    assert tab.get_by_role("button", name="Off").get_attribute("aria-pressed") == "true"
    # Grey bands are only there where the reference is.
    grey = lambda image: ((np.ptp(image, axis=-1) < 12) & (image.mean(-1) > 150) & (image.mean(-1) < 235)).mean()  # noqa: E731
    assert grey(seen(tab, "left")) < 0.2 * grey(over)


def test_meshes_go_round_until_they_are_taken_in_hand(rate):
    tab, _ = rate(form="mesh")
    first = camera(tab)["azimuth"]
    until(tab, f"{PAGE}.ratePage.view.camera.azimuth > {first}")
    tab.keyboard.press("g")
    stopped = camera(tab)["azimuth"]
    tab.wait_for_timeout(200)
    assert camera(tab)["azimuth"] == stopped
    shaded = seen(tab, "right")
    tab.keyboard.press("n")
    assert np.ptp(seen(tab, "right"), axis=-1).max() > 100 > np.ptp(shaded, axis=-1).max()
    assert "where a face points" in part(tab, "legend").inner_text()
    tab.keyboard.press("o")
    tab.keyboard.press("c")
    drawn(tab)
    assert frames(tab) == ["left", "right"] and "veil" in part(tab, "legend").inner_text()
    assert tab.failures == []


def test_without_motion_wanted_nothing_goes_round(rate):
    tab, _ = rate(form="mesh", options={"reduced_motion": "reduce"})
    before = camera(tab)["azimuth"]
    tab.wait_for_timeout(300)
    assert camera(tab)["azimuth"] == before


def test_renders_show_the_same_part_of_the_same_view(rate):
    tab, desk = rate(form="render")
    assert frames(tab) == ["left", "reference", "right"]
    sources = "images => images.map(image => image.src.split('/').pop())"
    images = part(tab, "stage").locator("img")
    assert images.evaluate_all(sources) == ["left-1.webp", "reference-1.webp", "right-1.webp"]
    tab.keyboard.press(".")
    until(tab, "document.querySelector('.rate-stage img').src.endsWith('-2.webp')")
    assert "View 2 of 4" in part(tab, "tools").inner_text()
    box = part(tab, "stage").locator(".rate-frame[data-side=left]").bounding_box()
    tab.mouse.move(box["x"] + 60, box["y"] + 60)
    tab.mouse.wheel(0, -500)
    moved = images.evaluate_all("images => images.map(image => image.style.transform)")
    assert len(set(moved)) == 1 and "scale(1)" not in moved[0]
    tab.keyboard.down("v")
    assert images.evaluate_all(sources) == ["reference-2.webp"] * 3
    tab.keyboard.up("v")
    assert images.evaluate_all(sources) == ["left-2.webp", "reference-2.webp", "right-2.webp"]
    tab.keyboard.press("ArrowLeft")
    ready(tab, 2)
    assert images.evaluate_all(sources)[0] == "left-1.webp" and "scale(1)" in images.first.get_attribute("style")
    assert "2/left-1.webp" in desk.loaded and tab.failures == []


def test_generated_objects_have_the_text_they_were_asked_for_with_and_normals(rate):
    tab, _ = rate(form="render", prompt="a red chair <b>with</b> three legs")
    assert part(tab, "prompt").inner_text() == "Asked for: “a red chair <b>with</b> three legs”"
    tab.keyboard.press("n")
    until(tab, "document.querySelector('.rate-stage img').src.endsWith('left-1-normal.webp')")
    assert part(tab, "stage").locator("img").count() == 2  # the reference has none
    assert tab.get_by_role("button", name="Normals").get_attribute("aria-pressed") == "true"
    tab.keyboard.press("ArrowLeft")
    ready(tab, 2)
    until(tab, "document.querySelector('.rate-stage img').src.includes('/t2/left-1-normal.webp')")
    tab.keyboard.press("c")
    until(tab, "document.querySelector('.rate-stage img').src.endsWith('left-1.webp')")
    assert part(tab, "stage").locator("img").count() == 3 and tab.failures == []


def test_several_criteria_are_asked_on_one_pair_and_sent_together(rate):
    criteria = [{"key": key, "title": key.title(), "text": ""} for key in ("shape", "detail", "overall")]
    tab, desk = rate(criteria=criteria)
    assert part(tab, "criterion").inner_text().split("\n")[0].startswith("1 of 3")
    tab.keyboard.press("ArrowLeft")
    assert "Detail" in part(tab, "criterion").inner_text() and desk.posts == []
    tab.wait_for_timeout(350)
    tab.keyboard.press("ArrowRight")
    tab.wait_for_timeout(350)
    tab.keyboard.press("Backspace")  # only the last criterion
    assert "Detail" in part(tab, "criterion").inner_text()
    for key in ("ArrowDown", "ArrowRight"):
        tab.wait_for_timeout(350)
        tab.keyboard.press(key)
    ready(tab, 2)
    assert desk.stored == {1: {"shape": "left", "detail": "tie", "overall": "right"}}
    assert desk.posts[0]["seconds"] > 1


def test_opinions_are_scored_from_one_to_five(rate):
    tab, desk = rate(kind="opinions", form="mesh", criteria=SCORES, options={"reduced_motion": "reduce"})
    assert frames(tab) == ["left", "reference"]
    assert [one.inner_text().split("\n")[-1] for one in part(tab, "stage").locator(".rate-frame b").all()] == ["To be judged", "Reference"]
    tab.keyboard.press("ArrowLeft")  # no answer here
    tab.keyboard.press("4")
    tab.wait_for_timeout(350)
    tab.get_by_role("button", name="2 poor").click()
    ready(tab, 2)
    assert desk.stored == {1: {"quality": 4, "structure": 2}}


def test_undo_takes_back_the_last_answer_and_only_one_that_is_stored(rate):
    tab, desk = rate()
    assert part(tab, "undo").is_disabled()
    tab.keyboard.press("ArrowLeft")
    ready(tab, 2)
    until(tab, "!document.querySelector('[data-part=undo]').disabled")
    tab.keyboard.press("u")
    ready(tab, 1)
    assert desk.stored == {}
    tab.keyboard.press("ArrowRight")
    ready(tab, 2)
    assert desk.stored == {1: {"overall": "right"}} and desk.loaded.count("1/scene.json") == 1


def test_a_break_is_suggested_and_the_clock_stands_still(rate):
    tab, desk = rate(break_every=2)
    for number in (1, 2):
        ready(tab, number)
        tab.keyboard.press("ArrowLeft")
    until(tab, "document.querySelector('[data-part=break]').open")
    assert "2 answers" in part(tab, "break-words").inner_text()
    tab.keyboard.press("ArrowLeft")  # not an answer while the question stands
    ready(tab, 3)  # behind the words on the break
    looked = tab.evaluate(f"{PAGE}.ratePage.watch.seconds")
    tab.wait_for_timeout(500)
    assert sorted(desk.stored) == [1, 2]
    assert tab.evaluate(f"{PAGE}.ratePage.watch.seconds") == looked, "a break is not counted"
    tab.keyboard.press("Enter")
    until(tab, f"{PAGE}.ratePage.watch.seconds > {looked}")
    ready(tab, 3)
    tab.keyboard.press("ArrowLeft")
    ready(tab, 4)
    assert desk.posts[2]["seconds"] > looked


def test_focus_goes_from_the_head_to_the_answers_and_space_on_a_button_is_that_button(rate):
    tab, desk = rate()
    order = tab.locator("main :is(a, button, [tabindex='0']):visible").evaluate_all("list => list.map(one => one.textContent.trim())")
    assert order[0].startswith("Help") and order[-4:-1] == ["←Left is better", "↓Equal", "→Right is better"]
    tab.get_by_role("button", name="Top").focus()
    tab.keyboard.press("Space")
    until(tab, f"Math.abs({PAGE}.ratePage.view.camera.elevation - Math.PI / 2) < 1e-6")
    assert desk.posts == []
    tab.keyboard.press("?")
    assert part(tab, "help").is_visible() and "left is better" in part(tab, "keys").inner_text()
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Escape")
    part(tab, "help").wait_for(state="hidden")
    assert desk.posts == []
    assert "Question 1." in part(tab, "status").inner_text()


@pytest.mark.parametrize("form", ["wireframe", "mesh", "render"])
def test_everything_is_seen_at_once(rate, form):
    """On a page that opens so large, and on one that was larger before."""
    sizes = [(1440, 900), (1280, 720), (1024, 768), (768, 1024), (390, 844)]
    tab, _ = rate(form=form, viewport={"width": 1440, "height": 900}, options={"reduced_motion": "reduce"})
    for size in sizes:
        tab.set_viewport_size({"width": size[0], "height": size[1]})
        require_all_seen(tab, size)
    tab.reload()
    ready(tab, 1)
    require_all_seen(tab, sizes[-1])


def require_all_seen(tab, size: tuple[int, int]) -> None:
    """Nothing to scroll to; buttons for a thumb, pictures that are large enough."""
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # in which it hears of its size
    drawn(tab)
    whole = tab.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert whole[0] <= size[0] and whole[1] <= size[1], size
    for tool in part(tab, "tools").get_by_role("button").all():
        box = tool.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= size[0], size
    for name in ("Left is better", "Right is better"):
        box = tab.get_by_role("button", name=name).bounding_box()
        assert box["y"] + box["height"] <= size[1] and box["height"] >= 44, size
    for box in [frame.bounding_box() for frame in part(tab, "stage").locator(".rate-frame").all()]:
        assert min(box["width"], box["height"]) >= (110 if size[0] == 390 else 200), size


def test_without_webgl_the_same_is_drawn_plainly(rate, plain_browser):
    for form in ("wireframe", "mesh"):
        tab, desk = rate(by=plain_browser, form=form, options={"reduced_motion": "reduce"})
        assert part(tab, "stage").get_attribute("data-renderer") == "flat"
        assert np.ptp(seen(tab, "left")) > 60 and np.ptp(seen(tab, "right")) > 60
        tab.keyboard.press("ArrowLeft")
        ready(tab, 2)
        assert sorted(desk.stored) == [1] and tab.failures == []

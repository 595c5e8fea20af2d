"""The pictures of a scene in a browser: a slider by keyboard, pictures that wait to be seen, two entries that move together."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluation.models import PictureRun
from evaluation.work.worker import drain
from leaderboard.boards.scorecard import current_evaluation
from submissions.models import Submission
from tests.browser.leaderboard.test_pages_in_browser import PHONE, fits, open_page  # noqa: F401
from tests.support import pictures
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, give_reference
from tests.support.leaderboard.scores import entry, with_files

pytestmark = [pytest.mark.django_db(transaction=True)]
VIEWS = 8


@pytest.fixture
def two() -> tuple[Submission, Submission]:
    """Two scored entries of eight views over a public reference, their pictures made."""
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"), reference_access="public")
    give_reference(phase, pictures.views(VIEWS, clean=False), ({"slug": "psnr", "key": "psnr", "is_primary": True},))
    team = TeamFactory(challenge=phase.challenge)
    found = []
    for name, noise in (("splat-net", 0.02), ("other-net", 0.1)):
        values = {"psnr": [30.0 - k for k in range(VIEWS)]}
        found.append(with_files(entry(phase, team, values, method_name=name), pictures.renders(VIEWS, noise=noise)))
        PictureRun.request(current_evaluation(found[-1]), "garden", list(pictures.views(VIEWS)))
    drain()
    return found[0], found[1]


def scene(it: Submission) -> str:
    return reverse("entry_scene", args=[it.pk, "garden"])


def seen(tab, pair) -> float:
    """Position of the line, in percent of the picture."""
    return float(pair.locator(".pair-both").evaluate("element => element.style.getPropertyValue('--at')").removesuffix("%"))


def test_the_slider_moves_by_keyboard_and_by_hand(open_page, two):  # noqa: F811
    tab = open_page(scene(two[0]))
    pair = tab.locator(".pair.live").first
    slider = pair.get_by_role("slider")
    assert slider.input_value() == "50" and seen(tab, pair) == pytest.approx(50)
    slider.focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    assert slider.input_value() == "53" and seen(tab, pair) == pytest.approx(53)
    assert slider.get_attribute("aria-valuetext") == "Render on the left 53 %"
    tab.keyboard.press("Home")
    assert seen(tab, pair) == 0
    frame = pair.locator(".pair-stage").bounding_box()
    tab.mouse.click(frame["x"] + frame["width"] / 4, frame["y"] + frame["height"] / 2)
    assert seen(tab, pair) == pytest.approx(25, abs=1)
    assert seen(tab, tab.locator(".pair.live").nth(1)) == pytest.approx(50)  # of a scene each view has its own


def test_the_line_goes_under_the_number_of_an_object(open_page, two):  # noqa: F811
    """The same number is drawn wherever the line stands; beside its box the line is there."""
    tab = open_page(scene(two[0]))
    both = tab.locator(".pair.live .pair-both").first
    for image in both.locator("img").all():
        image.evaluate("image => image.decode()")
    both.evaluate(
        """both => {
            const boxes = document.createElement("div");
            boxes.className = "boxes";
            boxes.innerHTML = '<i style="left:30%;top:20%;width:40%;height:40%"><b>8</b></i>';
            boxes.querySelector("b").style.background = "#000";  // what lies below a number shines through
            both.append(boxes);
        }"""
    )
    number = both.locator(".boxes b")
    frame, box = both.bounding_box(), number.bounding_box()
    middle = 100 * (box["x"] + box["width"] / 2 - frame["x"]) / frame["width"]
    inner = {"x": round(box["x"]) + 2, "y": round(box["y"]) + 2, "width": round(box["width"]) - 4, "height": round(box["height"]) - 4}

    def shown(at: float, clip: dict) -> bytes:
        both.evaluate("(both, at) => both.style.setProperty('--at', `${at}%`)", at)
        return tab.screenshot(clip=clip)

    assert shown(90, inner) == shown(middle, inner)
    number.evaluate("b => b.remove()")
    assert shown(90, inner) != shown(middle, inner), "the line is there"


def test_the_words_on_a_picture_stay_above_the_number_of_an_object_and_go_with_their_picture(open_page, two):  # noqa: F811
    tab = open_page(scene(two[0]))
    both = tab.locator(".pair.live .pair-both").first
    for image in both.locator("img").all():
        image.evaluate("image => image.decode()")
    tab.add_style_tag(content=".live figcaption { background: #000 }")  # what lies below them shines through
    for side in "ab":
        words = both.locator(f".pair-{side} figcaption")
        words.scroll_into_view_if_needed()
        frame = words.bounding_box()
        inner = {"x": frame["x"] + 1, "y": frame["y"] + 3, "width": frame["width"] - 2, "height": frame["height"] - 6}
        without = tab.screenshot(clip=inner)
        words.evaluate(
            """words => {
                const box = document.createElement("i"), both = words.closest(".pair-both");
                const [inside, own] = [both, words].map((element) => element.getBoundingClientRect());
                const [left, top] = [own.left - inside.left + 10, own.top - inside.top + 2];
                box.innerHTML = `<div class="boxes"><i style="left:${left}px;top:${top}px;width:40px;height:14px"><b>8</b></i></div>`;
                both.append(box.firstChild);
            }"""
        )
        assert tab.screenshot(clip=inner) == without, side
    for at, side in ((0, "a"), (100, "b")):
        both.evaluate("(both, at) => both.style.setProperty('--at', `${at}%`)", at)
        assert both.locator(f".pair-{side} figcaption").bounding_box()["width"] == 0, "nothing is left of its picture"


def test_pictures_wait_until_they_are_near_and_nothing_jumps(open_page, two):  # noqa: F811
    tab = open_page(scene(two[0]), viewport={"width": 800, "height": 500})
    tab.locator(".pair.live").nth(VIEWS - 1).wait_for()
    last = tab.locator(".pair-a img").nth(VIEWS - 1)
    loaded = "image => image.complete && image.naturalWidth > 0"
    assert not last.evaluate(loaded)
    before = last.bounding_box()
    assert before["height"] == pytest.approx(before["width"] * pictures.HEIGHT / pictures.WIDTH, abs=1)
    last.scroll_into_view_if_needed()
    tab.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=last.element_handle())
    assert last.bounding_box()["height"] == before["height"]
    assert fits(tab)


def test_another_layer_comes_in_place_with_its_legend(open_page, two):  # noqa: F811
    tab = open_page(scene(two[0]))
    pair = tab.locator(".pair.live").first
    pair.get_by_role("link", name="Error map").click()
    image = pair.locator(".pair-b img")
    assert image.get_attribute("src").endswith("/error.webp") and "Differences" in image.get_attribute("alt")
    assert pair.locator("[data-layer][aria-current]").inner_text().strip() == "Error map"
    assert "0.25 or more" in pair.locator(".pair-legend").inner_text() and tab.url.endswith("/scenes/garden/")


def test_two_entries_move_and_zoom_together(open_page, two):  # noqa: F811
    phase = two[0].phase
    tab = open_page(f"{reverse('compare', args=[phase.challenge.slug, phase.slug])}?a={two[0].pk}&b={two[1].pk}&item=garden/view_2")
    tab.locator(".pair.live").nth(1).wait_for()
    first, second = tab.locator(".pair.live").all()
    first.get_by_role("slider").focus()
    tab.keyboard.press("ArrowLeft")
    assert seen(tab, first) == seen(tab, second) == pytest.approx(49)
    second.get_by_role("button", name="Zoom 4 times").click()
    widths = [
        pair.locator(".pair-both").bounding_box()["width"] / pair.locator(".pair-stage").bounding_box()["width"] for pair in (first, second)
    ]
    assert widths == pytest.approx([4, 4], abs=0.2)
    second.locator(".pair-stage").evaluate("stage => stage.scrollTo(60, 40)")
    tab.wait_for_function("() => document.querySelector('.pair-stage').scrollLeft === 60")
    first.locator("[data-layer=error]").click()
    assert [pair.locator(".pair-b img").get_attribute("src").rsplit("/", 1)[1] for pair in (first, second)] == ["error.webp"] * 2
    first.locator("[data-layer=other]").click()
    assert f"/entries/{two[1].pk}/" in first.locator(".pair-b img").get_attribute("src")
    assert f"/entries/{two[0].pk}/" in second.locator(".pair-b img").get_attribute("src")
    assert fits(tab)


def test_without_javascript_two_pictures_stand_side_by_side(open_page, two):  # noqa: F811
    tab = open_page(scene(two[0]), java_script_enabled=False)
    left, right = (tab.locator(f".pair-{side} img").first.bounding_box() for side in "ab")
    assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"] and left["width"] == pytest.approx(right["width"], abs=1)
    tab.get_by_role("link", name="Error map").first.click()
    assert tab.url.endswith("/error.webp")


def test_a_phone_shows_a_view_without_overflow(open_page, two):  # noqa: F811
    for path in (scene(two[0]), reverse("entry_item", args=[two[0].pk, "garden/view_1"])):
        tab = open_page(path, viewport=PHONE, color_scheme="dark")
        tab.locator(".pair.live").first.wait_for()
        assert fits(tab)

"""Regions of interest drawn in a browser: with the mouse on the picture, or by typing, also without a script."""

from __future__ import annotations

import pytest

from submissions.formats.render.views import Roi
from submissions.models import Phase
from tests.support.factories import give_reference
from tests.support.pictures import HEIGHT, WIDTH, views

pytestmark = [pytest.mark.django_db(transaction=True)]
SQUARE = Roi(8.0, 20.0, 32.0, 44.0, "square")


@pytest.fixture
def page_of_garden(challenge) -> str:
    challenge.family = "render"
    challenge.save()
    phase = Phase.objects.create(challenge=challenge, slug="final", title="Final")
    give_reference(phase, views(2), ({"slug": "psnr", "key": "psnr", "is_primary": True},))
    return f"/console/challenges/{challenge.slug}/phases/final/reference/regions/garden/"


def test_a_box_is_drawn_with_the_mouse_labelled_and_saved(tab, challenge, page_of_garden):
    tab.set_viewport_size({"width": 1440, "height": 900})
    tab.goto(page_of_garden)
    view = tab.locator("[data-view='0']")
    view.locator("svg.live").wait_for()
    assert view.locator("[data-region]").count() == 1  # the blank row is for those who type without a script
    frame = view.locator("svg").bounding_box()
    x, y = (lambda px: frame["x"] + px * frame["width"] / WIDTH), (lambda py: frame["y"] + py * frame["height"] / HEIGHT)
    tab.mouse.move(x(70), y(50))
    tab.mouse.down()
    tab.mouse.move(x(60), y(30), steps=3)
    tab.mouse.move(x(40), y(10), steps=3)
    tab.mouse.up()
    tab.keyboard.type("lamp")  # the new row's label has the focus
    assert view.locator("svg g").count() == 2 and "lamp" in view.locator("svg").text_content()
    tab.get_by_role("button", name="Save as a new version").first.click()
    tab.locator(".messages .success").wait_for()
    rois = challenge.phases.get().references.get(version=2).items()["garden/view_1"].rois
    assert rois[0] == SQUARE and rois[1].label == "lamp"
    assert (rois[1].x1, rois[1].y1, rois[1].x2, rois[1].y2) == pytest.approx((40, 10, 70, 50), abs=1)


def test_rows_are_typed_and_deleted_and_the_picture_follows_on_a_phone(tab, challenge, page_of_garden):
    tab.goto(page_of_garden)
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    view = tab.locator("[data-view='1']")
    view.locator("svg.live").wait_for()
    view.get_by_role("button", name="Add a region").click()
    for name, value in (("Label", "door"), ("x1", "1"), ("y1", "2"), ("x2", "11"), ("y2", "22")):
        view.get_by_label(name, exact=True).last.fill(value)
    assert view.locator("svg rect:not(.under)").last.get_attribute("width") == "10"
    view.get_by_role("button", name="Delete").first.click()
    assert view.locator("svg g").count() == 1
    tab.get_by_role("button", name="Save as a new version").first.click()
    tab.locator(".messages .success").wait_for()
    assert challenge.phases.get().references.get(version=2).items()["garden/view_2"].rois == (Roi(1.0, 2.0, 11.0, 22.0, "door"),)


def test_a_box_is_drawn_with_a_finger_once_that_is_asked_for_and_before_a_finger_scrolls(tab, challenge, page_of_garden):
    finger = tab.context.new_cdp_session(tab)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    tab.goto(page_of_garden)
    view = tab.locator("[data-view='0']")
    svg = view.locator("svg.live")
    svg.scroll_into_view_if_needed()

    def drag(start: tuple[float, float], end: tuple[float, float]) -> None:
        frame = svg.bounding_box()

        def touch(kind: str, x: float, y: float) -> None:
            at = {"x": frame["x"] + x * frame["width"] / WIDTH, "y": frame["y"] + y * frame["height"] / HEIGHT}
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [] if kind == "touchEnd" else [at]})

        touch("touchStart", *start)
        for step in range(1, 6):
            touch("touchMove", *(a + (b - a) * step / 5 for a, b in zip(start, end, strict=True)))
        touch("touchEnd", *end)

    assert svg.evaluate("it => getComputedStyle(it).touchAction") == "pan-y"
    drag((40, 10), (70, 50))
    assert view.locator("svg g").count() == 1
    button = view.get_by_role("button", name="Draw with a finger")
    button.click()
    assert button.get_attribute("aria-pressed") == "true" and svg.evaluate("it => getComputedStyle(it).touchAction") == "none"
    drag((40, 10), (70, 50))
    assert view.locator("svg g").count() == 2
    view.get_by_label("Label", exact=True).last.fill("lamp")
    tab.get_by_role("button", name="Save as a new version").first.click()
    tab.locator(".messages .success").wait_for()
    (_, drawn) = challenge.phases.get().references.get(version=2).items()["garden/view_1"].rois
    assert (drawn.x1, drawn.y1, drawn.x2, drawn.y2) == pytest.approx((40, 10, 70, 50), abs=1)

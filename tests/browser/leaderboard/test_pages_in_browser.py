"""Board, entry, item, comparison and charts as a browser shows them: nothing breaks, nothing is refused
by the content security policy, phones keep the columns that matter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationBatch
from leaderboard.boards import snapshots
from leaderboard.models import Snapshot, read_board
from submissions.models import Phase, Status, Submission
from tests.service.leaderboard.views.test_board import address, scores
from tests.support.factories import PhaseFactory, gables, give_reference, perturbed
from tests.support.leaderboard.scores import entry, samples, spread, with_files
from tests.support.processes import wait_until

pytestmark = [pytest.mark.django_db(transaction=True)]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def two(phase, people):
    """Two scored entries with their files, and a public reference."""
    Phase.objects.filter(pk=phase.pk).update(reference_access="public", ranking="mean_rank")
    read_board.cache_clear()
    first = entry(phase, people.team, scores(0.9), method_name="ridge-net")
    second = entry(phase, people.other_team, scores(0.6), method_name="valley-net with a long name")
    with_files(first, perturbed(gables(), 0.05))
    with_files(second, perturbed(gables(), 0.6))
    for audience in Snapshot.Audience.values:
        snapshots.make(phase, audience)
    return first, second


@pytest.fixture
def open_page(browser, live_server) -> Iterator:
    """`open_page(path, user=None, **context_options) -> tab`; `tab.failures` must stay empty."""
    contexts, tabs = [], []

    def opened(path: str, user=None, **options):
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        if user is not None:
            client = Client()
            client.force_login(user)
            session = client.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        tab = context.new_page()
        tab.failures = []
        tab.on("console", lambda message: tab.failures.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: tab.failures.append(str(error)))
        tab.goto(live_server.url + path)
        tabs.append(tab)
        return tab

    yield opened
    failures = [failure for tab in tabs for failure in tab.failures]
    for context in contexts:
        context.close()
    assert failures == []


def fits(tab) -> bool:
    return tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


# Texts that are set, or drawn, below 11 px.
SMALL_TEXT = """() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement, words = texts.currentNode.textContent.trim();
        if (!words || !element.checkVisibility() || element.closest("script, style, noscript, option, .visually-hidden")) continue;
        const matrix = element.ownerSVGElement?.getScreenCTM(), drawn = matrix ? Math.hypot(matrix.a, matrix.b) : 1;
        if (parseFloat(getComputedStyle(element).fontSize) * drawn < 10.9) found.push(words.slice(0, 40));
    }
    return found;
}"""


def names(tab) -> list[str]:
    # A click returns when the next page begins to arrive: without this its rows could be read half done.
    tab.wait_for_load_state()
    return tab.locator("tbody td.name b").all_inner_texts()


def test_the_board_on_a_phone_has_one_metric_in_sight_and_a_menu_of_the_others(open_page, two):
    tab = open_page(address(two[0].phase), viewport=PHONE, color_scheme="dark")
    assert fits(tab) and tab.locator(".wrap").evaluate("element => element.scrollWidth <= element.clientWidth")
    cells = tab.locator("tbody tr:first-child td.num:visible")
    assert cells.count() == 1
    menu = tab.locator("form.narrow-only select")
    assert menu.input_value() == "corner_f1"
    with tab.expect_navigation():
        menu.select_option("edge_f1")
    assert tab.locator("form.narrow-only select").input_value() == "edge_f1" and "sort=edge_f1" in tab.url
    assert "Edge F1" in tab.locator("thead th.num:visible").inner_text()


def test_from_1100_px_on_a_board_of_four_metrics_that_rank_fits_and_folds_what_is_left(open_page, two):
    slugs = ("corner_f1", "edge_f1", "hss", "jaccard_distance", "ecd_chamfer", "wf_hausdorff")
    phase = PhaseFactory(challenge=two[0].phase.challenge, ranking="mean_rank", reference_access="public")
    metrics = [{"slug": slug, "key": slug, "is_primary": n == 0, "in_ranking": n < 4} for n, slug in enumerate(slugs)]
    give_reference(phase, gables(8), metrics=metrics)
    for n, name in enumerate(("gable-net v3", "a method with a name of many words", "bounding box")):
        values = {slug: spread(0.9 - 0.2 * n, 8) for slug in slugs}
        made = entry(phase, two[n % 2].team, values, method_name=name, is_baseline=n == 2, is_verified=n == 2)
        with_files(made, perturbed(gables(8), 0.1))
    snapshots.make(phase, "public")
    tab = open_page(address(phase))
    overflow = "element => element.scrollWidth - element.clientWidth"
    for width in (1100, 1200, 1240, 1300, 1440):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.locator("#board").evaluate(overflow) <= 0, width
        assert tab.locator("thead th.num:visible").count() == 4
        assert tab.locator("th.more").is_visible() is not tab.locator(".tools .folded").is_visible() is (width <= 1240)
        for shape in tab.locator("th.num .chip u").all():
            assert shape.is_visible(), "the shape of a metric's state stays"


def test_a_view_in_3d_says_that_it_loads_until_it_has(open_page, two):
    path = f"{address(two[0].phase, 'compare')}?a={two[0].pk}&b={two[1].pk}"
    tab = open_page(path, viewport={"width": 1440, "height": 100})
    waiting = tab.locator(".viewer").last
    assert waiting.locator(".with-script").is_visible()
    waiting.scroll_into_view_if_needed()
    tab.locator(".viewer[data-ready]").nth(1).wait_for()


def test_the_board_sorts_and_filters_without_javascript(open_page, two):
    tab = open_page(address(two[0].phase), java_script_enabled=False)
    assert names(tab) == ["ridge-net", "valley-net with a long name"]
    tab.locator("th a.by", has_text="HSS").click()
    tab.locator("th a.by", has_text="HSS").click()
    assert names(tab) == ["valley-net with a long name", "ridge-net"]
    tab.get_by_label("Team or entry").fill("RIDGE")
    tab.get_by_role("button", name="Filter").click()
    assert names(tab) == ["ridge-net"] and "order=reversed" in tab.url


def test_a_bar_shows_its_interval_and_a_dot_within_it(open_page, two):
    assert open_page(address(two[0].phase)).locator("tbody td.num .ci i").count() == 0, "four houses are too few for intervals"
    phase = PhaseFactory(challenge=two[0].phase.challenge)
    give_reference(phase, gables(8))
    entry(phase, two[0].team, {"hss": [0.2, 0.9, 0.8, 0.9, 0.7, 0.9, 0.8, 0.9], "edge_f1": spread(0.5, 8), "corner_f1": spread(0.7, 8)})
    snapshots.make(phase, "public")
    tab = open_page(address(phase))
    assert tab.locator("tbody td.num .ci i").count() == 3
    for bar in tab.locator("tbody td.num .ci").all():
        line, dot = bar.locator("i").bounding_box(), bar.locator("u").bounding_box()
        centre = dot["x"] + dot["width"] / 2
        assert line["x"] - 1 <= centre <= line["x"] + line["width"] + 1


def test_an_item_opens_in_3d_over_the_reference(open_page, two):
    tab = open_page(f"/entries/{two[0].pk}/")
    tab.get_by_role("link", name="house_01", exact=True).click()
    tab.locator(".viewer[data-ready]").wait_for()
    legend = tab.locator(".viewer-legend").inner_text()
    assert "reference" in legend and "ridge-net" in legend and "matched 17 edges" in legend
    assert "Drag to turn" in tab.locator(".viewer-words").inner_text()
    tab.get_by_role("link", name="house_02").click()
    tab.locator(".viewer[data-ready]").wait_for()


def test_a_comparison_has_its_chart_and_two_views_that_turn_together(open_page, two):
    tab = open_page(f"{address(two[0].phase, 'compare')}?a={two[0].pk}&b={two[1].pk}")
    assert tab.locator(".chart .bars rect").count() == 4 and tab.locator("script[src*=plotly]").count() == 0
    tab.get_by_role("button", name="Explore the chart").click()
    tab.locator(".plot[data-ready]").wait_for()
    assert tab.locator(".plot .bars path").count() == 4 and tab.locator(".chart").count() == 0
    assert tab.locator(".plot").evaluate("element => element === document.activeElement"), "where the button was"
    for view in tab.locator(".viewer").all():
        view.scroll_into_view_if_needed()
    tab.locator(".viewer[data-ready]").nth(1).wait_for()
    first, second = tab.locator(".viewer-axes").all()
    before = second.inner_html()
    tab.locator(".viewer-stage").first.press("ArrowLeft")
    wait_until(lambda: before != second.inner_html() == first.inner_html(), what="both views turned alike")
    assert fits(tab)


def test_charts_take_the_colours_of_the_theme_and_change_with_it(open_page, two):
    tab = open_page(address(two[0].phase, "charts"), color_scheme="light")
    assert tab.locator(".chart").count() == 3

    def ink(title: str) -> str:
        return tab.locator(title).first.evaluate("element => getComputedStyle(element).fill")

    for title in (".chart .axis-title", ".plot[data-ready] .xtitle"):
        if "ready" in title:
            tab.get_by_role("button", name="Explore the chart").first.click()
        tab.locator(title).first.wait_for()
        light = ink(title)
        tab.emulate_media(color_scheme="dark")
        wait_until(lambda title=title, light=light: ink(title) != light, what="the other theme's colour")
        assert fits(tab)
        tab.emulate_media(color_scheme="light")
    phone = open_page(address(two[0].phase, "charts"), viewport=PHONE, java_script_enabled=False)
    assert phone.locator(".chart").count() == 3 and phone.get_by_role("button", name="Explore the chart").count() == 0
    assert fits(phone)


def test_an_entry_page_follows_the_scoring_and_shows_the_scores_when_done(open_page, phase, people):
    running = Submission.objects.create(
        phase=phase,
        team=people.team,
        number=9,
        status=Status.SCORING,
        method_name="running",
        file_name="e.zip",
        size=1,
        received_at=timezone.now(),
    )
    evaluation = Evaluation.make(running, EvaluationBatch.current(phase))
    tab = open_page(f"/entries/{running.pk}/", people.owner)
    assert tab.locator("#progress progress[max='4']").get_attribute("value") == "0"
    evaluation.parts.filter(start=0).update(state="done", started_at=timezone.now())
    tab.locator("#progress progress[max='4'][value='1']").wait_for()
    from evaluation.models import Score

    batch = EvaluationBatch.current(phase)
    Score.write(evaluation.pk, evaluation.batch.columns, {slug: samples(batch, slug, values) for slug, values in scores(0.7).items()})
    Evaluation.objects.filter(pk=evaluation.pk).update(state="done")
    Submission.objects.filter(pk=running.pk).update(status=Status.SCORED, finished_at=timezone.now())
    tab.locator("#items").wait_for()
    assert tab.locator("progress").count() == 0


def test_every_page_fits_every_screen(open_page, two):
    phase = two[0].phase
    paths = ["/", "/challenges/", "/metrics/", "/metrics/hss/", "/docs/", "/docs/formats/", f"/entries/{two[0].pk}/"]
    paths += [address(phase, name) for name in ("board", "entries", "charts", "compare", "choosing_metrics")]
    paths.append(address(phase, "snapshot", digest=Snapshot.current(phase, "public").digest))
    tab = open_page(paths[0], viewport={"width": 360, "height": 900})
    for path in paths:
        tab.set_viewport_size({"width": 360, "height": 900})  # which it is opened with
        tab.goto("/".join(tab.url.split("/")[:3]) + path)
        assert fits(tab), path
        assert tab.evaluate(SMALL_TEXT) == [], path
        for width in (1440, 2560):
            tab.set_viewport_size({"width": width, "height": 900})
            wait_until(lambda: fits(tab), 20, what=f"a width of {width} for {path}")

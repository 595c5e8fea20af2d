"""The design language, seen by a browser and by arithmetic: what every page may rely on."""

from __future__ import annotations

import re

import pytest

from tests.support.leaderboard.static_site import STATIC, Answer, html_page, until

CSS = (STATIC / "plumbline.css").read_text()
WORDS = """sub facts tabs tools sp wrap dir trust meter low rank g g1 g3 name tag num ci best flag none base foot cards card row track
ceil right"""
BOARD_CLASSES = WORDS.split()
BOARD = """
<div class="wrap"><table><thead><tr><th>Rank</th><th>Entry</th><th>HSS</th><th>Edge F1</th><th>WED</th><th>Jaccard</th></tr></thead><tbody>
<tr><td class="rank g g1">1<small>1–2</small></td><td class="name"><b>gable-net v3</b><small>Ridgeline</small></td>
<td class="num best"><b>0.612</b> <span class="none">±.028</span>
<span class="ci"><i style="left:66%;width:22%"></i><u style="left:77%"></u></span></td>
<td class="num"><b>0.574</b></td><td class="num"><b>0.91</b></td><td class="num"><b>0.44</b></td></tr>
<tr><td class="rank g g3">2<small>1–2</small></td><td class="name"><b>a-method-with-a-very-long-name-that-must-break</b></td>
<td class="num"><b>0.600</b></td><td class="num"><b>0.57</b></td><td class="num"><b>0.99</b></td><td class="num"><b>0.41</b></td></tr>
</tbody></table></div>
"""
FIRST_ROW = '<tbody><tr><td class="rank">1</td><td class="name">gable-net v3</td></tr></tbody>'
SORTABLE = """
<table data-sort><thead><tr><th>Item</th><th data-first="descending">HSS</th><th data-nosort>View</th></tr></thead><tbody>
<tr><td>house_10</td><td data-value="0.5">0.500</td><td></td></tr><tr><td>house_2</td><td>–</td><td></td></tr>
<tr><td>house_1</td><td data-value="0.0625">0.063</td><td></td></tr><tr><td>house_3</td><td data-value="1e-7">0.000</td><td></td></tr>
</tbody></table>
"""


def tokens(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+):(#[0-9a-f]{3,6})\b", block))


def themes() -> dict[str, dict[str, str]]:
    light, media, forced = re.findall(r":root(?:[^{]*)\{([^}]*--bg:[^}]*)\}", CSS)[:3]
    assert tokens(media) == tokens(forced), "the dark theme is written twice and must be the same twice"
    return {"light": tokens(light), "dark": tokens(media)}


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def mixed(a: str, b: str, share: float) -> str:
    def channels(colour: str) -> list[int]:
        digits = colour.lstrip("#")
        digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
        return [int(digits[i : i + 2], 16) for i in (0, 2, 4)]

    return "#" + "".join(f"{round(share * x + (1 - share) * y):02x}" for x, y in zip(channels(a), channels(b), strict=True))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_keeps_wcag_aa_contrast_on_every_ground(theme: str) -> None:
    t = themes()[theme]
    grounds = {
        "bg": t["bg"],
        "panel": t["panel"],
        "baseline row": mixed(t["panel"], t["soft"], 0.95),
        "own row": mixed(t["panel"], t["accent-soft"], 0.9),
    }
    for ink in ("ink", "soft", "accent", "warn", "good", "bad"):
        for name, ground in grounds.items():
            assert contrast(t[ink], ground) >= 4.5, f"--{ink} on {name}: {contrast(t[ink], ground):.2f}"
    for ink, ground in [("warn", "warn-soft"), ("good", "good-soft"), ("bad", "bad-soft"), ("ink", "accent-soft"), ("on-accent", "accent")]:
        assert contrast(t[ink], t[ground]) >= 4.5, f"--{ink} on --{ground}: {contrast(t[ink], t[ground]):.2f}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_borders_marks_and_viewer_lines_keep_three_to_one(theme: str) -> None:
    t = themes()[theme]
    for graphic in ("edge", "mark", "matched", "missed", "extra"):
        for ground in ("bg", "panel"):
            assert contrast(t[graphic], t[ground]) >= 3, f"--{graphic} on --{ground}: {contrast(t[graphic], t[ground]):.2f}"


@pytest.mark.parametrize("name", BOARD_CLASSES)
def test_every_class_of_the_board_is_styled(name: str) -> None:
    assert re.search(rf"\.{name}(?![\w-])", CSS)


def test_the_stylesheet_loads_nothing_from_elsewhere() -> None:
    assert "url(" not in CSS and "@import" not in CSS


@pytest.mark.parametrize("width", [360, 390, 1440, 3840])
def test_a_page_never_scrolls_sideways(show, width: int) -> None:
    tab = show("<h1>Rooflines</h1>" + BOARD, viewport={"width": width, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.failures == []


def test_on_a_phone_rank_and_entry_stay_while_the_metrics_scroll(show) -> None:
    tab = show(BOARD, viewport={"width": 390, "height": 800})
    cells = "Array.from(document.querySelectorAll('thead th, td.rank, td.name'))"
    place = f"{cells}.slice(0, 9).map(e => Math.round(e.getBoundingClientRect().x))"
    before = tab.evaluate(place)
    assert tab.evaluate("(() => { const w = document.querySelector('.wrap'); w.scrollLeft = 200; return w.scrollLeft })()") == 200
    after = tab.evaluate(place)
    assert after[:2] == before[:2] and after[6:] == before[6:]
    assert after[2] == before[2] - 200


@pytest.mark.parametrize("width", [390, 1440])
def test_an_entry_s_picture_stands_in_its_row_and_covers_no_words(show, width: int) -> None:
    name = '<img class="thumb" src="data:," width="72" height="48" alt=""><b>gable-net v3</b><small>Ridgeline</small>'
    row = f'<tr><td class="rank">1<small>1–4</small></td><td class="name pictured">{name}</td></tr>'
    table = f'<table class="board"><thead><tr><th>Rank</th><th>Entry</th></tr></thead><tbody>{row}</tbody></table>'
    tab = show(table, viewport={"width": width, "height": 800})
    boxes = """(() => {
        const box = it => { const {x, y, right, bottom} = it.getBoundingClientRect(); return [x, y, right, bottom] };
        const rank = document.createRange(); rank.selectNodeContents(document.querySelector("td.rank"));
        return [...["img", "tbody tr", "td b"].map(it => document.querySelector(it)), rank].map(box);
    })()"""
    picture, row, *texts = tab.evaluate(boxes)
    assert picture[2] - picture[0] >= 36 and picture[3] - picture[1] >= 24
    assert row[0] <= picture[0] and picture[2] <= row[2] and row[1] <= picture[1] and picture[3] <= row[3]
    for left, top, right, bottom in texts:
        assert picture[2] <= left or right <= picture[0] or picture[3] <= top or bottom <= picture[1]


@pytest.mark.parametrize("head", ['<a class="by" href="#">Rank</a>', "Rank", '<button class="sort">Place</button>'])
@pytest.mark.parametrize("sorted_by", ["", ' aria-sort="ascending"'])
def test_on_a_phone_the_head_of_the_first_column_and_its_mark_fit(show, head: str, sorted_by: str) -> None:
    table = f"<table><thead><tr><th{sorted_by}>{head}</th><th>Entry</th></tr></thead>{FIRST_ROW}</table>"
    tab = show(table, viewport={"width": 390, "height": 800})
    inside = """(() => {
        const head = document.querySelector("th"), words = document.createRange();
        words.selectNodeContents(head);
        return head.getBoundingClientRect().right - words.getBoundingClientRect().right;
    })()"""
    assert tab.evaluate(inside) >= 4


def test_on_a_phone_the_open_tab_is_in_sight(show) -> None:
    tabs = "".join(f'<a href="#"{" aria-current=page" if n == 9 else ""}>A long name {n}</a>' for n in range(10))
    tab = show(f'<nav class="tabs">{tabs}</nav>', viewport={"width": 390, "height": 800})
    box, bar = tab.locator("[aria-current]").bounding_box(), tab.locator(".tabs").bounding_box()
    assert bar["x"] <= box["x"] and box["x"] + box["width"] <= bar["x"] + bar["width"] + 1


def test_on_a_phone_rows_that_stack_say_what_each_cell_is(show) -> None:
    head = "<thead><tr><th>Board</th><th>Rank</th></tr></thead>"
    row = '<tr><th scope="row">Roofs</th><td class="n nowrap" data-label="Rank">3 of 7 in a sentence that is long enough to wrap</td></tr>'
    tab = show(f'<table class="stacks">{head}<tbody>{row}</tbody></table>', viewport={"width": 390, "height": 800})
    assert tab.evaluate("getComputedStyle(document.querySelector('td'), '::before').content") == '"Rank"'
    name, cell = tab.locator("tbody th").bounding_box(), tab.locator("td").bounding_box()
    assert cell["y"] >= name["y"] + name["height"] and cell["x"] + cell["width"] <= 390


@pytest.mark.parametrize(("wide", "cue"), [(False, False), (True, True)])
def test_a_shadow_says_that_a_table_goes_on_to_the_right(show, wide: bool, cue: bool) -> None:
    cells = "".join(f"<td style='min-width:200px'>{n}</td>" for n in range(9 if wide else 1))
    tab = show(f'<div class="wrap"><table><tbody><tr>{cells}</tr></tbody></table></div>', viewport={"width": 390, "height": 800})
    wrap = tab.locator(".wrap")
    assert wrap.evaluate("element => element.scrollWidth > element.clientWidth") is cue
    assert "scroll" in wrap.evaluate("element => getComputedStyle(element).backgroundAttachment")


def test_data_theme_overrides_the_system(show) -> None:
    tab = show("<p>x</p>", color_scheme="dark")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    assert tab.evaluate(ground) == "rgb(21, 23, 26)"
    tab.evaluate("document.documentElement.dataset.theme = 'light'")
    assert tab.evaluate(ground) == "rgb(251, 251, 249)"


def test_the_theme_button_cycles_and_is_remembered_in_a_cookie(show) -> None:
    tab = show("<button data-theme-toggle hidden>Theme</button>")
    button = tab.locator("[data-theme-toggle]")
    seen = []
    for _ in range(3):
        button.click()
        cookies = {one["name"]: one["value"] for one in tab.context.cookies()}
        seen.append((button.inner_text(), tab.evaluate("document.documentElement.dataset.theme || ''"), cookies.get("theme")))
    assert seen == [("Theme: light", "light", "light"), ("Theme: dark", "dark", "dark"), ("Theme: as the system", "", None)]


TIME = '<time datetime="2026-12-14T23:59:00Z">14 December 2026, 23:59 UTC</time>'


def test_a_time_gets_the_viewers_own_time_behind_it(show) -> None:
    tab = show(f"<p id=a>Closes {TIME}.</p><table><tr><td>{TIME}</td></tr></table>", timezone_id="Europe/Berlin")
    assert tab.inner_text("#a") == "Closes 14 December 2026, 23:59 UTC (your time: 15 December, 00:59)."
    assert tab.get_attribute("table time", "title") == "your time: 15 December, 00:59"


def test_a_viewer_in_the_shown_zone_is_told_nothing_twice(show) -> None:
    tab = show(f"<p id=a>Closes {TIME}.</p>", timezone_id="UTC")
    assert tab.inner_text("#a") == "Closes 14 December 2026, 23:59 UTC."


def test_a_table_sorts_by_full_values_with_missing_last_both_ways(show) -> None:
    tab = show(SORTABLE)
    column = "Array.from(document.querySelectorAll('tbody tr')).map(r => r.cells[0].textContent)"
    assert tab.locator("button.sort").count() == 2
    tab.click("th:nth-child(2) button")
    assert tab.evaluate(column) == ["house_10", "house_1", "house_3", "house_2"]
    assert tab.get_attribute("th:nth-child(2)", "aria-sort") == "descending"
    tab.focus("th:nth-child(2) button")
    tab.keyboard.press("Enter")
    assert tab.evaluate(column) == ["house_3", "house_1", "house_10", "house_2"]
    tab.click("th:nth-child(1) button")
    assert tab.evaluate(column) == ["house_1", "house_2", "house_3", "house_10"]
    assert tab.get_attribute("th:nth-child(2)", "aria-sort") is None


def test_a_code_block_can_be_copied(show) -> None:
    tab = show('<div class="copy"><pre>python -m evaluation metrics</pre></div>', permissions=["clipboard-read", "clipboard-write"])
    tab.click(".copy button")
    until(tab, "document.querySelector('.copy button').textContent === 'Copied'")
    assert tab.evaluate("navigator.clipboard.readText()") == "python -m evaluation metrics"


def test_a_dangerous_form_asks_first_and_sends_the_pressed_button(show, site) -> None:
    site.routes["/done"] = lambda request: Answer(body=html_page(f"<p id=got>{request.body.decode()}</p>"))
    button = '<button name="act" value="withdraw">Withdraw</button>'
    tab = show(f'<form method="post" action="/done" data-confirm="Withdraw gable-net v3?">{button}</form>')
    tab.click("form button")
    assert tab.inner_text("dialog p") == "Withdraw gable-net v3?"
    tab.keyboard.press("Escape")
    tab.wait_for_selector("dialog", state="detached")
    assert tab.url.endswith("/page")
    tab.click("form button")
    tab.click("dialog button.primary")
    tab.wait_for_url("**/done")
    assert tab.inner_text("#got") == "act=withdraw"


def test_a_menu_opens_without_script_and_escape_closes_it(show) -> None:
    menu = '<details class="menu"><summary>ann</summary><ul><li><a href="#">Password</a></li></ul></details>'
    plain = show(menu, java_script_enabled=False)
    plain.click("summary")
    assert plain.locator(".menu a").is_visible()
    tab = show(menu)
    tab.click("summary")
    tab.keyboard.press("Escape")
    assert not tab.locator(".menu a").is_visible()

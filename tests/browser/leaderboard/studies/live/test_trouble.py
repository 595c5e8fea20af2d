"""A rater's page where something goes wrong: the network, the server, a log-in that ran out, two tabs."""

from __future__ import annotations

from submissions.outages import AWAY
from tests.browser.leaderboard.studies.live.conftest import PAGE, part, ready, until_stored
from tests.support.leaderboard.static_site import Answer, until


def test_an_answer_outlives_the_network(rate):
    tab, desk = rate()
    desk.down = 0
    tab.keyboard.press("ArrowLeft")
    part(tab, "trouble").wait_for()
    ready(tab, 2)  # the next pair was there already
    tab.keyboard.press("ArrowRight")
    tab.wait_for_timeout(300)
    assert desk.posts == []
    desk.down = None
    ready(tab, 3)  # by itself
    assert [post["answers"]["overall"] for post in desk.posts] == ["left", "right"]
    assert not part(tab, "trouble").is_visible()


def test_who_does_not_want_to_wait_for_the_server_need_not(rate):
    tab, desk = rate()
    desk.down, desk.busy_for = 503, 600
    tab.keyboard.press("ArrowLeft")
    part(tab, "trouble").wait_for()
    desk.down = None
    tab.get_by_role("button", name="Try now").click()
    until_stored(desk, 1)
    ready(tab, 2)
    assert desk.stored == {1: {"overall": "left"}} and not part(tab, "trouble").is_visible()


def test_what_the_server_lacks_is_said_and_the_answer_is_sent_again_by_itself(rate):
    tab, desk = rate()
    desk.down, desk.busy_for, desk.refusal = 503, 1, AWAY.sentence
    tab.keyboard.press("ArrowLeft")
    part(tab, "trouble").wait_for()
    assert part(tab, "trouble").inner_text().startswith(AWAY.sentence)
    desk.down = None
    until_stored(desk, 1)
    until(tab, f"!{PAGE}.ratePage.session.busy")
    assert desk.stored == {1: {"overall": "left"}} and not part(tab, "trouble").is_visible()


def test_an_answer_outlives_the_page(rate):
    tab, desk = rate()
    desk.down = 503
    tab.keyboard.press("ArrowLeft")
    part(tab, "trouble").wait_for()
    address = tab.url
    tab.close()
    desk.down = None
    again = tab.context.new_page()
    again.goto(address)
    ready(again, 2)
    assert desk.stored == {1: {"overall": "left"}} and len(desk.posts) == 1


def test_an_answer_whose_reply_was_lost_is_not_counted_twice(rate):
    tab, desk = rate()
    desk.lose_reply = True
    tab.keyboard.press("ArrowLeft")
    until_stored(desk, 1)
    ready(tab, 2)
    until(tab, f"!{PAGE}.ratePage.session.busy")
    assert [post["question"] for post in desk.posts] == ["t1", "t1"] and sorted(desk.stored) == [1]
    tab.keyboard.press("ArrowRight")
    ready(tab, 3)
    assert sorted(desk.stored) == [1, 2]


def test_a_refusal_is_said_and_the_server_has_the_last_word(rate):
    tab, desk = rate()
    desk.down = 404
    tab.keyboard.press("ArrowLeft")
    part(tab, "trouble").wait_for()
    assert desk.refusal in part(tab, "trouble").inner_text()
    desk.down = None
    tab.reload()
    ready(tab, 1)
    assert desk.stored == {}


def test_who_was_logged_out_loses_no_answer(rate):
    tab, desk = rate()
    desk.down = 403
    tab.keyboard.press("ArrowLeft")
    part(tab, "trouble").wait_for()
    desk.down = None
    with tab.expect_navigation():
        tab.get_by_role("button", name="Load again").click()
    ready(tab, 2)
    assert desk.stored == {1: {"overall": "left"}}


def test_a_question_that_has_gone_makes_room_for_another(rate):
    tab, desk = rate()
    desk.site.routes["/rate/k/scenes/t3/scene.json"] = lambda request: Answer(404)
    tab.keyboard.press("ArrowLeft")
    ready(tab, 2)
    desk.stored[3] = {}  # withdrawn: nobody is asked it any more
    tab.keyboard.press("ArrowLeft")
    ready(tab, 4)
    assert tab.failures == []


def test_two_tabs_never_answer_a_question_twice(rate):
    tab, desk = rate(note="That question was answered in another tab.")
    other = tab.context.new_page()
    other.goto(tab.url)
    ready(other, 1)
    tab.keyboard.press("ArrowLeft")
    until_stored(desk, 1)
    other.keyboard.press("ArrowRight")
    ready(other, 2)
    part(other, "note").wait_for()
    assert "another tab" in part(other, "note").inner_text() and desk.stored == {1: {"overall": "left"}}


def test_a_study_that_closes_says_so(rate):
    tab, desk = rate()
    desk.closed = "This study closed on 3 May 2026."
    tab.keyboard.press("ArrowLeft")
    until(tab, "!document.querySelector('[data-part=end]').hidden")
    assert part(tab, "end-words").inner_text() == desk.closed
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_timeout(200)
    assert len(desk.posts) == 1

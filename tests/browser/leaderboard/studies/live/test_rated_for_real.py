"""A whole small study in Chromium over the service itself: joined, rated by keyboard, resumed after the browser was closed,
exported, analysed, and the board changes; with all that the browser was sent looked through for what it must not tell."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards import snapshots
from leaderboard.models import Opinion, Question, Snapshot, Study, StudyVote
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.live import practice
from leaderboard.tasks import build_due_boards
from leaderboard.wording.reasons import sentence
from tests import ROOT
from tests.browser.leaderboard.studies.live.conftest import PAGE, looked_at, ready
from tests.conftest import CHROMIUM
from tests.support import pictures
from tests.support.factories import MESH_METRICS, ChallengeFactory, PhaseFactory, TeamFactory, boxes, gables, give_reference, perturbed
from tests.support.leaderboard.reasons import few_raters
from tests.support.leaderboard.scores import entry, with_files
from tests.support.leaderboard.static_site import until
from tests.support.leaderboard.studies.live import making
from tests.support.pages import compact
from tests.support.processes import wait_until

pytestmark = [pytest.mark.django_db(transaction=True)]
SAMPLES = ("house_01", "house_02")
HOME = "https://panel.example/done"


@dataclass
class Sent:
    """All that a browser was sent, addresses and heads included, but for the service's own static files."""

    texts: list[str] = field(default_factory=list)
    waiting: list = field(default_factory=list)

    def note(self, request) -> None:
        if "/static/" not in request.url:
            self.waiting.append(request)

    def read(self) -> list[str]:
        """Call it before another page is opened, or the browser closed: then the bodies are gone."""
        for request in self.waiting:
            response = request.response()
            body = "" if 300 <= response.status < 400 else response.body().decode("utf-8", "replace")
            self.texts.append(f"{response.url} {response.all_headers()} {body}")
        self.waiting.clear()
        return self.texts


@pytest.fixture
def rows(phase, people):
    """Four scored entries with their files, from near to far."""
    phase.entries = phase.Entries.ALL
    phase.save()
    found = making.entries(phase, people)
    for k, row in enumerate(found):
        with_files(row, perturbed(gables(), 0.05 + 0.2 * k, seed=k))
    for audience in Snapshot.Audience.values:
        snapshots.make(phase, audience)
    return found


@pytest.fixture
def study(phase, people, rows) -> Study:
    return making.live(phase, people.organizer, rows, samples=SAMPLES, is_public=True, groups=["experts"], break_every=350)


@pytest.fixture
def own_browser(browser, tmp_path) -> Iterator:
    """`own_browser() -> (context, sent)`: one person's browser, which keeps its cookies when it is closed and opened again."""
    opened, sent = [], Sent()

    def start():
        context = browser.browser_type.launch_persistent_context(
            str(tmp_path / "profile"), executable_path=CHROMIUM, args=["--no-sandbox"], viewport={"width": 1280, "height": 800}
        )
        context.on("requestfinished", sent.note)
        opened.append(context)
        return context, sent

    yield start
    for context in opened:
        context.close()


def on_the_page(tab) -> Question:
    token = tab.evaluate(f"{PAGE}.ratePage.shown.question.id")
    return Question.objects.select_related("left__submission", "right__submission").get(token=token)


def rate(tab, rows, number: int) -> str:
    """Prefer, by keyboard, the entry that the metrics think worse; the token of the question."""
    ready(tab, number)
    looked_at(tab)
    asked = on_the_page(tab)
    prefers_left = rows.index(asked.left.submission) > rows.index(asked.right.submission)
    tab.keyboard.press("ArrowLeft" if prefers_left else "ArrowRight")
    return asked.token


def stored(n: int) -> None:
    wait_until(lambda: StudyVote.objects.count() == n, what=f"{n} votes")


def test_a_small_study_is_rated_resumed_exported_analysed_and_changes_the_board(
    live_server, own_browser, study, rows, phase, people, tmp_path
):
    address = f"{live_server.url}{reverse('board', args=[phase.challenge.slug, phase.slug])}"
    context, sent = own_browser()
    tab = context.pages[0]
    failures: list[str] = []
    tab.on("pageerror", lambda error: failures.append(str(error)))
    tab.goto(address)
    assert "no people yet" in compact(tab.content())
    tab.wait_for_load_state("networkidle")  # or the bodies of pictures on their way are gone with the page
    sent.read()

    # Joining, by keyboard.
    tab.goto(f"{live_server.url}/rate/{study.key}/")
    tab.get_by_label("You are").select_option("experts")
    tab.get_by_label("I have read this").press("Space")
    sent.read()
    tab.get_by_role("button", name="Begin").press("Enter")
    assert study.question in tab.locator("[data-part=question]").inner_text()

    for number in range(1, 6):
        rate(tab, rows, number)
    ready(tab, 6)
    until(tab, f"!{PAGE}.ratePage.session.busy")
    tab.keyboard.press("Backspace")
    ready(tab, 5)
    stored(4)
    rate(tab, rows, 5)
    ready(tab, 6)
    stored(5)
    sent.read()
    context.close()

    # Another day: the same browser, opened again.
    context, sent = own_browser()
    tab = context.pages[0]
    tab.on("pageerror", lambda error: failures.append(str(error)))
    tab.goto(f"{live_server.url}/rate/{study.key}/")
    ready(tab, 6)
    assert "5 of 12 answered" in tab.locator("[data-part=done]").inner_text()
    for number in range(6, 13):
        rate(tab, rows, number)
    until(tab, "!document.querySelector('[data-part=end]').hidden")
    assert "12 questions" in tab.locator("[data-part=end-words]").inner_text()
    stored(12)
    assert failures == []

    # Every pair of every sample once, each as the keys said.
    votes = list(StudyVote.objects.select_related("left__submission", "right__submission", "question"))
    assert len({(vote.sample, frozenset((vote.left_id, vote.right_id))) for vote in votes}) == 12
    for vote in votes:
        better = vote.left if rows.index(vote.left.submission) > rows.index(vote.right.submission) else vote.right
        assert {"left": vote.left, "right": vote.right}[vote.choice] == better and 0 < vote.seconds < 60
    tells_nothing(sent, rows, phase, people, study)

    # Exported by the organizer, analysed on the command line without the service.
    organizer = Client()
    organizer.force_login(people.organizer)
    found = organizer.get(reverse("study_votes", args=[phase.challenge.slug, phase.slug, study.slug]))
    text = b"".join(found.streaming_content).decode()
    lines = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert len(lines) == 12 and {line["group"] for line in lines} == {"experts"} and {line["study"] for line in lines} == {study.slug}
    path = tmp_path / "study.csv"
    path.write_text(text)
    command = [sys.executable, "-m", "leaderboard.stats", str(path), "--json"]
    analysed = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    # Not the order of the model: of so few answers it puts some down to the side, where the sides that were drawn favour one.
    won = {line["method"]: line["win_rate"][0] for line in analysed["criteria"]["overall"]["scales"]}
    assert won == pytest.approx({"secret-method-3": 1, "secret-method-2": 2 / 3, "secret-method-1": 1 / 3, "secret-method-0": 0})

    # Analysed by the service, and the board says that one person is too few to say anything.
    while analyse_due():
        pass
    build_due_boards(timezone.now() + timedelta(seconds=5))
    tab.goto(address)
    assert "1 of 5 raters" in board_of(tab).locator("thead").inner_text().replace("\n", " ")
    tab.goto(f"{address}people/{study.slug}/")
    assert sentence(few_raters(1)) in tab.locator(".claims").inner_text()
    assert sorted(name.strip() for name in tab.locator("#scales td.name b").all_inner_texts()) == [f"secret-method-{k}" for k in range(4)]
    context.close()


def test_a_rater_of_a_panel_comes_practises_answers_and_goes_back(live_server, own_browser, browser, rows, phase, people):
    """By keyboard and by touch: parameters in, practice with what is known, the questions, and the panel's address out."""
    criteria = [{"key": key, "title": key.title(), "text": f"Look at {key}."} for key in ("overall", "corners")]
    study = making.live(
        phase,
        people.organizer,
        rows,
        samples=SAMPLES,
        gold=(rows[0], rows[3]),
        practice_questions=2,
        questions_per_rater=2,
        panel_parameters=["PROLIFIC_PID"],
        completion=f"{HOME}?cc=C1",
        setup_questions=["glasses", "screen"],
        min_width=600,
        criteria=criteria,
        shuffles_criteria=True,
        slug="panel",
    )
    address = f"{live_server.url}/rate/{study.key}/join/?PROLIFIC_PID=5f3a"
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    tab = phone.new_page()
    tab.goto(address)
    assert re.findall(r"\d+", tab.locator("[data-narrow]").inner_text())[:2] == ["600", "390"]
    tab.get_by_label("glasses").select_option("none")
    tab.get_by_label("I have read this").check()
    tab.get_by_role("button", name="Begin").tap()
    assert not study.raters.exists()
    phone.close()

    context, _ = own_browser()
    tab = context.pages[0]
    failures: list[str] = []
    tab.on("pageerror", lambda error: failures.append(str(error)))
    tab.goto(address)
    assert not tab.locator("[data-narrow]").is_visible()
    tab.get_by_label("glasses").select_option("worn")
    tab.get_by_label("I have read this").press("Space")
    tab.get_by_role("button", name="Begin").press("Enter")
    rater = study.raters.get()
    assert rater.panel == {"PROLIFIC_PID": "5f3a"}
    assert (rater.setup["glasses"], rater.setup["window_width"], rater.setup["window_height"]) == ("worn", 1280, 800)

    def answer(key: str) -> None:
        for n in range(2):
            until(tab, f"performance.now() - {PAGE}.ratePage.since > 350 && {PAGE}.ratePage.shown?.step === {n}")
            tab.keyboard.press(key)

    for n in (1, 2):
        ready(tab, n)
        assert f"{n} of 2" in tab.locator("[data-part=practice]").inner_text()
        answer("ArrowDown")
        until(tab, "!document.querySelector('[data-part=feedback]').hidden")
        asked = rater.practice.get(number=n - 1)
        assert tab.locator("[data-part=feedback-words]").inner_text() == practice.feedback(study, asked, asked.answers)
        assert f"{n} of 2" in tab.locator("[data-part=practice]").inner_text(), "still that question"
        tab.keyboard.press("ArrowLeft")  # answers nothing
        tab.keyboard.press("Enter")
    ready(tab, 1)
    assert not tab.locator("[data-part=practice]").is_visible()
    answer("ArrowLeft")
    ready(tab, 2)
    for _ in range(2):
        until(tab, f"performance.now() - {PAGE}.ratePage.since > 350")
        tab.get_by_role("button", name="Equal").click()
    until(tab, "!document.querySelector('[data-part=end]').hidden")
    back = f"a[href='{HOME}?cc=C1']"
    assert tab.locator(back).is_visible()
    assert failures == [] and rater.practice.filter(answered_at__isnull=False).count() == 2
    votes = list(study.votes())
    assert [(vote.order, vote.step, vote.device) for vote in votes] == [
        ("1", "1", "keyboard"),
        ("1", "2", "keyboard"),
        ("2", "1", "mouse"),
        ("2", "2", "mouse"),
    ]
    assert {(vote.viewport_width, vote.viewport_height) for vote in votes} == {("1280", "800")}
    # In another browser: they have been here, and the way back stands there again.
    other = browser.new_context()
    tab = other.new_page()
    tab.goto(address)
    assert tab.locator(back).is_visible()
    other.close()


def test_a_study_is_walked_through_before_it_opens(live_server, browser, rows, phase, people):
    study = making.live(phase, people.organizer, rows, opened=False, samples=SAMPLES, practice_questions=1, questions_per_rater=1)
    client = Client()
    client.force_login(people.organizer)
    context = browser.new_context(viewport={"width": 768, "height": 1024}, has_touch=True)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    tab = context.new_page()
    tab.goto(f"{live_server.url}{reverse('console_preview', args=[phase.challenge.slug, phase.slug, study.slug])}")
    tab.get_by_label("I have read this").check()
    tab.get_by_role("button", name="Begin the preview").tap()
    tab.wait_for_url("**/preview/questions/")
    for part in ("feedback", "end"):
        ready(tab, 1)
        tab.get_by_role("button", name="Left is better").tap()
        until(tab, f"!document.querySelector('[data-part={part}]').hidden")
        if part == "feedback":
            tab.get_by_role("button", name="Go on").tap()
    assert "1 question." in tab.locator("[data-part=end-words]").inner_text()
    assert not study.raters.exists() and not Question.objects.exists() and not StudyVote.objects.exists()
    context.close()


def a_mesh_study(people) -> Study:
    phase = PhaseFactory(challenge=ChallengeFactory(family="mesh"), reference_access="public")
    phase.challenge.organizers.add(people.organizer)
    give_reference(phase, boxes(), MESH_METRICS)
    team = TeamFactory(challenge=phase.challenge)
    made = [entry(phase, team, {"chamfer_l1": [0.1, 0.2]}, method_name=f"secret-method-{k}") for k in range(2)]
    rows = [with_files(row, boxes(1.2 + 0.3 * k)) for k, row in enumerate(made)]
    return making.live(phase, people.organizer, rows, samples=("box_1", "box_2"))


def a_render_study(people) -> Study:
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"), reference_access="public")
    phase.challenge.organizers.add(people.organizer)
    give_reference(phase, pictures.views(3, clean=False), ({"slug": "psnr", "key": "psnr", "is_primary": True},))
    team = TeamFactory(challenge=phase.challenge)
    made = [entry(phase, team, {"psnr": [30.0] * 3}, method_name=f"secret-method-{k}") for k in range(2)]
    rows = [with_files(row, pictures.renders(3, noise=0.05 + 0.1 * k)) for k, row in enumerate(made)]
    return making.live(phase, people.organizer, rows, kind="opinions", samples=("garden",))


@pytest.mark.parametrize("make", [a_mesh_study, a_render_study], ids=["pairs of meshes", "opinions of renders"])
def test_other_entries_are_rated_as_well(live_server, own_browser, people, make):
    study = make(people)
    context, sent = own_browser()
    tab = context.pages[0]
    failures: list[str] = []
    tab.on("pageerror", lambda error: failures.append(str(error)))
    tab.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    tab.goto(f"{live_server.url}/rate/{study.key}/")
    tab.get_by_label("I have read this").press("Space")
    sent.read()
    tab.get_by_role("button", name="Begin").press("Enter")
    sides = {"pairs": ["left", "reference", "right"], "opinions": ["left", "reference"]}[study.kind]
    for number in (1, 2):
        ready(tab, number)
        frames = tab.locator("[data-part=stage] .rate-frame")
        assert frames.evaluate_all("frames => frames.map(frame => frame.dataset.side)") == sides
        assert tab.locator(".rate-nothing").count() == 0
        if study.kind == "opinions":
            sizes = tab.locator("[data-part=stage] img").evaluate_all("images => images.map(image => image.naturalWidth)")
            assert sizes == [pictures.WIDTH] * 2
        for _ in study.criteria:
            tab.wait_for_timeout(350)
            tab.keyboard.press("4" if study.kind == "opinions" else "ArrowRight")
    until(tab, "!document.querySelector('[data-part=end]').hidden")
    given = Opinion.objects.filter(score=4) if study.kind == "opinions" else StudyVote.objects.filter(choice="right")
    assert given.count() == 2 * len(study.criteria) and failures == []
    tells_nothing(sent, [row.submission for row in study.entries.all()], study.phase, people, study, ("garden", "box_1"))


def board_of(tab):
    return tab.get_by_role("region", name="Leaderboard", exact=True)


def tells_nothing(sent: Sent, rows, phase, people, study, samples=SAMPLES) -> None:
    """All that was sent while rating names no method, team, entry, sample, metric or reference."""
    rating = [text for text in sent.read() if f"/rate/{study.key}" in text.split(" ", 1)[0]]
    # A key drawn by chance may have a short name in it.
    rating = [re.sub(r"(?<![\w-])(?:[\w-]{24}|[\w-]{32})(?![\w-])", "KEY", text) for text in rating]
    assert len(rating) > 8 and any("scene.json" in text for text in rating)
    secret = {
        "secret-method",
        people.team.name,
        people.other_team.name,
        *samples,
        *making.SLUGS,
        study.reference.key,
        study.reference.sha256,
    }
    secret |= {row.artifact_key for row in rows} | {phase.challenge.slug, f"/entries/{rows[0].pk}"}
    for text in rating:
        for word in secret:
            assert word not in text, (word, text[:300])

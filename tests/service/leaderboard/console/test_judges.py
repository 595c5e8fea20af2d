"""Judge models at the console: planned, looked at, asked, paused, and every text shown; and texts to make objects from."""

from __future__ import annotations

import html
import io
import json
import logging
import re
from decimal import Decimal

import pytest
from django.contrib.messages import ERROR
from django.core.management import CommandError, call_command
from django.utils import timezone
from PIL import Image

from leaderboard.models import JudgeRun, Rater, StudyVote
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.judge import answers, instructions, planning
from leaderboard.studies.judge.planning import Wish
from leaderboard.studies.judge.run import ask_due
from tests.support.leaderboard.studies.judge.endpoint import KEY, Answer, fault, says, serving
from tests.support.leaderboard.studies.judge.studies import QUALITY, brighter, study_of_objects
from tests.support.pages import faults, levels

pytestmark = pytest.mark.django_db
S = 32


@pytest.fixture
def server(settings, monkeypatch):
    monkeypatch.setattr("leaderboard.studies.judge.run.PATIENCE", 0.3)
    monkeypatch.setattr("leaderboard.studies.judge.images.SIDE", S)
    with serving(brighter) as found:
        settings.JUDGE_URL, settings.JUDGE_KEY, settings.JUDGE_MODEL = found.url, KEY, "seer-1"
        settings.JUDGE_RATE, settings.JUDGE_PRICE_IN, settings.JUDGE_PRICE_OUT = 0, Decimal(2), Decimal(10)
        yield found


@pytest.fixture
def study(phase):
    phase.batches.all().delete()
    return study_of_objects(phase)


@pytest.fixture
def desk(client, people, study):
    """The organizer's browser, and the address of the study's judges."""
    client.force_login(people.organizer)
    client.address = f"/console/challenges/{study.phase.challenge.slug}/phases/{study.phase.slug}/studies/{study.slug}/judges/"
    return client


PLAN = {"model": "seer-1", "plan": "one-view", "budget": "100", "choices": "3", "repeats": "1", "seed": "0", "anchor": "opal"}


def text_of(response) -> str:
    assert response.status_code == 200
    return response.content.decode()


def test_a_run_from_the_plan_to_the_scores(desk, server, study):
    page = text_of(desk.get(desk.address))
    assert server.url in page and KEY not in page
    run_address = desk.post(desk.address, PLAN)["Location"]
    seen = desk.get(run_address).context
    assert (seen["run"].state, seen["run"].n_planned, seen["settled"]) == ("planned", 18, 0)
    assert (seen["expected"].requests, seen["expected"].images) == (18, 72)
    assert seen["answers"][0].text and not server.requests, "the text that would be sent"
    image = desk.get(f"{run_address}1.png")
    assert image["Content-Type"] == "image/png" and Image.open(io.BytesIO(image.content)).size == (2 * S, 2 * S)
    desk.post(run_address, {"act": "start"})
    assert "hx-get" in text_of(desk.get(run_address)) and "Pause" in text_of(desk.get(f"{run_address}progress/"))
    while ask_due():
        pass
    done = desk.get(f"{run_address}progress/")
    assert done["HX-Refresh"] == "true" and done.context["run"].n_answered == 18
    page = text_of(desk.get(run_address))
    assert "Final answer:" in page and "0.06 USD" in page and KEY not in page
    assert desk.get(f"{run_address}?state=failed").context["answers"] == []
    found = desk.get(desk.address)
    assert [run.state for run in found.context["runs"]] == ["done"] and "-----" not in text_of(found)
    newcomer = {"newcomer": str(study.entries.first().pk)}
    assert faults(desk.post(desk.address, PLAN | newcomer)) == {"__all__": ["both_or_neither"]}


def test_two_runs_of_one_model_are_two_rows_and_neither_holds_the_others_answers(desk, server, study):
    for seed in ("0", "1"):
        run_address = desk.post(desk.address, PLAN | {"seed": seed, "budget": "6"})["Location"]
        desk.post(run_address, {"act": "start"})
        while ask_due():
            pass
    page = text_of(desk.get(f"/challenges/{study.phase.challenge.slug}/{study.phase.slug}/people/{study.slug}/"))
    day = f"{timezone.now():%Y-%m-%d}"
    assert re.findall(r"<h3>(seer-1[^<]*)</h3>", page) == [
        f"seer-1 · one-view · {day} · prompts v1",
        f"seer-1 · one-view · {day} · prompts v1 · no. 2",
    ]
    assert page.count("6 comparisons, 6 requests, cost 0.0210 USD") == 2
    first, second = answers.judges_of(study, "overall")
    assert len(first.judged) == len(second.judged) == 6 and first.key != second.key


def test_what_became_of_requests_is_seen_while_it_asks(desk, server, study, settings):
    settings.JUDGE_PARALLEL = 1
    declined = Answer({"choices": [{"message": {"refusal": "No."}}], "usage": {"prompt_tokens": 10, "completion_tokens": 1}})
    server.answers = [fault(500, "overloaded"), declined, says("?", "?", "?"), Answer(b"half an answ")]
    run_address = desk.post(desk.address, PLAN | {"most_cost": "2.5"})["Location"]
    desk.post(run_address, {"act": "start"})
    for _ in range(2):  # turns that the endpoint's fault and the lost answer end
        JudgeRun.objects.update(lease_until=None)
        ask_due()
    found = desk.get(f"{run_address}progress/")
    run = found.context["run"]
    assert (run.state, found.context["most_cost"], found.context["seconds_left"]) == ("asking", "2.50 USD", None)
    assert (run.n_read, run.n_refused, run.n_unread, run.n_errors, run.n_lost) == (0, 1, 1, 2, 1)
    assert run.last_error and run.last_error in html.unescape(text_of(found))
    JudgeRun.objects.update(lease_until=None)
    ask_due()
    JudgeRun.objects.update(state="asking", n_answered=9)
    assert desk.get(run_address).context["seconds_left"] > 0


def test_the_form_asks_only_for_what_there_is_to_choose(desk, server, study):
    page = text_of(desk.get(desk.address))
    assert "Anchor" in page and "Placed among" not in page and "-----" not in page  # no run has scores yet


def test_the_plans_are_offered_in_words_that_wrap_and_the_first_is_chosen(desk, study):
    """A select would cut sentences off in the page's narrow column."""
    offered = re.findall(r'<input type="radio" name="plan" value="([^"]+)"[^>]*?( checked)?>', text_of(desk.get(desk.address)))
    assert [name for name, _ in offered] == list(planning.plans(study.phase.challenge.family))
    assert [name for name, checked in offered if checked] == [offered[0][0]]


def test_what_cannot_be_planned_is_said_at_the_form(desk, server, study):
    assert "__all__" in faults(desk.post(desk.address, PLAN | {"plan": "ensemble"})), "1,500 requests on a budget of 100"
    assert faults(desk.post(desk.address, PLAN | {"plan": "tarot"})) == {"plan": ["invalid_choice"]}
    assert not JudgeRun.objects.exists()


def test_without_an_endpoint_a_plan_can_be_looked_at_and_not_started(desk, study, settings):
    settings.JUDGE_URL = ""
    assert "PLUMBLINE_JUDGE_URL" in text_of(desk.get(desk.address))
    run_address = desk.post(desk.address, PLAN)["Location"]
    assert "PLUMBLINE_JUDGE_URL" in text_of(desk.post(run_address, {"act": "start"}, follow=True))
    assert JudgeRun.objects.get().state == "planned"


def test_a_run_can_be_paused_gone_on_with_cancelled_and_removed(desk, server, study):
    run_address = desk.post(desk.address, PLAN)["Location"]
    for act, state in (("start", "asking"), ("pause", "paused"), ("start", "asking"), ("cancel", "cancelled")):
        desk.post(run_address, {"act": act})
        assert JudgeRun.objects.get().state == state
    assert levels(desk.post(run_address, {"act": "start"}, follow=True))[-1] == ERROR and JudgeRun.objects.get().state == "cancelled"
    assert desk.post(run_address, {"act": "remove"})["Location"] == desk.address
    assert not JudgeRun.objects.exists() and desk.get(run_address).status_code == 404


def test_a_spent_budget_is_raised_on_the_page(desk, server, study, settings):
    server.behave = lambda body: brighter(body) if len(server.requests) == 1 else says("?")
    settings.JUDGE_PARALLEL = 1
    run = planning.make(study, None, "seer-1", Wish("one-view", 3))
    run.start(None)
    while ask_due():
        pass
    page = text_of(desk.get(f"{desk.address}{run.pk}/"))
    assert "Budget used up" in page and 'min="4"' in page
    server.behave = brighter
    refused = desk.post(f"{desk.address}{run.pk}/", {"act": "start", "budget": "3,000"}, follow=True)
    assert levels(refused) == [ERROR] and "“3,000”" in text_of(refused) and JudgeRun.objects.get().state == "spent"
    desk.post(f"{desk.address}{run.pk}/", {"act": "start", "budget": "30"})
    while ask_due():
        pass
    run.refresh_from_db()
    assert run.state == "done" and run.budget == 30


# --- beside people


def test_the_studys_page_shows_scores_and_agreement(desk, server, study):
    type(study).objects.update(rater_skill="skilled")
    run = planning.make(study, None, "seer-1", Wish("one-view", 100, anchor="onyx"))
    run.start(None)
    while ask_due():
        pass
    public = f"/challenges/{study.phase.challenge.slug}/{study.phase.slug}/people/{study.slug}/"
    page = text_of(desk.get(public))
    assert "scatterpolar" in page and "seer-1 · one-view" in page
    rater = Rater.objects.create(study=study, name="jane")
    entries = {entry.label: entry for entry in study.entries.all()}
    names = list(QUALITY)
    for n, left in enumerate(names):
        for right in names[n + 1 :]:
            StudyVote.objects.create(
                study=study, rater=rater, sample="0", left=entries[left], right=entries[right], choice="left", criterion="overall"
            )
    assert analyse_due() == 1
    row = study.analyses.get()
    (line,) = row.content["judges"]
    assert line["pairs"]["value"] == 1 and line["order"]["krocc"] == 1 and line["probability"] == {"agreement": 1, "l1": 0, "n": 6}
    assert line["gate"]["tolerated"] == 0.15
    assert row.content["agreement"]["names"] == ["jane"] and row.content["raters"] == ["jane"]
    page = text_of(desk.get(public))
    assert "0.06 USD" in page
    assert analyse_due() == 0
    more = planning.make(study, None, "seer-2", Wish("one-view", 3))
    more.start(None)
    while ask_due():
        pass
    assert analyse_due() == 1 and len(study.analyses.get().content["judges"]) == 2
    assert KEY not in page + text_of(desk.get(f"{public}analysis.json"))


def test_a_judges_criteria_are_listed_as_the_study_asks_them(desk, server, study):
    study.criteria = [{"key": key, "title": key, "text": ""} for key in ("geometry_details", "overall")]
    study.save()
    run = planning.make(study, None, "seer-1", Wish("one-view", 100))
    run.start(None)
    while ask_due():
        pass
    run.refresh_from_db()
    JudgeRun.objects.update(result={"criteria": dict(sorted(run.result["criteria"].items(), key=lambda pair: pair[0][::-1]))})
    page = text_of(desk.get(f"/challenges/{study.phase.challenge.slug}/{study.phase.slug}/people/{study.slug}/"))
    head = page.partition('aria-label="Elo by criterion"')[2].partition("</thead>")[0]
    titles = ["Geometry details", "Overall", "Text and object", "3D plausibility", "Texture fits geometry", "Texture details"]
    assert re.findall(r'class="n">([^<]+)</th>', head) == titles
    figure = json.loads(page.partition('<script id="figure-judge-1" type="application/json">')[2].partition("</script>")[0])
    assert [axis.replace("<br>", " ") for axis in figure["data"][0]["theta"]] == [*titles, titles[0]]
    numbers = page.partition('id="figure-judge-1"')[2].partition('aria-label="Numbers of the chart"')[2].partition("</table>")[0]
    assert re.findall(r"<tr><td>([^<]+)</td>", numbers) == ["ruby", "opal", "onyx", "coal"]


# --- commands


def test_the_command_shows_asks_and_goes_on(study, server, tmp_path, capsys):
    place = f"{study.phase.challenge.slug}/{study.phase.slug}/{study.slug}"
    call_command("judge", place, "--plan", "one-view", "--budget", "50", "--dry-run", str(tmp_path / "shown"))
    assert "18 comparisons in 18 requests" in capsys.readouterr().out and not server.requests
    assert sorted(path.name for path in (tmp_path / "shown").iterdir())[:2] == ["00-1.png", "00-1.txt"]
    call_command("judge", place, "--plan", "one-view", "--budget", "50", "--anchor", "onyx")
    out = capsys.readouterr().out
    assert "18 of 18" in out and "1000.0" in out and KEY not in out
    assert list(dict.fromkeys(re.findall(r"^([a-z_0-9]+) +ruby", out, re.MULTILINE))) == list(instructions.KEYS)
    server.behave = lambda body: fault(401)
    with pytest.raises(CommandError, match="--resume"):
        call_command("judge", place, "--plan", "one-view", "--budget", "50", "--seed", "2")
    run = JudgeRun.objects.order_by("id").last()
    server.behave = brighter
    call_command("judge", place, "--resume", str(run.pk))
    assert "done. 18 of 18" in capsys.readouterr().out
    run.refresh_from_db()
    assert run.budget == 50, "going on raises no budget by itself"
    for arguments, words in (
        (["no/such/study"], "There is no study"),
        ([place, "--plan", "ensemble", "--budget", "3"], "the budget is 3"),
        ([place, "--newcomer", "nobody"], "no entry 'nobody'"),
        ([place, "--resume", "999999"], "no run 999999"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("judge", *arguments)


def test_texts_by_chance_and_from_the_model(tmp_path, capsys, server, settings, challenge):
    call_command("prompts", "--count", "12", "--out", str(tmp_path / "prompts.json"))
    texts = json.loads((tmp_path / "prompts.json").read_text())
    assert len(texts) == 12 and "12 texts are in" in capsys.readouterr().out
    call_command("prompts", "--count", "12")
    assert json.loads(capsys.readouterr().out) == texts
    server.answers = [says("1. a boat\n2. a cup"), says("1. a Boat\n2. an ant")]
    call_command("prompts", "--count", "3", "--model", "--challenge", challenge.slug)
    assert json.loads(capsys.readouterr().out) == ["a boat", "a cup", "an ant"]
    server.behave = lambda body: says("I would rather not.")
    with pytest.raises(CommandError, match="no numbered list"):
        call_command("prompts", "--count", "3", "--model", "other", "--challenge", challenge.slug)
    assert server.requests[-1]["model"] == "other"
    with pytest.raises(CommandError, match="no kind of subject"):
        call_command("prompts", "--subject", "gods")
    settings.JUDGE_URL = ""
    with pytest.raises(CommandError, match="PLUMBLINE_JUDGE_URL"):
        call_command("prompts", "--model")


# --- the page of texts


def test_the_page_draws_gives_the_file_and_asks(desk, server, caplog):
    caplog.set_level(logging.DEBUG)
    form = {"count": "5", "complexity": "low", "creativity": "low", "max_words": "20", "seed": "3", "subjects": ["plants", "vehicles"]}
    assert "Nothing drawn yet" in text_of(desk.get("/console/prompts/"))
    address = desk.post("/console/prompts/", form | {"act": "draw"})["Location"]
    assert "csrf" not in address
    page = text_of(desk.get(address))
    file = desk.get(f"{address}&download=1")
    texts = json.loads(file.content)
    assert len(texts) == 5
    assert [text for text in texts if text not in page] == []
    assert 'filename="prompts.json"' in file["Content-Disposition"]
    server.answers = [says("1. a boat\n2. a fern\n3. a tram\n4. a moss\n5. a bus")]
    asked = desk.post("/console/prompts/", form | {"act": "ask"})
    assert asked.context["asked"] and len(asked.context["texts"]) == 5 and "a moss" in text_of(asked)
    server.behave = lambda body: fault(401, KEY)
    refused = desk.post("/console/prompts/", form | {"act": "ask"})
    page = text_of(refused)
    assert "__all__" in faults(refused) and KEY not in page and KEY not in caplog.text
    few = "/console/prompts/?max_words=3&count=1&complexity=low&creativity=low&seed=1"
    assert faults(desk.get(few))["max_words"] == ["min_value"]


def test_only_organizers_ask_the_model(client, people, server):
    client.force_login(people.stranger)
    form = {"count": "5", "complexity": "low", "creativity": "low", "max_words": "20", "seed": "3"}
    assert client.post("/console/prompts/", form | {"act": "draw"}).status_code == 302
    assert "Ask seer-1" not in text_of(client.get("/console/prompts/"))
    assert client.post("/console/prompts/", form | {"act": "ask"}).status_code == 403 and not server.requests

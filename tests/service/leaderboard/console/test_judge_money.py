"""Budgets and organizers' own keys at the console: who sets what, who pays, and a key that nobody is shown again."""

from __future__ import annotations

import logging
import sys
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.core.signals import got_request_exception
from django.db import connection
from django.test import Client
from django.views.debug import ExceptionReporter

from leaderboard.models import JudgeBudget, JudgeKey, JudgeRun
from leaderboard.models.judge_key import LABEL
from leaderboard.service import sealing
from leaderboard.studies.judge import planning, setup
from leaderboard.studies.judge.planning import Wish
from leaderboard.studies.judge.run import ask_due
from submissions.models import AuditEntry
from tests.service.leaderboard.console.test_judges import PLAN, desk, server, study, text_of
from tests.support.leaderboard.studies.judge.endpoint import KEY, Answer, fault, says
from tests.support.pages import faults

__all__ = ["desk", "server", "study"]  # fixtures
pytestmark = pytest.mark.django_db
OWN = "sk-olga-1234567890-last"
ELSEWHERE = "https://elsewhere.example.org/v1"


def money_page(study) -> str:
    return f"/console/challenges/{study.phase.challenge.slug}/judges/"


def everything_stored() -> str:
    """Every value of every table."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        texts = []
        for table in tables:
            cursor.execute(f'SELECT * FROM "{table}"')
            texts.append(str(cursor.fetchall()))
    return " ".join(texts)


def test_a_key_is_shown_to_nobody_again_and_pays(desk, server, study, people, caplog):
    caplog.set_level(logging.DEBUG)
    address, challenge = money_page(study), study.phase.challenge
    refused = [{"key": OWN, "url": ELSEWHERE}, {"key": "short", "url": server.url}, {"key": f"{OWN} ü und mehr", "url": server.url}]
    answers = [desk.post(address, {"act": "key", **body}) for body in refused]
    assert [faults(one, "key_form") for one in answers] == [{"url": ["invalid_choice"]}, {"key": ["min_length"]}, {"key": ["not_a_key"]}]
    assert not JudgeKey.objects.exists() and [n for n, one in enumerate(answers) if OWN in text_of(one)] == []
    pages = [text_of(desk.post(address, {"act": "key", "key": OWN, "url": server.url}, follow=True))]
    key = JudgeKey.objects.get()
    assert (key.challenge, key.account, key.put_in_by, key.last_four) == (challenge, None, people.organizer, "last")
    assert "ends in <b>last</b>" in pages[0] and "by organizer" in pages[0]
    plan = desk.post(desk.address, PLAN | {"pays": "challenge", "budget": "6"})
    run_address = plan["Location"]
    pages += [
        text_of(desk.get(desk.address)),
        text_of(desk.get(run_address)),
        text_of(desk.get(f"/console/challenges/{challenge.slug}/audit/")),
    ]
    server.behave = lambda body: Answer({"choices": [{"message": {"content": f"1 {OWN}\n1 1 1 1 1 1"}}] * body.get("n", 1)})
    desk.post(run_address, {"act": "start"})
    while ask_due():
        pass
    run = JudgeRun.objects.get()
    assert run.state == "done" and {headers["Authorization"] for headers in server.headers} == {f"Bearer {OWN}"}
    assert not JudgeBudget.objects.exclude(spent=0, reserved=0).exists(), "no money of the service"
    pages += [text_of(desk.get(run_address)), b"".join(desk.get(f"{run_address}answers.csv").streaming_content).decode()]
    desk.force_login(people.staff)
    pages += [text_of(desk.get(f"/admin/leaderboard/judgekey/{key.pk}/change/")), text_of(desk.get("/admin/leaderboard/judgekey/"))]
    assert [text for text in (OWN, OWN[:-4], KEY) if text in "".join([*pages, everything_stored(), caplog.text, str(vars(key))])] == []
    assert key.sealed not in "".join(pages)
    (line,) = AuditEntry.objects.filter(action__startswith="judge.key")
    assert line.action == "judge.key" and key.last_four in line.detail["note"] and server.url in line.detail["note"]


def test_an_error_page_of_the_act_says_nothing_of_the_key(study, people, server, monkeypatch):
    reports = []

    def report(request, **_) -> None:
        reporter = ExceptionReporter(request, *sys.exc_info())
        reports.extend([reporter.get_traceback_html(), reporter.get_traceback_text()])

    def breaks(label: str) -> None:
        raise RuntimeError("no box")

    monkeypatch.setattr(sealing, "_box", breaks)
    got_request_exception.connect(report)
    try:
        client = Client(raise_request_exception=False)
        client.force_login(people.organizer)
        assert client.post(money_page(study), {"act": "key", "key": OWN, "url": server.url}).status_code == 500
    finally:
        got_request_exception.disconnect(report)
    assert len(reports) == 2 and [one for one in reports if not ("no box" in one and OWN not in one)] == []


def test_when_a_key_is_removed_its_run_stops_with_a_sentence(desk, server, study, people):
    desk.post(money_page(study), {"act": "key", "key": OWN, "url": server.url})
    run_address = desk.post(desk.address, PLAN | {"pays": "challenge"})["Location"]
    desk.post(run_address, {"act": "start"})
    run = JudgeRun.objects.get()
    claimed = JudgeRun.objects.waiting().claim("w")
    assert claimed.reserve(None) is not None
    desk.post(money_page(study), {"act": "remove"})
    assert claimed.reserve(None) is None, "nothing is sent any more, whoever is at it"
    claimed.release_lease()
    run.refresh_from_db()
    assert run.state == "failed" and run.failure and ask_due() == 0
    desk.post(run_address, {"act": "start"})
    assert JudgeRun.objects.get().state == "failed" and not server.requests, "no key pays"
    assert not JudgeKey.objects.exists() and "judge.key_removed" in AuditEntry.objects.values_list("action", flat=True)
    desk.post(money_page(study), {"act": "key", "key": OWN, "url": server.url})
    desk.post(run_address, {"act": "start"})
    assert JudgeRun.objects.get().state == "asking"


def test_an_accounts_key_pays_for_its_owner_alone(desk, server, study, people, settings):
    settings.JUDGE_KEY_URLS = [ELSEWHERE]
    desk.post("/console/judges/", {"act": "key", "key": OWN, "url": server.url})
    assert JudgeKey.objects.get().account == people.organizer
    run_address = desk.post(desk.address, PLAN | {"pays": "account"})["Location"]
    desk.force_login(people.staff)
    desk.post(run_address, {"act": "start"})
    assert JudgeRun.objects.get().state == "planned"
    assert "pays" not in desk.get(desk.address).context["form"].fields, "the organizer's key is no choice of others"
    desk.force_login(people.organizer)
    desk.post(run_address, {"act": "start"})
    assert ask_due() and server.headers[0]["Authorization"] == f"Bearer {OWN}"
    for values, words in (
        ({"url": ELSEWHERE}, None),
        ({"url": "http://169.254.169.254/v1"}, "which the operator allows no more"),
        ({"url": server.url, "sealed": "broken"}, "cannot be read any more"),
    ):
        JudgeKey.objects.update(**values)
        run = planning.make(study, None, "seer-1", Wish("one-view", 5, pays="account"))
        assert (words or "") in planning.why_not_payable(run, people.organizer)
        if words:
            JudgeRun.objects.filter(pk=run.pk).update(state="asking", key=JudgeKey.objects.get(), lease_until=None)
            n = len(server.requests)
            ask_due()
            run.refresh_from_db()
            assert run.state == "failed" and words in run.failure and len(server.requests) == n


def test_keys_outlive_a_change_of_the_secret_key(study, people, settings, capsys):
    key = JudgeKey.put_in(people.organizer, ELSEWHERE, OWN, people.organizer)
    before = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [before]
    assert key.unsealed() == OWN and OWN not in key.sealed
    call_command("rotate_secret_key")
    assert "1 keys are sealed" in capsys.readouterr().out
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(ValueError, match="put it in again"):
        key.unsealed()
    key.refresh_from_db()
    assert key.unsealed() == OWN
    with pytest.raises(sealing.Unsealable):
        sealing.unseal(key.sealed, f"{LABEL} of others")
    settings.SECRET_KEY = "lost"
    call_command("rotate_secret_key")
    assert "1 cannot be read" in capsys.readouterr().out


def test_operators_set_budgets_and_organizers_see_them(desk, server, study, people, settings):
    settings.JUDGE_CHALLENGE_BUDGET = Decimal(20)
    address = money_page(study)
    seen = desk.get(address).context
    assert (seen["budget"].remaining, seen["is_operator"]) == (20, False)
    assert desk.post(address, {"act": "limit", "limit": "99"}).status_code == 403
    assert desk.post("/console/judges/", {"act": "limit", "name": "organizer", "limit": "99"}).status_code == 403
    desk.force_login(people.staff)
    assert faults(desk.post(address, {"act": "limit", "limit": "-1"}), "limit_form") == {"limit": ["min_value"]}
    unknown = desk.post("/console/judges/", {"act": "limit", "name": "nobody", "limit": "5"})
    assert faults(unknown, "limit_form") == {"name": ["unknown"]}
    desk.post(address, {"act": "limit", "limit": "7.25"})
    desk.post("/console/judges/", {"act": "limit", "name": "organizer", "limit": "0.01"})
    assert AuditEntry.objects.get(action="judge.budget").detail["after"] == {"limit": "7.25 USD"}
    page = text_of(desk.get("/console/judges/"))
    assert "7.25 USD" in page and "0.0100 USD" in page and page.count("staff</td>") == 2
    desk.force_login(people.organizer)
    left = [Decimal("7.25"), Decimal("0.01")]
    assert [one.remaining for one in desk.get(desk.address).context["budgets"]] == left
    run_address = desk.post(desk.address, PLAN)["Location"]
    assert [one.remaining for one in desk.get(run_address).context["budgets"]] == left
    desk.post(run_address, {"act": "start"})
    assert JudgeRun.objects.get().state == "planned" and not server.requests
    desk.force_login(people.staff)
    desk.post("/console/judges/", {"act": "limit", "name": "organizer", "limit": ""})
    desk.force_login(people.organizer)
    desk.post(run_address, {"act": "start"})
    assert JudgeRun.objects.get().state == "asking"


def test_texts_asked_of_the_model_are_paid_from_the_account(desk, server, people):
    form = {"count": "5", "complexity": "low", "creativity": "low", "max_words": "20", "seed": "3", "act": "ask"}
    server.answers = [says("1. a boat\n2. a fern\n3. a tram\n4. a moss\n5. a bus")]
    assert len(desk.post("/console/prompts/", form).context["texts"]) == 5
    cost = (1000 * Decimal(2) + 50 * Decimal(10)) / 1_000_000
    budget = JudgeBudget.of(people.organizer)
    assert (budget.spent, budget.reserved) == (cost, 0)
    # One that the endpoint refuses has cost nothing; one that does not fit is not sent.
    server.behave = lambda body: fault(401, "no")
    assert "__all__" in faults(desk.post("/console/prompts/", form))
    assert JudgeBudget.of(people.organizer).counted == cost
    sent = len(server.requests)
    JudgeBudget.set_limit(people.organizer, cost + Decimal("0.0000000001"), people.staff)
    assert "__all__" in faults(desk.post("/console/prompts/", form)) and len(server.requests) == sent
    assert JudgeBudget.of(people.organizer).counted == cost


def test_texts_asked_from_a_terminal_are_paid_from_the_budget_that_is_named(server, challenge, people, settings, capsys):
    challenge.organizers.add(people.organizer)
    command = ["prompts", "--count", "2", "--max-words", "20", "--model"]
    for named, words in (
        ([], "Name whose budget"),
        (["--challenge", challenge.slug, "--organizer", "organizer"], "Name whose budget"),
        (["--challenge", "nowhere"], "There is no challenge 'nowhere'"),
        (["--organizer", "nobody"], "“nobody” is no user name"),
        (["--organizer", "stranger"], "stranger organizes no challenge"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command(*command, *named)
    assert not server.requests and not JudgeBudget.objects.exists()
    server.behave = lambda body: says("1. a boat\n2. a fern")
    cost = (1000 * Decimal(2) + 50 * Decimal(10)) / 1_000_000
    call_command(*command, "--challenge", challenge.slug)
    assert "for the challenge" in capsys.readouterr().err
    call_command(*command, "--organizer", "organizer")
    assert f"for runs that {people.organizer} starts" in capsys.readouterr().err
    budgets = [JudgeBudget.of(challenge), JudgeBudget.of(people.organizer)]
    assert [(one.spent, one.reserved) for one in budgets] == [(cost, 0)] * 2
    # What does not fit is not sent, and neither is anything whose price nobody knows.
    sent = len(server.requests)
    JudgeBudget.set_limit(challenge, cost + Decimal("0.0000000001"), people.staff)
    with pytest.raises(CommandError, match=r"is left of the .* may cost the challenge"):
        call_command(*command, "--challenge", challenge.slug)
    with pytest.raises(CommandError, match="prices of this model are not known"):
        call_command(*command, "other", "--challenge", challenge.slug)
    assert len(server.requests) == sent and JudgeBudget.of(challenge).counted == cost
    assert AuditEntry.objects.get(action="judge.texts").detail["model"] == "seer-1", "of what was sent, and of nothing else"


def test_an_endpoint_that_counts_more_than_texts_can_take_is_asked_nothing_more(server, challenge, settings):
    server.behave = lambda body: Answer({**says("1. a boat").body, "usage": {"prompt_tokens": 10**6, "completion_tokens": 1}})
    with pytest.raises(CommandError, match="1,000,000 tokens of a question"):
        call_command("prompts", "--count", "2", "--model", "--challenge", challenge.slug)
    assert len(server.requests) == 1
    assert JudgeBudget.of(challenge).spent == setup.endpoint().cost(10**6, 1), "what it took is counted all the same"

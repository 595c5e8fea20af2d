"""The console's pages of workers from outside, and of what scoring took."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from evaluation import library_versions
from evaluation.metrics import registry
from evaluation.models import ComputeBudget, EvaluationBatch, Part, PartRecord, PhaseMetric, Process, RemoteWorker, WorkerToken
from evaluation.work import costs, remote_worker_server, worker
from leaderboard.console.views.audit import sentence
from leaderboard.exports import wheel
from submissions.entry_states import Reason, Why
from submissions.models import AuditEntry, Status, Submission
from submissions.wording import waiting
from tests.support.evaluation.remote_workers import claim, elapse, expire, token_of, work
from tests.support.factories import ChallengeFactory, archive, perturbed, received
from tests.support.pages import refusal

pytestmark = pytest.mark.django_db
GIVEN = {"act": "make", "name": "cluster", "queues": ["cpu"], "days": 30, "share": 5, "at_once": 7, "sees": "on"}


def test_a_token_is_made_shown_once_and_audited(desk, at, challenge):
    response = desk.post(at("workers/"), GIVEN)
    assert response.status_code == 201
    key = re.search(r"plumbw_[\w-]{40,}", response.content.decode())[0]
    token = WorkerToken.holder(key)
    assert token.challenge == challenge and token.queues == ["cpu"] and token.share == 0.05 and token.at_once == 7
    assert key not in desk.get(at("workers/")).content.decode()
    line = AuditEntry.objects.get(action="worker.token")
    assert line.detail["after"]["sees"] == "the hidden reference" and line.detail["after"]["at_once"] == 7
    assert sentence("worker.token") in desk.get(at("audit/")).content.decode()


@pytest.mark.parametrize(
    ("gpu_workers", "queues", "extra"),
    [
        (False, ["cpu"], "worker-networks"),
        (True, ["cpu"], "worker"),
        (True, ["cpu", "gpu"], "worker-networks"),
        (False, ["gpu"], "worker"),
    ],
)
def test_the_line_that_installs_brings_what_networks_need_where_their_parts_come(
    desk, at, phase, settings, monkeypatch, gpu_workers, queues, extra
):
    settings.GPU_WORKERS = gpu_workers
    PhaseMetric.objects.create(phase=phase, slug="clip", key="clip_sim", position=9)
    monkeypatch.setattr(wheel, "current", lambda: "plumbline-1-py3-none-any.whl")
    page = desk.post(at("workers/"), GIVEN | {"queues": queues}).content.decode()
    assert f"plumbline[{extra}] @ http://testserver/client/plumbline-1-py3-none-any.whl" in page


def test_who_makes_one_must_say_that_it_sees_the_reference(desk, at):
    page = desk.get(at("workers/")).content.decode()
    response = desk.post(at("workers/"), {name: value for name, value in GIVEN.items() if name != "sees"})
    assert response.status_code == 422 and not WorkerToken.objects.exists()
    assert desk.post(at("workers/"), GIVEN | {"queues": ["other"]}).status_code == 422
    assert desk.post(at("workers/"), GIVEN | {"days": 0}).status_code == 422
    for number in (0, 1001, ""):
        assert desk.post(at("workers/"), GIVEN | {"at_once": number}).status_code == 422
    assert 'name="at_once" value="2"' in page


def test_it_is_revoked_by_its_own_challenge_alone(desk, at, challenge):
    other = token_of(ChallengeFactory())
    assert desk.post(at("workers/"), {"act": "revoke", "token": other.pk}).status_code == 404
    mine = token_of(challenge)
    desk.post(at("workers/"), {"act": "revoke", "token": mine.pk})
    mine.refresh_from_db()
    assert not mine.is_live() and "revoked" in desk.get(at("workers/")).content.decode()


def test_a_revoked_token_is_refused_at_once_by_whom_it_found_idle(challenge, client):
    token, key = WorkerToken.make(challenge, None, "lab", ["cpu"], 30)

    def asked() -> int:
        body = {"queues": ["cpu"], "worker": "a"}
        return client.post("/api/v1/worker/claim", body, "application/json", headers={"Authorization": f"Bearer {key}"}).status_code

    assert [asked(), asked()] == [204, 204]  # the second is not looked up
    token.revoke(None)
    assert asked() == 401


def test_a_worker_with_other_versions_gets_no_part_until_an_organizer_allows_it(desk, at, client, entry, challenge):
    token, key = WorkerToken.make(challenge, None, "lab", ["cpu"], 30)
    headers = {"Authorization": f"Bearer {key}"}

    def asked(**capabilities: str) -> int:
        body = {"queues": ["cpu"], "worker": "a", "capabilities": capabilities}
        return client.post("/api/v1/worker/claim", body, "application/json", headers=headers).status_code

    assert asked(numpy="1.26.4") == 204
    about = client.get("/api/v1/worker", headers=headers).json()
    assert about["versions"] == library_versions.exact() and not about["other_versions"]
    page = desk.get(at("workers/")).content.decode()
    assert re.search(rf"numpy 1\.26\.4 for\s+{re.escape(library_versions.exact()['numpy'])}", page) and "Allow other versions" in page
    desk.post(at("workers/"), {"act": "versions", "token": token.pk})
    token.refresh_from_db()
    assert token.other_versions and AuditEntry.objects.filter(action="worker.versions").exists()
    assert "Allow other versions" not in desk.get(at("workers/")).content.decode()
    assert asked(numpy="1.26.4") == 200


def test_a_worker_with_the_services_versions_gets_a_part_though_another_has_others(client, entry, challenge):
    _, key = WorkerToken.make(challenge, None, "lab", ["cpu"], 30)

    def asked(name: str, numpy: str) -> int:
        body = {"queues": ["cpu"], "worker": name, "capabilities": {"numpy": numpy, "torch": f"{library_versions.exact()['torch']}+cpu"}}
        return client.post("/api/v1/worker/claim", body, "application/json", headers={"Authorization": f"Bearer {key}"}).status_code

    assert [asked("other", "1.26.4"), asked("same", library_versions.exact()["numpy"])] == [204, 200]


def test_the_status_page_counts_workers_and_names_none(client, challenge):
    token = token_of(challenge)
    RemoteWorker.hear(token, "secret-host:1", "m", {})
    now = timezone.now()
    Process.objects.create(kind="worker", name="own-host:2", queues=["cpu"], started_at=now, seen_at=now)
    page = client.get("/status/").content.decode()
    counts = {what: int(n) for what, n in re.findall(r"<dt>([^<]+)</dt>\s*<dd>(\d+)</dd>", page)}
    assert list(counts.values()).count(1) == 2 and "host:" not in page
    token.revoke(None)
    assert re.findall(r"<dd>(\d+)</dd>", client.get("/status/").content.decode()).count("1") == 1


@pytest.fixture
def entry(phase, people, references) -> Submission:
    sent = received(phase, people.team, archive(perturbed(references, 0.1)), user=people.owner, method_name="Roofer")
    worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    return sent


def test_workers_are_listed_with_what_they_do_and_did(desk, at, challenge, entry):
    token = token_of(challenge, agreed=50, share=0.0)
    RemoteWorker.hear(token, "node7:1", "node7", {"cores": 8, "card": False})
    work(token, worker="node7:1")
    remote_worker_server.claim(token, ["cpu"], "node7:1", "node7 b")
    page = desk.get(at("workers/")).content.decode()
    assert "node7:1" in page and "8 cores" in page and ">there<" in page


def test_parts_in_hand_say_how_long_they_are_held_and_tokens_that_wait(desk, at, challenge, entry):
    token = token_of(challenge)
    part = claim(token, "node8:1")
    elapse(1200)
    Part.objects.filter(pk=part.pk).update(stop=part.start + 6, lease_until=timezone.now() + timedelta(minutes=1))
    page = " ".join(desk.get(at("workers/")).content.decode().split())
    assert f"#{entry.number}</a>, items 1 to 6" in page and "<td>node8:1</td>" in page and "20 min" in page
    assert ">no progress<" in page and ">waits<" not in page
    for _ in range(2):
        expire(Part.objects.get(pk=part.pk))
        part = claim(token)
    page = " ".join(desk.get(at("workers/")).content.decode().split())
    assert ">waits<" in page and ">no progress<" not in page


def test_a_difference_is_shown_and_decided_in_its_challenge_alone(desk, at, challenge, entry, people):
    one, other = token_of(challenge, "one"), token_of(challenge, "other")
    for _ in range(4):
        work(one)
    part = work(other, lies=True)
    page = desk.get(at("workers/")).content.decode()
    assert "#1 Roofer" in page and "held back" in page
    elsewhere = ChallengeFactory()
    elsewhere.organizers.add(people.organizer)
    others = f"/console/challenges/{elsewhere.slug}/workers/"
    assert desk.get(others).context["differences"] == []
    assert desk.post(others, {"act": "decide", "part": part.pk, "right": ""}).status_code == 404
    assert desk.post(at("workers/"), {"act": "decide", "part": part.pk, "right": 999}).status_code == 404
    right = PartRecord.objects.get(part=part, token=one)
    desk.post(at("workers/"), {"act": "decide", "part": part.pk, "right": right.pk})
    other.refresh_from_db()
    assert other.wrong_at and AuditEntry.objects.filter(action="worker.decide").exists()
    assert refusal(desk.post(at("workers/"), {"act": "decide", "part": part.pk, "right": ""})) == "settled"
    desk.post(at("workers/"), {"act": "trust", "token": other.pk})
    other.refresh_from_db()
    assert other.is_trusted


def test_costs_stand_by_metric_entry_and_team(desk, at, challenge, entry):
    worker.drain()
    total = costs.total(challenge)
    assert total["core_seconds"] > 0 and total["gpu_seconds"] == 0
    for rows in (costs.by_entry(challenge), costs.by_team(challenge)):
        assert [row.core_seconds for row in rows] == [pytest.approx(total["core_seconds"])] and rows[0].parts == 4
    metrics = costs.by_metric(challenge)
    assert {key for row in metrics for key in row.name.split("+")} == {column["key"] for column in EvaluationBatch.objects.get().metrics}
    assert 0 < sum(row.core_seconds for row in metrics) <= total["core_seconds"] + 1e-9
    page = desk.get(at("costs/")).content.decode()
    assert "#1 Roofer" in page
    assert entry.team.name in page
    assert [row for row in metrics if registry.get(row.name.split("+")[0]).title not in page] == []
    assert "Shared by " in page


def test_a_budget_is_set_and_said_when_it_is_used_up(desk, at, challenge, entry, people):
    assert desk.post(at("costs/"), {"core_hours": "-1"}).status_code == 422
    desk.post(at("costs/"), {"core_hours": "0.00000001", "gpu_hours": ""})
    worker.drain()
    budget = ComputeBudget.objects.get()
    assert budget.core_hours == 1e-8 and budget.gpu_hours is None
    assert PartRecord.objects.count() == 1, "the first part used it up"
    team = Client()
    team.force_login(people.owner)
    addresses = (f"/entries/{entry.pk}/", f"/api/v1/submissions/{entry.pk}")
    assert [address for address in addresses if waiting(Why(Reason.BUDGET)) not in team.get(address).content.decode()] == []
    desk.post(at("costs/"), {"core_hours": "", "gpu_hours": ""})
    assert [address for address in addresses if waiting(Why(Reason.BUDGET)) in team.get(address).content.decode()] == []
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED


def test_an_estimate_is_of_cores_also_where_the_clock_ran_beside_other_work(phase, entry):
    worker.drain()
    took = sum(PartRecord.objects.values_list("core_seconds", flat=True))
    for record in PartRecord.objects.all():  # the same work on a machine that others kept busy
        record.seconds = {slug: 10 * spent + 0.5 for slug, spent in record.seconds.items()}
        record.save()
    for score in entry.evaluations.get().scores.all():
        all_seconds = [(name.split("+"), spent) for record in PartRecord.objects.all() for name, spent in record.seconds.items()]
        score.cost_ms = 1000 * sum(spent / len(slugs) for slugs, spent in all_seconds if score.slug in slugs) / 4
        score.save()
    assert PartRecord.objects.count() == 4 and len(phase.references.get().item_ids) == 4
    assert costs.estimate(phase).core_seconds == pytest.approx(took)


def test_a_reevaluation_is_estimated_before_it_begins(desk, at, challenge, phase, entry):
    worker.drain()
    found = costs.estimate(phase)
    spent = costs.total(challenge)["core_seconds"]
    assert found.entries == 1 and found.gpu_seconds == 0 and found.timed == found.columns == phase.metrics.count() and not found.over
    assert 0 < found.core_seconds < 20 * spent + 10
    assert desk.get(at(f"phases/{phase.slug}/scoring/")).context["estimate"] == found
    ComputeBudget.set_for(challenge, 0.0, None, None)
    assert costs.estimate(phase).over

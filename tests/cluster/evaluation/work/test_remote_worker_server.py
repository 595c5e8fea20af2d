"""Workers that only call out: what they are given, what of theirs is taken, and how a lie is found."""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation import library_versions
from evaluation.models import ComputeBudget, Evaluation, Part, PartRecord, Process, RemoteWorker, Score, WorkerToken, crosscheck
from evaluation.work import remote_worker_server, worker
from leaderboard.api import worker as api
from submissions.models import AuditEntry, Status, Submission
from tests.support.at_once import together
from tests.support.evaluation.remote_workers import SITE, claim, elapse, expire, honest, lie, token_of, work
from tests.support.factories import ChallengeFactory, archive, perturbed, received
from tests.support.processes import end_leases

pytestmark = pytest.mark.django_db
Verdict = PartRecord.Verdict
V1 = "/api/v1/worker"


@pytest.fixture
def send(phase, people, references):
    """Entries that are checked and cut into parts, four each; nobody has scored any."""

    def sent(n: int = 1, scale: float = 0.1) -> list[Submission]:
        entries = []
        for number in range(n):
            entry = received(phase, people.team, archive(perturbed(references, scale, number)), user=people.owner, method_name=f"m{number}")
            worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
            entries.append(entry)
        return entries

    return sent


def truth(entries: list[Submission]) -> dict[tuple[int, str], float | None]:
    """The scores as the service's own worker finds them."""
    return {
        (score.evaluation.submission_id, score.slug): score.value
        for score in Score.objects.filter(evaluation__submission__in=entries).select_related("evaluation")
    }


def expected(phase, people, references, n: int, scale: float = 0.1) -> list[dict[str, float]]:
    from evaluation.metrics import scoring

    batch = phase.batches.get(state="current")
    found = []
    for number in range(n):
        scores = scoring.score_items(perturbed(references, scale, number), references, batch.requests(), batch.unit_scale, batch.item_ids)
        finished = scoring.finish(batch.requests(), [scores], batch.item_ids, batch.groups)
        found.append({slug: summary.value for slug, (_, summary) in finished.items()})
    return found


# --- what they are given -----------------------------------------------------------------------


def test_a_part_names_what_it_needs_by_link_size_and_digest(phase, send, client):
    (entry,) = send()
    token = token_of(phase.challenge)
    part = claim(token)
    sent = remote_worker_server.described(part, token, SITE)
    assert len(sent["item_ids"]) == part.stop - part.start and sent["lease_seconds"] > 0 and sent["programs"] == []
    for described in sent["inputs"].values():
        path = described["url"].removeprefix("http://testserver")
        content = b"".join(client.get(path).streaming_content) if described["url"].startswith(SITE) else None
        if content is not None:
            assert len(content) == described["size"] and hashlib.sha256(content).hexdigest() == described["sha256"]
    entry.refresh_from_db()
    assert entry.status == Status.SCORING


def test_a_token_gets_parts_of_its_own_challenge_and_queues_alone(phase, send, people):
    from tests.support.factories import ChallengeFactory

    send()
    other = token_of(ChallengeFactory())
    cards = token_of(phase.challenge, queues=["gpu"])
    assert claim(other) is None and claim(cards) is None
    assert claim(token_of(phase.challenge)) is not None


def test_links_end_with_their_token(phase, send, client):
    send()
    token = token_of(phase.challenge)
    link = remote_worker_server.described(claim(token), token, SITE)["inputs"]["reference"]["url"]
    if not link.startswith(SITE):
        pytest.skip("the bucket signs its own links")
    path = link.removeprefix("http://testserver")
    assert client.get(path).status_code == 200 and client.get(path + "x").status_code == 409
    token.revoke(None)
    refused = client.get(path)
    assert refused.status_code == 409 and "no longer valid" in refused.json()["detail"]


def test_a_budget_that_is_used_up_gives_nobody_a_part(phase, send):
    send()
    token = token_of(phase.challenge)
    ComputeBudget.set_for(phase.challenge, 0.0, None, None)
    assert claim(token) is None and not worker.work_once("cpu")
    ComputeBudget.set_for(phase.challenge, 1.0, None, None)
    assert claim(token) is not None
    assert AuditEntry.objects.filter(action="compute.budget").count() == 2


# --- the protocol -------------------------------------------------------------------------------


@pytest.fixture
def call(client, phase):
    """POST to the worker's API with a token's key; (status, JSON or None)."""
    token, key = WorkerToken.make(phase.challenge, None, "lab", ["cpu"], 30)

    def post(path: str, body: dict, with_key: str = key) -> tuple[int, dict | None]:
        response = client.post(
            f"{V1}/{path}", json.dumps(body), content_type="application/json", headers={"authorization": f"Bearer {with_key}"}
        )
        post.last = response
        return response.status_code, response.json() if response.content else None

    post.token, post.key = token, key
    return post


def test_claims_are_answered_at_once_with_when_to_ask_again(call):
    assert call("claim", {"queues": ["cpu"]}) == (204, None)
    assert 1 <= int(call.last["Retry-After"]) <= 15
    WorkerToken.objects.update(worked_at=timezone.now() - timedelta(hours=1))
    api._idle.clear()  # as after a second
    waits = {int((call("claim", {}), call.last)[1]["Retry-After"]) for _ in range(40)}
    assert max(waits) <= 15 and min(waits) >= 11 and len(waits) > 1
    WorkerToken.objects.update(worked_at=timezone.now())
    api._idle.clear()
    call("claim", {})
    assert call.last["Retry-After"] == "1"


def test_many_workers_ask_no_oftener_together_than_a_server_bears(call):
    token = WorkerToken.objects.get()
    rows = [RemoteWorker(token=token, name=f"w{n}", seen_at=timezone.now() - timedelta(hours=n >= 300)) for n in range(400)]
    RemoteWorker.objects.bulk_create(rows)
    for worked_at in (timezone.now(), timezone.now() - timedelta(hours=1)):
        WorkerToken.objects.update(worked_at=worked_at)
        token.refresh_from_db()
        remote_worker_server._n_workers.cache_clear()  # as after a quarter of a minute
        waits = [remote_worker_server.retry_after(token) for _ in range(100)]
        assert min(waits) >= 37 and max(waits) <= 50, "300 of them, six a second"


def test_wrong_revoked_and_expired_tokens_are_refused(call):
    assert call("claim", {}, "plumbw_unknown")[0] == 401
    call.token.revoke(None)
    status, said = call("claim", {})
    assert status == 401 and "revoked" in said["detail"]
    WorkerToken.objects.update(revoked_at=None, expires_at=timezone.now())
    assert call("claim", {})[0] == 401


def test_a_token_is_told_what_it_is_for_and_how_many_parts_its_workers_would_get(call, client, phase, send):
    def told() -> dict:
        response = client.get(V1, headers={"authorization": f"Bearer {call.key}"})
        assert response.status_code == 200
        return response.json()

    assert told() | {"expires_at": ""} == {
        "name": "lab",
        "challenge": phase.challenge.slug,
        "title": phase.challenge.title,
        "queues": ["cpu"],
        "expires_at": "",
        "trusted": True,
        "at_once": 2,
        "held": 0,
        "waits_until": None,
        "waiting": {"cpu": 0, "gpu": 0},
        "other_versions": False,
        "versions": library_versions.exact(),
    }
    send()
    assert told()["waiting"] == {"cpu": 4, "gpu": 0}
    foreign = token_of(ChallengeFactory())
    assert remote_worker_server.waiting(foreign) == {"cpu": 0, "gpu": 0}, "parts of its own challenge alone"
    work(call.token)
    assert Part.objects.filter(state=Part.State.WAITING).count() == 4, "what is to be checked by another"
    assert told()["waiting"]["cpu"] == 3, "is not for its own workers"
    claim(call.token)
    assert told()["waiting"]["cpu"] == 2 and told()["held"] == 1
    WorkerToken.objects.update(waits_until=timezone.now() + timedelta(minutes=1))
    assert told()["waiting"]["cpu"] == 0 and told()["waits_until"]
    WorkerToken.objects.update(waits_until=None)
    ComputeBudget.set_for(phase.challenge, 0.0, None, None)
    assert told()["waiting"]["cpu"] == 0, "beyond the budget nobody gets any"
    ComputeBudget.set_for(phase.challenge, None, None, None)
    WorkerToken.objects.update(held_at=timezone.now())
    assert told()["waiting"]["cpu"] == 0 and not told()["trusted"]


def test_a_part_is_claimed_beaten_and_brought(call, send):
    (entry,) = send()
    for _ in range(4):
        status, part = call("claim", {"queues": ["cpu"], "worker": "node7", "machine": "node7 b", "capabilities": {"cores": 8}})
        assert status == 200
        assert part["item_seconds"] == part["seconds"] * part["patience"], "of its one item"
        assert call(f"parts/{part['id']}/beat", {"fence": part["fence"], "done": 1}) == (200, {"lease_seconds": part["lease_seconds"]})
        found = honest(Part.objects.get(pk=part["id"]))
        assert call(f"parts/{part['id']}/result", {"fence": part["fence"], "results": found}) == (200, {"kept": True})
        assert call(f"parts/{part['id']}/result", {"fence": part["fence"], "results": lie(found)}) == (200, {"kept": False})
    assert call.token.workers.get().capabilities == {"cores": 8}
    assert set(PartRecord.objects.values_list("verdict", flat=True)) == {"pending"}
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED
    assert WorkerToken.objects.get().agreed == 4 and set(PartRecord.objects.filter(token=call.token).values_list("verdict", flat=True)) == {
        "agreed"
    }


def test_foreign_late_and_double_fences_change_nothing(call, send, phase):
    send()
    _, part = call("claim", {})
    found = honest(Part.objects.get(pk=part["id"]))
    _, other_key = WorkerToken.make(phase.challenge, None, "other", ["cpu"], 30)
    for path, body in (("beat", {}), ("result", {"results": found}), ("giveup", {})):
        assert call(f"parts/{part['id']}/{path}", body | {"fence": str(uuid.uuid4())})[0] == 409
        assert call(f"parts/{part['id']}/{path}", body | {"fence": part["fence"]}, other_key)[0] == 409
    end_leases(Part.objects.filter(pk=part["id"]))
    late = call(f"parts/{part['id']}/result", {"fence": part["fence"], "results": found})
    assert late[0] == 409
    assert not PartRecord.objects.exists()


def test_a_token_revoked_in_the_middle_of_a_part_leaves_it_to_others(call, send):
    (entry,) = send()
    _, part = call("claim", {})
    found = honest(Part.objects.get(pk=part["id"]))
    call.token.revoke(None)
    assert call(f"parts/{part['id']}/beat", {"fence": part["fence"]})[0] == 401
    assert call(f"parts/{part['id']}/result", {"fence": part["fence"], "results": found})[0] == 401
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED and not PartRecord.objects.filter(token__isnull=False).exists()


def test_giving_up_is_no_attempt_but_failing_is_one_and_not_twice_the_same_tokens(call, send):
    send()
    _, part = call("claim", {})
    assert call(f"parts/{part['id']}/giveup", {"fence": part["fence"], "kind": "stopped", "reason": "SIGTERM"})[0] == 204
    row = Part.objects.get(pk=part["id"])
    assert row.attempts == 0 and row.losses == 0 and row.lease_token is None
    _, again = call("claim", {})
    assert again["id"] == part["id"]
    assert call(f"parts/{part['id']}/giveup", {"fence": again["fence"], "kind": "failed", "reason": "out of memory"})[0] == 204
    row.refresh_from_db()
    assert row.attempts == 1 and "out of memory" in row.failure_detail
    Part.objects.update(lease_until=None)
    assert call("claim", {})[1]["id"] != part["id"]


def test_workers_of_many_tokens_that_vanish_fail_no_entry(phase, send, settings):
    settings.MAX_LOSSES = settings.MAX_ATTEMPTS = 2
    (entry,) = send()
    for n in range(6):
        part = remote_worker_server.claim(token_of(phase.challenge, f"lab {n}"), ["cpu"], f"w{n}", f"host-{n} boot-{n}")
        assert part.start == 0, "always the first, and at once"
        expire(part)
    part.refresh_from_db()
    assert (part.losses, part.attempts, part.lost) == (0, 0, [])
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED


# --- what they hold ------------------------------------------------------------------------------


def beat(part: Part, done: int) -> bool:
    """Say that the worker is at it; False where its lease is lost."""
    try:
        remote_worker_server.beat(remote_worker_server.held_part(part.token, part.pk, part.lease_token), done)
    except remote_worker_server.Lost:
        return False
    return True


def own_worker() -> None:
    """A worker of the service is there, though it does nothing now."""
    now = timezone.now()
    Process.objects.create(kind="worker", name="own:1", queues=["cpu"], started_at=now, seen_at=now + timedelta(hours=1))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("names", ["many", "one"])
def test_a_token_has_as_many_parts_as_it_may_whatever_its_workers_are_called(phase, send, names):
    send(2)
    token = token_of(phase.challenge, at_once=5)

    def act(n: int):
        return lambda: remote_worker_server.claim(token, ["cpu"], "one" if names == "one" else f"name {n}", f"machine {n}")

    got = [part for part in together([act(n) for n in range(20)]) if part is not None]
    assert len(got) == len({part.pk for part in got}) == (1 if names == "one" else 5)
    assert Part.objects.filter(token=token, lease_token__isnull=False).count() == len(got)
    assert all(claim(token, f"later {n}") is None for n in range(3)) == (names == "many")


def test_one_that_beats_for_ever_and_does_nothing_loses_its_part_to_others(phase, send):
    send()
    own_worker()
    token = token_of(phase.challenge)
    first, second = claim(token, "a"), claim(token, "b")
    assert beat(first, 0) and beat(second, 0) and claim(token, "c") is None
    elapse(1790)  # of three times ten minutes
    assert beat(first, 0) and beat(second, 0)
    first.refresh_from_db()
    assert first.lease_until <= first.due_at, "whatever it says"
    elapse(20)
    assert not beat(first, 0) and not beat(second, 0)
    token.refresh_from_db()
    assert token.in_vain == 2 and 50 < (token.waits_until - timezone.now()).total_seconds() <= 60
    assert claim(token, "c") is None, "it waits"
    WorkerToken.objects.update(waits_until=None)
    assert {claim(token, "a").pk, claim(token, "b").pk}.isdisjoint({first.pk, second.pk})
    worker.drain()
    assert set(Part.objects.filter(pk__in=[first.pk, second.pk]).values_list("state", flat=True)) == {"done"}, "own workers do them at once"


def test_one_that_reports_slow_progress_and_never_delivers_loses_its_part(phase, send, settings):
    settings.PART_SAMPLES = 100
    send()
    token = token_of(phase.challenge)
    part = claim(token)
    Part.objects.filter(pk=part.pk).update(stop=part.start + 25, item_seconds=72.0)  # one of 25 items
    held = 0.0
    for done in range(26):
        elapse(71)
        held += 71
        if not beat(part, done):
            break
    assert 1800 <= held < 1900 and done > 20, "each item in time, all together not"
    part.refresh_from_db()
    assert part.lease_token is None and part.state == "waiting"


def test_one_that_stops_at_an_item_loses_its_part_before_the_whole_time_is_over(phase, send):
    send()
    part = claim(token_of(phase.challenge))
    Part.objects.filter(pk=part.pk).update(stop=part.start + 25, item_seconds=72.0)
    elapse(600 + 71)  # to begin, and the first item
    assert beat(part, 1)
    elapse(71)
    assert beat(part, 1) and beat(part, 0), "to report less changes nothing"
    elapse(2)
    assert not beat(part, 1) and not beat(part, 2)


def test_one_that_is_slow_but_honest_delivers_and_its_run_of_expiries_ends(phase, send):
    send()
    token = token_of(phase.challenge)
    expire(claim(token))
    part = claim(token)
    elapse(0.9 * 1800)
    assert beat(part, 1)
    held = remote_worker_server.held_part(token, part.pk, part.lease_token)
    remote_worker_server.take(held, honest(held))
    token.refresh_from_db()
    assert (token.in_vain, token.waits_until, PartRecord.objects.get().token) == (0, None, token)


def test_waits_double_from_a_minute_to_a_day_and_leases_of_one_moment_count_once(phase, send):
    send()
    token, waits = token_of(phase.challenge, at_once=4), []
    expire(*[claim(token, f"w{n}") for n in range(4)])
    for _ in range(14):
        token.refresh_from_db()
        waits.append(round((token.waits_until - timezone.now()).total_seconds() / 60))
        assert claim(token) is None
        WorkerToken.objects.update(waits_until=timezone.now())
        expire(claim(token))  # where nobody else works it gets the same parts again
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440, 1440]


def test_what_was_held_and_given_up_is_for_others_too(phase, send):
    send()
    token, other = token_of(phase.challenge), token_of(phase.challenge, "other")
    part = claim(token)
    elapse(300)
    remote_worker_server.give_up(remote_worker_server.held_part(token, part.pk, part.lease_token), "stopped", "SIGTERM")
    token.refresh_from_db()
    assert token.in_vain == 1 and claim(token).pk == part.pk, "nobody else works"
    expire(Part.objects.get(pk=part.pk))
    WorkerToken.objects.update(waits_until=None)
    RemoteWorker.hear(other, "there", "m", {})
    assert claim(token).pk != part.pk and claim(other).pk == part.pk
    lacking = Part.objects.filter(pk=part.pk)
    expire(lacking.get())
    lacking.update(lacking_since=timezone.now())
    assert claim(token, "w2").pk == part.pk, "those who work cannot do it"


def test_a_hundred_claims_without_progress_are_taken_over_and_the_entry_is_scored(phase, send):
    (entry,) = send()
    own_worker()
    claims = 0
    for n in range(25):
        token = token_of(phase.challenge, f"lab {n}", at_once=4)
        parts = [claim(token, f"w{k}") for k in range(4)]
        elapse(2000)
        assert [part for part in parts if beat(part, 0)] == []
        assert claim(token, "again") is None
        claims += len(parts)
    assert claims == 100 and not Part.objects.filter(lease_token__isnull=False).exists()
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED
    assert set(PartRecord.objects.values_list("verdict", flat=True)) == {"own"}


# --- texts ---------------------------------------------------------------------------------------


ODD = ["\0", "\ud800", "a\udc00b"]


@pytest.mark.parametrize("odd", ODD)
def test_texts_that_no_database_keeps_are_refused_wherever_they_stand(call, send, odd):
    send()
    _, part = call("claim", {"worker": "w"})
    found = honest(Part.objects.get(pk=part["id"]))
    slug = next(iter(found["scores"]))
    fence = {"fence": part["fence"]}

    def changed(**more) -> dict:
        return fence | {"results": found | {"scores": found["scores"] | {slug: found["scores"][slug] | more}}}

    n = len(part["item_ids"])
    bodies = [
        ("claim", {"worker": odd}),
        ("claim", {"machine": odd}),
        ("claim", {"sandboxes": [odd]}),
        ("claim", {"capabilities": {"card": odd}}),
        ("claim", {"capabilities": {odd: 1}}),
        *(
            (f"parts/{part['id']}/{path}", body)
            for path, body in [
                ("giveup", fence | {"reason": odd}),
                ("beat", fence | {"more": [{"deep": odd}]}),
                ("result", fence | {"results": found | {"environment": {odd: "1"}}}),
                ("result", fence | {"results": found | {"environment": {"numpy": odd}}}),
                ("result", fence | {"results": found | {"fits": {part["item_ids"][0]: odd}}}),
                ("result", fence | {"results": found | {odd: 1}}),
                ("result", changed(parts=[{odd: 1.0}] * n)),
                ("result", changed(flags=[[odd]] * n)),
                ("result", changed(statuses=[odd] * n)),
                ("result", changed(item_ids=[odd] * n)),
                ("result", changed(partials=[{"a": odd}] * n)),
            ]
        ),
    ]
    for path, body in bodies:
        status, said = call(path, body)
        assert (status, said["code"]) == (422, "invalid") and "no database keeps" in said["detail"], body
    assert call(f"parts/{part['id']}/result", fence | {"results": found})[0] == 200, "it is still the worker's"


def test_bytes_that_are_half_a_pair_and_bodies_nested_without_end_are_refused(call, client):
    for body, status in ((b'{"worker": "\xed\xa0\x80"}', 422), (b"[" * 100_000, 400), (b'{"worker": "\x00"}', 400)):
        headers = {"authorization": f"Bearer {call.key}"}
        assert client.post(f"{V1}/claim", body, content_type="application/json", headers=headers).status_code == status, body[:20]


def test_a_cancelled_entry_is_taken_from_its_worker(call, send):
    from submissions.storage import uploads

    (entry,) = send()
    _, part = call("claim", {})
    uploads.cancel(entry)
    assert call(f"parts/{part['id']}/beat", {"fence": part["fence"]})[0] == 409


# --- results that cannot be --------------------------------------------------------------------


def spoil(change):
    def spoiled(found):
        samples = next(iter(found["scores"].values()))
        change(found, samples)
        return found

    return spoiled


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda f, s: f["scores"].popitem(), "the result differs at"),
        (lambda f, s: f["scores"].update(more=s), "the result differs at 'more'"),
        (lambda f, s: s.update(item_ids=[*s["item_ids"][::-1], "x"]), "not of the items of this part"),
        (lambda f, s: s["values"].append(1.0), "one entry for each of"),
        (lambda f, s: s.update(values=[float("nan")] * len(s["values"])), "not a finite number"),
        (lambda f, s: s.update(values=["1"] * len(s["values"])), "not a finite number"),
        (lambda f, s: s.update(values=[True] * len(s["values"])), "not a finite number"),
        (lambda f, s: s.update(values=[2.0] * len(s["values"])), "beyond the metric's bound"),
        (lambda f, s: s.update(values=[-1.0] * len(s["values"])), "beyond the metric's bound"),
        (lambda f, s: s.update(values=[None] * len(s["values"])), "there is no value"),
        (lambda f, s: s.update(statuses=["splendid"] * len(s["statuses"])), "is not a status"),
        (lambda f, s: s.update(statuses=["missing_pred"] * len(s["statuses"])), "the entry has this item"),
        (lambda f, s: s.update(parts=[{"a": float("inf")}] * len(s["parts"])), "its part a"),
        (lambda f, s: s.update(parts=[{"<script>": 1.0}] * len(s["parts"])), "not the name of a part"),
        (lambda f, s: s.update(flags=[["capped"]] * len(s["flags"])), "a capped value"),
        (lambda f, s: s.update(flags=[["failed: see evil.example"]] * len(s["flags"])), "'failed: see evil.example' is not a flag"),
        (lambda f, s: s.update(flags=[["stopped: see evil.example"]] * len(s["flags"])), "is not a flag"),
        (lambda f, s: s.update(flags=[["call me"]] * len(s["flags"])), "is not a flag"),
        (lambda f, s: s.update(flags=[[1]] * len(s["flags"])), "its flags must be a list"),
        (lambda f, s: s.update(partials=[{}] * len(s["values"])), "has no partials"),
        (lambda f, s: s.update(extra=1), "must have exactly"),
        (lambda f, s: f.update(seconds={next(iter(f["scores"])): 1e6}), "the part was given out"),
        (lambda f, s: f.update(core_seconds=1e9), "cannot be"),
        (lambda f, s: f.update(scores=[]), "scores by slug"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence_and_the_part_stays_its_own(phase, send, change, sentence):
    send()
    part = claim(token_of(phase.challenge))
    found = honest(part)
    with pytest.raises(remote_worker_server.BadResult, match=sentence):
        remote_worker_server.take(part, spoil(change)(json.loads(json.dumps(found))))
    assert not PartRecord.objects.exists()
    remote_worker_server.take(part, found)
    assert PartRecord.objects.get().verdict == Verdict.PENDING


def test_a_refused_result_is_422_with_its_sentence(call, send):
    send()
    _, part = call("claim", {})
    found = honest(Part.objects.get(pk=part["id"])) | {"core_seconds": -1}
    status, said = call(f"parts/{part['id']}/result", {"fence": part["fence"], "results": found})
    assert status == 422 and said["detail"].startswith("core_seconds of -1 ")


def test_an_item_that_the_entry_lacks_must_be_missing(phase, people, references):
    phase.missing = "worst"
    phase.save()
    items = dict(list(perturbed(references, 0.1).items())[:-1])
    from evaluation.models import EvaluationBatch

    EvaluationBatch.publish_manifest(phase)
    phase.refresh_from_db()
    entry = received(phase, people.team, archive(items), user=people.owner)
    worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    entry.refresh_from_db()
    assert entry.missing_items
    token, refused = token_of(phase.challenge, agreed=50, share=0.0), 0
    while part := claim(token):
        found = honest(part)
        wrong = json.loads(json.dumps(found))
        for samples in wrong["scores"].values():
            if "missing_pred" in samples["statuses"]:
                samples["statuses"] = ["ok"] * len(samples["statuses"])
        if wrong != found:
            refused += 1
            with pytest.raises(remote_worker_server.BadResult, match="the entry lacks this item"):
                remote_worker_server.take(part, wrong)
        remote_worker_server.take(part, found)
    entry.refresh_from_db()
    assert refused == 1 and entry.status == Status.SCORED


# --- a second worker ---------------------------------------------------------------------------


def test_until_fifty_agreed_every_part_goes_to_a_second_worker(phase, send, people, references):
    entries = send(2)
    first, second = token_of(phase.challenge), token_of(phase.challenge, "other lab")
    while work(first):
        pass
    assert Part.objects.filter(state="waiting").count() == 8 and not Score.objects.exists()
    assert work(first) is None, "its own results are not its own to check"
    while work(second):
        pass
    assert Part.objects.filter(state="done").count() == 8
    for token in (first, second):
        token.refresh_from_db()
        assert token.agreed == 8
    wanted = expected(phase, people, references, 2)
    assert truth(entries) == {
        (entry.pk, slug): value for entry, values in zip(entries, wanted, strict=True) for slug, value in values.items()
    }


def test_a_trusted_token_is_checked_at_its_share(phase, send, monkeypatch):
    send(2)
    draws = iter([0.9, 0.04, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9])
    monkeypatch.setattr(crosscheck._random, "random", lambda: next(draws))
    token = token_of(phase.challenge, agreed=50, share=0.05)
    while work(token):
        pass
    assert sorted(PartRecord.objects.values_list("verdict", flat=True)) == ["pending"] + ["unchecked"] * 7
    worker.drain()
    token.refresh_from_db()
    assert token.agreed == 51
    # What came before the agreement is settled by it; what came after may still be found wrong.
    verdicts = list(PartRecord.objects.filter(token=token).order_by("id").values_list("verdict", flat=True))
    assert verdicts == ["covered", "agreed"] + ["unchecked"] * 6


@pytest.mark.parametrize("share", [0.05, 0.2, 1.0])
def test_a_worker_that_always_lies_is_found_and_all_since_its_last_agreement_is_done_again(
    phase, send, people, references, monkeypatch, share
):
    import random

    entries = send(6)
    monkeypatch.setattr(crosscheck._random, "random", random.Random(round(share * 100)).random)
    token = token_of(phase.challenge, agreed=50, share=share)
    lies = 0
    while True:
        part = work(token, lies=True)
        if part is not None:
            lies += 1
        else:
            if not Part.objects.filter(state="waiting").exists():
                entries += send(2)  # all its lies were taken: more comes in
                continue
            worker.work_once("cpu")  # the service comes to what waits for a second worker
        token.refresh_from_db()
        if token.wrong_at:
            break
        assert lies < 400, "found long before"
    assert claim(token) is None, "it gets nothing more"
    worker.drain()
    assert not PartRecord.objects.filter(token=token, verdict__in=["unchecked", "held", "pending"]).exists()
    assert (
        PartRecord.objects.filter(token=token, verdict="void").count() + PartRecord.objects.filter(token=token, verdict="wrong").count()
        == lies
    )
    for number, entry in enumerate(entries):
        entry.refresh_from_db()
        assert entry.status == Status.SCORED, number
    assert not Score.objects.filter(evaluation__state__in=["running"]).exists()
    batch = phase.batches.get(state="current")
    from evaluation.metrics import scoring

    for entry in entries[:6]:
        seed = int(entry.method_name.removeprefix("m"))
        scores = scoring.score_items(perturbed(references, 0.1, seed), references, batch.requests(), batch.unit_scale, batch.item_ids)
        finished = scoring.finish(batch.requests(), [scores], batch.item_ids, batch.groups)
        assert {slug: value for (pk, slug), value in truth([entry]).items()} == {
            slug: summary.value for slug, (_, summary) in finished.items()
        }


def test_two_that_differ_are_held_back_until_the_service_has_done_the_part(phase, send):
    (entry,) = send()
    honest_one, liar = token_of(phase.challenge, "honest", agreed=50, share=0.0), token_of(phase.challenge, "liar", agreed=50, share=1.0)
    for _ in range(3):
        work(honest_one)  # taken without a second worker
    disputed = work(liar, lies=True)
    honest_part = work(honest_one)
    assert honest_part.pk == disputed.pk
    disputed.refresh_from_db()
    assert disputed.own_only and disputed.state == "waiting"
    for token in (honest_one, liar):
        token.refresh_from_db()
        assert token.held_at and not token.wrong_at and claim(token) is None
    assert Part.objects.filter(state="held").count() == 3
    assert worker.work_once("cpu")
    honest_one.refresh_from_db()
    liar.refresh_from_db()
    entry.refresh_from_db()
    assert honest_one.held_at is None and liar.wrong_at and entry.status == Status.SCORED
    assert dict(PartRecord.objects.filter(part=disputed).values_list("token__name", "verdict")) == {
        "honest": "agreed",
        "liar": "wrong",
        None: "own",
    }


def test_what_workers_of_a_token_that_was_wrong_have_in_hand_counts_for_nothing(phase, send, people, references, settings):
    settings.LEASE_SECONDS = 600
    (entry,) = send()
    liar = token_of(phase.challenge, "liar", agreed=50, share=1.0)
    in_hand = claim(liar, "its second worker")
    work(liar, lies=True)
    worker.work_once("cpu")
    WorkerToken.objects.update(share=0.0)  # no draw sends it to a second worker
    liar.refresh_from_db()
    assert liar.wrong_at
    held = remote_worker_server.held_part(liar, in_hand.pk, in_hand.lease_token)
    remote_worker_server.take(held, lie(honest(held)))
    assert PartRecord.objects.get(part=in_hand).verdict == Verdict.VOID
    worker.drain()
    (wanted,) = expected(phase, people, references, 1)
    assert truth([entry]) == {(entry.pk, slug): value for slug, value in wanted.items()}


def test_what_workers_of_a_token_in_doubt_have_in_hand_goes_to_a_second_worker(phase, send, settings):
    settings.LEASE_SECONDS = 600
    send()
    honest_one, liar = token_of(phase.challenge, "honest", agreed=50, share=0.0), token_of(phase.challenge, "liar", agreed=50, share=1.0)
    in_hand = claim(honest_one, "its second worker")
    assert work(liar, lies=True).pk == work(honest_one).pk
    held = remote_worker_server.held_part(honest_one, in_hand.pk, in_hand.lease_token)
    remote_worker_server.take(held, honest(held))
    assert PartRecord.objects.get(part=in_hand).verdict == Verdict.PENDING


def test_without_a_worker_of_the_service_the_organizer_decides(phase, send):
    send()
    one, other = token_of(phase.challenge, "one"), token_of(phase.challenge, "other")
    for _ in range(4):
        work(one)
    disputed = work(other, lies=True)
    right, wrong = PartRecord.objects.get(part=disputed, token=one), PartRecord.objects.get(part=disputed, token=other)
    assert right.verdict == wrong.verdict == Verdict.DISPUTED
    disputed.refresh_from_db()
    disputed.decide(right, None)
    disputed.refresh_from_db()
    other.refresh_from_db()
    assert disputed.state == "done" and other.wrong_at
    with pytest.raises(Exception, match="not stopped"):
        one.trust_again(None)
    other.trust_again(None)
    other.refresh_from_db()
    assert other.is_trusted and other.agreed == 0


def test_scores_that_stood_on_a_lie_leave_the_board_until_it_is_done_again(phase, send):
    (entry,) = send()
    token = token_of(phase.challenge, agreed=50, share=0.0)
    while work(token, lies=True):
        pass
    entry.refresh_from_db()
    lied = truth([entry])
    assert entry.status == Status.SCORED and Evaluation.objects.get().state == "done"
    send()
    WorkerToken.objects.update(share=1.0)
    work(token, lies=True)
    worker.work_once("cpu")
    entry.refresh_from_db()
    assert entry.status == Status.SCORING and not Score.objects.filter(evaluation__submission=entry).exists()
    worker.drain()
    entry.refresh_from_db()
    assert entry.status == Status.SCORED and truth([entry]) != lied


def test_last_digits_are_no_difference(phase, send):
    send()
    part = claim(token_of(phase.challenge))
    found = honest(part)["scores"]
    near, far = json.loads(json.dumps(found)), json.loads(json.dumps(found))
    samples = next(iter(near))
    near[samples]["values"] = [value and value * (1 + 1e-9) for value in near[samples]["values"]]
    far[samples]["values"] = [value and value * (1 + 1e-4) for value in far[samples]["values"]]
    assert crosscheck.is_same(found, near, part) and not crosscheck.is_same(found, far, part)
    changed = json.loads(json.dumps(found))
    changed[samples]["statuses"][0] = "empty_pred"
    assert not crosscheck.is_same(found, changed, part)


def test_what_the_services_own_workers_do_is_recorded_with_its_cost(phase, send):
    send()
    worker.drain()
    records = PartRecord.objects.all()
    assert records.count() == 4 and set(records.values_list("verdict", flat=True)) == {"own"}
    assert [record for record in records if not (record.core_seconds > 0 and record.gpu_seconds == 0 and record.seconds)] == []

"""The REST API as a program and a browser use it."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from urllib.parse import quote

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards import snapshots
from leaderboard.models import Snapshot
from submissions.models import ApiToken, Challenge, Invitation, Participation, Phase, Scope, Status, Submission, Team
from tests.support.factories import ChallengeFactory, TeamFactory, UserFactory, archive, join

API = "/api/v1"


@pytest.fixture(autouse=True)
def small_parts(settings, local_files):
    settings.UPLOAD_PART_BYTES = 1_000


class Program:
    """A client that sends a token and speaks JSON."""

    def __init__(self, user=None) -> None:
        self.client = Client()
        self.headers = {"Authorization": f"Bearer {ApiToken.make(user, 'test', scopes=list(Scope))[1]}"} if user else {}

    def __call__(self, method: str, path: str, data=None, status: int | None = None):
        """`data` as JSON; bytes as they are."""
        raw = {"data": data, "content_type": "application/octet-stream"}
        body = {} if data is None else raw if isinstance(data, bytes) else {"data": json.dumps(data), "content_type": "application/json"}
        path = path if path.startswith("/") else f"{API}/{path}"
        answer = self.client.generic(method, path, headers=self.headers, **body)
        assert status is None or answer.status_code == status, (answer.status_code, answer.content)
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json"
            problem = answer.json()
            assert problem["status"] == answer.status_code and problem["detail"].endswith((".", ")")) and problem["code"]
        return answer


def reservation(phase: Phase, data: bytes, **values) -> dict:
    return {
        "challenge": phase.challenge.slug,
        "phase": phase.slug,
        "method_name": "PC2WF",
        "file_name": "entry.zip",
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        **values,
    }


def send(program: Program, phase: Phase, data: bytes, **values) -> dict:
    made = program("POST", "submissions", reservation(phase, data, **values), 201).json()
    upload = made["upload"]
    for number in range(1, -(-len(data) // upload["part_size"]) + 1):
        part = data[(number - 1) * upload["part_size"] : number * upload["part_size"]]
        program("PUT", f"{upload['url']}/{number}", part, 200)
    return program("POST", upload["complete_url"], {}, 200).json()


def path_of(phase: Phase) -> str:
    return f"challenges/{phase.challenge.slug}/phases/{phase.slug}"


# --- uploading -------------------------------------------------------------------------------


def test_a_program_uploads_follows_and_reads_scores(phase, people, references):
    from evaluation.work.worker import drain

    program, data = Program(people.owner), archive(references)
    received = send(program, phase, data, description="ours", code_url="https://example.org/x")
    assert received["status"] == "received" and received["page_url"].endswith(f"/entries/{received['id']}/")
    waiting = program("GET", f"submissions/{received['id']}", status=200).json()
    assert (waiting["queue_position"], waiting["state"], waiting["reason_code"]) == (1, "received", "worker")
    drain()
    done = program("GET", f"submissions/{received['id']}", status=200).json()
    assert done["status"] == "scored" and done["progress"]["done"] == done["progress"]["total"]
    assert done["scores"]["corner_f1"]["value"] == pytest.approx(1.0) and done["problems"] == []
    items = program("GET", f"submissions/{received['id']}/items?metric=hss&limit=3", status=200).json()
    rest = program("GET", items["next"], status=200).json()
    assert [one["item"] for one in items["items"] + rest["items"]] == sorted(references) and rest["next"] is None
    again = program("GET", f"submissions/{received['id']}/file", status=200)
    assert b"".join(again.streaming_content) == data and "entry.zip" in again["Content-Disposition"]


def test_an_interrupted_upload_is_found_by_its_checksum_and_goes_on(phase, people):
    program, data = Program(people.owner), b"x" * 2_500
    made = program("POST", "submissions", reservation(phase, data), 201).json()
    program("PUT", f"{made['upload']['url']}/2", data[1000:2000], 200)
    found = program("GET", f"submissions?uploading=1&sha256={hashlib.sha256(data).hexdigest()}", status=200).json()["items"]
    assert [(one["id"], one["upload"]["parts_done"]) for one in found] == [(made["id"], [2])]
    problem = program("POST", made["upload"]["complete_url"], {}, 409).json()
    assert problem["code"] == "parts_missing" and "parts 1, 3" in problem["detail"]


def test_where_s3_keeps_the_files_the_bytes_go_there_and_come_from_there(phase, people, s3_files):
    program, data = Program(people.owner), b"x" * 2_500
    made = program("POST", "submissions", reservation(phase, data), 201).json()
    upload = made["upload"]
    assert (upload["kind"], upload["url"], [part["number"] for part in upload["parts"]]) == ("multipart", None, [1])
    assert program("PUT", f"submissions/{made['id']}/parts/1", data, 409).json()["code"] == "parts_elsewhere"
    httpx.put(upload["parts"][0]["url"], content=data).raise_for_status()
    assert program("POST", upload["complete_url"], {}, 200).json()["status"] == "received"
    where = program("GET", f"submissions/{made['id']}/file", status=302)["Location"]
    assert httpx.get(where).content == data


def test_bytes_that_differ_from_the_announced_checksum_are_refused(phase, people):
    program, data = Program(people.owner), b"x" * 500
    made = program("POST", "submissions", reservation(phase, data, sha256="0" * 64), 201).json()
    program("PUT", f"{made['upload']['url']}/1", data, 200)
    assert program("POST", made["upload"]["complete_url"], {}, 409).json()["code"] == "checksum"
    assert program("GET", f"submissions/{made['id']}").json()["status"] == "cancelled"


def test_a_second_upload_of_the_same_bytes_carries_a_warning(phase, people):
    program = Program(people.owner)
    send(program, phase, b"same bytes")
    Submission.objects.update(received_at=timezone.now() - timedelta(minutes=2))  # within one minute they would be one entry
    (warning,) = send(program, phase, b"same bytes")["warnings"]
    assert "#1" in warning


@pytest.mark.parametrize(
    ("given", "stated"),
    [
        ({"parameters": "12,000", "run_seconds": "0,4"}, (12_000, 0.4)),
        ({"parameters": 12_000, "run_seconds": 0.4}, (12_000, 0.4)),
        ({"parameters": "1,2B", "run_seconds": "1.234,5"}, (1_200_000_000, 1234.5)),
        ({"parameters": "12.000"}, "may be 12000 or 12"),
        ({"run_seconds": "1,500"}, "may be 1500 or 1.5"),
    ],
)
def test_numbers_of_a_method_are_read_as_people_write_them_or_refused(phase, people, given, stated):
    program = Program(people.owner)
    answer = program("POST", "submissions", reservation(phase, b"x", **given), 409 if isinstance(stated, str) else 201).json()
    if isinstance(stated, str):
        assert stated in answer["detail"] and answer["code"] == next(iter(given))
    else:
        assert (answer["parameters"], answer["run_seconds"]) == stated


def test_a_used_up_quota_says_when_the_next_upload_is_possible(phase, people):
    Phase.objects.filter(pk=phase.pk).update(limit_per_day=1)
    program = Program(people.owner)
    send(program, phase, b"first")
    problem = program("POST", "submissions", reservation(phase, b"second"), 409).json()
    assert problem["code"] == "limit_per_day" and problem["retry_at"] > timezone.now().isoformat()
    assert program("GET", path_of(phase), status=200).json()["quota"]["left_today"] == 0


def test_too_large_a_file_is_413_and_too_large_a_part_too(phase, people):
    program = Program(people.owner)
    Phase.objects.filter(pk=phase.pk).update(max_archive_bytes=2_000)
    assert program("POST", "submissions", reservation(phase, b"x", size=2_001), 413).json()["code"] == "too_large"
    made = program("POST", "submissions", reservation(phase, b"x" * 1_500), 201).json()
    program("PUT", f"{made['upload']['url']}/1", b"x" * 2_001, 413)


def test_a_team_edits_cancels_and_withdraws_its_entries(phase, people):
    program, mate = Program(people.owner), Program(people.mate)
    entry = send(program, phase, b"bytes")
    edited = mate("PATCH", f"submissions/{entry['id']}", {"method_name": "Better", "paper_url": "https://example.org"}, 200).json()
    assert (edited["method_name"], edited["paper_url"]) == ("Better", "https://example.org")
    card = {"parameters": "38M", "run_seconds": 0.4, "licence": "Apache 2.0", "training_data": "Building3D"}
    edited = mate("PATCH", f"submissions/{entry['id']}", card, 200).json()
    assert {name: edited[name] for name in card} == card | {"parameters": 38_000_000} and edited["method_name"] == "Better"
    assert mate("PATCH", f"submissions/{entry['id']}", {"parameters": 0}, 200).json()["parameters"] is None
    assert mate("PATCH", f"submissions/{entry['id']}", {"paper_url": "javascript:x"}, 409).json()["code"] == "paper_url"
    assert mate("POST", f"submissions/{entry['id']}/withdraw", {}, 409).json()["code"] == "in_progress"
    assert mate("POST", f"submissions/{entry['id']}/cancel", {}, 200).json()["status"] == "cancelled"
    assert mate("POST", f"submissions/{entry['id']}/choose", {}, 409).json()["code"] == "not_scored"
    assert mate("POST", f"submissions/{entry['id']}/retry", {}, 409).json()["code"] == "not_failed"


# --- who may -----------------------------------------------------------------------------------


def test_a_wrong_token_is_refused_even_where_nobody_needs_one(phase):
    program = Program()
    program.headers = {"Authorization": "Bearer plumb_wrong"}
    answer = program("GET", "challenges", status=401)
    assert answer["WWW-Authenticate"].startswith("Bearer") and answer.json()["code"] == "unauthenticated"


def test_staff_without_a_second_factor_get_no_further_with_a_token_than_with_a_session(phase, people, settings):
    from allauth.mfa.models import Authenticator

    program = Program(people.staff)
    program("GET", "submissions", status=200)
    settings.STAFF_SECOND_FACTOR = True
    for method, path in (("GET", "submissions"), ("GET", path_of(phase)), ("POST", "submissions/1/cancel")):
        assert "second factor" in program(method, path, status=403).json()["detail"]
    Program(people.owner)("GET", "submissions", status=200)
    Authenticator.objects.create(user=people.staff, type=Authenticator.Type.TOTP, data={"secret": "x"})
    program("GET", "submissions", status=200)


def test_a_method_that_an_address_does_not_take_is_refused_as_a_problem_too(phase, people):
    answer = Program(people.owner)("DELETE", "submissions", status=405)
    assert answer.json()["code"] == "method_not_allowed" and set(answer["Allow"].split(", ")) == {"GET", "POST"}


def test_revoked_expired_and_disabled_tokens_stop_working(phase, people):
    program = Program(people.owner)
    token = ApiToken.objects.get(user=people.owner)
    program("GET", "me", status=200)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())
    program("GET", "me", status=401)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=None)
    program("DELETE", f"tokens/{token.pk}", status=204)
    program("GET", "me", status=401)
    other = Program(people.mate)
    type(people.mate).objects.filter(pk=people.mate.pk).update(is_active=False)
    other("GET", "me", status=401)


def test_a_browser_session_needs_the_csrf_token_to_act_but_not_to_read(phase, people):
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.owner)
    assert client.get(f"{API}/me").json()["username"] == "owner"
    body = {"data": json.dumps(reservation(phase, b"x")), "content_type": "application/json"}
    refused = client.post(f"{API}/submissions", **body)
    assert refused.status_code == 403 and refused["Content-Type"] == "application/problem+json"
    client.get("/account/tokens/")
    csrf = client.cookies["csrftoken"].value
    assert client.post(f"{API}/submissions", headers={"X-CSRFToken": csrf}, **body).status_code == 201


def test_others_see_neither_an_unfinished_entry_nor_its_upload(phase, people):
    made = Program(people.owner)("POST", "submissions", reservation(phase, b"x"), 201).json()
    for user in (None, people.stranger, people.other, people.other_organizer):
        program = Program(user)
        program("GET", f"submissions/{made['id']}", status=404)
        program("PUT", f"{made['upload']['url']}/1", b"x", 401 if user is None else 404)
        program("POST", made["upload"]["complete_url"], {}, 401 if user is None else 404)
    theirs = Program(people.organizer)("GET", f"submissions/{made['id']}", status=200).json()
    assert theirs["file_name"] == "entry.zip" and theirs["upload"] is None  # an organizer looks, and does not upload for a team


def test_a_visitor_sees_a_ranked_entry_without_what_is_the_teams_own(phase, people, scored):
    entry = scored(0.1)
    seen = Program()("GET", f"submissions/{entry.pk}", status=200).json()
    assert seen["scores"]["hss"]["value"] is not None and seen["team"] == "Ridge"
    assert {seen[name] for name in ("sentence", "file_name", "size", "sha256", "warnings", "missing_items", "queue_position")} == {None}
    Program()("GET", f"submissions/{entry.pk}/items?metric=hss", status=200)
    Program()("GET", f"submissions/{entry.pk}/file", status=401)
    Program(people.other)("GET", f"submissions/{entry.pk}/file", status=403)


def test_withheld_items_and_scores_of_a_hidden_board_stay_with_the_organizers(phase, people, scored):
    entry = scored(0.1)
    hidden = {"board": Phase.Board.HIDDEN, "board_at": timezone.now() + timedelta(days=9), "withhold_scores": True, "withhold_items": True}
    Phase.objects.filter(pk=phase.pk).update(**hidden)
    own = Program(people.owner)
    assert own("GET", f"submissions/{entry.pk}", status=200).json()["scores"] is None
    own("GET", f"submissions/{entry.pk}/items?metric=hss", status=403)
    own("GET", f"{path_of(phase)}/board", status=403)
    Program(people.other)("GET", f"submissions/{entry.pk}", status=404)
    organizer = Program(people.organizer)
    assert organizer("GET", f"submissions/{entry.pk}", status=200).json()["scores"]
    organizer("GET", f"submissions/{entry.pk}/items?metric=hss", status=200)


def test_a_list_of_fifty_entries_takes_few_queries_and_says_what_each_says(phase, people, references, scored):
    from evaluation.models import Evaluation
    from tests.support.factories import received

    first = scored(0.1)
    for number in range(49):
        entry = received(phase, people.team, archive(references), user=people.owner)
        if number % 3 == 0:
            Submission.objects.filter(pk=entry.pk).update(status="scored")
            copy = Evaluation.objects.get(submission=first)
            scores, parts = list(copy.scores.all()), list(copy.parts.all())
            copy.pk, copy.submission = None, entry
            copy.save()
            for row in (*scores, *parts):
                row.pk, row.evaluation = None, copy
                row.save()
    program = Program(people.owner)
    with CaptureQueriesContext(connection) as queries:
        listed = program("GET", "submissions?limit=50", status=200).json()["items"]
    assert len(listed) == 50 and sum(bool(row["scores"]) for row in listed) == 18
    shown = [query["sql"] for query in queries if "plumbline_cache" not in query["sql"] and "SAVEPOINT" not in query["sql"]]
    assert len(shown) <= 20, shown  # eight of them for places in the queue and what is waited for, one for rankings, however many there are
    for row in (listed[0], listed[1], listed[20], listed[-1]):
        assert program("GET", f"submissions/{row['id']}", status=200).json() == row


def test_somebody_elses_list_of_entries_is_empty(phase, people, scored):
    scored(0.1)
    assert len(Program(people.mate)("GET", "submissions").json()["items"]) == 1
    assert Program(people.other)("GET", "submissions").json()["items"] == []
    Program()("GET", "submissions", status=401)


# --- challenges, taking part, teams ------------------------------------------------------------


def test_the_list_of_challenges_is_exactly_what_the_single_question_allows(db, people, challenge):
    from submissions.permissions import allowed
    from submissions.visibility import visible_challenges

    draft = ChallengeFactory(visibility=Challenge.Visibility.DRAFT)
    private = ChallengeFactory(visibility=Challenge.Visibility.PRIVATE, admitted_emails=["other@example.org"])
    private.organizers.add(people.organizer)
    Participation.objects.create(challenge=private, user=people.mate)
    Participation.objects.create(challenge=draft, user=people.mate)
    for user in people.users().values():
        expected = {one.pk for one in Challenge.objects.all() if allowed(user, "challenge.see", one)}
        assert {one.pk for one in visible_challenges(user)} == expected


def test_following_next_gives_every_challenge_once_in_any_piece_size(db):
    made = {ChallengeFactory().slug for _ in range(7)}
    for limit in (1, 3, 7, 100):
        address, seen = f"{API}/challenges?limit={limit}", []
        while address:
            page = Client().get(address).json()
            seen += [one["slug"] for one in page["items"]]
            address = page["next"]
        assert len(seen) == 7 and set(seen) == made


def test_joining_accepting_and_forming_a_team_by_program(challenge):
    user, mate = UserFactory(), UserFactory()
    program, other = Program(user), Program(mate)
    base = f"challenges/{challenge.slug}"
    assert program("GET", f"{base}/participation", status=200).json()["must_accept"] is True
    assert program("POST", f"{base}/join", {"rules_version": "0"}, 409).json()["code"] == "rules_changed"
    joined = program("POST", f"{base}/join", {"rules_version": "1"}, 200).json()
    assert (joined["admission"], joined["team"], joined["leads"]) == ("admitted", user.username, True)
    assert program("PATCH", f"{base}/team", {"name": "Eaves"}, 200).json()["name"] == "Eaves"
    token = program("POST", f"{base}/team/link", {}, 201).json()["url"].rstrip("/").rsplit("/", 1)[-1]
    other("POST", f"{base}/join", {"rules_version": "1"}, 200)
    assert {m["username"] for m in other("POST", "teams/join", {"token": token}, 200).json()["members"]} == {user.username, mate.username}
    invite = Team.of(challenge, user).invite("grace@example.org", user)
    other("POST", "teams/join", {"token": invite.token}, 200)
    assert Invitation.find(invite.token) is not None, "who is a member already does not use it up"
    other("PATCH", f"{base}/team", {"name": "Mine"}, 403)
    program("POST", f"{base}/team/invites", {"email": "third@example.org"}, 204)
    program("POST", f"{base}/team/remove", {"username": mate.username}, 200)
    other("GET", f"{base}/team", status=404)


def test_a_private_challenge_opens_with_its_key_only(db):
    hidden = ChallengeFactory(visibility=Challenge.Visibility.PRIVATE, access_key="k" * 32)
    program = Program(UserFactory())
    program("GET", f"challenges/{hidden.slug}", status=404)
    program("POST", f"challenges/{hidden.slug}/join", {"rules_version": "1"}, 404)
    program("POST", f"challenges/{hidden.slug}/join", {"rules_version": "1", "access_key": "wrong"}, 404)
    program("POST", f"challenges/{hidden.slug}/join", {"rules_version": "1", "access_key": "k" * 32}, 200)
    program("GET", f"challenges/{hidden.slug}", status=200)


def test_the_manifest_is_for_everybody_once_the_phase_has_opened(phase, people):
    assert Program()("GET", f"{path_of(phase)}/manifest", status=200).json() == phase.manifest_data
    Phase.objects.filter(pk=phase.pk).update(opens_at=timezone.now() + timedelta(days=1))
    Program(people.owner)("GET", f"{path_of(phase)}/manifest", status=404)
    Program(people.organizer)("GET", f"{path_of(phase)}/manifest", status=200)


# --- boards ------------------------------------------------------------------------------------


def test_the_board_and_its_rows_are_those_of_the_snapshot(phase, people, scored):
    first, second = scored(0.02), scored(0.4, team=people.other_team)
    Phase.objects.filter(pk=phase.pk).update(entries=Phase.Entries.ALL)
    snapshot = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    board = Program()("GET", f"{path_of(phase)}/board", status=200).json()
    assert board["digest"] == snapshot.digest and [c["slug"] for c in board["columns"]] == ["corner_f1", "edge_f1", "hss"]
    one = Program()("GET", f"{board['rows_url']}?limit=1", status=200).json()
    two = Program()("GET", one["next"], status=200).json()
    rows = one["items"] + two["items"]
    assert [row["id"] for row in rows] == [first.pk, second.pk] and [row["rank"] for row in rows] == [1, 2] and two["next"] is None
    assert rows[0]["scores"]["hss"]["rank"] == 1 and rows[0]["team"] == "Ridge"
    listed = Program()("GET", f"{path_of(phase)}/snapshots", status=200).json()["items"]
    assert snapshot.digest in [one["digest"] for one in listed]
    Program()("GET", f"{path_of(phase)}/snapshots/{'0' * 64}", status=404)


def test_the_organizers_snapshot_is_theirs_alone(phase, people, scored):
    scored(0.1)
    snapshot = snapshots.make(phase, Snapshot.Audience.ORGANIZERS)
    Program(people.organizer)("GET", f"{path_of(phase)}/snapshots/{snapshot.digest}", status=200)
    Program(people.owner)("GET", f"{path_of(phase)}/snapshots/{snapshot.digest}", status=404)


def test_metrics_are_listed_with_their_parameters(db):
    keys, address = [], f"{API}/metrics?limit=2"
    while address:
        page = Client().get(address).json()
        keys += [one["key"] for one in page["items"]]
        address = page["next"]
    from evaluation.metrics.registry import REGISTRY

    assert keys == sorted(REGISTRY)
    assert Program()("GET", "metrics/corner_f1", status=200).json()["params"][0]["name"] == "tau"
    Program()("GET", "metrics/none", status=404)


# --- limits and errors ---------------------------------------------------------------------------


def test_asking_too_often_is_429_with_the_time_to_wait(phase, people, settings):
    settings.API_RATE = "3/h"
    program = Program(people.owner)
    for _ in range(3):
        program("GET", "me", status=200)
    answer = program("GET", "me", status=429)
    assert 0 < int(answer["Retry-After"]) <= 3601 and answer.json()["code"] == "too_many_requests"
    Program(people.mate)("GET", "me", status=200)  # somebody else's patience


def test_reservations_are_limited_by_person(phase, people, settings):
    settings.UPLOAD_RATE = "1/h"
    program = Program(people.owner)
    program("POST", "submissions", reservation(phase, b"x"), 201)
    assert program("POST", "submissions", reservation(phase, b"x"), 429)["Retry-After"]


@pytest.mark.parametrize(
    "query",
    [
        "cursor=x",
        "cursor=",
        "cursor=MQ%3D%3D",
        "cursor=-1",
        "cursor=" + "9" * 80,
        "limit=0",
        "limit=-1",
        "limit=1e9",
        "limit=" + "9" * 30,
        "limit=x",
    ],
)
@pytest.mark.parametrize("path", ["challenges", "submissions", "metrics", "tokens"])
def test_bad_paging_is_refused_with_a_sentence(db, path, query):
    program = Program(UserFactory())
    assert program("GET", f"{path}?{query}").status_code == 422


def test_unknown_addresses_and_bodies_that_are_no_json_are_problems_too(phase, people):
    program = Program(people.owner)
    program("GET", "nothing/here", status=404)
    program("POST", "submissions", b"{not json", 400)
    wrong = program("POST", "submissions", {"challenge": 1}, 422).json()
    assert "file_name" in json.dumps(wrong["errors"])


@pytest.mark.parametrize("odd", ["\0", "\ud800", "\u202e" * 5, "x" * 10_000, "🏠", "' OR 1=1 --"])
def test_odd_text_is_taken_or_refused_and_never_an_error(phase, people, odd):
    program = Program(people.owner)
    base = f"challenges/{phase.challenge.slug}"
    whole = reservation(phase, b"x", description="", paper_url="")
    bodies = {
        "submissions": [whole | {name: odd} for name in whole if name != "size"],
        f"{base}/join": [{"rules_version": odd}, {"rules_version": "1", "access_key": odd}],
        f"{base}/team": [{"name": odd}],
        f"{base}/team/invites": [{"email": odd}],
        f"{base}/team/remove": [{"username": odd}],
        "teams/join": [{"token": odd}],
    }
    for path, sent in bodies.items():
        for body in sent:
            assert program("POST", path, body).status_code < 500
    for path in ("submissions?sha256=", "submissions?challenge=", "submissions?uploading=", f"{base}/phases/{phase.slug}/board?cursor="):
        assert program("GET", path + quote(odd, errors="surrogatepass")[:2000]).status_code < 500
    assert program("GET", f"challenges/{quote(odd, errors='surrogatepass')[:2000]}").status_code < 500


def test_entries_of_two_teams_of_one_person_are_both_listed(phase, people):
    other = TeamFactory()
    join(people.owner, other)
    assert Team.of(other.challenge, people.owner) == other
    assert Program(people.owner)("GET", "me").json()["teams"] == {phase.challenge.slug: "Ridge", other.challenge.slug: other.name}
    assert not Submission.objects.filter(status=Status.UPLOADING).exists()


class TestWhatNobodyForesaw:
    """Programs are answered in problem details whatever breaks, and the operators find the traceback in the log."""

    @pytest.fixture
    def program(self):
        program = Program()
        program.client.raise_request_exception = False
        return program

    def test_an_error_of_an_endpoint(self, program, phase, monkeypatch, caplog):
        def broken(*_):
            raise KeyError("a fault of ours")

        monkeypatch.setattr("leaderboard.api.agreement.current_ranking", broken)
        told = program("GET", f"challenges/{phase.challenge.slug}/phases/{phase.slug}/agreement", status=500).json()
        assert told["code"] == "internal_error" and "fault of ours" not in told["detail"]
        logged = next(record for record in caplog.records if record.exc_info)
        assert logged.levelname == "ERROR" and logged.exc_info[0] is KeyError and "agreement" in logged.getMessage()

    def test_an_error_before_an_endpoint_is_reached(self, program, settings, caplog):
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.broken_middleware"]
        program.client = Client(raise_request_exception=False)
        assert program("GET", "challenges", status=500).json()["code"] == "internal_error"
        assert any(record.exc_info and record.exc_info[0] is RuntimeError for record in caplog.records)
        assert program.client.get("/").headers["Content-Type"].startswith("text/html"), "pages stay pages"

    def test_a_host_that_is_not_ours(self, program, settings):
        settings.ALLOWED_HOSTS = ["boards.example.org"]
        assert program("GET", "challenges", status=400).json()["code"] == "bad_request"

    def test_an_address_beside_every_version(self, program, db):
        assert program("GET", "/api/v9/challenges", status=404).json()["code"] == "not_found"


def broken_middleware(get_response):
    def answer(request):
        raise RuntimeError("the session's table is gone")

    return answer

"""A judge over real HTTP: good, slow, busy, broken, refusing; and a key that is never seen."""

import base64
import logging
import socket
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime

import pytest

from leaderboard.studies.judge.client import Away, Client, Endpoint, Refused, _retry_after, question
from tests.support.leaderboard.studies.judge.endpoint import KEY, Answer, fault, says, serving

PNG = b"\x89PNG\r\n\x1a\n not much of an image"


@pytest.fixture
def server():
    with serving(lambda body: says(*["Final answer:\n1 2"] * body.get("n", 1))) as found:
        yield found


@pytest.fixture
def client(server):
    with client_of(server) as found:
        yield found


def client_of(server, patience: float = 100.0, counts: bool = False, **values) -> Client:
    values = {"url": server.url, "model": "seer-1", "key": KEY, "rate": 0, "timeout": 60} | values
    return Client(Endpoint(**values), patience=patience, first_pause=0.02, counts=counts)


def test_a_question_goes_out_as_the_protocol_has_it_and_all_texts_come_back(server, client):
    reply = client.ask(question("Which one?", PNG), 3)
    assert [one.text for one in reply.texts] == ["Final answer:\n1 2"] * 3 and [one for one in reply.texts if one.refused or one.cut] == []
    assert (reply.tokens_in, reply.tokens_out) == (1000, 150)
    body, headers = server.requests[0], server.headers[0]
    assert server.paths == ["/v1/chat/completions"] and headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == "seer-1" and body["n"] == 3 and body["max_tokens"] == 4096 and "temperature" not in body
    text, image = body["messages"][0]["content"]
    assert text == {"type": "text", "text": "Which one?"}
    head, _, data = image["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64" and base64.b64decode(data) == PNG


def test_no_key_is_no_header(server):
    with client_of(server, key="") as client:
        client.ask(question("?"))
    assert "Authorization" not in server.headers[0] and "n" not in server.requests[0]


def test_fewer_choices_than_asked_for_are_handed_on(server, client):
    server.answers = [says("1 2")]
    assert len(client.ask(question("?"), 3).texts) == 1


def test_an_endpoint_that_takes_no_n_is_asked_without_from_then_on(server, client):
    server.answers = [fault(400, "n must be 1 for this model")]
    assert len(client.ask(question("?"), 3).texts) == 1
    client.ask(question("?"), 3)
    assert [body.get("n") for body in server.requests] == [3, None, None]


def test_the_newer_name_of_the_limit_is_found_out(server, client):
    server.answers = [fault(400, "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens' instead.")]
    client.ask(question("?"))
    assert server.requests[1]["max_completion_tokens"] == 4096 and "max_tokens" not in server.requests[1]


@pytest.mark.parametrize(
    "bad",
    [
        Answer(b"<html>no JSON</html>"),
        Answer(b""),
        Answer([]),
        Answer(b"[" * 100_000),
        Answer(b"\xff\xfe"),
        Answer({"choices": []}),
        Answer({"choices": None}),
        Answer({"choices": [{}]}),
        Answer({"choices": [{"message": {"content": 7}}]}),
        Answer({"choices": [{"message": None}]}),
        fault(500, "boom"),
        fault(502),
        fault(503),
        Answer(b"<h1>Bad gateway</h1>", 504),
    ],
    ids=range(14),
)
def test_what_is_no_answer_is_asked_again(server, client, bad):
    server.answers = [bad]
    assert client.ask(question("?")).texts[0].text == "Final answer:\n1 2"
    assert len(server.requests) == 2


def test_what_comes_too_late_is_asked_again(server):
    server.answers = [says("too late", wait=1.5)]
    with client_of(server, timeout=0.7) as client:
        assert client.ask(question("?")).texts[0].text == "Final answer:\n1 2"
    assert len(server.requests) > 1


@pytest.mark.parametrize(
    ("bad", "lost"),
    [
        (Answer(b"<html>no JSON</html>"), True),
        (Answer({"choices": []}), True),
        (fault(502), True),
        (fault(504), True),
        (says("late", wait=1.5), True),
        (fault(500), False),
        (fault(429), False),
        (fault(503), False),
    ],
    ids=range(8),
)
def test_who_counts_money_hears_of_a_lost_answer_before_another_is_asked_for(server, bad, lost):
    """A refusal costs nothing, so it is asked again at once; an answer that was made and did not come may have to be paid."""
    server.answers = [bad]
    with client_of(server, counts=True, timeout=0.7) as client:
        if lost:
            with pytest.raises(Away) as caught:
                client.ask(question("?"))
            assert caught.value.lost
        else:
            client.ask(question("?"))
        assert len(server.requests) == (1 if lost else 2) and client.errors == 1 and client.last_error.startswith("The endpoint")


def test_a_connection_that_breaks_off_loses_the_answer_and_one_that_never_stood_does_not(server):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        with client_of(server, counts=True, url=there, timeout=0.3) as client, pytest.raises(Away) as caught:
            client.ask(question("?"))  # taken by the kernel, and never answered
    assert caught.value.lost
    with client_of(server, counts=True, patience=0.05, url=there) as client, pytest.raises(Away, match="cannot be reached") as caught:
        client.ask(question("?"))
    assert not caught.value.lost


def test_a_key_is_in_no_text_that_an_endpoint_gives_back(server, client):
    server.answers = [says(f"1 2 {KEY}"), fault(401, "x" * 190 + KEY), Answer(b" " * 300 + KEY.encode(), 403)]
    assert client.ask(question("?")).texts[0].text == "1 2 …"
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            client.ask(question("?"))
        assert [n for n in range(6, len(KEY)) if KEY[:n] in str(caught.value)] == []


def test_pauses_between_tries_grow_until_it_gives_up(server, client, monkeypatch):
    server.behave = lambda body: fault(500)
    pauses = []

    def wait(seconds: float) -> bool:
        if seconds:
            pauses.append(seconds)
        return len(pauses) == 6

    monkeypatch.setattr(client._stopped, "wait", wait)
    with pytest.raises(Away, match="The endpoint answered 500"):
        client.ask(question("?"))
    assert [(n, pause) for n, pause in enumerate(pauses) if not 0.01 * 2**n <= pause <= 0.02 * 2**n] == [] and len(server.requests) == 6


def test_patience_has_an_end(server):
    server.behave = lambda body: fault(500)
    with client_of(server, patience=0.05) as client, pytest.raises(Away):
        client.ask(question("?"))
    assert len(server.requests) <= 4, "pauses of at least 10, 20 and 40 ms"


def test_retry_after_is_honoured_by_everybody(server, client):
    server.answers = [fault(429, "slow down", Retry_After="1")]
    client.ask(question("?"))
    assert server.times[1] - server.times[0] > 0.98
    server.answers = [fault(429, "slow down", Retry_After="300")]  # longer than its patience
    with pytest.raises(Away) as caught:
        client.ask(question("?"))
    assert 299 < caught.value.seconds <= 300
    with pytest.raises(Away) as caught:  # another question does not even ask
        client.ask(question("?"))
    assert 0 < caught.value.seconds <= 300 and len(server.requests) == 3


def test_retry_after_is_a_number_or_a_date():
    now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    assert _retry_after("7.5") == 7.5 and _retry_after("-3") == 0 and _retry_after("") == 0 and _retry_after("soon") == 0
    assert _retry_after("999999") == 3600 and _retry_after("nan") == 0
    assert _retry_after(format_datetime(now + timedelta(seconds=90), usegmt=True), lambda: now) == 90


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (fault(401, f"Incorrect API key provided: {KEY}"), "does not take the key"),
        (fault(403, "no access"), "does not allow this"),
        (fault(404, "The model `seer-1` does not exist"), "does not know this address or model"),
        (fault(400, "image too large"), "refused"),
        (Answer({}, 307, {"Location": "http://127.0.0.1:1/elsewhere"}), "refused"),
    ],
)
def test_what_will_not_get_better_ends_at_once_and_shows_no_key(server, client, caplog, answer, words):
    caplog.set_level(logging.DEBUG)
    server.answers = [answer]
    with pytest.raises(Refused, match=words) as caught:
        client.ask(question("?"))
    assert len(server.requests) == 1
    assert KEY not in str(caught.value) and KEY not in caplog.text
    assert KEY not in repr(client.endpoint) and KEY not in repr(vars(client))


def test_refusals_and_cut_texts_are_told_apart(server, client):
    choices = [
        {"message": {"content": None, "refusal": "I cannot compare these."}, "finish_reason": "stop"},
        {"message": {"content": "The left", "refusal": None}, "finish_reason": "length"},
        {"message": {"content": ""}, "finish_reason": "content_filter"},
        {"message": {"content": [{"type": "text", "text": "1"}, {"type": "text", "text": " 2"}]}},
    ]
    server.answers = [Answer({"choices": choices, "usage": {"prompt_tokens": "many", "completion_tokens": -1}})]
    reply = client.ask(question("?"), 4)
    assert [(one.text, one.refused, one.cut) for one in reply.texts] == [
        ("I cannot compare these.", True, False),
        ("The left", False, True),
        ("", True, False),
        ("1 2", False, False),
    ]
    assert reply.tokens_in is None and reply.tokens_out is None


def test_a_text_is_one_that_every_database_keeps(server, client):
    server.answers = [Answer({"choices": [{"message": {"content": "a\x00b \ud83d"}}]})]  # half of an emoji
    assert client.ask(question("?")).texts[0].text == "ab ?"


def test_a_filter_declines_the_one_question_only(server, client):
    server.answers = [Answer({"error": {"message": "Blocked.", "code": "content_policy_violation"}}, 400)]
    assert [(one.text, one.refused) for one in client.ask(question("?"), 3).texts] == [("Blocked", True)]


def test_the_pace_is_kept(server):
    with client_of(server, rate=300) as client:
        for _ in range(4):
            client.ask(question("?"))
    assert server.times[-1] - server.times[0] > 0.5  # three times a fifth of a second, less what the first took to connect


def test_nobody_there_and_no_address(server):
    with client_of(server, patience=0.1, url="http://127.0.0.1:9/v1") as client, pytest.raises(Away, match="cannot be reached"):
        client.ask(question("?"))
    with client_of(server, url="nonsense") as client, pytest.raises(Refused, match="is not an address that can be asked"):
        client.ask(question("?"))


def test_who_stops_does_not_wait(server):
    server.behave = lambda body: fault(429, Retry_After="90")
    client = client_of(server, patience=100)
    client.stop()
    with pytest.raises(Away):
        client.ask(question("?"))
    assert len(server.requests) <= 1


def test_cost_needs_prices_and_tokens():
    endpoint = Endpoint("http://user:word@host:8/v1?key=1", "m", price_in=Decimal("2.5"), price_out=Decimal("0.0375"), max_tokens=8)
    assert endpoint.cost(1_000_000, 100_000) == Decimal("2.50375") and endpoint.cost(1, 1) == Decimal("0.0000025375")
    # At most 64 tokens of frame, 3 bytes of "ß?", 50,000 of the image; two texts of 8 tokens each.
    assert endpoint.bound(question("ß?", PNG), 2) == (50_067 * Decimal("2.5") + 16 * Decimal("0.0375")) / 10**6
    assert endpoint.bound([{"role": "user", "content": "a"}]) == (65 * Decimal("2.5") + 8 * Decimal("0.0375")) / 10**6
    assert endpoint.cost(5, None) is None and Endpoint("http://host", "m").bound(question("?")) is None and endpoint.cost(None, 5) is None
    assert Endpoint("http://host", "m").cost(1, 1) is None
    assert endpoint.public_address == "http://host:8/v1"

"""A judge behind any OpenAI-compatible endpoint, over HTTP.

One client is shared by the threads that ask. It keeps a pace, waits as long as the endpoint says (Retry-After) or a growing
while after faults, and gives up after some seconds, because whoever runs it has other work. The key is sent and nowhere else
shown: it stands in no message, no log, no text and no repr.

The maximum cost of a request is known before it is sent, see `Endpoint.bound`. A lost answer may have been made, and so may have to be
paid. A client for a caller that counts money then does not ask again by itself.
"""

from __future__ import annotations

import base64
import json
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

PATIENCE = 45.0  # seconds of waiting and trying again before a question is given back
LONGEST_PAUSE = 3600.0  # of what an endpoint may ask for
FIRST_PAUSE, LAST_PAUSE = 1.0, 20.0  # after a fault; doubled each time
MAX_BYTES = 8_000_000  # of an answer
MAX_MESSAGE = 4000  # bytes that are read of a fault that is no JSON
FILTERED = (b"content_filter", b"content_policy")  # how an endpoint says that it declines this one question
FRAME_TOKENS = 64  # of a message besides its text: roles, separators
SMALLEST = Decimal("1e-10")  # of the currency; the tenth decimal is of a token whose million's price has four
GATEWAY = (502, 504, 520, 524)  # something in between did not get the answer of a model that may have made it
BUSY, GONE_WRONG = (429, 503), (408, 409, 425, 500, 502, 504, 520, 522, 524, 529)


class JudgeError(Exception):
    """The endpoint gave no answer; the text is a sentence for people."""


class Refused(JudgeError):
    """The endpoint will not answer anything as it is set up: key, model, address or the form of the request."""


class Away(JudgeError):
    """The endpoint is busy or broken; ask again after `seconds`. `lost` says that an answer may have been made, and did not come."""

    def __init__(self, sentence: str, seconds: float, lost: bool = False) -> None:
        super().__init__(sentence)
        self.seconds, self.lost = seconds, lost


@dataclass(frozen=True)
class Endpoint:
    """Address at which a judge is asked, and its settings. `rate` is the most requests a minute (0: no limit of ours); prices are per
    million tokens, None where they are not known; `image_tokens` are the most that one image is counted as."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0
    rate: float = 60.0
    max_tokens: int = 4096
    price_in: Decimal | None = None
    price_out: Decimal | None = None
    image_tokens: int = 50_000

    @property
    def public_address(self) -> str:
        """The address without anything that might be secret in it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> Decimal | None:
        """Cost of so many tokens, exactly, or rounded up to the tenth decimal; None where a price or a number is not known."""
        if self.price_in is None or self.price_out is None or tokens_in is None or tokens_out is None:
            return None
        return ((tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000).quantize(SMALLEST, ROUND_CEILING)

    def bound(self, messages: Sequence[Mapping[str, Any]], choices: int = 1) -> Decimal | None:
        """The most that a request for so many texts can cost; None where a price is not known.

        No tokenizer makes more tokens of a text than it has bytes; an image counts `image_tokens`, and each text of the answer
        `max_tokens`, which is what the endpoint is told.
        """
        tokens = 0
        for message in messages:
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            tokens += FRAME_TOKENS + sum(self.image_tokens if one["type"] == "image_url" else len(one["text"].encode()) for one in parts)
        return self.cost(tokens, choices * self.max_tokens)


@dataclass(frozen=True)
class Text:
    """One text of an answer. `refused` says that the model declined to answer, `cut` that it ran into the limit of tokens."""

    text: str
    refused: bool = False
    cut: bool = False


@dataclass(frozen=True)
class Reply:
    """The answer to one request; tokens are None where the endpoint does not count them."""

    texts: tuple[Text, ...]
    tokens_in: int | None
    tokens_out: int | None
    seconds: float


def question(instruction: str, png: bytes | None = None) -> list[dict[str, Any]]:
    """The messages of one question: the text and, where there is one, the image."""
    content: list[dict[str, Any]] = [{"type": "text", "text": instruction}]
    if png is not None:
        url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        content.append({"type": "image_url", "image_url": {"url": url}})
    return [{"role": "user", "content": content}]


class Client:
    """Asks one endpoint. Thread-safe; use as a context manager.

    With `counts` a lost answer is not asked for again before whoever counts money has counted another request. `errors` are the
    requests that failed, `last_error` says why the last one did.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        patience: float = PATIENCE,
        first_pause: float = FIRST_PAUSE,
        counts: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.errors, self.last_error = 0, ""
        self._counts, self._lock = counts, threading.Lock()
        self._patience, self._first_pause = patience, first_pause
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        timeout = httpx.Timeout(endpoint.timeout, connect=min(10.0, endpoint.timeout))
        # A redirect would take the key elsewhere, and a proxy of the environment is no business of the judge's.
        self._http = httpx.Client(headers=headers, timeout=timeout, follow_redirects=False, trust_env=False, transport=transport)
        self._pace = _Pace(endpoint.rate)
        self._stopped = threading.Event()
        self._only_one = False  # the endpoint takes no request for several choices
        self._limit = "max_tokens"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._http.close()

    def stop(self) -> None:
        """Waiting requests stop waiting."""
        self._stopped.set()

    def ask(self, messages: Sequence[Mapping[str, Any]], choices: int = 1) -> Reply:
        """One request for at most so many texts; fewer may come. Raises `Refused` or `Away`."""
        start, pause = time.monotonic(), self._first_pause
        while True:
            try:
                return self._once(messages, 1 if self._only_one else choices)
            except _Adapted:
                continue
            except Away as error:
                if error.lost and self._counts:
                    raise
                wait = error.seconds or random.uniform(pause / 2, pause)  # noqa: S311 - spreads retries
                pause = min(2 * pause, LAST_PAUSE)
                if error.seconds:
                    self._pace.hold(error.seconds, str(error))  # the others need not find out by themselves
                if time.monotonic() - start + wait > self._patience or self._stopped.wait(wait):
                    raise Away(str(error), wait, error.lost) from None

    def _once(self, messages: Sequence[Mapping[str, Any]], choices: int) -> Reply:
        if not self._pace.wait(self._stopped, self._patience):
            raise Away(self._pace.why, self._pace.left())
        body: dict[str, Any] = {"model": self.endpoint.model, "messages": list(messages), self._limit: self.endpoint.max_tokens}
        if choices > 1:
            body["n"] = choices
        try:
            start = time.monotonic()
            status, headers, data = self._post(body)
            seconds = time.monotonic() - start
            if status == 200:
                reply = _reply(data, seconds)
                return replace(reply, texts=tuple(replace(one, text=self._scrubbed(one.text)) for one in reply.texts))
            said = self._said(data)
            if status == 400 and any(word in data for word in FILTERED):
                return Reply((Text(said, refused=True),), None, None, seconds)
            if status in BUSY or status in GONE_WRONG or status >= 500:
                wait = _retry_after(headers.get("Retry-After", "")) if status in (*BUSY, 529) else 0.0
                raise Away(f"The endpoint answered {status}{f': {said}' if said else ''}.", wait, lost=status in GATEWAY)
            # Endpoints differ in what they call the limit and in whether they take `n`: asking again in another form may help.
            if status in (400, 422) and "max_completion_tokens" in said and self._limit == "max_tokens":
                self._limit = "max_completion_tokens"
                raise _Adapted
            if status in (400, 422) and choices > 1:
                self._only_one = True
                raise _Adapted
            why = {401: "does not take the key", 403: "does not allow this", 404: "does not know this address or model"}
            sentence = f"The endpoint {why.get(status, 'refused')} ({status}{f': {said}' if said else ''}); correct the judge's settings."
            raise Refused(sentence)
        except (Away, Refused) as error:
            with self._lock:
                self.errors += 1
                self.last_error = str(error)
            raise

    def _post(self, body: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        url = f"{self.endpoint.url.rstrip('/')}/chat/completions"
        until = time.monotonic() + self.endpoint.timeout
        try:
            with self._http.stream("POST", url, json=body) as response:
                parts, size = [], 0
                for part in response.iter_bytes():
                    size += len(part)
                    if size > MAX_BYTES:
                        raise Away(f"The endpoint sent more than {MAX_BYTES:,} bytes.", 0.0, lost=True)
                    if time.monotonic() > until:
                        raise Away(f"The endpoint took longer than {self.endpoint.timeout:g} s.", 0.0, lost=True)
                    parts.append(part)
                return response.status_code, response.headers, b"".join(parts)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:  # before anything was sent
            raise Away(f"The endpoint {self.endpoint.public_address} cannot be reached ({type(error).__name__}).", 0.0) from None
        except httpx.TimeoutException:
            raise Away(f"The endpoint took longer than {self.endpoint.timeout:g} s.", 0.0, lost=True) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            raise Refused(f"{self.endpoint.public_address} is not an address that can be asked; correct PLUMBLINE_JUDGE_URL.") from None
        except httpx.HTTPError as error:
            raise Away(f"The connection to {self.endpoint.public_address} broke off ({type(error).__name__}).", 0.0, lost=True) from None

    def _said(self, data: bytes) -> str:
        """The endpoint's message on a fault, on one line, cut only once no part of the key is in it."""
        try:
            content = json.loads(data)
            error = content.get("error", content) if isinstance(content, dict) else content
            text = error.get("message", "") if isinstance(error, dict) else error
        except (ValueError, RecursionError):
            text = data[:MAX_MESSAGE].decode("utf-8", "replace")
        return self._scrubbed(" ".join(str(text).replace("\x00", "").split()))[:200].rstrip(".")

    def _scrubbed(self, text: str) -> str:
        return text.replace(self.endpoint.key, "…") if self.endpoint.key else text


class _Adapted(Exception):
    """The request takes another form now; send it again."""


class _Pace:
    """At most so many requests a minute, and none before a time that the endpoint gave."""

    def __init__(self, per_minute: float) -> None:
        self._interval = 60.0 / per_minute if per_minute > 0 else 0.0
        self._next = 0.0
        self.why = "The endpoint is asked less often than that."
        self._lock = threading.Lock()

    def wait(self, stopped: threading.Event, longest: float) -> bool:
        """Wait for one's turn; False if that is further away than `longest` seconds, or all was stopped."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            if turn - now > longest:
                return False
            self._next = turn + self._interval
        return not stopped.wait(turn - now)

    def hold(self, seconds: float, why: str) -> None:
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)
            self.why = why

    def left(self) -> float:
        with self._lock:
            return max(0.0, self._next - time.monotonic())


def _reply(data: bytes, seconds: float) -> Reply:
    """Away where it is no answer of the protocol: that is the endpoint's fault, and it may do better next time."""
    texts = []
    try:
        content = json.loads(data)
        for choice in content["choices"]:
            said, refusal = choice["message"].get("content"), choice["message"].get("refusal")
            if isinstance(said, list):  # parts, as some endpoints send them
                said = "".join(part.get("text", "") for part in said)
            if not isinstance(said, str | None) or not isinstance(refusal, str | None):
                raise TypeError("a message that is not text")
            reason = choice.get("finish_reason")
            # PostgreSQL keeps neither NUL in a text nor half of a pair of surrogates, which is what a cut emoji can be.
            text = (said or refusal or "").replace("\x00", "").encode("utf-8", "replace").decode()
            texts.append(Text(text, bool(refusal) or reason == "content_filter", reason == "length"))
        usage = content.get("usage") or {}
        counted = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Away("The endpoint's answer is not one of the chat-completions protocol.", 0.0, lost=True) from None
    if not texts:
        raise Away("The endpoint's answer holds no choice.", 0.0, lost=True)
    tokens_in, tokens_out = (n if type(n) is int and n >= 0 else None for n in counted)
    return Reply(tuple(texts), tokens_in, tokens_out, seconds)


def _retry_after(value: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float:
    """Seconds, from a number of them or a date; 0 where the header says nothing that can be read."""
    try:
        return min(max(0.0, float(value)), LONGEST_PAUSE)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(0.0, (moment - now()).total_seconds()), LONGEST_PAUSE)

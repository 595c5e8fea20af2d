"""Talking to a Plumbline server from a participant's machine: requests that survive trouble, uploads that resume."""

import email.utils
import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import httpx

ATTEMPTS = 6
LONGEST_PAUSE = 60.0
_BLOCK = 1 << 18
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_TIMEOUT = httpx.Timeout(30.0, read=120.0, write=120.0)

Progress = Callable[[int], None]


class ServerError(Exception):
    """The server did not do what was asked; the message is a sentence for people."""


class RefusedByServer(ServerError):
    """It will not: a limit, a permission, a closed phase, a wrong name. Asking again changes nothing."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Trouble(ServerError):
    """It cannot just now: no connection, or an error on its side, also after several attempts."""


@dataclass(frozen=True)
class Entry:
    """What is sent: the file and what the board will say about it."""

    path: Path
    challenge: str
    phase: str
    method_name: str
    description: str = ""
    paper_url: str = ""
    code_url: str = ""


class Server:
    """One server, asked with one token. A context manager.

    A request is repeated with growing pauses while the connection fails or the server has trouble; ``pause`` is told
    the seconds to wait. The token goes to this server's own address only.
    """

    def __init__(self, url: str, token: str = "", pause: Callable[[float], None] = time.sleep) -> None:
        self.url = httpx.URL(url.rstrip("/") + "/")
        if self.url.scheme not in ("http", "https") or not self.url.host:
            raise ValueError(f"{url} is not the address of a server; give one such as https://plumbline.example.org.")
        self._token, self._pause = token, pause
        self._http = httpx.Client(timeout=_TIMEOUT, headers={"Accept": "application/json", "User-Agent": "plumbline-client/1"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, address: str, **params: str | int) -> Any:
        """The JSON that a GET answers."""
        return self._json(self.request("GET", address, params=params))

    def post(self, address: str, body: Mapping[str, Any], attempts: int = ATTEMPTS) -> Any:
        """The JSON that a POST answers."""
        return self._json(self.request("POST", address, json=dict(body), attempts=attempts))

    def request(self, method: str, address: str, *, attempts: int = ATTEMPTS, **options: Any) -> httpx.Response:
        """One answer of the server itself, ``address`` being relative to it or absolute on it."""
        url = self.url.join(address)
        if (url.scheme, url.host, url.port) != (self.url.scheme, self.url.host, self.url.port):
            there = f"{url.scheme}://{url.netloc.decode()}"
            raise Trouble(f"{self.url} answers that {there} is to be asked with your token, so this stops here; tell the organizer.")
        headers = {**options.pop("headers", {}), **({"Authorization": f"Bearer {self._token}"} if self._token else {})}
        return self._repeat(lambda: self._http.request(method, url, headers=headers, **options), attempts)

    def put_signed(self, url: str, make_options: Callable[[], dict[str, Any]]) -> httpx.Response:
        """One answer of a file store, for a signed address that needs no token."""
        return self._repeat(lambda: self._http.put(url, **make_options()), ATTEMPTS)

    def _repeat(self, ask: Callable[[], httpx.Response], attempts: int) -> httpx.Response:
        for attempt in range(1, attempts + 1):
            asked_to_wait = None
            try:
                response = ask()
                if response.status_code not in _PASSING:
                    return _accepted(response)
                asked_to_wait = _retry_after(response)
                trouble: ServerError = Trouble(f"{self.url.host} has trouble: {_sentence(response)}")
                if response.status_code == 429:
                    trouble = RefusedByServer(_sentence(response), 429)
                    if asked_to_wait is None or asked_to_wait > LONGEST_PAUSE:
                        raise trouble
            except httpx.TransportError as error:
                trouble = Trouble(f"{self.url.host} cannot be reached ({_reason(error)}); try again later.")
            if attempt == attempts:
                raise trouble
            self.wait(attempt, asked_to_wait)
        raise AssertionError("attempts must be at least 1")

    def wait(self, attempt: int, asked: float | None = None) -> None:
        """Pauses before the next attempt: as long as asked, else 1, 2, 4 ... seconds, a little at random."""
        grown = min(LONGEST_PAUSE, 2.0 ** (attempt - 1))
        self._pause(grown * random.uniform(0.75, 1.25) if asked is None else min(asked, LONGEST_PAUSE))

    def _json(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError:
            raise Trouble(f"{response.url} does not answer as a Plumbline server does; check the address.") from None


def _accepted(response: httpx.Response) -> httpx.Response:
    if response.is_redirect:
        target = response.headers.get("location", "another address")
        raise RefusedByServer(f"{response.url} has moved to {target}; give that server's address.", response.status_code)
    if response.is_error:
        raise RefusedByServer(_sentence(response), response.status_code)
    return response


def _sentence(response: httpx.Response) -> str:
    """What a problem-details answer says, or the bare status."""
    try:
        problem = response.json()
        said = problem.get("detail") or problem.get("title")
    except (ValueError, AttributeError):
        said = None
    return str(said) if said else f"{response.url} answered {response.status_code} {response.reason_phrase}."


def _reason(error: httpx.TransportError) -> str:
    return "it did not answer in time" if isinstance(error, httpx.TimeoutException) else str(error) or type(error).__name__


def _retry_after(response: httpx.Response) -> float | None:
    given = response.headers.get("retry-after", "")
    if given.isdigit():
        return float(given)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(given).timestamp() - time.time())
    except ValueError:
        return None


# --- uploads


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def upload(server: Server, entry: Entry, started: Callable[[int, int], None], sent: Progress) -> dict[str, Any]:
    """Sends a file and returns the received submission. An upload of the same bytes that was begun before is continued.

    ``started`` is told the bytes that are there already and all bytes; ``sent`` each further number of bytes, negative
    when some must be sent again. Raises ``ServerError``.
    """
    digest = sha256_of(entry.path)
    reserved = _reserve(server, entry, digest)
    address = f"api/v1/submissions/{reserved['id']}"
    size = entry.path.stat().st_size
    told = False
    tags: dict[int, str] = {}
    for _ in range(ATTEMPTS):
        plan = reserved["upload"]
        missing = _missing_parts(plan, size)
        if not told:
            started(size - sum(length for _, _, length in missing), size)
            told = True
        try:
            for number, start, length in missing:
                tags[number] = _send_part(server, entry.path, plan, number, start, length, sent)
            return _complete(server, address, plan, tags)
        except RefusedByServer as refusal:
            # A signed address runs out before the reservation does; the server signs new ones for the asking.
            if plan["kind"] != "multipart" or refusal.status != 403:
                raise
            reserved = server.get(address)
    raise Trouble("The file store keeps refusing its own signed addresses; tell the organizer.")


def _reserve(server: Server, entry: Entry, digest: str) -> dict[str, Any]:
    """The reservation for these bytes: one that is open already, else a new one.

    A connection that broke may have reserved all the same, so every new attempt looks first.
    """
    place = {"challenge": entry.challenge, "phase": entry.phase}
    texts = {
        "method_name": entry.method_name,
        "description": entry.description,
        "paper_url": entry.paper_url,
        "code_url": entry.code_url,
    }
    file = {"file_name": entry.path.name, "size": entry.path.stat().st_size, "sha256": digest}
    for attempt in range(1, ATTEMPTS + 1):
        for found in server.get("api/v1/submissions", uploading=1, sha256=digest)["items"]:
            if place.items() <= found.items() and found.get("upload"):
                if not texts.items() <= found.items():
                    server.request("PATCH", f"api/v1/submissions/{found['id']}", json=texts)
                return found
        try:
            return server.post("api/v1/submissions", place | texts | file, attempts=1)
        except Trouble:
            if attempt == ATTEMPTS:
                raise
            server.wait(attempt)
    raise AssertionError("unreachable")


def _missing_parts(plan: Mapping[str, Any], size: int) -> list[tuple[int, int, int]]:
    """Number (from 1), offset and length of every part that the server does not have."""
    length, done = plan["part_size"], set(plan["parts_done"])
    starts = enumerate(range(0, size, length), 1)
    return [(number, start, min(length, size - start)) for number, start in starts if number not in done]


def _send_part(server: Server, path: Path, plan: Mapping[str, Any], number: int, start: int, length: int, sent: Progress) -> str:
    """Sends one part and returns the store's tag for it, empty where there is none."""
    with path.open("rb") as stream:
        body = _Part(stream, start, length, sent)
        if plan["kind"] == "multipart":
            urls = {part["number"]: part["url"] for part in plan["parts"]}
            return server.put_signed(urls[number], body.options).headers.get("etag", "")
        address = f"{plan['url'].rstrip('/')}/{number}"
        server.request("PUT", address, content=body, headers=body.headers)
        return ""


class _Part:
    """A stretch of a file as a request's body; every reading of it starts over and takes its progress back."""

    def __init__(self, stream: BinaryIO, start: int, length: int, sent: Progress) -> None:
        self.stream, self.start, self.length, self.sent = stream, start, length, sent
        self.headers = {"Content-Length": str(length), "Content-Type": "application/octet-stream"}
        self.told = 0

    def __iter__(self) -> Iterator[bytes]:
        self.sent(-self.told)
        self.told = 0
        self.stream.seek(self.start)
        while self.told < self.length:
            block = self.stream.read(min(_BLOCK, self.length - self.told))
            if not block:
                raise Trouble("The file became shorter while it was sent; run the same command again.")
            yield block
            self.told += len(block)
            self.sent(len(block))

    def options(self) -> dict[str, Any]:
        # No content type: it would have to be part of the signature.
        return {"content": self, "headers": {"Content-Length": str(self.length)}}


def _complete(server: Server, address: str, plan: Mapping[str, Any], tags: Mapping[int, str]) -> dict[str, Any]:
    body = {"parts": [{"number": number, "etag": tag} for number, tag in sorted(tags.items())]}
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return server.post(plan["complete_url"], body if plan["kind"] == "multipart" else {}, attempts=1)
        except Trouble:
            if attempt == ATTEMPTS:
                raise
            server.wait(attempt)
        # The answer may have been lost on its way, not the request.
        found = server.get(address)
        if found["status"] != "uploading":
            return found
    raise AssertionError("unreachable")

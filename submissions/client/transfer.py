"""Talking to a Plumbline server from a participant's machine: requests that survive trouble, uploads that resume."""

import email.utils
import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import httpx

from submissions.formats.file_digest import file_digest

PATIENCE_SECONDS = 600.0  # of waiting for a server that cannot be reached or has trouble
LONGEST_PAUSE = 15.0  # between attempts, so that the client continues soon after the server is back
LONGEST_ASKED = 60.0  # that a server may ask for before its answer is taken as a refusal
STOP_SECONDS = 5.0  # in which a server must hear that an upload stops
HEARD_SECONDS = 60.0  # how often an upload reports that it is alive: its server does not see a part before it is whole, or at all
SIGNINGS = 6  # how often signed addresses are requested again
_BLOCK = 1 << 18
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_TIMEOUT = httpx.Timeout(30.0, read=120.0, write=120.0)

Progress = Callable[[int], None]


class ServerError(Exception):
    """The server did not do what was asked; the message is a sentence for people."""


class RefusedByServer(ServerError):
    """The server refuses: a limit, a permission, a closed phase, a wrong name. Asking again changes nothing."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Trouble(ServerError):
    """The server cannot answer now: no connection, or an error on its side, even after waiting."""


@dataclass(frozen=True)
class Entry:
    """An entry to be sent: the file, and in `about` what its team states of it, by the names of `entry_fields`. When an upload is repeated,
    a field that is not stated stays as it is."""

    path: Path
    challenge: str
    phase: str
    about: Mapping[str, str]
    as_it_is: bool = False  # scored also where it would be put on hold


class Server:
    """One server, asked with one token. A context manager.

    A request is repeated with growing pauses while the connection fails or the server has trouble, for ``patience`` seconds;
    ``pause`` is told the seconds to wait, and ``say`` a sentence on each. The token goes to this server's own address only.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        pause: Callable[[float], None] = time.sleep,
        patience: float = PATIENCE_SECONDS,
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.url = httpx.URL(url.rstrip("/") + "/")
        if self.url.scheme not in ("http", "https") or not self.url.host:
            raise ValueError(f"{url} is not the address of a server; give one such as https://plumbline.example.org.")
        self.pause, self.patience, self.say = pause, patience, say
        self._token, self._has_answered = token, False
        self._http = httpx.Client(timeout=_TIMEOUT, headers={"Accept": "application/json", "User-Agent": "plumbline-client/1"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, address: str, **params: str | int) -> Any:
        """The JSON that a GET answers."""
        return self._json(self.request("GET", address, params=params))

    def post(self, address: str, body: Mapping[str, Any], **options: Any) -> Any:
        """The JSON that a POST answers; ``options`` as for ``request``."""
        return self._json(self.request("POST", address, json=dict(body), **options))

    def request(self, method: str, address: str, *, once: bool = False, **options: Any) -> httpx.Response:
        """One answer of the server itself, ``address`` being relative to it or absolute on it. ``once``: it is not asked again."""
        url = self.url.join(address)
        if (url.scheme, url.host, url.port) != (self.url.scheme, self.url.host, self.url.port):
            there = f"{url.scheme}://{url.netloc.decode()}"
            raise Trouble(f"{self.url} answers that {there} is to be asked with your token, so this stops here; tell the organizer.")
        headers = {**options.pop("headers", {}), **({"Authorization": f"Bearer {self._token}"} if self._token else {})}
        return self._repeat(lambda: self._http.request(method, url, headers=headers, **options), once)

    def once(self, address: str, body: Mapping[str, Any], seconds: float) -> httpx.Response:
        """One answer to a POST, with any status, without another try. Raises `Trouble` where the server does not answer or has trouble."""
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            response = self._http.post(self.url.join(address), json=dict(body), headers=headers, timeout=seconds)
        except httpx.TransportError as error:
            raise self._unreachable(error) from None
        self._has_answered = True
        if response.status_code in _PASSING:
            raise Trouble(f"{self.url.host} has trouble: {_sentence(response)}")
        return response

    def download(self, url: str, path: Path, size: int, sha256: str) -> None:
        """The file of that size and digest at a signed address, which needs no token, as `path`. Raises `ServerError`."""
        part = path.with_name(f"{path.name}.{random.getrandbits(48):x}.part")

        def ask() -> httpx.Response:
            digest, got = hashlib.sha256(), 0
            with self._http.stream("GET", url, headers={"Accept-Encoding": "identity"}) as response, part.open("wb") as target:
                if response.status_code != 200:
                    response.read()
                    return response
                for block in response.iter_raw(_BLOCK):
                    got += len(block)
                    if got > size:
                        break
                    digest.update(block)
                    target.write(block)
            if got < size:
                raise httpx.ReadError(f"{got:,} of {size:,} bytes came")
            if got > size or digest.hexdigest() != sha256:
                raise RefusedByServer(f"What {self.url.host} sent is not the file that it described; claim the part again.", 502)
            return response

        try:
            self._repeat(ask, once=False)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def put_signed(self, url: str, make_options: Callable[[], dict[str, Any]]) -> httpx.Response:
        """One answer of a file store, for a signed address that needs no token."""
        return self._repeat(lambda: self._http.put(url, **make_options()), once=False)

    def _repeat(self, ask: Callable[[], httpx.Response], once: bool) -> httpx.Response:
        outage = Outage(self)
        while True:
            asked_to_wait: float | None = None
            begun = time.monotonic()
            try:
                response = ask()
                self._has_answered = True
                if response.is_redirect:
                    target = response.headers.get("location", "another address")
                    raise RefusedByServer(f"{response.url} has moved to {target}; give that server's address.", response.status_code)
                if response.status_code not in _PASSING:
                    if response.is_error:
                        raise RefusedByServer(_sentence(response), response.status_code)
                    return response
                given = response.headers.get("retry-after", "")
                if given.isdigit():
                    asked_to_wait = float(given)
                else:
                    with suppress(ValueError):
                        asked_to_wait = max(0.0, email.utils.parsedate_to_datetime(given).timestamp() - time.time())
                trouble: ServerError = Trouble(f"{self.url.host} has trouble: {_sentence(response)}")
                if response.status_code == 429:
                    trouble = RefusedByServer(_sentence(response), 429)
                    if asked_to_wait is None or asked_to_wait > LONGEST_ASKED:
                        raise trouble
            except httpx.TransportError as error:
                trouble = self._unreachable(error)
            if once:
                raise trouble
            outage.wait(trouble, asked_to_wait, time.monotonic() - begun)

    def _unreachable(self, error: httpx.TransportError) -> Trouble:
        """Sentence on a request that got no answer. One that never got any may have been sent to a wrong address."""
        late = isinstance(error, httpx.TimeoutException)
        reason = "it did not answer in time" if late else str(error) or type(error).__name__
        check = "" if self._has_answered else " Check the address."
        return Trouble(f"{str(self.url).rstrip('/')} cannot be reached ({reason}).{check}")

    def _json(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError:
            raise Trouble(f"{response.url} does not answer as a Plumbline server does; check the address.") from None


class Outage:
    """A stretch of trouble with a server. It is waited out, but not for ever."""

    def __init__(self, server: Server) -> None:
        self.server, self.attempts, self.left = server, 0, server.patience

    def wait(self, trouble: ServerError, asked: float | None = None, took: float = 0.0) -> None:
        """Pause before the next attempt: as long as asked, else 1, 2, 4 ... seconds, a little at random; the failed one ``took``
        some already. Raises the trouble where it has lasted too long."""
        self.attempts += 1
        self.left -= took
        grown = min(LONGEST_PAUSE, 2.0 ** (self.attempts - 1)) * random.uniform(0.75, 1.25)  # noqa: S311 - spreads retries
        pause = min(asked, LONGEST_ASKED) if asked is not None else grown
        if pause > self.left:
            if isinstance(trouble, Trouble) and self.attempts > 1:
                raise Trouble(f"{trouble} It was waited for in vain; try again later.")
            raise trouble
        self.left -= pause
        self.server.say(f"{trouble} Trying again in {_duration(pause)}, and for {_duration(self.left)} more if need be.")
        self.server.pause(pause)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def _sentence(response: httpx.Response) -> str:
    """Return what a problem-details answer says, or the bare status."""
    try:
        problem = response.json()
        said = problem.get("detail") or problem.get("title")
    except (ValueError, AttributeError):
        said = None
    return str(said) if said else f"{response.url} answered {response.status_code} {response.reason_phrase}."


# --- uploads


def upload(server: Server, entry: Entry, started: Callable[[int, int], None], sent: Progress) -> dict[str, Any]:
    """Sends a file and returns the received submission. An upload of the same bytes that was begun before is continued; one
    that stops here leaves its place to others until then.

    ``started`` is told the bytes that are there already and all bytes; ``sent`` each further number of bytes, negative
    when some must be sent again. Raises ``ServerError``.
    """
    reserved = _reserve(server, entry, file_digest(entry.path))
    if not reserved.get("upload"):
        return reserved  # the same bytes came a moment ago, from another window or before an answer was lost
    address = f"api/v1/submissions/{reserved['id']}"
    try:
        return _send(server, entry, reserved, address, started, sent)
    except BaseException:  # stopped by hand, too
        with suppress(ServerError):  # then it is given up by itself, some minutes later
            server.post(f"{address}/pause", {}, once=True, timeout=STOP_SECONDS)
        raise


def _send(
    server: Server, entry: Entry, reserved: dict[str, Any], address: str, started: Callable[[int, int], None], sent: Progress
) -> dict[str, Any]:
    size = entry.path.stat().st_size
    told, heard = False, time.monotonic()

    def on(length: int) -> None:
        """Report sent bytes to `sent`, and now and then to the server that the upload is alive."""
        nonlocal heard
        sent(length)
        if time.monotonic() - heard > HEARD_SECONDS:
            heard = time.monotonic()
            try:
                server.post(f"{address}/resume", {}, once=True)
            except ServerError as error:
                if isinstance(error, RefusedByServer) and error.status != 429:
                    raise  # its place is taken; trouble is met, and waited out, by the next request

    tags: dict[int, str] = {}
    for _ in range(SIGNINGS):
        plan = reserved["upload"]
        # Number (from 1), offset and length of every part that the server does not have.
        each, done = plan["part_size"], set(plan["parts_done"])
        starts = enumerate(range(0, size, each), 1)
        missing = [(number, start, min(each, size - start)) for number, start in starts if number not in done]
        if not told:
            started(size - sum(length for _, _, length in missing), size)
            told = True
        try:
            for number, start, length in missing:
                with entry.path.open("rb") as stream:
                    part = _Part(stream, start, length, on)
                    if plan["kind"] == "multipart":
                        urls = {one["number"]: one["url"] for one in plan["parts"]}
                        tags[number] = server.put_signed(urls[number], part.options).headers.get("etag", "")
                    else:
                        server.request("PUT", f"{plan['url'].rstrip('/')}/{number}", content=part, headers=part.headers)
            body = {"parts": [{"number": number, "etag": tag} for number, tag in sorted(tags.items())]}
            return _complete(server, address, plan["complete_url"], body if plan["kind"] == "multipart" else {})
        except RefusedByServer as refusal:
            # A signed address runs out before the reservation does; the server signs new ones for the asking.
            if plan["kind"] != "multipart" or refusal.status != 403:
                raise
            reserved = server.get(address)
    raise Trouble("The file store keeps refusing its own signed addresses; tell the organizer.")


def _complete(server: Server, address: str, complete_url: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The entry, after the server was told that all parts are there. Where no answer came, that may have been lost and not the request."""
    outage = Outage(server)
    while True:
        try:
            return server.post(complete_url, body, once=True)
        except Trouble as trouble:
            outage.wait(trouble)
        found = server.get(address)
        if found["status"] != "uploading":
            return found


def _reserve(server: Server, entry: Entry, digest: str) -> dict[str, Any]:
    """The reservation for these bytes: one that is open already, else a new one.

    A connection that broke may have reserved all the same, so every new attempt looks first.
    """
    place = {"challenge": entry.challenge, "phase": entry.phase}
    texts = dict(entry.about)
    file = {"file_name": entry.path.name, "size": entry.path.stat().st_size, "sha256": digest}
    outage = Outage(server)
    while True:
        for found in server.get("api/v1/submissions", uploading=1, sha256=digest)["items"]:
            if place.items() <= found.items() and found.get("upload"):
                if not texts.items() <= found.items():
                    server.request("PATCH", f"api/v1/submissions/{found['id']}", json=texts)
                return server.post(f"api/v1/submissions/{found['id']}/resume", {})
        try:
            as_it_is = {"as_it_is": True} if entry.as_it_is else {}
            return server.post("api/v1/submissions", place | texts | file | as_it_is, once=True)
        except Trouble as trouble:
            outage.wait(trouble)


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

"""A server of a few lines that speaks the upload protocol over real HTTP, and fails when told to."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "plumb_test"


@dataclass
class SmallServer:
    """Server for tests: what it holds, what it was asked, and what it shall do wrong.

    ``faults`` are taken from the front, each when a request matches its pattern of "METHOD /path": a status with
    headers and detail, "drop" to close the connection without an answer, or "deaf" to do the work first and then drop.
    """

    manifest: dict[str, Any]
    kind: str = "chunks"
    part_size: int = 1000
    url: str = ""
    faults: list[tuple[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    entries: dict[int, dict[str, Any]] = field(default_factory=dict)
    parts: dict[tuple[int, int], bytes] = field(default_factory=dict)
    states: list[dict[str, Any]] = field(default_factory=list)
    generation: int = 0
    paused: set[int] = field(default_factory=set)

    def fail(self, pattern: str, fault: Any, times: int = 1) -> None:
        self.faults += [(pattern, fault)] * times

    def content(self, pk: int) -> bytes:
        return b"".join(self.parts[key] for key in sorted(self.parts) if key[0] == pk)

    def entry(self, pk: int) -> dict[str, Any]:
        entry = dict(self.entries[pk])
        if entry["status"] == "uploading":
            entry["upload"] = self.offer(pk, entry["size"])
        return entry

    def offer(self, pk: int, size: int) -> dict[str, Any]:
        done = sorted(number for key, number in self.parts if key == pk)
        base = f"{self.url}/api/v1/submissions/{pk}"
        count = -(-size // self.part_size)
        signed = [{"number": n, "url": f"{self.url}/store/{pk}/{n}?signed={self.generation}"} for n in range(1, count + 1) if n not in done]
        multipart = self.kind == "multipart"
        return {
            "kind": self.kind,
            "part_size": self.part_size,
            "parts_done": done,
            "url": None if multipart else f"{base}/parts",
            "parts": signed if multipart else None,
            "complete_url": f"{base}/complete",
            "expires_at": "2030-01-01T00:00:00Z",
        }

    # --- answers: status and JSON

    def answer(self, method: str, target: str, body: bytes, headers: Any) -> tuple[int, Any]:
        path = urlsplit(target).path
        if path.startswith("/store/"):
            return self.store(path, target, body, headers)
        if path.endswith("/manifest"):
            return 200, self.manifest
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"title": "Unauthorized", "status": 401, "detail": "This token is not valid; make a new one."}
        if path == "/api/v1/submissions":
            return self.reserve(json.loads(body)) if method == "POST" else self.open_uploads(parse_qs(urlsplit(target).query))
        match = re.fullmatch(r"/api/v1/submissions/(\d+)(?:/(complete|parts/(\d+)|resume|pause))?", path)
        if not match or int(match[1]) not in self.entries:
            return 404, {"title": "Not Found", "status": 404, "detail": "There is no such entry."}
        pk = int(match[1])
        if method == "PATCH":
            self.entries[pk] |= json.loads(body)
        elif match[3]:
            self.parts[pk, int(match[3])] = body
        elif match[2] == "pause":
            self.paused.add(pk)
        elif match[2] == "resume":
            self.paused.discard(pk)
        elif match[2]:
            return self.complete(pk, json.loads(body))
        elif self.states and self.entries[pk]["status"] != "uploading":
            self.entries[pk] |= self.states.pop(0)
        return 200, self.entry(pk)

    def store(self, path: str, target: str, body: bytes, headers: Any) -> tuple[int, Any]:
        if headers.get("Authorization") or headers.get("Transfer-Encoding"):
            return 400, {"detail": "a file store takes neither tokens nor chunked bodies"}
        if not target.endswith(f"signed={self.generation}"):
            return 403, {"detail": "Request has expired"}
        _, _, pk, number = path.split("/")
        self.parts[int(pk), int(number)] = body
        return 200, {"etag": hashlib.md5(body).hexdigest()}

    def open_uploads(self, query: dict[str, list[str]]) -> tuple[int, Any]:
        assert query["uploading"] == ["1"]
        wanted = [pk for pk, e in self.entries.items() if e["status"] == "uploading" and e["sha256"] == query["sha256"][0]]
        return 200, {"items": [self.entry(pk) for pk in wanted], "next": None}

    def reserve(self, request: dict[str, Any]) -> tuple[int, Any]:
        pk = len(self.entries) + 1
        self.entries[pk] = {**request, "id": pk, "number": pk + 10, "status": "uploading", "page_url": f"{self.url}/entries/{pk}/"}
        return 201, self.entry(pk)

    def complete(self, pk: int, body: dict[str, Any]) -> tuple[int, Any]:
        entry = self.entries[pk]
        if self.kind == "multipart":
            assert [part for part in body["parts"] if part["etag"] != hashlib.md5(self.parts[pk, part["number"]]).hexdigest()] == []
        if hashlib.sha256(self.content(pk)).hexdigest() != entry["sha256"]:
            return 409, {"title": "Conflict", "status": 409, "detail": "It arrived with another checksum than announced."}
        entry["status"] = "received"
        return 200, self.entry(pk)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet an answer, else each waits for an acknowledgement
    small: SmallServer

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        line = f"{self.command} {self.path}"
        self.small.asked.append(line)
        fault = self._fault(line)
        if fault == "drop":
            self.close_connection = True
            return
        if isinstance(fault, tuple):
            status, headers, detail = fault
            return self._send(status, {"title": "Trouble", "status": status, "detail": detail}, headers)
        status, value = self.small.answer(self.command, self.path, body, self.headers)
        if fault == "deaf":
            self.close_connection = True
            return
        self._send(status, value, {"ETag": value["etag"]} if "etag" in value else {})

    def _fault(self, line: str) -> Any:
        if self.small.faults and re.search(self.small.faults[0][0], line):
            return self.small.faults.pop(0)[1]
        return None

    def _send(self, status: int, value: Any, headers: dict[str, str]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        kind = "application/json" if status < 400 else "application/problem+json"
        for name, text in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = _serve

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(small: SmallServer) -> Iterator[SmallServer]:
    """Serves on a free port of this machine until the block ends."""
    handler = type("Handler", (_Handler,), {"small": small})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    small.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield small
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

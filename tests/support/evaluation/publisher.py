"""A web server that publishes one file as publishers do: with pieces on demand, cuts and troubles where a test wants them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Publisher:
    """Publisher of `data` at `url`: how it sends them, and what was asked for."""

    data: bytes
    etag: str = '"one"'
    ranges: bool = True  # whether it sends pieces
    cut_after: list[int] = field(default_factory=list)  # bytes after which the next answers are cut off
    statuses: list[int] = field(default_factory=list)  # of the next answers, instead of the file
    redirect: str = ""
    linked: str = ""  # what the redirection says of the file
    kind: str = "application/octet-stream"
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append(dict(handler.headers))
        if self.statuses or self.redirect:
            handler.send_response(self.statuses.pop(0) if self.statuses else 302)
            if self.redirect:
                handler.send_header("Location", self.redirect)
                if self.linked:
                    handler.send_header("X-Linked-Etag", self.linked)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        start = self._start(handler)
        if start > len(self.data) or (start and start == len(self.data)):
            handler.send_response(416)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(self.data) - 1}/{len(self.data)}")
        if self.etag:
            handler.send_header("ETag", self.etag)
        handler.send_header("Content-Type", self.kind)
        handler.send_header("Content-Length", str(len(self.data) - start))
        handler.end_headers()
        end = start + self.cut_after.pop(0) if self.cut_after else len(self.data)
        handler.wfile.write(self.data[start:end])
        handler.wfile.flush()
        handler.close_connection = True

    def _start(self, handler: BaseHTTPRequestHandler) -> int:
        wanted = handler.headers.get("Range", "")
        known = handler.headers.get("If-Range", self.etag)
        if not (wanted and self.ranges and known == self.etag):
            return 0
        return int(wanted.removeprefix("bytes=").rstrip("-"))


@contextmanager
def published(data: bytes) -> Iterator[Publisher]:
    """A server of this file on this machine."""
    it = Publisher(data)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            it.answer(self)

        def log_message(self, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    it.url = f"http://127.0.0.1:{server.server_port}/weights.pth"
    try:
        yield it
    finally:
        server.shutdown()
        server.server_close()

"""A small static site for browser tests: the product's static files and given pages, under the
product's content security policy, with no Django behind it."""

from __future__ import annotations

import mimetypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests import ROOT

STATIC = ROOT / "leaderboard" / "static"
POLICY = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'"


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    status: int = 200
    body: bytes | str = b""
    type: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


Route = Callable[[Request], Answer]


def html_page(body: str, head: str = "") -> str:
    """A whole page as base.html makes it, with `body` inside main."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Test page</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="csrf-token" content="token-from-meta">'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/static/plumbline.css">'
        '<script src="/static/plumbline.js" data-upload="/static/upload.js" data-pictures="/static/pictures.js"'
        ' data-regions="/static/regions.js" defer></script>'
        f"{head}</head><body><main>{body}</main></body></html>"
    )


def until(tab, expression: str, seconds: float = 60) -> None:
    """Wait until `expression` is true in the page. Playwright's own way evaluates text inside the page, which the policy forbids."""
    deadline = time.monotonic() + seconds
    while not tab.evaluate(expression):
        if time.monotonic() > deadline:
            raise TimeoutError(f"still not true after {seconds} s: {expression}")
        time.sleep(0.02)


class Site:
    """`routes` maps a path to a page (text) or to a function from Request to Answer."""

    def __init__(self) -> None:
        self.routes: dict[str, str | Route] = {}
        self.url = ""

    def answer(self, request: Request) -> Answer:
        path = request.path.partition("?")[0]
        if path.startswith("/static/"):
            file = STATIC / path.removeprefix("/static/")
            if not file.is_file():
                return Answer(404)
            return Answer(body=file.read_bytes(), type=mimetypes.guess_type(file.name)[0] or "application/octet-stream")
        route = self.routes.get(path)
        if route is None:
            return Answer(404)
        return Answer(body=route) if isinstance(route, str) else route(request)


@contextmanager
def serve() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            answer = site.answer(Request(self.command, self.path, dict(self.headers), self.rfile.read(length)))
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            self.send_response(answer.status)
            headers = {"Content-Type": answer.type, "Content-Length": str(len(body)), "Content-Security-Policy": POLICY, **answer.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = respond

        def log_message(self, *arguments: object) -> None:
            """Quiet: a failing test shows what the browser saw instead."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A browser that went away, or a route that dropped the connection on purpose, is no error."""
            if not isinstance(sys.exception(), ConnectionError):
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()

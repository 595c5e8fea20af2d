"""A small server that speaks the chat-completions protocol, well or badly, for the tests of judges."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-very-secret-key"


@dataclass
class Answer:
    """One HTTP answer: a status, headers, a body (JSON unless it is bytes), after `wait` seconds."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0


def says(*texts: str, tokens: tuple[int, int] | None = (1000, 50), **more: Any) -> Answer:
    """A good answer with these texts."""
    choices = [{"index": n, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"} for n, text in enumerate(texts)]
    usage = {"usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1] * len(texts)}} if tokens else {}
    return Answer({"id": "x", "object": "chat.completion", "choices": choices} | usage, **more)


def fault(status: int, message: str = "", **headers: str) -> Answer:
    return Answer({"error": {"message": message, "type": "error"}}, status, {name.replace("_", "-"): v for name, v in headers.items()})


Behaviour = Callable[[dict[str, Any]], Answer]


class Server:
    """`answers` are given one after the other, then `behave` decides; `requests` are the bodies that came, `headers` theirs."""

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.answers: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _next(self, body: dict[str, Any], headers: dict[str, str], path: str) -> Answer:
        with self.lock:
            self.requests.append(body)
            self.headers.append(headers)
            self.paths.append(path)
            self.times.append(time.monotonic())
            if self.answers:
                return self.answers.pop(0)
        return self.behave(body)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = server._next(body, dict(self.headers.items()), self.path)
                time.sleep(answer.wait)
                data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                try:
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except ConnectionError:
                    pass  # whoever asked did not wait

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@contextmanager
def serving(behave: Behaviour) -> Iterator[Server]:
    server = Server(behave)
    try:
        yield server
    finally:
        server.close()


def instruction_of(body: dict[str, Any]) -> str:
    """The text of a question."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]

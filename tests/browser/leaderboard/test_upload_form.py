"""The upload form against a stand-in for the chunk protocol: what arrives, what is sent again, what is said."""

from __future__ import annotations

import hashlib
import json
import threading

import pytest

from tests.support.leaderboard.static_site import Answer, Request, html_page, until

FORM = """
<form method="post" action="/plain" enctype="multipart/form-data" data-create-url="/api/uploads">
<input name="method_name" value="gable-net v3"><input type="checkbox" name="chosen" checked>
<div class="drop"><label for="id_file"><b>Drop one file here, or choose it</b></label>
<input type="file" name="file" id="id_file" required></div>
<button class="primary">Upload</button></form>
"""
PART = 1000


class Server:
    """Takes an upload in parts of PART bytes, as the service does."""

    def __init__(self, site) -> None:
        self.created: list[dict] = []
        self.parts: dict[int, bytes] = {}
        self.puts: list[int] = []
        self.completed: list[str] = []
        self.tokens: set[str] = set()
        self.refuse = None
        self.fail_once = 0
        self.hold: threading.Event | None = None
        self.heard: list[str] = []
        self.told = threading.Event()  # whether something was heard
        for act in ("pause", "resume"):
            site.routes[f"/api/uploads/7/{act}"] = self.hear
        site.routes.update({"/api/uploads": self.create, "/api/done": self.complete, "/entry/7": html_page("<h1>Entry 7</h1>")})
        for number in range(1, 10):
            site.routes[f"/api/parts/{number}"] = self.part

    def create(self, request: Request) -> Answer:
        if request.method == "GET":  # was it begun before? never, here
            return Answer(200, json.dumps({"items": [], "next": None}), "application/json")
        self.tokens.add(request.headers.get("X-CSRFToken") or request.headers.get("X-Csrftoken", ""))
        if self.refuse:
            return Answer(409, json.dumps(self.refuse), "application/problem+json")
        self.created.append(json.loads(request.body))
        upload = {
            "kind": "chunks",
            "part_size": PART,
            "parts_done": [],
            "url": "/api/parts/{part}",
            "parts": [],
            "complete_url": "/api/done",
        }
        return Answer(201, json.dumps({"id": 7, "page_url": "/entry/7", "upload": upload}), "application/json")

    def hear(self, request: Request) -> Answer:
        self.heard.append(request.path.rpartition("/")[2])
        self.told.set()
        return Answer(200, "{}", "application/json")

    def part(self, request: Request) -> Answer:
        number = int(request.path.rpartition("/")[2])
        self.puts.append(number)
        if number == 2 and self.hold:
            self.hold.wait(10)
        if number == self.fail_once:
            self.fail_once = 0
            return Answer(503, "busy", "text/plain")
        self.parts[number] = request.body
        return Answer(204)

    def complete(self, request: Request) -> Answer:
        self.completed.append(request.method)
        return Answer(200, json.dumps({"page_url": "/entry/7"}), "application/json")


@pytest.fixture
def server(site) -> Server:
    return Server(site)


CONTENT = bytes(range(256)) * 13  # 3,328 bytes: four parts, the last one short
FILE = {"name": "entry.zip", "mimeType": "application/zip", "buffer": CONTENT}


def attached(show):
    """The form once the script is there: before that it is sent whole, as a plain form."""
    tab = show(FORM)
    until(tab, "!!document.querySelector('progress')")
    return tab


def test_a_file_arrives_whole_with_its_fields_and_digest_and_ends_on_the_entrys_page(show, server) -> None:
    tab = attached(show)
    tab.set_input_files("#id_file", FILE)
    tab.wait_for_function("() => document.querySelector('.drop').innerText.includes('entry.zip, 3.3 kB')")
    tab.click("button.primary")
    tab.wait_for_url("**/entry/7")
    assert b"".join(server.parts[n] for n in sorted(server.parts)) == CONTENT
    sent = {
        "method_name": "gable-net v3",
        "chosen": True,
        "file_name": "entry.zip",
        "size": 3328,
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
    }
    assert server.created == [sent]
    assert server.completed == ["POST"] and server.tokens == {"token-from-meta"}
    assert tab.failures == []


def test_a_part_that_fails_is_sent_again_by_itself(show, server) -> None:
    server.fail_once = 3
    tab = attached(show)
    tab.set_input_files("#id_file", FILE)
    tab.click("button.primary")
    tab.wait_for_url("**/entry/7")
    assert server.puts == [1, 2, 3, 3, 4]
    assert b"".join(server.parts[n] for n in sorted(server.parts)) == CONTENT


def test_a_stopped_upload_goes_on_where_it_was(show, server) -> None:
    server.hold = threading.Event()
    tab = attached(show)
    tab.set_input_files("#id_file", FILE)
    tab.click("button.primary")
    until(tab, "document.querySelector('progress').value > 0.29")
    tab.click("button.stop")
    assert tab.inner_text(".alert").endswith("continue, or start again.")
    server.hold.set()
    server.hold = None
    tab.click("button.again")
    tab.wait_for_url("**/entry/7")
    assert server.puts.count(1) == 1 and len(server.created) == 1
    assert server.heard == ["pause", "resume"]
    assert b"".join(server.parts[n] for n in sorted(server.parts)) == CONTENT


def test_a_page_that_is_closed_gives_up_the_uploads_place(show, server) -> None:
    server.hold = threading.Event()
    tab = attached(show)
    tab.set_input_files("#id_file", FILE)
    tab.click("button.primary")
    until(tab, "document.querySelector('progress').value > 0.29")
    assert server.heard == []
    tab.close()
    assert server.told.wait(10) and server.heard == ["pause"]
    server.hold.set()


def test_an_upload_says_that_it_goes_on_while_a_part_takes_long(show, server) -> None:
    server.hold = threading.Event()
    tab = show(FORM)
    tab.evaluate("window.setInterval = new Proxy(setInterval, {apply: (f, t, [act]) => f.call(t, act, 50)})")
    tab.set_input_files("#id_file", FILE)
    tab.click("button.primary")
    assert server.told.wait(10) and set(server.parts) == {1}
    server.hold.set()
    tab.wait_for_url("**/entry/7")
    assert set(server.heard) == {"resume"}, "what has arrived has no place to give up"


def test_a_refusal_is_shown_as_the_servers_own_sentence(show, server) -> None:
    server.refuse = {"title": "Conflict", "status": 409, "detail": "No uploads are left today; the next is possible at 00:00 UTC."}
    tab = attached(show)
    tab.set_input_files("#id_file", FILE)
    tab.click("button.primary")
    tab.wait_for_selector(".alert:visible")
    assert tab.inner_text(".alert") == "No uploads are left today; the next is possible at 00:00 UTC."
    assert tab.is_enabled("button.primary") and not tab.is_visible("button.again")


DROP = """names => { const data = new DataTransfer(); names.forEach(name => data.items.add(new File(['a'], name)));
  const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
  document.querySelector('.drop').dispatchEvent(event); }"""


def test_two_dropped_files_are_declined_with_what_to_do(show, server) -> None:
    tab = show(FORM)
    tab.wait_for_selector(".chosen", state="attached")
    tab.evaluate(DROP, ["a.obj", "b.obj"])
    assert tab.inner_text(".chosen") == "Drop one file; these are 2. Put them into one zip."


def test_one_dropped_file_is_chosen(show, server) -> None:
    tab = show(FORM)
    tab.wait_for_selector(".chosen", state="attached")
    tab.evaluate(DROP, ["a.obj"])
    assert tab.inner_text(".chosen") == "a.obj, 1 B"
    assert tab.evaluate("document.querySelector('#id_file').files.length") == 1


def test_without_script_the_plain_form_sends_the_file(show, site, server) -> None:
    got: list[bytes] = []
    site.routes["/plain"] = lambda request: got.append(request.body) or Answer(body=html_page("<p>received</p>"))
    tab = show(FORM, java_script_enabled=False)
    tab.set_input_files("#id_file", FILE)
    tab.click("button.primary")
    assert tab.inner_text("main") == "received"
    assert CONTENT in got[0] and b'name="method_name"' in got[0]

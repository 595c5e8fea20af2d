"""A walk through the pages as somebody, in a process that cannot import what it is told: `python -m tests.support.leaderboard.walk`.

Arguments: the name of a user, modules that cannot be imported (with commas between), then `METHOD address [body as JSON]` in turn, before
the links are followed. Prints one JSON object: `pages`, `failed` (address and status, from 500 on), `answers` (status of each request).
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from collections.abc import Sequence
from html import unescape

from tests.support.stack import with_room

MAX_PAGES = 400
LINK = re.compile(r'(?:href|hx-get)="(/[^"#]*)')
NOT_FOLLOWED = ("/static/", "/accounts/logout", "/-/")


class Missing:
    """A finder to which these modules are not installed."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main(user: str, missing: str, *requests: str) -> None:
    sys.meta_path.insert(0, Missing(missing.split(",")))
    import django

    django.setup()
    from django.test import Client

    from submissions.models import User

    client = Client(raise_request_exception=False, HTTP_HOST="localhost")
    client.force_login(User.objects.get(username=user))
    gc.freeze()  # what is loaded by now is not looked through again
    answers = []
    for request in requests:
        method, address, *body = request.split(" ", 2)
        answers.append(client.generic(method, address).status_code if not body else client.post(address, json.loads(body[0])).status_code)
    waiting, seen, failed = ["/"], {"/"}, []
    patterns: dict[str, int] = {}
    pages = 0
    while waiting and pages < MAX_PAGES:
        address = waiting.pop(0)
        answer = client.get(address)
        pages += 1
        if answer.status_code >= 500:
            failed.append([address, answer.status_code])
        if "text/html" not in answer.headers.get("Content-Type", "") or answer.streaming:
            continue
        for link in map(unescape, LINK.findall(answer.content.decode())):
            pattern = re.sub(r"\d+|=[^&]*", "0", link)
            if link in seen or link.startswith(NOT_FOLLOWED) or patterns.get(pattern, 0) >= 3:
                continue
            seen.add(link)
            patterns[pattern] = patterns.get(pattern, 0) + 1
            waiting.append(link)
    print(json.dumps({"pages": pages, "failed": failed, "answers": answers}))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    with_room(lambda: main(*sys.argv[1:]))

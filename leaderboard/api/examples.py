"""Examples of calls of each operation of the API, in curl and in Python, made of the API's own schema.

The examples are complete: what they need is a token in PLUMBLINE_TOKEN, and where bytes are sent the file that they name. The tests run
every one of them, except for the calls of remote workers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

# Values in an example for a part of an address, and for a required query.
SAMPLES: Mapping[str, str] = {
    "challenge": "rooflines",
    "phase": "practice",
    "submission": "42",
    "number": "1",
    "file": "3",
    "token": "5",
    "merge": "4",
    "digest": "8e161c9f",
    "key": "hss",
    "name": "rooflines",
    "published": "nerf-qa",
    "study": "readers",
    "metric": "hss",
    "pk": "7",
    "part": "11",
    "signed": "SIGNED-NAME",
}
# Values for a field of a body that is required, or without which the act has no meaning.
FIELDS: Mapping[str, Any] = {
    "rules_version": "1",
    "name": "Ridgeline",
    "email": "ann@example.org",
    "username": "ann",
    "token": "TOKEN-OF-THE-INVITATION",
    "challenge": SAMPLES["challenge"],
    "phase": SAMPLES["phase"],
    "method_name": "my-method",
    "file_name": "entry.zip",
    "size": 20480,
    "fence": "FENCE-OF-THE-PART",
    "results": {},
}
EDITED = {"code_url": "https://example.org/code", "licence": "Apache 2.0"}
UPLOADED = {"application/octet-stream": "entry.zip", "multipart/form-data": "program.zip"}
FOR_PARTICIPANTS = frozenset({"challenges_list_files", "challenges_get_file"})  # asked of anybody, who is answered nothing without a token
DOWNLOADED = "download.bin"
OF_WORKERS = "workers"  # the tag of calls by remote workers with keys of their own: no call for anybody else, so without an example


@dataclass(frozen=True)
class Example:
    """Example call of one operation, known by the module and the function that does it; `public` ones need no token, `query` must be
    given."""

    key: str
    method: str
    path: str
    public: bool
    query: tuple[str, ...]
    body_type: str
    body: Mapping[str, Any]
    is_download: bool

    @property
    def act(self) -> str:
        """The name of its function."""
        return self.key.partition("_")[2]

    def _address(self, values: Mapping[str, str]) -> str:
        path = re.sub(r"\{(\w+)\}", lambda part: values.get(part[1], part[1].upper()), self.path)
        query = [f"{name}={values[name]}" for name in self.query]
        return path + (f"?{'&'.join(query)}" if query else "")

    def _body(self, values: Mapping[str, str]) -> dict[str, Any]:
        """The body, with what `values` says otherwise (by `body.NAME`, or of the same name in the address)."""
        named = {name: values[name] for name in ("challenge", "phase") if name in self.body}
        return {name: values.get(f"body.{name}", given) for name, given in ({**self.body, **named}).items()}

    def curl(self, site: str, values: Mapping[str, str] = SAMPLES) -> str:
        """A command for a shell."""
        parts = ["curl --fail-with-body -sS"]
        if self.method != "GET":
            parts[0] += f" -X {self.method}"
        if self.is_download:
            parts[0] += f" -L -o {DOWNLOADED}"
        if not self.public:
            parts.append('-H "Authorization: Bearer $PLUMBLINE_TOKEN"')
        if self.body_type == "application/json":
            parts.append("-H 'Content-Type: application/json'")
            parts.append("-d '" + json.dumps(self._body(values), ensure_ascii=False).replace("'", "'\\''") + "'")
        elif self.body_type == "application/octet-stream":
            parts.append(f"--data-binary @{UPLOADED[self.body_type]}")
        elif self.body_type == "multipart/form-data":
            parts.append(f"-F file=@{UPLOADED[self.body_type]}")
        parts.append(f"'{site}/api/v1{self._address(values)}'")
        return " \\\n  ".join(parts)

    def python(self, site: str, values: Mapping[str, str] = SAMPLES) -> str:
        """A program, with the library requests."""
        lines = ["import os", ""] if not self.public else []
        if self.is_download or self.body_type in UPLOADED:
            lines = [*lines[:1], "from pathlib import Path", ""]
        lines += ["import requests", ""]
        more = ["timeout=60"]
        if not self.public:
            lines.append('headers = {"Authorization": f"Bearer {os.environ[\'PLUMBLINE_TOKEN\']}"}')
            more.insert(0, "headers=headers")
        if self.body_type == "application/json":
            fields = (f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in self._body(values).items())
            lines.append(f"body = {{{', '.join(fields)}}}")
            more.insert(0, "json=body")
        elif self.body_type == "application/octet-stream":
            lines.append(f'part = Path("{UPLOADED[self.body_type]}").read_bytes()')
            more.insert(0, "data=part")
        elif self.body_type == "multipart/form-data":
            name = UPLOADED[self.body_type]
            lines.append(f'files = {{"file": ("{name}", Path("{name}").read_bytes())}}')
            more.insert(0, "files=files")
        lines.append(f'answer = requests.{self.method.lower()}("{site}/api/v1{self._address(values)}", {", ".join(more)})')
        lines.append("answer.raise_for_status()")
        lines.append(f'Path("{DOWNLOADED}").write_bytes(answer.content)' if self.is_download else "print(answer.text)")
        return "\n".join(lines)


def examples(schema: Mapping[str, Any], public: Collection[tuple[str, str]]) -> list[Example]:
    """One for each operation of the schema except workers', in its order. `public` has the (method, address) of operations that need no
    token."""
    found = []
    for path, by_method in schema["paths"].items():
        short = path.removeprefix("/api/v1")
        for method, one in by_method.items():
            if OF_WORKERS in one.get("tags", ()):
                continue
            key = one["operationId"].rpartition("_api_")[2]
            query = tuple(it["name"] for it in one.get("parameters", ()) if it["in"] == "query" and it.get("required"))
            content = one.get("requestBody", {}).get("content", {})
            body_type = next(iter(content), "")
            body = _body(schema, content[body_type]["schema"]) if body_type == "application/json" else {}
            answers = one["responses"].get(200, {}).get("content", {})
            is_public = (method.upper(), short) in public and key not in FOR_PARTICIPANTS
            found.append(Example(key, method.upper(), short, is_public, query, body_type, body, "application/octet-stream" in answers))
    return found


def _body(schema: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Example of a body with what must be given; where nothing must, with what is usual."""
    name = own.get("$ref", "").rpartition("/")[2]
    own = schema["components"]["schemas"][name] if name else own
    body = {name: FIELDS.get(name, name.upper()) for name in own.get("required", ())}  # a test asks that none is missing
    if body:
        return body
    return dict(EDITED) if "code_url" in own["properties"] else {name: FIELDS[name] for name in own["properties"] if name in FIELDS}

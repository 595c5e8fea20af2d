"""The documentation of the API, drawn from its OpenAPI schema: every address with its fields, and how to call it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from leaderboard.api.examples import OF_WORKERS, Example, examples
from leaderboard.api.service import api
from leaderboard.service.page_cache import kept
from leaderboard.views.docs import TITLES
from submissions import markdown
from submissions.api.common import anyone

JSON = "application/json"


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of what is sent or answered; `where` is path, query or body, or empty of an answer."""

    name: str
    kind: str
    words: str
    where: str = ""
    is_required: bool = False


@dataclass(frozen=True)
class Operation:
    """One call; `sends` is the media type of its body, `answers` its answer's."""

    anchor: str
    method: str
    path: str
    title: str
    words: SafeString
    needs_token: bool
    fields: list[Field]
    sends: str
    status: str
    answers: str
    answer: list[Field]
    curl: str
    python: str


def api_docs(request: HttpRequest) -> HttpResponse:
    """Every operation by its noun, in the schema's order."""
    about, calls = reference(settings.SITE_URL)
    context = {"about": about, "calls": calls, "name": "api-reference", "titles": TITLES.items()}
    return render(request, "leaderboard/api_docs.html", context)


@kept(size=1)
def reference(site: str) -> tuple[SafeString, SafeString]:
    """Description of the API and all its operations, as HTML: it takes most of a second and is the same for everybody."""
    introduction = mark_safe(markdown.render(api.description))  # noqa: S308 - our own text
    return introduction, render_to_string("leaderboard/parts/api_operations.html", {"groups": operations(site)})


def operations(site: str) -> dict[str, list[Operation]]:
    """The operations of each noun; examples call the service at the address `site`."""
    schema = api.get_openapi_schema()
    found: dict[str, list[Operation]] = {}
    calls = {(one.method, one.path): one for one in every_example()}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if OF_WORKERS in operation.get("tags", ()):
                continue
            example = calls[method.upper(), path.removeprefix("/api/v1")]
            fields = [
                Field(one["name"], kind_of(schema, one["schema"]), one.get("description", ""), one["in"], bool(one.get("required")))
                for one in operation.get("parameters", ())
            ]
            content = operation.get("requestBody", {}).get("content", {})
            sends = next(iter(content), "")
            if sends == JSON:
                fields += fields_of(schema, content[sends].get("schema", {}), "body")
            status = next((key for key in operation["responses"] if int(key) < 400), "")
            answered = operation["responses"].get(status, {}).get("content", {})
            answers = next(iter(answered), "")
            one = Operation(
                anchor=slugify(f"{method} {path.removeprefix('/api/v1/')}".replace("/", " ")),
                method=method.upper(),
                path=path,
                title=operation.get("summary", ""),
                words=mark_safe(markdown.render(operation.get("description", ""))),  # noqa: S308 - our own text
                needs_token=not example.public,
                fields=fields,
                sends=sends,
                status=status,
                answers=answers,
                answer=fields_of(schema, answered[answers].get("schema", {})) if answers == JSON else [],
                curl=example.curl(site),
                python=example.python(site),
            )
            found.setdefault((operation.get("tags") or ["others"])[0], []).append(one)
    return found


def every_example() -> list[Example]:
    """Examples of each operation; the routers know which need no token."""
    public = {
        (method, path)
        for router in api._get_bound_routers()
        for path, view in router.path_operations.items()
        for one in view.operations
        for method in one.methods
        if anyone in one.auth_callbacks
    }
    return examples(api.get_openapi_schema(), public)


def resolved(schema: Mapping[str, Any], one: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a reference names, or the schema itself."""
    while "$ref" in one:
        one = schema["components"]["schemas"][one["$ref"].rsplit("/", 1)[1]]
    return one


def fields_of(schema: Mapping[str, Any], one: Mapping[str, Any], where: str = "") -> list[Field]:
    """The fields of an object, or of the items of a list of objects."""
    one = resolved(schema, one)
    if one.get("type") == "array":
        one = resolved(schema, one.get("items", {}))
    required = set(one.get("required", ()))
    return [
        Field(name, kind_of(schema, value), value.get("description", ""), where, name in required)
        for name, value in one.get("properties", {}).items()
    ]


def kind_of(schema: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    """Kind of a value, in words."""
    if "$ref" in one:
        found = resolved(schema, one)
        return kind_of(schema, found) if "enum" in found else one["$ref"].rsplit("/", 1)[1].rstrip("_").replace("_", " ")
    if choices := one.get("anyOf") or one.get("oneOf") or one.get("allOf"):
        return " or ".join(dict.fromkeys(kind_of(schema, choice) for choice in choices))
    if "enum" in one:
        return " or ".join(json.dumps(value) for value in one["enum"])
    if "const" in one:
        return json.dumps(one["const"])
    kind = one.get("type", "anything")
    if kind == "array":
        return f"list of {kind_of(schema, one.get('items', {}))}"
    if kind == "string" and one.get("format") == "date-time":
        return "time (ISO 8601)"
    ends = {"minimum": "from {}", "maximum": "to {}", "maxLength": "at most {} characters"}
    return ", ".join([kind, *(words.format(one[end]) for end, words in ends.items() if end in one)])

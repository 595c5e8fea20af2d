"""The page of the API says all that its schema says, and its examples are programs."""

from __future__ import annotations

import html
import shlex

import pytest

from leaderboard.api.service import api
from leaderboard.views.api_docs import kind_of, operations


def every() -> list:
    return [one for found in operations("https://plumbline.example").values() for one in found]


def test_every_operation_stands_there_once_with_all_that_it_takes():
    schema = api.get_openapi_schema()
    said = {(one.method.lower(), one.path): one for one in every()}
    asked = {
        (method, path): operation
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if "workers" not in operation["tags"]
    }
    assert said.keys() == asked.keys() and len(every()) == len(said) == len({one.anchor for one in every()})
    for key, operation in asked.items():
        names = {one["name"] for one in operation.get("parameters", ())}
        assert names == {field.name for field in said[key].fields if field.where != "body"}
        if "application/json" in operation.get("requestBody", {}).get("content", {}):
            assert any(field.where == "body" for field in said[key].fields)
    reserve = said["post", "/api/v1/submissions"]
    assert {"challenge", "phase", "size"} <= {field.name for field in reserve.fields if field.is_required}


def test_its_examples_are_programs_with_nothing_left_to_fill_in():
    for one in every():
        compile(one.python, one.anchor, "exec")
        words = shlex.split(one.curl.replace("\\\n", " "))
        assert words[0] == "curl" and words[-1].startswith("https://plumbline.example/api/v1/") and "{" not in words[-1], one.anchor
        assert ("Bearer" in one.curl) == one.needs_token == ("Bearer" in one.python), one.anchor


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 100}, "integer, from 1, to 100"),
        ({"anyOf": [{"type": "string", "maxLength": 80}, {"type": "null"}]}, "string, at most 80 characters or null"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, 'list of "a" or "b"'),
        ({"type": "string", "format": "date-time"}, "time (ISO 8601)"),
        ({"$ref": "#/components/schemas/Page_News_"}, "Page News"),
    ],
)
def test_what_a_value_is_stands_in_words(schema, words):
    assert kind_of(api.get_openapi_schema(), schema) == words


@pytest.mark.django_db
def test_the_page_is_one_of_the_house(client):
    page = html.unescape(client.get("/api/v1/docs").content.decode())
    assert 'aria-label="Documents"' in page and "plumbline.css" in page and "Reserve an upload" in page
    assert page.count('class="card call"') == len(every()) and "swagger" not in page

    assert page.count('<div class="prose"><p>') == 1 + sum(bool(one.words) for one in every())

"""Compressed answers, and a browser's copy, which is still told to be good."""

from __future__ import annotations

import gzip

import pytest
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory
from django.urls import reverse

from leaderboard.service.middleware import CompressionMiddleware
from leaderboard.tasks import build_due_boards
from tests.service.leaderboard.views.test_board import address, scores
from tests.support.factories import gables
from tests.support.leaderboard.scores import entry, with_files

GZIP = {"accept-encoding": "gzip, deflate, br"}
TEXT = b"A roof of two planes. " * 40


@pytest.mark.parametrize(
    ("response", "is_compressed"),
    [
        (lambda: HttpResponse(TEXT), True),
        (lambda: HttpResponse(TEXT, content_type="application/json"), True),
        (lambda: HttpResponse(TEXT, content_type="application/problem+json"), True),
        (lambda: StreamingHttpResponse(iter([TEXT]), content_type="text/csv; charset=utf-8"), True),
        (lambda: HttpResponse(b"short"), False),
        (lambda: HttpResponse(TEXT, content_type="image/webp"), False),
        (lambda: HttpResponse(TEXT, content_type="application/octet-stream"), True),
        (lambda: FileResponse(iter([TEXT]), content_type="application/octet-stream"), False),
        (lambda: FileResponse(iter([TEXT]), content_type="application/zip"), False),
    ],
)
def test_texts_and_meshes_are_compressed_and_pictures_and_files_are_not(response, is_compressed):
    for headers in (GZIP, {}):
        sent = CompressionMiddleware(lambda _: response())(RequestFactory().get("/", headers=headers))
        body = b"".join(sent.streaming_content) if sent.streaming else sent.content
        assert (sent.get("Content-Encoding") == "gzip") == (is_compressed and bool(headers))
        assert (gzip.decompress(body) if "Content-Encoding" in sent else body) in (TEXT, b"short")
        assert ("Accept-Encoding" in sent.get("Vary", "")) == is_compressed, "a cache must tell the two apart"


@pytest.mark.django_db
def test_pages_and_geometry_arrive_compressed_and_a_copy_of_them_still_holds(client, phase, people):
    it = with_files(entry(phase, people.team, scores(0.9), method_name="ridge-net"), gables(4))
    build_due_boards()
    plain, packed = client.get(address(phase)), client.get(address(phase), headers=GZIP)
    assert b"ridge-net" in plain.content and b"ridge-net" in gzip.decompress(packed.content)
    assert len(packed.content) < len(plain.content) / 2 and packed["Content-Length"] == str(len(packed.content))
    geometry = reverse("entry_geometry", args=[it.pk, "house_01"])
    client.force_login(people.organizer)
    first = client.get(geometry, headers=GZIP)
    assert first["Content-Encoding"] == "gzip" and first["ETag"].startswith('W/"')
    again = client.get(geometry, headers=GZIP | {"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")

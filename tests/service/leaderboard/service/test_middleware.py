"""Compressed answers, a browser's copy, which is still told to be good, and figures that stand in one line."""

from __future__ import annotations

import gzip

import pytest
from django.db import connection
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.service.middleware import CompressionMiddleware, FiguresMiddleware
from leaderboard.tasks import build_due_boards
from submissions.errors import Refused
from submissions.models import User
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


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("<b>90</b> of 100 comparisons [88, 91].", "<b>90</b> of 100 comparisons [88,~91]."),
        ("seen by 58 % of people [52, 64]", "seen by 58~% of people [52,~64]"),
        ("by 1.5 points\n   [−1.3, .7] </b> [2 %, 3 %]", "by 1.5 points\n   [−1.3,~.7] </b> [2~%,~3~%]"),
        ("<i></i>95\n  % interval, [12,\n 14]", "<i></i>95~% interval, [12,\n 14]"),
        ("of people [12,\n 14]", "of people [12,~14]"),
        ('<i data-of="[1, 2]" data-by="{&quot;a&quot;: [1, 2]}">', '<i data-of="[1, 2]" data-by="{&quot;a&quot;: [1, 2]}">'),
        ("<script>a = b [1, 2]; a = 5 % 2</script> 5 %", "<script>a = b [1, 2]; a = 5 % 2</script> 5~%"),
        ("<pre>values [1, 2] of 95 %</pre><textarea>95 %</textarea>", "<pre>values [1, 2] of 95 %</pre><textarea>95 %</textarea>"),
        ("a word [of one, or of several words], and [one]", "a word [of one, or of several words], and [one]"),
    ],
)
def test_a_figure_stands_in_one_line_with_its_unit_and_an_interval_with_both_ends(sent, shown):
    page = FiguresMiddleware(lambda _: HttpResponse(sent))(RequestFactory().get("/"))
    assert page.content.decode() == shown.replace("~", "\xa0")


def test_what_is_no_page_goes_as_it_is():
    for kind in ("text/csv", "application/json", "image/svg+xml"):
        sent = FiguresMiddleware(lambda _, kind=kind: HttpResponse("95 % [1, 2]", content_type=kind))(RequestFactory().get("/"))
        assert sent.content == b"95 % [1, 2]"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/users/%00/", "/metrics/a/%00/", "/teams/1/methods/%00/", "/challenges/c/pictures/%00"])
def test_no_address_with_nul_reaches_the_database_which_may_refuse_it(path, client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get(path).status_code == 404


@pytest.mark.django_db
def test_no_user_name_with_nul_reaches_the_database():
    with CaptureQueriesContext(connection) as asked, pytest.raises(Refused) as refused:
        User.objects.named("ann\x00")
    assert refused.value.code == "unknown" and [one["sql"] for one in asked if "\x00" in one["sql"]] == []

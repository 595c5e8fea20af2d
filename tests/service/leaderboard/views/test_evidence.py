"""Pages and API of published sets, on a service that has nothing else."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from html import unescape

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from leaderboard.evidence import shown, store
from leaderboard.evidence.record_file import as_plain, of_plain
from leaderboard.wording.evidence import size
from submissions.models import Challenge
from tests.support.factories import ChallengeFactory

pytestmark = pytest.mark.django_db
NAMES = list(shown.shipped())


@pytest.mark.parametrize("name", NAMES)
def test_each_set_has_a_page_and_its_record_in_the_api(client, name):
    record = shown.shipped()[name]
    page = client.get(f"/evidence/{name}/").content.decode()
    assert record.title in page.replace("&#x27;", "'") and record.source.commit[:12] in page and f"evidence verify {name}" in page
    told = client.get(f"/api/v1/evidence/{name}/").json()
    assert as_plain(of_plain(without_nothing(told))) == as_plain(record)


def without_nothing(value):
    if isinstance(value, dict):
        return {key: without_nothing(one) for key, one in value.items() if one is not None}
    return [without_nothing(one) for one in value] if isinstance(value, list) else value


def test_a_fresh_service_shows_real_people_first(client):
    home, metrics = client.get("/"), client.get("/metrics/").content.decode()
    front = home.content.decode()
    assert "published, recomputed" in front and "imulated" not in front
    warned = home.context["warned"]
    assert warned.record.name == "gsc" and size(warned.record, warned.criterion) in unescape(front)
    assert 'id="set-gsc"' in metrics and 'id="set-nerf-qa"' in metrics and 'aria-current="true"' in metrics
    assert [one["name"] for one in client.get("/api/v1/evidence/").json()] == NAMES


@pytest.mark.parametrize(("kind", "names"), [("mesh", ["geo-metric", "mate-3d"]), ("point clouds", ["basics", "icip2020"])])
def test_the_metrics_of_a_kind_are_shown_by_what_was_published_of_it(client, kind, names):
    page = client.get("/metrics/", {"kind": kind}).content.decode()
    assert re.findall(r'id="set-([\w-]+)"', page) == names
    assert client.get("/metrics/", {"kind": "nothing", "source": "nowhere"}).status_code == 200


def test_a_metric_of_a_published_name_begins_with_what_is_published_and_stays_apart(client):
    told = client.get("/metrics/lpips_alex/")
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", told.content.decode()))
    said = told.context["page"].as_published
    assert "published, recomputed" in page and said[:60] in page and told.context["studies"] == [] and "human level" not in page
    assert client.get("/metrics/hss/").context["page"].named == []


def test_published_metrics_go_by_name_and_material_in_the_api(client):
    told = client.get("/api/v1/published-metrics/").json()
    assert {one["figure"] for one in told} == {"decided", "decided_between", "srocc"}
    (one,) = [one for one in told if (one["name"], one["material"], one["figure"]) == ("psnr-y", "splat videos", "decided")]
    assert [each["record"] for each in one["sets"]] == ["gsc"] and "pooled" not in one
    assert one["reason"] == {"key": "few_sets", "counted": "sets", "need": 3, "have": 1}


def test_a_set_that_was_verified_here_says_when(client, settings, tmp_path):
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    record = shown.shipped()["gsc"]
    assert "verified on" not in client.get("/evidence/gsc/").content.decode()
    store.note_verified(record, same=True)
    today = f"{timezone.now():%-d %b %Y}"
    assert f"verified on {today}" in strip_tags(client.get("/evidence/gsc/").content.decode())
    assert store.verified(replace(record, made="1999-01-01")) is None, "another record was not verified"
    store.note_verified(record, same=False)
    assert "verified on" not in client.get("/evidence/gsc/").content.decode()


def test_the_operator_shows_fewer_sets_or_none(client, settings):
    settings.EVIDENCE_RECORDS = ["gsc"]
    assert client.get("/evidence/gsc/").status_code == 200 and client.get("/evidence/nerf-qa/").status_code == 404
    assert client.get("/api/v1/evidence/nerf-qa/").status_code == 404
    settings.EVIDENCE_RECORDS = ["none"]
    assert client.get("/api/v1/evidence/").json() == []
    assert "published, recomputed" not in client.get("/").content.decode() + client.get("/metrics/").content.decode()


def test_an_unknown_set_is_not_found(client):
    assert client.get("/evidence/nothing/").status_code == client.get("/api/v1/evidence/nothing/").status_code == 404


def test_single_results_are_drawn_where_the_set_is_here_and_open_and_nowhere_else(client, settings, tmp_path):
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    tables = settings.EVIDENCE_DIR / "gsc" / "tables"
    tables.mkdir(parents=True)
    rows = [("bonsai", "low", 28.5, 1), ("bonsai", "high", 34.0, 5), ("bicycle", "low", 21.0, 2), ("bicycle", "high", 24.5, 4)]
    (tables / "judgements.csv").write_text(
        "item,group,entry,family,criterion,rater,session,score\n"
        + "".join(f"{item},g,{entry},p,quality,1,1,{score}\n" for item, entry, _, score in rows)
    )
    values = "".join(f"{item},{entry},{value}\n" for item, entry, value, _ in rows)
    (tables / "values.csv").write_text(f"item,entry,psnr-y:higher\n{values}")

    def page() -> str:
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", client.get("/").content.decode()))

    assert "was rated 1.0" not in page(), "no challenge of it is open"
    challenge = ChallengeFactory(slug="gsc", visibility="private", tags=["published"])
    assert "was rated 1.0" not in page()
    Challenge.objects.filter(pk=challenge.pk).update(visibility="public")
    assert "28.5 was rated 1.0 ;" in page() and "at 24.5, 4.0" in page()
    (tables / "values.csv").unlink()
    assert "was rated 1.0" not in page()


def test_the_metrics_of_a_kind_are_a_table_in_full(client):
    kind = {"kind": "render", "source": "published"}
    assert "format=csv" in client.get("/metrics/", kind).content.decode()
    sent = client.get("/metrics/", kind | {"format": "csv"})
    assert sent["Content-Disposition"] == 'attachment; filename="metrics-render-published.csv"'
    rows = list(csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode())))
    by_metric = {row["metric"]: row for row in rows if row["study"] == "gsc"}
    figures = shown.shipped()["gsc"].criteria["quality"].metrics["vmaf"]
    row = by_metric["vmaf"]
    assert (float(row["within"]), float(row["within_low"]), int(row["within_n"])) == (
        figures.decided.value,
        figures.decided.low,
        figures.decided.n,
    )
    assert (float(row["across"]), int(row["across_place_low"]), int(row["across_place_high"])) == (
        figures.srocc.value,
        *figures.srocc.places,
    )
    assert (by_metric["coin"]["within"], by_metric["coin"]["across"], by_metric["coin"]["reference_point"]) == ("0.5", "", "1")
    none = client.get("/metrics/", {"kind": "wireframe", "source": "here", "format": "csv"})
    assert b"".join(none.streaming_content).count(b"\n") == 1

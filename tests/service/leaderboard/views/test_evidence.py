"""Pages and API of published sets, on a service that has nothing else."""

from __future__ import annotations

import pytest

from leaderboard.evidence import shown
from leaderboard.evidence.record_file import as_plain, of_plain

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
    front, metrics = client.get("/").content.decode(), client.get("/metrics/").content.decode()
    assert "published, recomputed" in front and "made up" not in front and "simulated" not in front
    assert metrics.index('id="published"') < metrics.index('id="wireframe"')
    assert [one["name"] for one in client.get("/api/v1/evidence/").json()] == NAMES


def test_the_operator_shows_fewer_sets_or_none(client, settings):
    settings.EVIDENCE_RECORDS = ["gsc"]
    assert client.get("/evidence/gsc/").status_code == 200 and client.get("/evidence/nerf-qa/").status_code == 404
    assert client.get("/api/v1/evidence/nerf-qa/").status_code == 404
    settings.EVIDENCE_RECORDS = ["none"]
    assert client.get("/api/v1/evidence/").json() == []
    assert "published, recomputed" not in client.get("/").content.decode() + client.get("/metrics/").content.decode()


def test_an_unknown_set_is_not_found(client):
    assert client.get("/evidence/nothing/").status_code == client.get("/api/v1/evidence/nothing/").status_code == 404

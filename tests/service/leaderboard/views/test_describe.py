"""Croissant, citation files, RO-Crates and schema.org: read by the tools they are for, and no more than everybody may see."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from leaderboard.models import Snapshot
from leaderboard.tasks import build_due_boards
from submissions.models import Challenge, ChallengeFile, Phase
from submissions.models.challenge import check_licence
from submissions.storage import stored_files
from tests.service.leaderboard.views.test_board import address, scores, signed_in, text
from tests.support.factories import PhaseFactory, give_reference
from tests.support.leaderboard.scores import entry

pytestmark = pytest.mark.django_db


def file_of(challenge: Challenge, name: str, phase: Phase | None = None) -> ChallengeFile:
    stored_files.store().save_bytes(f"files/{name}", b"abc")
    return ChallengeFile.objects.create(challenge=challenge, phase=phase, name=name, key=f"files/{name}", size=3, sha256="ba" * 32)


@pytest.fixture
def ranked(phase, people) -> Phase:
    entry(phase, people.team, scores(0.9), method_name="ridge-net <b>&")
    entry(phase, people.other_team, scores(0.6), method_name="valley-net")
    hidden = entry(phase, people.team, scores(0.95), method_name="secret-net")
    build_due_boards()
    hidden.hide(people.organizer, "looked at again")
    return phase


def croissant_of(client: Client, challenge: Challenge) -> dict:
    response = client.get(f"/challenges/{challenge.slug}/croissant.json")
    assert response.status_code == 200 and response["Content-Type"] == "application/ld+json"
    return response.json()


def snapshot_path(phase: Phase, suffix: str, audience: str = "public") -> str:
    snapshot = Snapshot.current(phase, audience)
    return f"{address(phase)}snapshots/{snapshot.digest}{suffix}"


class TestCroissant:
    def test_the_reference_reader_takes_it_and_loads_the_items(self, client, phase, tmp_path):
        mlcroissant = pytest.importorskip("mlcroissant")
        phase.challenge.tags, phase.challenge.summary = ["roofs"], "Roofs from points."
        phase.challenge.save()
        file_of(phase.challenge, "points.zip")
        found = croissant_of(client, phase.challenge)
        path = tmp_path / "croissant.json"
        path.write_text(json.dumps(found))
        manifest = client.get(f"{address(phase)}manifest.json").content
        own = tmp_path / "manifest.json"
        own.write_bytes(manifest)
        key = f"{phase.slug}-manifest"
        dataset = mlcroissant.Dataset(str(path), mapping={key: str(own)})
        assert not dataset.metadata.ctx.issues.errors
        records = [
            {name.split("/")[-1]: value.decode() if isinstance(value, bytes) else value for name, value in record.items()}
            for record in dataset.records(f"{phase.slug}-items")
        ]
        assert records == [{"id": item.id, "group": item.group} for item in phase.manifest.items]

    def test_it_lists_what_is_seen_without_an_account(self, client, phase, people):
        now = timezone.now()
        coming = PhaseFactory(challenge=phase.challenge, opens_at=now + timedelta(days=2), closes_at=None, slug="coming")
        give_reference(coming)
        common, inner = file_of(phase.challenge, "points.zip"), file_of(phase.challenge, "inner.zip", phase)
        seen = text(client.get(f"/challenges/{phase.challenge.slug}/data/"))
        for reader in (client, signed_in(people.owner), signed_in(people.organizer)):
            found = croissant_of(reader, phase.challenge)
            names = {one["name"] for one in found["distribution"]}
            assert names == {common.name, f"{phase.slug}-manifest.json"}
        assert common.name in seen and inner.name not in seen
        assert client.get(f"{address(phase)}manifest.json").status_code == 200
        assert client.get(f"{address(coming)}manifest.json").status_code == 404

    def test_digests_are_those_of_the_files(self, client, phase):
        found = croissant_of(client, phase.challenge)
        (one,) = found["distribution"]
        manifest = client.get(urlsplit(one["contentUrl"]).path)
        assert hashlib.sha256(manifest.content).hexdigest() == one["sha256"] and one["contentSize"] == f"{len(manifest.content)} B"


class TestLicence:
    @pytest.mark.parametrize("stated", ["CC-BY-4.0", "https://example.org/licence?of=data"])
    def test_what_the_organizers_state_stands_wherever_the_data_are_described(self, client, phase, people, stated):
        Challenge.objects.filter(pk=phase.challenge_id).update(licence=stated)
        slug = phase.challenge.slug
        assert croissant_of(client, phase.challenge)["license"] == stated
        assert client.get(f"/api/v1/challenges/{slug}").json()["licence"] == stated
        overview, data = text(client.get(f"/challenges/{slug}/")), text(client.get(f"/challenges/{slug}/data/"))
        assert data_of(overview)[0]["license"] == stated
        kit = signed_in(people.owner).get(f"{address(phase)}starter-kit.zip")
        with zipfile.ZipFile(io.BytesIO(b"".join(kit.streaming_content))) as package:
            readme = package.read(f"{slug}-{phase.slug}-starter-kit/README.md").decode()
        for said in (overview, data, readme):
            assert stated in said
        assert ('rel="license' in overview) == ('rel="license' in data) == stated.startswith("https://")

    def test_without_one_nothing_is_said(self, client, phase):
        slug = phase.challenge.slug
        pages = [text(client.get(f"/challenges/{slug}/{part}")) for part in ("", "data/", "croissant.json")]
        assert [n for n, page in enumerate(pages) if re.search("licen[cs]e|Data under", page, re.IGNORECASE)] == []

    @pytest.mark.parametrize("text", ["x" * 101, "two\nlines", " ", "ftp://example.org/", "https://", "javascript://%0aalert(1)"])
    def test_what_is_neither_an_address_nor_a_line_is_refused(self, text):
        with pytest.raises(ValidationError, match="Write a web address that begins with https://, or a licence's name in one line"):
            check_licence(text)


class TestCitation:
    def test_a_challenge_is_cited_by_its_organizers(self, client, phase, people):
        people.organizer.first_name, people.organizer.last_name = "Ann & Co", "Ridge"
        people.organizer.save()
        slug = phase.challenge.slug
        cff = yaml.safe_load(text(client.get(f"/challenges/{slug}/citation.cff")))
        assert {"cff-version", "message", "title", "authors"} <= set(cff)  # what CFF 1.2.0 requires
        assert cff["authors"] == [{"name": "Ann & Co Ridge"}] and cff["title"] == phase.challenge.title
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", cff["date-released"]) and cff["url"].endswith(f"/challenges/{slug}/")
        bib = text(client.get(f"/challenges/{slug}/citation.bib"))
        assert bib.startswith(f"@misc{{plumbline-{slug},") and r"author = {{Ann \& Co Ridge}}" in bib and bib.count("{") == bib.count("}")

    def test_a_ranking_is_cited_by_its_digest(self, client, ranked):
        snapshot = Snapshot.current(ranked, "public")
        cff = yaml.safe_load(text(client.get(snapshot_path(ranked, ".cff"))))
        assert cff["version"] == snapshot.short and snapshot.digest in cff["url"]
        bib = text(client.get(snapshot_path(ranked, ".bib")))
        assert f"author = {{{{{ranked.challenge.organizer_names[0]}}}}}" in bib
        page = text(client.get(snapshot_path(ranked, "/")))
        assert bib.splitlines()[0] in page and "CITATION.cff" in page and ".crate.zip" in page


class TestCrate:
    def test_an_archive_reads_it_and_finds_the_table(self, client, ranked, tmp_path):
        rocrate = pytest.importorskip("rocrate.rocrate")
        data = client.get(snapshot_path(ranked, ".crate.zip")).content
        folder = tmp_path / "crate"
        zipfile.ZipFile(io.BytesIO(data)).extractall(folder)
        found = rocrate.ROCrate(str(folder))
        names = {part.id for part in found.root_dataset["hasPart"]}
        assert {"ranking.csv", "ranking.json", "CITATION.cff", "CITATION.bib", "rules.md", "manifest.json"} <= names
        assert [name for name in names if not (folder / name).is_file()] == []
        csv = (folder / "ranking.csv").read_bytes()
        assert csv == client.get(snapshot_path(ranked, ".csv")).content and b"valley-net" in csv
        assert Snapshot.current(ranked, "public").digest in found.root_dataset["description"]

    def test_it_holds_nothing_of_what_was_hidden_since(self, client, ranked, people):
        for reader in (client, signed_in(people.organizer)):
            data = reader.get(snapshot_path(ranked, ".crate.zip")).content
            with zipfile.ZipFile(io.BytesIO(data)) as package:
                every = b"".join(package.read(name) for name in package.namelist())
            assert b"secret-net" not in every and b"valley-net" in every

    def test_the_same_ranking_gives_the_same_bytes(self, client, ranked):
        assert client.get(snapshot_path(ranked, ".crate.zip")).content == client.get(snapshot_path(ranked, ".crate.zip")).content

    @pytest.mark.parametrize("suffix", [".crate.zip", ".cff", ".bib"])
    def test_what_is_not_public_has_none(self, client, ranked, people, suffix):
        organizer = signed_in(people.organizer)
        assert organizer.get(snapshot_path(ranked, suffix, "organizers")).status_code == 404
        public = snapshot_path(ranked, suffix)
        assert client.get(public).status_code == 200
        Phase.objects.filter(pk=ranked.pk).update(board="hidden", board_at=timezone.now() + timedelta(days=1))
        assert organizer.get(public).status_code == client.get(public).status_code == 404


def data_of(page: str) -> list[dict]:
    return [json.loads(found) for found in re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)]


class TestStructured:
    def test_pages_say_what_they_are(self, client, ranked):
        kinds = {}
        slug = ranked.challenge.slug
        for path in ("/", "/challenges/", "/metrics/", "/metrics/hss/", "/docs/api/", f"/challenges/{slug}/", address(ranked), "/search/"):
            (found,) = data_of(text(client.get(path)))
            assert found["@context"] == "https://schema.org" and found["url"].endswith(path)
            kinds[path] = found["@type"]
        assert kinds["/"] == "WebSite" and kinds["/docs/api/"] == "TechArticle" and kinds["/search/"] == "WebPage"
        assert kinds[f"/challenges/{slug}/"] == kinds[address(ranked)] == "Dataset"

    def test_a_name_cannot_end_the_script(self, client, ranked):
        Challenge.objects.filter(pk=ranked.challenge_id).update(title="</script><b>x", summary="<!-- & ")
        page = text(client.get(f"/challenges/{ranked.challenge.slug}/"))
        (found,) = data_of(page)
        assert found["name"] == "</script><b>x" and "</script><b>x" not in page

    def test_a_board_leads_to_its_table(self, client, ranked):
        (found,) = data_of(text(client.get(address(ranked))))
        assert found["distribution"]["contentUrl"].endswith(snapshot_path(ranked, ".csv"))


def test_the_context_is_the_one_of_the_specification():
    """Names that the reader's own library writes stand in ours with the same meaning."""
    context = pytest.importorskip("mlcroissant._src.core.rdf")
    from leaderboard.exports.croissant import CONTEXT

    theirs = context.make_context() if hasattr(context, "make_context") else None
    if theirs is None:
        pytest.skip(f"no context in {Path(context.__file__).name}")
    assert {name: meaning for name, meaning in CONTEXT.items() if theirs.get(name) != meaning} == {}

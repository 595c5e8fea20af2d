"""Static files as the web server collects them: hashed, compressed, kept for good, and named by one another."""

from __future__ import annotations

import gzip
import os
import re

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client

from leaderboard.service import static_files


@pytest.fixture
def root(tmp_path_factory, settings, monkeypatch):
    settings.STATIC_ROOT = tmp_path_factory.mktemp("static")
    monkeypatch.setattr(staticfiles_storage, "_wrapped", static_files.HashedStorage())  # tests run without collected files
    return settings.STATIC_ROOT


def test_collected_files_are_hashed_compressed_immutable_and_name_each_other(root, monkeypatch, db):
    assert staticfiles_storage.url("plumbline.css") == "/static/plumbline.css", "as it is, where nothing was collected"
    static_files.collect()
    collected = (root / static_files.COLLECTED).stat().st_mtime_ns
    static_files.collect()
    assert (root / static_files.COLLECTED).stat().st_mtime_ns == collected, "what is there already is not collected again"
    monkeypatch.setattr(staticfiles_storage, "_wrapped", static_files.HashedStorage())
    client = Client()
    page = client.get("/").content.decode()
    addresses = re.findall(r'(?:href|src|data-upload|data-pictures|data-regions)="(/static/[^"]+)"', page)
    addresses += [staticfiles_storage.url(name) for name in ("viewer/viewer.js", "rate/page.js", "plotly/plotly.min.js")]
    assert len(addresses) == 9
    for address in addresses:
        assert re.search(r"\.[0-9a-f]{12}\.(css|js|svg)$", address)
        sent = client.get(address, headers={"accept-encoding": "gzip"})
        assert sent["Content-Encoding"] == "gzip" and "immutable" in sent["Cache-Control"]
        whole = gzip.decompress(b"".join(sent.streaming_content)).decode()
        for name in re.findall(r'^import .* from "(\..*)";$', whole, re.MULTILINE):
            other = client.get(os.path.normpath(os.path.join(os.path.dirname(address), name)))
            assert other.status_code == 200 and "immutable" in other["Cache-Control"], name
    assert whole == (root / "plotly").joinpath(addresses[-1].rpartition("/")[2]).read_text(), "a bundle stays as it is"


def test_files_of_another_version_are_collected_anew_and_a_folder_that_cannot_be_written_is_named(root, settings, monkeypatch):
    (root / static_files.COLLECTED).write_text("those of another version")
    collected = []
    monkeypatch.setattr(static_files, "call_command", lambda *names, **options: collected.append(names))
    static_files.collect()
    assert collected == [("collectstatic",)]

    def refuse(*names, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(static_files, "call_command", refuse)
    with pytest.raises(SystemExit, match=rf"static files in {root} .*Permission denied.*`manage.py collectstatic`"):
        static_files.collect()
    settings.DEBUG = True
    static_files.collect()

"""`python -m evaluation fetch` and `manage.py fetch_weights`, over a real server."""

import dataclasses
import hashlib
import io
import json
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from evaluation.__main__ import main
from evaluation.metrics.registry import REGISTRY
from evaluation.networks import fetch_command, weights
from tests.support.evaluation import publisher

DATA = b"weights" * 1000
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def server():
    with publisher.published(DATA) as it:
        yield it


@pytest.fixture
def cache(monkeypatch, tmp_path, server):
    """An empty cache, and two of the files published at the test's server."""
    monkeypatch.setattr(weights, "_folder", [tmp_path])
    files = {name: dataclasses.replace(weights.published(name), url=server.url, stated="") for name in ("alexnet", "lpips-alex")}
    monkeypatch.setattr(weights, "FILES", {**weights.FILES, **files})
    return tmp_path


def test_by_file_and_by_metric(cache, capsys, server):
    assert main(["fetch", "alexnet", "--cache", str(cache)]) == 0
    assert "alexnet is installed (" in capsys.readouterr().out
    assert main(["fetch", "lpips_alex"]) == 0
    out = capsys.readouterr().out
    assert "alexnet is already" in out and "lpips-alex is" in out and len(server.asked) == 2
    spec = REGISTRY["lpips_alex"]
    assert weights.refusal(spec, {"weights": "v0.1"}) == ""


def test_the_list_says_what_is_here_who_needs_it_and_who_says_what_it_must_be(cache, capsys):
    assert main(["fetch", "--list"]) == 0
    before = capsys.readouterr().out
    assert "squeezenet1_1: absent, about 5 MB" in before and "b8a52dc0… " in before
    assert "alexnet: absent" in before and "not known (" in before
    assert "locase/stage1: ships" in before and str(cache) in before
    assert "licence BSD-3-Clause" in before and "https://download.pytorch.org/models/squeezenet1_1-b8a52dc0.pth" in before
    main(["fetch", "alexnet"])
    capsys.readouterr()
    main(["fetch", "--list", "alexnet"])
    after = capsys.readouterr().out
    assert "alexnet: here, 0.0 MB" in after and f"{SHA} (stored " in after
    assert "for      lpips_alex, lpips_alex@mask, lpips_alex@bbox, puzzlesim" in after


def test_the_list_has_every_file_with_a_source_a_licence_and_a_metric(cache):
    users = fetch_command.needed_by()
    for file in weights.FILES.values():
        assert file.url.startswith(("https://", "http://127.")) and file.licence and file.megabytes > 0 and users[file.name]
        assert set(file.stated) <= set("0123456789abcdef") and len(file.stated) in (0, 8, 64)
    used = {name for sets in weights.PUBLISHED.values() for files in sets.values() for name in files}
    assert used == set(weights.FILES) | set(weights.PACKAGED)


def test_digests_are_only_those_in_the_publishers_file_names():
    stated = {name: file.stated for name, file in weights.FILES.items() if len(file.stated) == 8}
    assert stated == {"squeezenet1_1": "b8a52dc0", "alexnet": "7be5be79", "vgg16": "397923af", "inception-fid": "6726825d"}
    assert {key: file for key, file in weights.FILES.items() if len(file.stated) == 8 and file.stated not in file.filename} == {}


def test_what_cannot_be_done_is_one_sentence(cache, capsys, server):
    cases = {
        ("nonsense",): "There is no file of weights 'nonsense'; there are: squeezenet1_1, alexnet",
        (): "Name the files to get, or give --all or --list.",
        ("alexnet", "vgg16", "--from", "x"): "--from is for one file, and this asks for 2",
        ("alexnet", "--from", "s3://bucket/key"): "`manage.py fetch_weights --from s3://BUCKET/KEY`",
        ("alexnet", "--from", str(cache / "none")): "There is no file",
        ("vgg16", "--from", server.url): "must begin with 397923af, as its publisher states",
    }
    for arguments, sentence in cases.items():
        assert main(["fetch", *arguments]) == 2
        error = capsys.readouterr().err
        assert sentence in error and "Traceback" not in error
    assert main(["fetch", "alexnet", "--from", server.url]) == 0


def test_a_metric_without_its_weights_is_refused_with_the_command(cache, tmp_path, capsys):
    from submissions.formats.render.views import encoded
    from tests.support.evaluation.metrics.render.pictures import blobs

    for name in ("pred", "ref"):
        (tmp_path / name / "room").mkdir(parents=True)
        (tmp_path / name / "room" / "1.png").write_bytes(encoded(blobs(70, 80)))
    assert main(["score", "--metric", "lpips_alex", str(tmp_path / "pred"), str(tmp_path / "ref")]) == 2
    assert " alexnet lpips-alex" in capsys.readouterr().err
    assert main(["score", "--json", "--metric", "psnr", "--metric", "ssim", str(tmp_path / "pred"), str(tmp_path / "ref")]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert (scores["psnr"]["value"], scores["ssim"]["value"]) == (100.0, pytest.approx(1.0))


def test_the_services_own_command(cache, server, tmp_path):
    out = io.StringIO()
    call_command("fetch_weights", "alexnet", stdout=out)
    assert "alexnet is installed" in out.getvalue() and weights.published("alexnet").there
    with pytest.raises(CommandError, match="There is no file of weights 'nonsense'"):
        call_command("fetch_weights", "nonsense")
    with pytest.raises(CommandError, match=r"s3://elsewhere/heads\.pth"):
        call_command("fetch_weights", "lpips-alex", source="s3://elsewhere/heads.pth")


def test_from_a_key_of_the_services_bucket(cache, settings, s3_server, tmp_path):
    import boto3

    from submissions.storage import stored_files

    settings.S3_BUCKET, settings.S3_ENDPOINT, settings.S3_PUBLIC_ENDPOINT = "weights", s3_server, s3_server
    settings.S3_ACCESS_KEY = settings.S3_SECRET_KEY = "test"
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": settings.S3_REGION}
    client = boto3.client("s3", endpoint_url=s3_server, **keys)
    client.create_bucket(Bucket="weights")
    client.put_object(Bucket="weights", Key="nets/alexnet.pth", Body=DATA)
    call_command("fetch_weights", "alexnet", source="s3://weights/nets/alexnet.pth")
    assert weights.published("alexnet").path.read_bytes() == DATA
    with pytest.raises(CommandError, match="s3://weights/none"):
        call_command("fetch_weights", "lpips-alex", source="s3://weights/none")
    stored_files._s3_store.cache_clear()


def test_the_listing_needs_nothing_heavy():
    heavy = "print('heavy', sorted({'torch', 'scipy.spatial', 'django'} & set(sys.modules)))"
    code = f"import sys; from evaluation.__main__ import main; main(['fetch', '--list']); {heavy}"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.endswith("heavy []\n")


def test_fingerprints_carry_the_digests_of_all_files(cache):
    from evaluation.metrics.registry import fingerprint

    absent = fingerprint("lpips_alex", {})
    main(["fetch", "lpips_alex"])
    here = fingerprint("lpips_alex", {})
    assert absent != here
    both = "\n".join(weights.published(name).sha256 for name in ("alexnet", "lpips-alex"))
    assert weights.digest("lpips_alex", "v0.1") == hashlib.sha256(both.encode()).hexdigest()
    assert here == fingerprint("lpips_alex", {}, weights.digest("lpips_alex", "v0.1"))

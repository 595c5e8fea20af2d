"""A challenge of renders from its files to its ranking: bundle, client over HTTP, worker, board, and the same numbers at home."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.__main__ import main as evaluation_command
from evaluation.models import EvaluationBatch
from evaluation.work.worker import drain
from leaderboard.boards import snapshots
from leaderboard.bundle.apply import apply
from leaderboard.bundle.parse import parse
from leaderboard.models import Snapshot
from submissions.client.command import main as client_command
from submissions.kinds import RENDER
from submissions.models import ApiToken, Challenge, Phase, Submission
from tests.support.factories import TeamFactory, UserFactory, join
from tests.support.scenes import file_of, noisy, pixels, views, write_folder

BUNDLE = """\
slug: novel-views
title: Novel views
family: render
visibility: public
phases:
  - slug: one
    title: One
    opens_at: 2026-01-01T00:00
    reference_access: public
    missing: worst
    entries: all
    metrics:
      - {key: psnr, primary: true}
      - {key: ssim}
    reference: {path: reference}
"""
VIEWS = views({"garden": 3, "kitchen": 2})


@pytest.fixture
def bundle(tmp_path):
    folder = tmp_path / "bundle"
    write_folder(VIEWS, folder / "reference")
    (folder / "challenge.yaml").write_text(BUNDLE)
    return folder


def entry(folder, sigma, leave_out=()):
    for number, (name, view) in enumerate(VIEWS.items()):
        if name not in leave_out:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.png").write_bytes(noisy(view, sigma, number).png)
    (folder / "README.md").write_text("How these were made.")
    return folder


@pytest.mark.django_db(transaction=True)
def test_renders_are_sent_by_the_client_scored_by_the_worker_and_ranked_as_at_home(live_server, client, bundle, tmp_path, capsys):
    apply(parse(bundle).definition)
    challenge, phase = Challenge.objects.get(), Phase.objects.get()
    assert [(item.id, item.group, item.size) for item in phase.manifest.items][3] == ("kitchen/000", "kitchen", (40, 28))
    user = UserFactory(username="owner")
    join(user, TeamFactory(challenge=challenge, name="Ridge"), leader=True)
    _, token = ApiToken.make(user, "test", timezone.now() + timedelta(hours=1))
    address = ["--server", live_server.url, "--challenge", "novel-views", "--phase", "one"]
    folders = {
        "fine": entry(tmp_path / "fine", 3),
        "coarse": entry(tmp_path / "coarse", 12),
        "partial": entry(tmp_path / "partial", 3, leave_out=[name for name in VIEWS if name.startswith("garden")]),
    }
    for name, folder in folders.items():
        assert client_command(["check", str(folder), *address]) == 0
        assert client_command(["upload", str(folder), *address, "--token", token, "--method", name]) == 0
    assert "3 of 5 items" not in capsys.readouterr().out
    drain("cpu")
    scored = {it.method_name: it for it in Submission.objects.filter(phase=phase)}
    assert {it.status for it in scored.values()} == {"scored"}
    assert scored["partial"].missing_items == ["garden/000", "garden/001", "garden/002"]
    assert client_command(["status", str(scored["fine"].pk), "--server", live_server.url, "--token", token]) == 0
    assert "PSNR" in capsys.readouterr().out

    snapshots.make(phase, "public")
    client.force_login(user)
    page = client.get(reverse("board", args=["novel-views", "one"])).content.decode()
    upload = client.get(reverse("upload", args=["novel-views", "one"])).content.decode()
    data = client.get(reverse("data", args=["novel-views"])).content.decode()
    assert "garden/000, garden/001, garden/002" in data and "40 × 28" in data and "#ffffff" in data and "<dt>Unit" not in data
    assert RENDER.hint in upload and f'accept="{RENDER.accept}"' in upload
    assert page.index("fine") < page.index("coarse") < page.index("partial")

    scores = {it.slug: it for it in scored["partial"].evaluations.get().scores.all()}
    garden_missing = scores["psnr"].values.tolist()
    assert garden_missing[:3] == [0.0, 0.0, 0.0] and min(garden_missing[3:]) > 30
    assert scores["psnr"].value == pytest.approx(sum(garden_missing[3:]) / 2 / 2), "the mean of a scene's views, then of the scenes"
    assert scores["psnr"].n == 2 and (scores["psnr"].n_ok, scores["psnr"].n_missing) == (2, 3)

    assert_the_same_at_home(phase, scored, folders, bundle, tmp_path, capsys)
    assert_items_are_addressed_with_their_scene(client, scored["fine"], phase)


def assert_the_same_at_home(phase, scored, folders, bundle, tmp_path, capsys):
    manifest = tmp_path / "manifest.json"
    manifest.write_bytes(phase.manifest.to_json())
    for name in ("fine", "partial"):
        assert evaluation_command(["score", "--json", "--manifest", str(manifest), str(folders[name]), str(bundle / "reference")]) == 0
        at_home = json.loads(capsys.readouterr().out)
        for score in scored[name].evaluations.get().scores.all():
            assert at_home["scores"][score.slug]["value"] == score.value
            ids = [item.id for item in phase.manifest.items]
            assert [at_home["samples"][item][score.slug]["value"] for item in ids] == score.values.tolist()


def assert_items_are_addressed_with_their_scene(client, submission, phase):
    address = reverse("entry_item", args=[submission.pk, "garden/001"])
    assert address == f"/entries/{submission.pk}/items/garden/001/"
    assert "garden/001" in client.get(address).content.decode()
    for wrong in ("garden", "garden/9", "garden/001/x", "garden//001"):
        assert client.get(f"/entries/{submission.pk}/items/{wrong}/").status_code == 404
    for kind in ("json", "mesh"):
        assert client.get(f"/entries/{submission.pk}/geometry/garden/001.{kind}").status_code == 404
    found = client.get(f"/api/v1/submissions/{submission.pk}/items?metric=psnr").json()["items"]
    assert [(row["item"], row["group"]) for row in found][::4] == [("garden/000", "garden"), ("kitchen/001", "kitchen")]
    snapshot = Snapshot.current(phase, "public")
    table = client.get(reverse("snapshot_export", args=["novel-views", "one", snapshot.digest, "csv"])).content.decode("utf-8-sig")
    assert "fine" in next(row for row in csv.reader(io.StringIO(table)) if "fine" in row)


@pytest.mark.django_db
def test_wrong_sizes_are_refused_by_name_or_resized_as_the_phase_says(bundle, tmp_path):
    from submissions.validation import validate

    apply(parse(bundle).definition)
    folder = entry(tmp_path / "entry", 3)
    (folder / "garden" / "001.png").write_bytes(file_of(pixels(2, 80, 56)))
    verdict = validate(folder, Phase.objects.get().manifest)
    (problem,) = verdict.problems
    assert [part for part in ("garden/001.png: ", "80 × 56", "40 × 28") if part not in str(problem)] == []
    (bundle / "challenge.yaml").write_text(BUNDLE.replace("missing: worst", "missing: worst\n    resize: reference"))
    apply(parse(bundle).definition)
    verdict = validate(folder, Phase.objects.get().manifest)
    assert verdict.accepted
    resized = verdict.items["garden/001"]
    assert (resized.width, resized.height, resized.resized) == (40, 28, True) and not verdict.items["garden/000"].resized


@pytest.mark.django_db
def test_a_new_rule_for_sizes_reaches_the_manifest_and_scores_nothing_anew(bundle):
    apply(parse(bundle).definition)
    batch = EvaluationBatch.objects.get()
    (bundle / "challenge.yaml").write_text(BUNDLE.replace("missing: worst", "missing: reject\n    resize: reference"))
    apply(parse(bundle).definition)
    assert EvaluationBatch.objects.get() == batch
    manifest = Phase.objects.get().manifest
    assert (manifest.resize, manifest.missing, manifest.kind) == ("reference", "reject", RENDER)

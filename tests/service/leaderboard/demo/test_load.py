"""The demos go through the doors that everybody uses: bundle, client, worker, board."""

from __future__ import annotations

import dataclasses
import io
import zipfile

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from evaluation.models import EvaluationBatch, sanity_tests
from evaluation.properties import bundled_tables
from evaluation.work.worker import drain
from leaderboard.demo import interiors, load, rooflines, solids
from leaderboard.demo.story import PEOPLE, Entry
from leaderboard.models import Snapshot, Study
from leaderboard.tasks import build_due_boards
from submissions.kinds import same
from submissions.models import AuditEntry, Challenge, Phase, Submission, Team, User
from submissions.validation import validate
from tests.support.leaderboard.studies.live import making


@pytest.mark.parametrize("demo", load.DEMOS, ids=lambda demo: demo.slug)
def test_every_entry_says_that_it_is_simulated_and_is_sent_by_somebody_of_the_demo(demo):
    assert [entry for entry in demo.entries if not entry.description.startswith("Simulated: ")] == []
    assert {entry.who for entry in demo.entries} <= set(demo.people) <= {person.name for person in PEOPLE if person.team}
    assert len({entry.method for entry in demo.entries}) == len(demo.entries)
    assert any(entry.baseline for entry in demo.entries)


@pytest.mark.django_db
@pytest.mark.parametrize("demo", load.DEMOS, ids=lambda demo: demo.slug)
def test_the_bundle_has_what_participants_need_and_every_entry_is_acceptable_but_the_broken_ones(demo, tmp_path):
    load.make_accounts()
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    challenge = load.load_challenge(demo, bundle)
    assert (challenge.slug, challenge.simulated) == (demo.slug, True)
    assert set(challenge.phases.values_list("slug", flat=True)) == set(demo.references())
    with zipfile.ZipFile(bundle / f"{demo.phase}-{demo.given[0]}.zip") as given:
        names = given.namelist()
        if demo is interiors.DEMO:
            assert names[::8] == [f"{name}/clean_00.png" for name in interiors.NAMES] and len(names) == 64
        else:
            assert names == [f"{name}.npz" for name in demo.references()[demo.phase]]
            assert np.load(io.BytesIO(given.read(names[0])))["points"].shape[1] == 3
    # Without the sanity tests of all its columns, a fresh demo would keep the workers busy with them. `python -m evaluation properties
    # --tables` makes the tables that are missing.
    columns = [metric for phase in challenge.phases.all() for metric in phase.metrics.all()]
    assert columns and [f"{metric.key} {metric.params}" for metric in columns if not bundled_tables.tables(metric.fingerprint)] == []
    assert sanity_tests.request_missing() == 0
    manifest, references = challenge.phases.get(slug=demo.phase).manifest, demo.references()[demo.phase]
    for number, entry in enumerate(demo.entries):
        folder = tmp_path / str(number)
        folder.mkdir()
        load.write_entry(demo, entry, references, folder)
        verdict = validate(folder, manifest)
        assert verdict.accepted != bool(entry.breaks), (entry.method, verdict.problems)
        assert entry.breaks or len(verdict.missing) == len(entry.leave_out)
        assert all(not same(entry.make(name, item), item) for name, item in list(references.items())[:1]) or entry.breaks, entry.method


@pytest.fixture
def small(monkeypatch):
    """The demo of meshes with two objects and four uploads, one of them broken and one withdrawn."""
    names = ("convex hull", "scan-fuse", "few-faces")
    hull, noisy, coarse = (next(entry for entry in solids.ENTRIES if entry.method == name) for name in names)
    torn = Entry("ada", "torn", "Simulated: a torn file.", lambda _, item: item, breaks=lambda _: b"ply\n")
    objects = {name: item for name, item in solids.references()[solids.PHASE].items() if name in ("mug", "rock")}
    entries = (hull, dataclasses.replace(noisy, withdraw=True), coarse, torn)
    demo = dataclasses.replace(solids.DEMO, references=lambda: {solids.PHASE: objects}, entries=entries)
    monkeypatch.setattr(load, "DEMOS", (demo,))

    def work(true, what, seconds=0.0):
        drain()
        assert true(), what

    monkeypatch.setattr(load, "wait", work)
    return demo


@pytest.mark.django_db(transaction=True)
def test_the_command_sends_scores_and_ends_and_a_second_time_does_nothing(live_server, small, capsys):
    call_command("demo", server=live_server.url)
    said = capsys.readouterr().out
    assert "sent 4 of 4: torn" in said and f"{live_server.url}/challenges/solids/practice/" in said and "olga" in said
    assert "/challenges/radiance-fields/published/" in said
    assert not Challenge.objects.get(slug="radiance-fields").phases.get().is_measured_here
    rows = {row.method_name: row for row in load.uploads(small)}
    assert {name: row.status for name, row in rows.items()} == {
        "convex hull": "scored",
        "scan-fuse": "scored",
        "few-faces": "scored",
        "torn": "rejected",
    }
    sent = [rows[name].received_at for name in ("convex hull", "scan-fuse", "few-faces", "torn")]
    assert [
        (before, after) for before, after in zip(sent, [*sent[1:], timezone.now()], strict=True) if not before + load.APART * 0.9 < after
    ] == []
    build_due_boards()
    load.backdate(small)
    rankings = Snapshot.objects.filter(phase__challenge__slug="solids", audience="public").order_by("created_at")
    for ranking in rankings:
        received = [entry.received_at for entry in ranking.board.entries]
        assert not received or max(received) < ranking.created_at < timezone.now()
    assert rankings and rankings.last().created_at < timezone.now() - load.APART
    assert rows["convex hull"].is_baseline and rows["convex hull"].is_verified
    assert rows["scan-fuse"].withdrawn_at and not rows["convex hull"].withdrawn_at
    phase = Challenge.objects.get(slug="solids").phases.get()
    scores = {(score.slug, score.evaluation.submission.method_name): score.value for score in _scores(phase)}
    assert scores["mesh_fscore", "scan-fuse"] > scores["mesh_fscore", "convex hull"]
    assert {team.name for team in Team.objects.filter(challenge=phase.challenge)} == {
        person.team for person in PEOPLE if person.name in small.people
    }

    study = Study.objects.get(from_results=False)
    assert study.runs_other_programs
    assert study.simulated and study.is_public and study.judged_criteria() == {"overall", "plausibility_3d", "geometry_details"}
    assert set(study.entries.values_list("label", flat=True)) == {"convex hull", "few-faces"}
    run = study.judge_runs.get()
    assert run.state == "done" and set(run.result["criteria"]) == {"plausibility_3d", "geometry_details", "overall"}
    assert [answer for answer in run.answers.all() if not answer.said[0]["text"].startswith("Simulated: ")] == []

    acts = AuditEntry.objects.count()
    team = Team.objects.get(challenge=phase.challenge, name="Eaves Lab")
    Submission.reserve(phase, team, User.objects.get(username="cleo"), method_name="a visitor's, on its way", file_name="a.zip", size=1)
    call_command("demo", server=live_server.url)
    assert load.uploads(small).count() == 5 and Study.objects.count() == 2 and AuditEntry.objects.count() == acts


def test_whoever_starts_the_demo_can_rate_at_once(phase, people, client):
    Challenge.objects.filter(pk=phase.challenge_id).update(slug=rooflines.SLUG)
    Phase.objects.filter(pk=phase.pk).update(slug=rooflines.PHASE)
    User.objects.create(username="olga")
    making.entries(phase, people, 3)
    path = load.ask_everybody(rooflines.DEMO)
    assert load.ask_everybody(rooflines.DEMO) == path
    assert client.post(f"{path}join/", {"agree": "yes"}).status_code == 302
    state = client.get(f"{path}next").json()
    assert (state["study"]["title"], state["progress"]["total"]) == ("Judge the roofs yourself", 13)  # 3 pairs on 4 houses, one again


def _scores(phase):
    return [score for evaluation in EvaluationBatch.current(phase).evaluations.all() for score in evaluation.scores.all()]


def test_the_rooflines_have_an_upload_that_is_rejected_and_one_that_is_withdrawn():
    assert [entry.method for entry in rooflines.ENTRIES if entry.breaks] == ["sketch-2, broken file"]
    assert [entry.method for entry in rooflines.ENTRIES if entry.withdraw] == ["line-transformer, wrong upload"]

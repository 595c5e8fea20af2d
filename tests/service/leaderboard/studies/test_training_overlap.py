"""Overlap of a learned metric's training with the answers it is compared with: by its card, and in words wherever its agreement
stands."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import replace

import pytest
from django.contrib.auth.models import AnonymousUser

from evaluation.metrics.column import Column, Imported
from evaluation.metrics.wireframe.learned.network import KNOWN
from evaluation.models import PhaseMetric, Score
from evaluation.networks import weights
from evaluation.training.preference.material import study as read_study
from evaluation.training.preference.model_card import card as card_of
from evaluation.training.preference.training import Plan
from evaluation.training.preference.votes import read
from leaderboard.boards import snapshots
from leaderboard.boards.people import of_board
from leaderboard.models import Snapshot, Study
from leaderboard.stats import votes as voting
from leaderboard.studies import metric_ranking
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.folder import write_study
from leaderboard.studies.training_overlap import trained_on
from leaderboard.wording.agreement import state, trained, trained_more
from tests.service.leaderboard.studies.test_analysis import imported, judged, votes_for  # noqa: F401
from tests.support.evaluation.networks import random_weights

pytestmark = pytest.mark.django_db
SAMPLES, METHODS = ("s0", "s1"), ("x", "y", "z")
SEEN = {"samples": ["s1", "s2"], "methods": ["x", "y", "new"]}


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    return random_weights.learned_shelf(monkeypatch, tmp_path / "shelf")


@pytest.fixture
def study(phase):
    return imported(phase, [voting.Vote("r", "x", "y", "left", "s0"), voting.Vote("r", "x", "z", "tie", "s1")])


def column(shelf, /, **data) -> Column:
    """A batch's column of weights whose card says that they learnt from this."""
    random_weights.put_learned(shelf, "panel", data=data)
    return PhaseMetric(slug="learned", key="wf_learned", params={"weights": "panel"}).column()


def known(study: Study, shelf, /, **data) -> str:
    return trained_on(study, column(shelf, **data), SAMPLES, METHODS)


def place(study: Study) -> str:
    return f"{study.phase.challenge.slug}/{study.phase.slug}"


def test_a_card_that_names_the_study_says_whether_it_is_this_one(study, shelf):
    this = {"phase": place(study), "study": study.slug, "study_created_at": study.created_at.isoformat()}
    assert known(study, shelf, **this, **SEEN) == "these"
    assert known(study, shelf, **this | {"phase": "renamed/since"}, **SEEN) == "these"
    assert known(study, shelf, **this | {"study": "other", "study_created_at": "2026-01-01T00:00:00+00:00"}, **SEEN) == "entries"
    other = {"phase": "another/one", "study": study.slug, "study_created_at": "2026-01-01T00:00:00+00:00"}
    assert known(study, shelf, **other, **SEEN) == ""


def test_votes_about_nothing_of_the_study_are_not_its_votes(study, shelf):
    assert known(study, shelf, samples=["s7"], methods=["x", "y"]) == ""
    assert known(study, shelf, samples=["s0"], methods=["x", "else"]) == ""
    assert known(study, shelf, samples=["s0"], methods=["x", "y"]) == "unknown"


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize(
    "columns",
    [(*voting.COLUMNS, *voting.MORE, *voting.CONDITIONS), (*voting.COLUMNS, *voting.MORE), voting.COLUMNS],
    ids=["now", "before", "first"],
)
def test_a_file_of_votes_is_known_by_its_digest_until_it_is_changed(study, shelf, counts, columns):
    study.raters.update(is_counted=counts)
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(voting.write(study.votes(), columns))
    digest = hashlib.sha256(stream.getvalue().encode()).hexdigest()
    assert known(study, shelf, votes_sha256=digest, **SEEN) == "these"
    assert known(study, shelf, votes_sha256=hashlib.sha256(stream.getvalue().encode() + b"\n").hexdigest(), **SEEN) == "unknown"


def test_weights_that_do_not_say_enough_are_unknown(study, shelf):
    assert known(study, shelf) == "unknown"
    assert known(study, shelf, phase=place(study), title="Which is closer?", **SEEN) == "unknown"  # an earlier card
    assert known(study, shelf, phase="another/one", **SEEN) == ""
    found = column(shelf, samples=["elsewhere"], methods=[])
    assert trained_on(study, found, SAMPLES, METHODS) == ""
    assert trained_on(study, replace(found, weights_sha256="0" * 64), SAMPLES, METHODS) == "unknown"  # the values are of other weights


def test_what_was_not_learnt_from_people_is_not_asked(study):
    metric = PhaseMetric(slug="m", key="corner_f1", params={}).column()
    assert trained_on(study, metric, SAMPLES, METHODS) == ""


@pytest.mark.parametrize("key", ["locase", "lpips_plumbline_small"])
def test_weights_that_may_order_nothing_have_no_place_whatever_they_were_trained_on(study, key):
    """By their model card, or because the metric was removed; figures of the same name that a paper prints are not theirs."""
    metric = PhaseMetric(slug="m", key=key, params={}).column()
    assert trained_on(study, metric, SAMPLES, METHODS) == "refused"
    assert trained_on(study, replace(metric, imported=Imported(True, "", 3)), SAMPLES, METHODS) == ""


def test_a_card_says_of_a_folder_which_study_it_is(judged, tmp_path):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, list(phase.batches.get(state="current").reference.item_ids), 0))
    write_study(study, tmp_path / "folder")
    about = read_study(tmp_path / "folder")
    decisions = read(about.votes)
    results = {"final": {"losses": [0.1]}}
    plan = Plan("dinov2-vitb14", "0", 0, 1, folds=0)
    said = card_of("panel", b"", plan, KNOWN["dinov2-vitb14"], decisions, about.said, results, 1, "2026-11-21")["data"]
    assert (said["study"], said["study_created_at"]) == (study.slug, study.created_at.isoformat()) and said["phase"] == place(study)
    assert (said["samples"], said["methods"]) == (sorted(decisions.samples), sorted(decisions.methods))


# --- in words


def learned(phase, shelf, /, **data) -> str:
    """The first column of the phase is one of learned weights from now on; its title."""
    batch = phase.batches.get(state="current")
    fixed = column(shelf, **data)
    slug = batch.metrics[0]["slug"]
    batch.metrics = [batch.metrics[0] | fixed.definition() | {"slug": slug, "title": fixed.title}]
    batch.save()
    Score.objects.filter(slug=slug).update(key="wf_learned", fingerprint=fixed.fingerprint)
    return slug


def test_what_its_card_forbids_to_rank_has_neither_place_nor_state_word(judged, shelf, client, monkeypatch):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, list(phase.batches.get(state="current").reference.item_ids), 0))
    forbidden = phase.batches.get(state="current").metrics[0]["key"]
    monkeypatch.setattr(weights, "may_rank", lambda spec, params: spec.key != forbidden)
    analyse_due()
    line = next(one for one in study.analyses.get().summary.metrics if one.metric == forbidden)
    assert line.trained == "refused" and line.places is None and line.decided.value is not None
    snapshots.make_all(phase)
    board = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/").content.decode()
    assert "<b>not ranked</b>" in board
    ranking = metric_ranking.of(AnonymousUser()).families[phase.challenge.family]
    row = next(one for one in ranking.rows if one.key == forbidden)
    assert state(row.line) == "" and row.line.places is None
    assert "<b>0</b> <span>leaderboards" in client.get(f"/metrics/{forbidden}/").content.decode()


def test_the_board_the_study_exports_and_the_api_say_it(judged, shelf, client):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    study = imported(phase, votes_for(entries, items, 0))
    said = {"study_created_at": study.created_at.isoformat(), "samples": items, "methods": [entry.method_name for entry in entries]}
    slug = learned(phase, shelf, **said)
    analyse_due()
    assert [line.trained for line in study.analyses.get().summary.metrics if not line.reference_point] == ["these"]
    snapshots.make_all(phase)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    board = client.get(address).content.decode()
    (line,) = (one for one in of_board(Snapshot.current(phase, "public").board).lines if not one.reference_point)
    mark, more = trained(line), trained_more(line)
    assert mark and f"<b>{mark}</b>" in board and f'<span class="tag warn">{mark}</span>' in board and more in board
    page = client.get(f"{address}people/people/").content.decode()
    assert f"{mark}</span>" in page and more in page
    data = client.get(f"{address}people/people/analysis.json").json()
    assert data["criteria"][""]["metrics"][0]["trained"] == "these"
    digest = Snapshot.current(phase, "public").digest
    texts = {kind: client.get(f"{address}snapshots/{digest}.{kind}").content.decode("utf-8-sig") for kind in ("csv", "json", "tex", "md")}
    rows = list(csv.DictReader(io.StringIO(texts["csv"], newline="")))
    assert {row[f"{slug}_people_trained"] for row in rows} == {"these"} and '"trained": "these"' in texts["json"]
    assert [kind for kind in ("json", "tex", "md") if mark not in texts[kind]] == []
    told = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/board").json()
    assert told["columns"][0]["people"]["trained"] == "these"


def test_other_columns_say_nothing_of_it(judged, client):  # noqa: F811
    phase, entries = judged
    imported(phase, votes_for(entries, list(phase.batches.get(state="current").reference.item_ids), 0))
    analyse_due()
    snapshots.make_all(phase)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    assert "trained on" not in client.get(address).content.decode() + client.get(f"{address}people/people/").content.decode()
    digest = Snapshot.current(phase, "public").digest
    assert "_trained" not in client.get(f"{address}snapshots/{digest}.csv").content.decode()

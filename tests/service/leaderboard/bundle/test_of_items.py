"""Figures with values of items as code: read, applied, ranked, written back."""

from __future__ import annotations

import hashlib
import html
import re
from pathlib import Path

import numpy as np
import pytest

from evaluation.models import EvaluationBatch, ResultTable, Score
from leaderboard.boards import snapshots
from leaderboard.bundle.apply import apply, plan_for
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.state import read
from leaderboard.evidence.manifest import published_names
from leaderboard.models import AnswerSet, Study
from leaderboard.studies import answer_sets
from leaderboard.wording import certainty
from submissions.formats.yaml_document import DocumentError
from submissions.models import Challenge, Phase, Submission
from tests.service.leaderboard.bundle.test_apply import same_folders
from tests.support.leaderboard.evidence.small_set import MANIFEST, TABLE, changed

pytestmark = pytest.mark.django_db

LPIPS = published_names()["lpips"]["title"]
BUNDLE = """\
slug: judged
title: Judged
visibility: public
phases:
  - slug: main
    title: As published
    opens_at: 2026-01-01T00:00
    results:
      items: set/evidence.yaml
      question: How good is it?
"""
MEANS = """\
judgements:
  - {file: all, item: "{Scene} path {Path}", group: Scene, entry: "{Codec} {Rate}", score: "Subject_*", raters: columns, scale: [1, 5],
     better: higher}
labels:
  - {where: {Codec: REF}, label: reference}
"""


def bundle(folder: Path, text: str = BUNDLE, table: str = TABLE, manifest: str = MANIFEST) -> Path:
    (folder / "set").mkdir(parents=True, exist_ok=True)
    (folder / "challenge.yaml").write_text(text)
    (folder / "set" / "Results.csv").write_text(table)
    (folder / "set" / "evidence.yaml").write_text(changed(manifest, [("0" * 64, hashlib.sha256(table.encode()).hexdigest())]))
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    return bundle(tmp_path / "bundle")


def test_values_of_items_are_kept_and_a_column_holds_their_mean_over_groups(folder):
    apply(parse(folder).definition)
    batch = EvaluationBatch.objects.get()
    assert (batch.item_ids, batch.groups) == (["bicycle path 1", "garden path 1"], ["bicycle", "garden"])
    assert [(one["slug"], one["title"], one["is_primary"]) for one in batch.metrics] == [
        ("psnr-y", "PSNR (luma)", True),
        ("lpips", LPIPS, False),
    ]
    scores = {(one.evaluation.submission.method_name, one.slug): one for one in Score.objects.select_related("evaluation__submission")}
    assert set(Submission.objects.values_list("method_name", flat=True)) == {"ContextGS R01", "ContextGS R02", "HAC R01"}  # no reference
    assert scores["ContextGS R01", "psnr-y"].value == (20.5 + 21) / 2 and scores["ContextGS R01", "psnr-y"].n == 2
    assert np.frombuffer(scores["HAC R01", "psnr-y"].vector).tolist() == [22, 26]
    only = scores["ContextGS R02", "psnr-y"]
    assert (only.value, only.n) == (25.5, 1) and np.isnan(np.frombuffer(only.vector)).tolist() == [False, True]


def test_its_study_is_of_the_answers(folder, client):
    apply(parse(folder).definition)
    study = Study.objects.get()
    assert (study.slug, study.source, study.is_public) == ("published-answers", "A. Author", True)
    assert f"question: {study.question}" in BUNDLE
    assert study.phase.results_source == "github.com/example/small"
    assert answer_sets.analyse_due() == 1
    record = AnswerSet.objects.get().record
    assert record is not None and set(record.criteria["quality"].metrics) == {"psnr-y", "lpips", "constant", "coin"}
    board = snapshots.make(Challenge.objects.get().phases.get(), "public").board
    assert board.n_items == 2 and [one.title for one in board.metrics] == ["PSNR (luma)", LPIPS]
    assert "on 1 to 2 of " in certainty.partial(board, board.overall)
    assert client.get("/challenges/judged/main/").context["published"].record == record
    assert [row.found.answers for row in client.get("/studies/").context["rows"]] == [record.criteria["quality"].answers]


def test_the_same_bundle_changes_nothing_and_what_is_written_reads_back(folder, tmp_path):
    apply(parse(folder).definition)
    assert plan_for(parse(folder).definition).is_empty
    export(read(Challenge.objects.get()), tmp_path / "out")
    assert (tmp_path / "out" / "phases" / "main" / "items" / "evidence.yaml").is_file()
    assert parse(tmp_path / "out").definition == read(Challenge.objects.get())
    assert plan_for(parse(tmp_path / "out").definition).is_empty
    export(parse(tmp_path / "out").definition, tmp_path / "again")
    same_folders(tmp_path / "out", tmp_path / "again")


def test_other_answers_are_another_study_in_the_same_place_and_what_was_hidden_stays_hidden(folder):
    apply(parse(folder).definition)
    Study.objects.update(is_public=False)
    bundle(folder, table=TABLE.replace("garden,1,HAC,R01,4,3,5", "garden,1,HAC,R01,4,3,1"))
    apply(parse(folder).definition)
    study = Study.objects.get()
    assert (study.slug, study.is_public) == ("published-answers", False)
    assert ResultTable.objects.count() == 1  # values of metrics are the same


def test_another_column_may_decide(folder):
    bundle(folder, BUNDLE + "      primary: LPIPS\n")
    apply(parse(folder).definition)
    assert [one["slug"] for one in EvaluationBatch.objects.get().metrics if one["is_primary"]] == ["lpips"]


def test_without_metrics_people_rank(folder):
    bundle(folder, manifest=MANIFEST[: MANIFEST.index("judgements:")] + MEANS)
    apply(parse(folder).definition)
    batch = EvaluationBatch.objects.get()
    assert [(one["slug"], one["title"]) for one in batch.metrics] == [("quality", "People: quality")]
    assert Score.objects.get(evaluation__submission__method_name="HAC R01").value == ((2 + 2 + 3) / 3 + 4) / 2
    assert answer_sets.analyse_due() == 1
    record = AnswerSet.objects.get().record
    assert record is not None and set(record.criteria["quality"].metrics) == {"constant", "coin"}  # means are no metric of themselves


def test_every_page_of_values_of_items_can_be_opened_and_gives_one_interval(tmp_path, client, admin_client):
    """Seven items in a group each: an entry's interval on its page and in the API is the board's."""
    rows = ["Scene,Path,Codec,Rate,Subject_1,Subject_2,PSNR_Y,LPIPS"]
    for scene in range(7):
        rows += [f"scene {scene},1,A,R1,1,2,{20 + scene},0.5", f"scene {scene},1,B,R1,2,2,{21 + scene},0.4"]
    apply(parse(bundle(tmp_path / "bundle", table="\n".join(rows) + "\n")).definition)
    assert answer_sets.analyse_due() == 1
    challenge = Challenge.objects.get()
    snapshot = snapshots.make(challenge.phases.get(), "public")
    column = snapshot.board.column("psnr-y")
    for place, entry in enumerate(snapshot.board.entries):
        score = client.get(f"/api/v1/submissions/{entry.id}").json()["scores"]["psnr-y"]
        assert score["value"] == column.value[place] and score["ci"] == [column.ci_low[place], column.ci_high[place]]
    for viewer in (client, admin_client):
        opened, waiting = set(), ["/challenges/judged/"] + ["/console/challenges/judged/"] * (viewer is admin_client)
        while waiting:
            address = waiting.pop()
            if address in opened:
                continue
            opened.add(address)
            answer = viewer.get(address)
            assert answer.status_code in (200, 302), (address, answer.status_code)
            links = re.findall(r'href="([^"#]*)', answer.content.decode()) if "html" in answer["Content-Type"] else []
            waiting += [html.unescape(link) for link in links if re.match(r"/((console/)?challenges/judged/|entries/|teams/)", link)]
        assert {f"/entries/{entry.id}/" for entry in snapshot.board.entries} < opened
    team = Submission.objects.first().team_id
    assert admin_client.get(f"/console/challenges/judged/teams/{team}/").context["team"].is_of_imported


def test_the_page_of_an_entry_says_what_its_lines_are_and_has_intervals_and_no_median(tmp_path, client):
    rows = ["Scene,Path,Codec,Rate,Subject_1,Subject_2,PSNR_Y,LPIPS"]
    for scene in range(7):
        rows += [f"scene {scene},1,{codec},R1,1,2,{more + scene},0.{more}" for codec, more in (("A", 20), ("B", 21), ("C", 23))]
    apply(parse(bundle(tmp_path / "bundle", table="\n".join(rows) + "\n")).definition)
    snapshots.make(Challenge.objects.get().phases.get(), "public")
    page = client.get(f"/entries/{Submission.objects.first().pk}/").content.decode()
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "line: 95 % interval over items" in words and "The numbers: 2 metrics with interval Scores" in words
    assert "Metric Value Rank 95 % interval PSNR" in words and "median" not in words.casefold()


def test_entries_with_values_of_items_are_compared_by_tests_without_their_values(tmp_path, client):
    """B is 1 dB above A in each of seven scenes: of the 128 ways to flip the signs, two are as far from zero."""
    rows = ["Scene,Path,Codec,Rate,Subject_1,Subject_2,PSNR_Y,LPIPS"]
    for scene in range(7):
        rows += [f"scene {scene},1,{codec},R1,1,2,{more + scene},0.5" for codec, more in (("A", 20), ("B", 21), ("C", 23))]
    apply(parse(bundle(tmp_path / "bundle", table="\n".join(rows) + "\n")).definition)
    assert snapshots.make(Challenge.objects.get().phases.get(), "public").board.n_items == 7
    a, b, c = Submission.objects.order_by("method_name").values_list("pk", flat=True)
    page = client.get(f"/challenges/judged/main/compare/?a={a}&b={b}")
    psnr = next(one for one in page.context["comparisons"] if one.a.slug == "psnr-y").paired
    assert (psnr.mean_difference, psnr.p_value, psnr.worse) == (-1, 2 / 128, 7)
    assert "shown" not in page.context and b"scene 3" not in page.content
    page = client.get(f"/challenges/judged/main/compare/?a={a}&b={b}&c={c}")
    assert [len(one.pairs) for one in page.context["compared"]] == [3, 3] and b"scene 3" not in page.content
    assert certainty.SENTENCES["bracket"] in client.get("/challenges/judged/main/").context["foot"]
    Phase.objects.update(withhold_items=True)
    withheld = client.get(f"/challenges/judged/main/compare/?a={a}&b={b}").context
    assert {one.paired for one in withheld["comparisons"]} == {None}


@pytest.mark.parametrize(
    ("text", "table", "manifest", "sentence"),
    [
        (BUNDLE.replace("set/evidence.yaml", "set"), TABLE, MANIFEST, "results.items: expected the manifest of a set"),
        (BUNDLE.replace("set/evidence.yaml", "nowhere.yaml"), TABLE, MANIFEST, 'there is no "nowhere.yaml" in the bundle'),
        (BUNDLE + "      path: table.csv\n", TABLE, MANIFEST, "unknown key"),
        (BUNDLE + "      primary: VMAF\n", TABLE, MANIFEST, "There is no column “VMAF”; there are: psnr-y:higher, lpips:lower."),
        (BUNDLE, TABLE.replace("bicycle,1,HAC,R01,2", "bicycle,1,HAC,R01,6"), MANIFEST, "row 4, Subject_1: 6 lies outside 1 to 5."),
        (BUNDLE, TABLE, MANIFEST.replace("better: lower", "better: low"), "evidence.yaml: line 24"),
        (BUNDLE, TABLE, MANIFEST.replace(f"commit: {'ab' * 20}", "commit: main"), "A branch changes."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(tmp_path, text, table, manifest, sentence):
    with pytest.raises(DocumentError) as refused:
        parse(bundle(tmp_path / "bundle", text, table, manifest))
    assert sentence in str(refused.value)


def test_a_file_with_another_digest_is_refused(folder):
    (folder / "set" / "Results.csv").write_text(TABLE + "\n")
    with pytest.raises(DocumentError, match=r"Results\.csv is not the file of the catalogue: its SHA-256 is"):
        parse(folder)

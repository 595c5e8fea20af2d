"""Imported figures as code: read, applied, written back; and the published table on a board, as its paper has it."""

from __future__ import annotations

import csv
import re
import string
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.http import HttpResponse
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from evaluation.models import Evaluation, EvaluationBatch, ResultTable, Score
from leaderboard.boards import snapshots
from leaderboard.bundle.apply import apply, plan_for
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.state import read
from leaderboard.demo.load import PUBLISHED
from leaderboard.exports.tables.file_formats import FILE_FORMATS
from leaderboard.models import Snapshot, Study, read_board
from leaderboard.models.analysis import StudyAnalysis
from leaderboard.studies.analysis import analyse_due
from leaderboard.views import share_cards
from leaderboard.views.share_cards import Sheet
from submissions.errors import Refused
from submissions.formats.yaml_document import DocumentError
from submissions.models import AuditEntry, Challenge, Submission, Team
from submissions.models import Phase as ChallengePhase
from tests.service.leaderboard.bundle.test_apply import same_folders
from tests.support.examples import examples
from tests.support.factories import TeamFactory, join
from tests.support.leaderboard.bundle.folders import SMALL, write_bundle

pytestmark = pytest.mark.django_db

TABLE = "method,year,score,error,opinion,from,to\nOne,2020,0.80,12,4.5,4.1,4.9\nTwo,2021,0.75,,4.0,,\nThree,2022,0.7,10,2,1.5,2.5\n"
BUNDLE = """\
slug: reported
title: Reported
visibility: public
phases:
  - slug: paper
    title: As reported
    opens_at: 2026-01-01T00:00
    results:
      path: table.csv
      source: a paper, table 1
      url: https://example.org/paper
      details: [year]
      columns:
        - {column: score, title: Score, better: higher, primary: true}
        - {column: error, better: lower, unit: mm, in_ranking: false, weight: 2}
      opinions:
        question: How good is it?
        raters: 9
        criteria: [{column: opinion, low: from, high: to}]
        left_out: [Two]
        note: Two is another task.
"""


def bundle(folder: Path, text: str = BUNDLE, table: str = TABLE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "challenge.yaml").write_text(text)
    (folder / "table.csv").write_text(table, newline="")
    return folder


def phase_of(slug: str = "reported"):
    return Challenge.objects.get(slug=slug).phases.get()


def test_rows_become_entries_with_single_figures(tmp_path):
    apply(parse(bundle(tmp_path)).definition)
    phase = phase_of()
    batch = EvaluationBatch.current(phase)
    assert (batch.reference, batch.item_ids, batch.version, phase.results_source) == (None, [], 1, "a paper, table 1")
    assert list(phase.submissions.order_by("number").values_list("method_name", "status", "description")) == [
        ("One", "scored", "2020"),
        ("Two", "scored", "2021"),
        ("Three", "scored", "2022"),
    ]
    assert set(Evaluation.objects.values_list("kind", "state")) == {("imported", "done")}
    values = dict(Score.objects.filter(slug="error").values_list("evaluation__submission__method_name", "value"))
    assert values == {"One": 12.0, "Two": None, "Three": 10.0}
    assert set(Score.objects.values_list("vector", "ci_low", "ci_high", "n")) == {(None, None, None, 0)}
    assert AuditEntry.objects.filter(action="phase.import").count() == 1
    assert Team.objects.get().memberships.count() == 0


def test_a_second_apply_has_nothing_to_do_and_an_export_says_the_same(tmp_path):
    definition = parse(bundle(tmp_path / "in")).definition
    apply(definition)
    assert plan_for(definition).is_empty
    export(read(Challenge.objects.get(slug="reported")), tmp_path / "out")
    again = parse(tmp_path / "out").definition
    assert again.phases == definition.phases and plan_for(again).is_empty
    assert (tmp_path / "out" / "phases" / "paper" / "table.csv").read_bytes() == TABLE.encode()
    export(read(Challenge.objects.get(slug="reported")), tmp_path / "twice")
    assert same_folders(tmp_path / "out", tmp_path / "twice") == []


def test_details_with_titles_stand_under_a_name_and_come_back(tmp_path):
    text = BUNDLE.replace("details: [year]", "details: [year, {column: error, title: error of, unit: mm}]")
    apply(parse(bundle(tmp_path / "in", text)).definition)
    found = phase_of().submissions.order_by("number").values_list("description", flat=True)
    assert list(found) == ["2020 · error of 12 mm", "2021", "2022 · error of 10 mm"]
    export(read(Challenge.objects.get(slug="reported")), tmp_path / "out")
    assert parse(tmp_path / "out").definition.phases[0].results.layout == parse(tmp_path / "in").definition.phases[0].results.layout
    wrong = text.replace("title: error of", "titel: error of")
    with pytest.raises(DocumentError, match=r"details\[1\]\.titel.*did you mean title"):
        parse(bundle(tmp_path / "wrong", wrong))


def test_a_newer_table_keeps_entries_by_name_and_withdraws_those_that_went(tmp_path):
    apply(parse(bundle(tmp_path)).definition)
    before = dict(Submission.objects.values_list("method_name", "pk"))
    first = snapshots.make(phase_of(), "public")
    table = TABLE.replace("Two,2021,0.75", "Four,2023,0.9").replace("0.80", "0.81")
    apply(parse(bundle(tmp_path, BUNDLE.replace("left_out: [Two]", "left_out: [Four]"), table)).definition)
    phase = phase_of()
    assert ResultTable.of(phase).version == 2 and phase.batches.count() == 2
    now = dict(Submission.objects.filter(withdrawn_at=None).values_list("method_name", "pk"))
    assert now["One"] == before["One"] and set(now) == {"One", "Three", "Four"}
    content = snapshots.make(phase, "public").board
    assert content.reference == 2 and [entry.name for entry in content.entries] == ["One", "Three", "Four"]
    assert first.board.metrics[0].value == [0.8, 0.75, 0.7]  # the old ranking stays
    assert first.board.metrics[0].fingerprint != content.metrics[0].fingerprint
    assert set(phase.studies.get().entries.values_list("label", flat=True)) == {"One", "Three", "Four"}
    apply(parse(bundle(tmp_path)).definition)
    assert Submission.objects.get(method_name="Two").withdrawn_at is None
    assert Submission.objects.get(method_name="Two").pk == before["Two"]


def test_only_where_it_is_from_changes_without_a_new_version(tmp_path):
    apply(parse(bundle(tmp_path)).definition)
    plan = apply(parse(bundle(tmp_path, BUNDLE.replace("table 1", "table 2"))).definition)
    assert [(change.path, change.field) for change in plan.changes] == [(("phase paper", "results"), "source")]
    assert ResultTable.objects.count() == 1 and phase_of().studies.get().source == "a paper, table 2"


def test_means_on_another_scale_are_kept_and_written_as_they_are(tmp_path):
    text = BUNDLE.replace("      opinions:", "      opinions:\n        scale: [0, 100]").replace("column: opinion", "column: error")
    apply(parse(bundle(tmp_path, text)).definition)
    study = Study.objects.get()
    assert study.scale == (0.0, 100.0) and analyse_due() == 1
    summary = StudyAnalysis.main_summary(study, [])
    assert summary.scale == (0.0, 100.0) and summary.scales[0].normalised == pytest.approx(summary.scales[0].mos[0] / 100)
    apply(parse(bundle(tmp_path, text)).definition)
    assert ResultTable.objects.count() == 1, "the same scale is no new version"


def test_without_opinions_there_is_no_study(tmp_path):
    apply(parse(bundle(tmp_path)).definition)
    assert Study.objects.get().from_results
    text = BUNDLE[: BUNDLE.index("      opinions:")]
    apply(parse(bundle(tmp_path, text)).definition)
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("better: lower, ", "", "phases[0].results.columns[1].better: expected a value; the key is missing"),
        ("column: error", "column: fault", "the table has no column fault"),
        ("primary: true", "primary: true, slug: people", '"people" is that of the people\'s column'),
        ("left_out: [Two]", "left_out: [Ten]", 'expected a method of the table, found "Ten"'),
        ("      opinions:", "      opinions:\n        scale: [5, 0]", "expected the two ends of the scale, such as [0, 10]"),
        ("column: opinion", "column: error", "error is '12'; a mean opinion lies from 1 to 5."),
        (", high: to", "", "expected both ends of the interval, low and high"),
        ("source: a paper, table 1", "source: ''", "expected where the figures are from"),
        ("url: https://example.org/paper", "url: javascript:x", 'expected a web address, found "javascript:x"'),
        ("    results:", "    metrics: [{key: psnr}]\n    results:", "expected no metrics beside results"),
        ("      path: table.csv", "      path: table.csv\n      colums: []", "unknown key; did you mean columns?"),
    ],
)
def test_faults_are_named_with_their_key(tmp_path, old, new, fault):
    assert old in BUNDLE
    with pytest.raises(DocumentError) as caught:
        parse(bundle(tmp_path, BUNDLE.replace(old, new)))
    assert fault in str(caught.value)


def test_a_phase_goes_on_as_it_began(tmp_path):
    apply(parse(bundle(tmp_path / "a")).definition)
    measured = SMALL.replace("slug: roofs", "slug: reported").replace("slug: final", "slug: paper")
    with pytest.raises(Refused, match="paper ranks imported figures and goes on with them"):
        apply(replace(parse(write_bundle(tmp_path / "b", measured)).definition, family="wireframe"))
    apply(parse(write_bundle(tmp_path / "c")).definition)
    text = BUNDLE.replace("slug: reported", "slug: roofs").replace("slug: paper", "slug: final")
    with pytest.raises(Refused, match="final has entries or is being scored"):
        apply(parse(bundle(tmp_path / "d", text)).definition)


def test_a_phase_of_imported_figures_can_be_removed_with_them(tmp_path):
    apply(parse(bundle(tmp_path)).definition)
    apply(replace(parse(tmp_path).definition, phases=()))
    assert not Submission.objects.exists() and not ResultTable.objects.exists()


NAMES = st.text(string.ascii_letters + string.digits + "é,\"' ", min_size=1, max_size=12).map(lambda text: f"m{text}".strip())
NUMBERS = st.none() | st.floats(-1e6, 1e6).map(lambda value: round(value, 4))


@examples(8, phases=[Phase.explicit, Phase.reuse, Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.dictionaries(NAMES.map(lambda name: " ".join(name.split()).casefold()), st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6))
def test_any_table_comes_back_as_it_went_in(rows):
    with TemporaryDirectory() as folder:
        root = bundle(Path(folder) / "in", BUNDLE[: BUNDLE.index("      opinions:")].replace("      details: [year]\n", ""))
        with (root / "table.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([["method", "score", "error"], *([name, *values] for name, values in rows.items())])
        definition = parse(root).definition
        apply(definition)
        export(read(Challenge.objects.get(slug="reported")), Path(folder) / "out")
        assert parse(Path(folder) / "out").definition.phases == definition.phases
        found = {name: {} for name in rows}
        current = Score.objects.filter(evaluation__batch__state="current")
        for name, slug, value in current.values_list("evaluation__submission__method_name", "slug", "value"):
            found[name][slug] = value
        assert found == {name: {"score": one, "error": other} for name, (one, other) in rows.items()}
        apply(replace(definition, phases=()))


# --- the pages


@pytest.fixture
def published():
    """The re-evaluation of 12 methods by 5 metrics and opinion scores that the demo opens with, analysed and ranked."""
    apply(parse(PUBLISHED).definition)
    assert analyse_due() == 1
    found = phase_of("radiance-fields")
    snapshots.make_all(found)
    return found


def test_the_published_table_stands_on_a_board_with_its_agreement(published, client):
    content = Snapshot.current(published, "public").board
    assert (content.n_entries, len(content.metrics)) == (12, 5)
    rho = {line.slug: line.rho.value for line in content.people.metrics}
    expected = {"psnr": 0.6575, "ssim": 0.497, "lpips_alex": 0.662, "clip_sim": 0.739, "osim": 0.797}
    assert rho == pytest.approx(expected, abs=1e-3)
    assert [line for line in content.people.metrics if line.rho.n != 11] == []
    mos = dict(zip((entry.name for entry in content.entries), content.people.value, strict=True))
    assert (mos["Mip-NeRF360"], mos["COLMAP"], mos["gsplat"]) == (4.5, 1.71, 4.4)
    for metric in content.metrics:
        assert metric.group == metric.rank_low == metric.ci_low == [None] * 12
    page = client.get("/challenges/radiance-fields/published/").content.decode()
    for words in (
        '<b>Zip-NeRF</b> first. People&#x27;s published means put <b class="person">Mip-NeRF360</b> first.',
        "ρ 0.66 [",
        "ρ 0.80 [",
        "· 11 entries",
        "23 raters",
        "reported</span>",
        ">the paper on OSIM, table 4</a>",
        "COLMAP is shown and left out",
    ):
        assert words in page
    # Beside what follows from the rounded columns, what the paper prints; and no tiers.
    rows = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.partition("by the paper")[2]))
    assert re.search(r"OSIM 0\.797 \[0\.29, 0\.95\] 0\.820 11 .*PSNR 0\.658 \[0\.02, 0\.91\] 0\.658 11 ", rows)
    assert "· tier" not in page
    for words in ("Bracket:", "bootstrap", "±", "tests passed"):
        assert words not in page
    by_people = client.get("/challenges/radiance-fields/published/?sort=people").content.decode().partition("<tbody>")[2]
    assert by_people.index("Mip-NeRF360") < by_people.index("Zip-NeRF") < by_people.index("COLMAP")


def test_every_page_of_imported_figures_is_there(published, client):
    place = "/challenges/radiance-fields/published/"
    entry = published.submissions.get(method_name="Zip-NeRF")
    page = client.get(f"{place}people/published-opinions/").content.decode()
    assert [shown for shown in ("0.658", "0.797", "0.820", "ρ, printed", "left out") if shown not in page] == []
    assert client.get(f"{place}people/published-opinions/?metric=psnr").status_code == 200
    data = client.get(f"{place}people/published-opinions/analysis.json").json()
    assert data["criteria"]["overall"]["of"] == "means" and data["criteria"]["overall"]["left_out"] == ["COLMAP"]
    page = client.get(f"/entries/{entry.pk}/").content.decode()
    assert "29.606" in page and "Median" not in page
    other = published.submissions.get(method_name="3DGS")
    page = client.get(f"{place}compare/?a={entry.pk}&b={other.pk}").content.decode()
    assert "28.389" in page
    assert "Scores per" not in client.get(f"{place}charts/").content.decode()
    for address in (
        f"{place}entries/",
        f"{place}people/",
        "/challenges/radiance-fields/",
        "/challenges/radiance-fields/data/",
        "/",
    ):
        assert client.get(address).status_code == 200
    assert client.get(f"{place}upload/").status_code == 409
    assert client.get(f"/entries/{entry.pk}/items/a/").status_code in (403, 404)
    digest = Snapshot.current(published, "public").digest
    page = client.get(f"{place}snapshots/{digest}/")
    assert page.status_code == 200 and b"table version 1" in page.content
    for kind in FILE_FORMATS:
        text = client.get(f"{place}snapshots/{digest}.{kind}").content.decode()
        assert "29.606" in text and ("OSIM, table 4" in text or kind == "csv")


def test_such_a_phase_takes_no_uploads(published):
    for act in (lambda: published.require_open(published.opens_at), lambda: EvaluationBatch.start(published)):
        with pytest.raises(Refused):
            act()


def test_programs_are_told_where_figures_are_from(published, client):
    board = client.get("/api/v1/challenges/radiance-fields/phases/published/board").json()
    assert board["imported_from"] == published.results_source and board["columns"][0]["key"] == ""
    assert (board["study"]["of"], board["study"]["raters"], board["study"]["left_out"]) == ("means", 23, ["COLMAP"])
    assert board["columns"][0]["people"]["srocc"]["value"] == pytest.approx(0.6575, abs=1e-3)
    assert board["columns"][0]["people"]["decided"] is None and board["columns"][0]["people"]["krocc"]["n"] == 11
    rows = client.get(board["rows_url"]).json()["items"]
    assert [rows[0]["people"][name] for name in ("value", "low", "high", "n", "state")] == [4.4, None, None, 0, "no_interval"]
    assert board["n_teams"] == 0 and {row["team"] for row in rows} == {""}
    assert rows[0]["name"] == "Zip-NeRF" and rows[0]["detail"] == "Apr. 2023 · training 5h33m2s · memory 26.85 GB"
    assert rows[0]["scores"]["psnr"] == {"value": 29.606, "ci": None, "n": 0, "rank": 1, "ranks": None, "group": None, "loose": False} | {
        "flags": {},
        "tied": None,
    }
    entry = client.get(f"/api/v1/submissions/{rows[0]['id']}").json()
    assert entry["scores"]["lpips_alex"]["higher_is_better"] is False and entry["scores"]["psnr"]["ci"] is None
    assert client.get(f"/api/v1/submissions/{rows[0]['id']}/items?metric=psnr").status_code in (403, 404)
    studies = client.get("/api/v1/challenges/radiance-fields/phases/published/studies").json()["items"]
    assert [(one["slug"], one["kind"], one["raters"]) for one in studies] == [("published-opinions", "opinions", 23)]
    study = client.get("/api/v1/challenges/radiance-fields/phases/published/studies/published-opinions").json()
    order = {line["key"]: line["rho"]["value"] for line in study["analyses"]["overall"]["metrics"]}
    assert order["osim"] == pytest.approx(0.797, abs=1e-3) and study["analyses"]["overall"]["scales"][0]["method"] == "Mip-NeRF360"


def test_files_of_the_board_say_how_far_its_columns_go_with_people(published, client):
    digest = Snapshot.current(published, "public").digest
    place = f"/challenges/radiance-fields/published/snapshots/{digest}"
    row = next(csv.DictReader(client.get(f"{place}.csv").content.decode().splitlines()))
    assert float(row["psnr_people_rho"]) == pytest.approx(0.6575, abs=1e-3) and row["entry"] == "Zip-NeRF" and row["people"] == "4.4"
    data = client.get(f"{place}.json").json()
    assert data["columns"][2]["people"]["rho"]["value"] == pytest.approx(0.797, abs=1e-3) and "23 raters" in data["caption"]["people"]
    assert "with people & -- & 0.66 (" in client.get(f"{place}.tex").content.decode()
    assert "with people* | – | 0.66 (" in client.get(f"{place}.md").content.decode()


def test_methods_of_a_paper_are_nowhere_those_of_a_team(published, client, admin_client, monkeypatch):
    place, digest = "/challenges/radiance-fields/published/", Snapshot.current(published, "public").digest
    entry = published.submissions.get(method_name="Zip-NeRF")
    addresses = [place, f"{place}feed.atom", f"{place}choosing-metrics/", f"{place}compare/?a={entry.pk}", "/search/?q=zip-nerf"]
    addresses += [f"{place}charts/", f"/entries/{entry.pk}/", f"/teams/{entry.team_id}/methods/Zip-NeRF/"]
    addresses += [f"{place}snapshots/{digest}/", *(f"{place}snapshots/{digest}.{kind}" for kind in FILE_FORMATS)]
    pages = {one: client.get(one) for one in addresses}
    console = f"/console/challenges/radiance-fields/entries/{entry.pk}/"
    pages[console] = admin_client.get(console)
    assert {page.status_code for page in pages.values()} == {200}
    told = {one: page.content.decode() for one, page in pages.items()}
    assert [one for one, page in told.items() if "Zip-NeRF" not in page] == []
    assert [one for one, page in told.items() if "Imported results" in page or re.search(r"\b1 team\b|\b0 bytes\b", page)] == []
    sheets: list[Sheet] = []
    monkeypatch.setattr(share_cards, "sent", lambda sheet: sheets.append(sheet) or HttpResponse())
    Study.objects.update(is_public=False)  # without people the right column of a card has teams
    snapshots.make_all(published)
    for address in (place, "/challenges/radiance-fields/", f"/entries/{entry.pk}/"):
        client.get(f"{address}card.png")
    assert len(sheets) == 3 and [row.right for row in sheets[0].rows] == ["", "", ""]
    assert [sheet for sheet in sheets if "Imported results" in str(sheet) or "1 team" in str(sheet)] == []


TWO_TABLES = BUNDLE.replace(
    "phases:\n",
    """\
phases:
  - slug: uploads
    title: Uploads
    opens_at: 2026-01-01T00:00
  - slug: older
    title: An older table
    opens_at: 2026-01-02T00:00
    results: {path: older.csv, source: another paper, columns: [{column: score, title: Score, better: higher, primary: true}]}
""",
)


@pytest.fixture
def two_tables(tmp_path) -> Challenge:
    """A challenge with a phase for uploads and two for tables."""
    folder = bundle(tmp_path / "bundle", TWO_TABLES)
    (folder / "older.csv").write_text("method,score\nTwo,0.5\nOther,0.9\n")
    apply(parse(folder).definition)
    found = Challenge.objects.get(slug="reported")
    for phase in found.phases.exclude(results_source=""):
        snapshots.make_all(phase)
    return found


def test_tables_beside_uploads_are_no_team_and_take_nobody_from_the_phase_that_is_open(two_tables, client, people):
    join(people.owner, TeamFactory(challenge=two_tables, name="Roofers"), leader=True)
    overview = client.get("/challenges/reported/")
    assert overview.context["place"].main_phase.slug == "uploads" and overview.context["n_teams"] == 1
    client.force_login(people.owner)
    quotas = {slug: client.get(f"/api/v1/challenges/reported/phases/{slug}").json()["quota"] for slug in ("uploads", "paper", "older")}
    assert {slug for slug, quota in quotas.items() if quota is not None} == {"uploads"}
    two_tables.organizers.add(people.organizer)
    client.force_login(people.organizer)
    page = client.get(f"/console/challenges/reported/teams/{Team.objects.get(name='Roofers').pk}/").context
    assert [one["phase"].slug for one in page["usage"]] == ["uploads"] and list(page["others"]) == []


def test_a_method_is_elsewhere_where_another_table_has_it(two_tables, client):
    there = {
        name: [(phase.slug, standing.rank) for phase, standing in client.get(f"/entries/{pk}/").context["elsewhere"]]
        for name, pk in Submission.objects.filter(phase__slug="paper").values_list("method_name", "pk")
    }
    assert there == {"One": [], "Two": [("older", 2)], "Three": []}


def test_a_table_does_not_close(tmp_path, client):
    apply(parse(bundle(tmp_path)).definition)
    for closes_in in (timedelta(days=3), -timedelta(days=3)):
        ChallengePhase.objects.update(closes_at=timezone.now() + closes_in)
        page = client.get("/challenges/reported/paper/").content.decode().casefold()
        assert "a paper, table 1" in page and not re.search(r"closes (in|within)|closed <", page)


def test_the_board_asks_at_most_ten_queries(published, client, django_assert_max_num_queries):
    client.get("/challenges/radiance-fields/published/")
    read_board.cache_clear()
    with django_assert_max_num_queries(10):
        assert client.get("/challenges/radiance-fields/published/").status_code == 200


def test_the_console_shows_the_table_and_offers_no_scoring(published, client, people):
    published.challenge.organizers.add(people.organizer)
    client.force_login(people.organizer)
    place = "/console/challenges/radiance-fields/"
    page = client.get(f"{place}phases/published/").content.decode()
    assert "table_4.csv" in page and "scoring/" not in page
    for gone in ("metrics", "reference", "scoring"):
        assert client.get(f"{place}phases/published/{gone}/").status_code == 404
    entry = published.submissions.first()
    for shown in (
        "",
        "teams/",
        "entries/",
        f"entries/{entry.pk}/",
        "files/",
        "audit/",
        "settings/",
        "phases/published/studies/",
        "delete/",
    ):
        assert client.get(f"{place}{shown}").status_code == 200, shown
    assert client.get("/challenges/radiance-fields/published/").status_code == 200
    assert client.get("/challenges/radiance-fields/published/choosing-metrics/").status_code == 200

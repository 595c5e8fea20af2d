"""Studies in the service: votes come in, are analysed by a worker, and change what the board says."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import asdict, replace
from itertools import combinations
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from evaluation.work.heartbeat import process_name
from leaderboard.boards import snapshots
from leaderboard.boards.people import of_board
from leaderboard.models import Rater, Snapshot, Study, StudyAnalysis
from leaderboard.stats import votes as voting
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.labels import read as read_labels
from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, RATERS_FOR_FIGURE
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.records import Matrix, plain
from leaderboard.stats.states import Key, Reason, too_few
from leaderboard.stats.study import NOTHING_COUNTS, analyse
from leaderboard.stats.votes import Vote, canonical
from leaderboard.studies.analysis import analyse_due, compute, metric_scores
from leaderboard.studies.live import artifacts, campaign
from leaderboard.studies.live.answer import answer
from leaderboard.tasks import request_analyses
from leaderboard.views.studies import _agreement_map
from leaderboard.wording.agreement import state
from leaderboard.wording.reasons import sentence
from submissions.models import AuditEntry
from submissions.wording import failed
from tests.support.factories import PhaseFactory, gables, give_reference
from tests.support.leaderboard import scores
from tests.support.leaderboard.reasons import few_items, few_raters
from tests.support.leaderboard.stats.ballots import simulated_votes, vote
from tests.support.leaderboard.studies.live import making
from tests.support.processes import end_leases

pytestmark = pytest.mark.django_db
ABOUT = {"slug": "people", "title": "Which is closer?", "question": "Which of the two is closer to the house?"}


def imported(phase, votes, **more) -> Study:
    return Study.import_votes(phase, None, votes, **(ABOUT | {"is_public": True} | more))


def test_votes_come_back_as_they_went_in_but_for_the_names_of_raters(phase):
    known = {"gold": "1", "order": "19", "at": "2026-11-22T14:05:09+00:00"}
    rows = [
        *simulated_votes(3, 2, 3),
        vote("m0", "m1", "tie", "r0", "s0", criterion="beauty", repeat_of="3", swapped="1", group="a", **known),
    ]
    study = imported(phase, rows)
    assert list(study.votes()) == [replace(row, study="people", rater=f"rater {int(row.rater[1:]) + 1}") for row in rows]
    assert study.raters.count() == 3 and study.entries.count() == 3
    assert AuditEntry.objects.get(action="study.import").detail["votes"] == len(rows)


def test_raters_of_a_file_are_numbered_as_they_first_appear_and_their_names_are_stored_nowhere(phase):
    names = [f"zoe.{n}@example.org" for n in range(12, 0, -1)]
    rows = [vote("m0", "m1", "left", name, f"s{n}", group="experts" if name == names[0] else "") for n in range(2) for name in names]
    ratings = [Rating(rater=name, entry="m0", score=4.0, sample="s0") for name in names]
    study = imported(phase, rows)
    scores = Study.import_ratings(phase, None, ratings, **(ABOUT | {"slug": "scores"}))
    numbers = [f"rater {n:02}" for n in range(1, 13)]
    for one in (study, scores):
        assert list(one.raters.order_by("id").values_list("name", flat=True)) == sorted(numbers) == numbers
    assert [row.rater for row in study.votes()] == numbers * 2 and [row.rater for row in scores.ratings()] == numbers
    assert study.raters.get(group="experts").name == "rater 01"
    while analyse_due():
        pass
    stored = (list(model.objects.values()) for model in (Rater, AuditEntry, StudyAnalysis, Study))
    assert "example.org" not in repr(list(stored))


def test_an_analysis_is_asked_for_once_computed_by_a_worker_and_not_again(phase):
    rows = [*simulated_votes(3, 2, 3), vote("m0", "m1", "tie", "r0", "s0", criterion="beauty")]
    study = imported(phase, rows)
    assert [analyse_due() for _ in range(3)] == [1, 1, 0]
    assert {row.criterion for row in study.analyses.filter(state="done")} == {"", "beauty"}
    row = study.analyses.get(criterion="")
    votes = canonical(study.votes(""))
    expected = plain(analyse(votes, damaged=()))
    made = plain(row.summary)
    assert made == row.content and row.made_of == row.wanted
    for name in ("answers", "reason", "entry_pairs", "ceiling", "enough", "counted", "agreement"):
        assert made[name] == expected[name]
    assert request_analyses() == 0


def test_more_votes_are_a_new_analysis_and_the_old_one_stays_meanwhile(phase):
    study = imported(phase, simulated_votes(3, 2, 3))
    analyse_due()
    Study.objects.filter(pk=study.pk).update(revision=2)
    assert request_analyses() == 1
    row = study.analyses.get()
    assert row.state == "waiting" and row.content is not None
    assert analyse_due() == 1
    row.refresh_from_db()
    assert row.state == "done" and row.wanted.startswith("2/")


def test_a_late_worker_writes_nothing(phase):
    study = imported(phase, simulated_votes(3, 2, 3))
    StudyAnalysis.request_missing()
    late = StudyAnalysis.objects.waiting().claim("late")
    assert end_leases(StudyAnalysis.objects.all()) == 1
    assert analyse_due() == 1
    content = study.analyses.get().content
    compute(late)
    row = study.analyses.get()
    assert row.content == content and row.worker == process_name(), "the host is named, also where the worker is lost"
    assert late.finish({"version": 0}) is False and study.analyses.get().content == content


def test_an_analysis_that_breaks_ends_after_some_attempts_and_readers_are_told_no_detail(phase, monkeypatch, settings):
    study = imported(phase, simulated_votes(3, 2, 3))
    monkeypatch.setattr("leaderboard.studies.analysis.analyse", lambda *given, **named: 1 / 0)
    for _ in range(settings.MAX_ATTEMPTS):
        StudyAnalysis.objects.update(lease_until=None)
        assert analyse_due() == 1
    row = study.analyses.get()
    assert (row.state, row.attempts) == ("failed", settings.MAX_ATTEMPTS)
    assert "ZeroDivisionError" in row.failure_detail and "ZeroDivisionError" not in failed(row)


def test_a_slug_is_taken_once(phase):
    imported(phase, simulated_votes(2, 1, 3))
    with pytest.raises(ValueError, match="There is a study 'people' in this phase already"):
        imported(phase, simulated_votes(2, 1, 3))
    assert Study.objects.count() == 1


# --- with scored entries


@pytest.fixture
def judged(challenge, people):
    """A phase of eight houses with two scored entries, the first of them better."""
    phase = PhaseFactory(challenge=challenge, entries="all")
    give_reference(phase, gables(8))
    near = scores.houses(phase, people.team, 8, 0.05, 0, uploaded_by=people.owner, method_name="near")
    return phase, [near, scores.houses(phase, people.team, 8, 0.6, 1, uploaded_by=people.owner, method_name="far off")]


def votes_for(entries, samples, better: int) -> list[Vote]:
    """Eight raters who nearly all prefer one of the first two entries on every sample: one answer in seven says the other, so that
    intervals have a width."""
    first, second = (entries[n].method_name for n in (better, 1 - better))
    turned = {(k, n): (k + 3 * n) % 7 == 0 for k in range(8) for n in range(len(samples))}
    return [vote(first, second, "right" if turned[k, n] else "left", f"r{k}", sample) for k in range(8) for n, sample in enumerate(samples)]


def test_a_metrics_answers_are_its_values_of_the_sample(judged):
    phase, entries = judged
    batch = phase.batches.get(state="current")
    items = list(batch.reference.item_ids)
    study = imported(phase, votes_for(entries, items, 0))
    votes = canonical(study.votes())
    found = metric_scores(study, study.batch, votes.samples, votes.methods)
    assert {one.key for one in found} == {metric["slug"] for metric in batch.metrics}
    for one in found:
        assert one.values.shape == (len(votes.samples), 2)


def test_the_board_says_how_far_each_metric_agrees_and_marks_what_contradicts(judged, client):
    phase, entries = judged
    batch = phase.batches.get(state="current")
    items = list(batch.reference.item_ids)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    snapshots.make_all(phase)
    assert "no people yet" in client.get(address).content.decode()
    worse, slug = 1, "corner_f1"
    study = imported(phase, votes_for(entries, items, worse))
    analyse_due()
    assert "no people yet" in client.get(address).content.decode()  # the ranking is an earlier one
    snapshots.make_all(phase)
    content = Snapshot.current(phase, "public").board
    found = of_board(content)
    assert found.study.id == study.pk and found.line(slug).percent < 50 and found.line(slug).level is Standing.WORSE_THAN_CHANCE
    assert [one.preferred for one in content.people.marks[slug][str(entries[1 - worse].pk)]] == [entries[worse].method_name]
    claim = found.claim
    assert [name for name, _ in claim.parted.pair] == ["near", "far off"] and claim.parted.ends[1] > 0.5
    page = client.get(address).content.decode()
    line = found.line(slug)
    assert 'class="against"' in page and f"<b>{line.percent}</b> {state(line)}" in page and "no people yet" not in page
    assert "The metrics put <b>near</b> first. People prefer" in page
    assert f"compare/?a={entries[worse].pk}&amp;b={entries[1 - worse].pk}&amp;item={items[0]}#view" in page
    by_people = client.get(f"{address}?sort=people").content.decode()
    places = [by_people.index(f'<b><a href="/entries/{entry.pk}/">') for entry in entries]
    assert places[worse] < places[1 - worse]
    old = Snapshot.current(phase, "public").digest
    study.publish(None, False)
    assert "no people yet" in client.get(address).content.decode()  # at once, before the next ranking is made
    assert "no people yet" in client.get(f"{address}snapshots/{old}/").content.decode()
    snapshots.make_all(phase)
    assert "no people yet" in client.get(address).content.decode()
    assert Snapshot.current(phase, "organizers").board.people.study.id == study.pk


def test_the_front_page_tells_the_surest_pair_that_a_metric_turns_round_where_no_first_is_turned(judged, client, people):
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    study = imported(phase, votes_for(entries, items, 1))
    analyse_due()
    snapshots.make_all(phase)
    board = Snapshot.current(phase, "public")
    turned = board.front.turned
    assert (turned.first, turned.preferred) == (("near", entries[0].pk), ("far off", entries[1].pk)) and turned.sample in items
    assert turned.ends[1] == max(mark.value[1] for by in board.board.people.marks.values() for marks in by.values() for mark in marks)

    def front() -> str:
        return " ".join(client.get("/").content.decode().split())

    assert "The metrics put <b>near</b> first" in front() and "before far off" not in front(), "a first that is turned is told before"
    Snapshot.objects.update(lead=board.lead | {"parted": None})
    said = (
        f'</a>: {turned.metric} puts <b>near</b> before far off. People prefer <b class="person">far off</b>. People would pick far off in '
    )
    poster = f"/entries/{entries[1].pk}/posters/{turned.sample}.webp"
    assert said in front() and poster not in front() and client.get(poster).status_code == 403
    type(phase).objects.filter(pk=phase.pk).update(reference_access="public")
    assert f'src="{poster}?v=' in front() and client.get(poster).status_code == 200
    entries[1].hide(people.organizer, "a test")
    assert "far off" not in front()
    entries[1].unhide(people.organizer)
    assert said in front()
    study.publish(None, False)
    assert "before far off" not in front(), "at once, before the next ranking is made"


# --- pages


def test_the_page_shows_every_part_and_no_names_of_raters(phase, client):
    rows = [Vote(**{**vars(row), "rater": f"jane.{row.rater}@example.org"}) for row in simulated_votes(6, 8, 5)]
    study = imported(phase, rows, simulated=True)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/"
    assert "being computed" in client.get(address).content.decode()
    assert "Being computed" in client.get(f"{address}people/").content.decode()
    analyse_due()
    page = client.get(f"{address}people/").content.decode()
    for words in ("What people prefer", "Are there enough votes?", "How reliable the raters are", "simulated", "answers are simulated"):
        assert words in page
    assert re.search(r"<span class=\"sp\">raters: [a-z ]+; (votes: [a-z ]+; )?items: [a-z ]+</span>", page)
    data = client.get(f"{address}people/analysis.json")
    assert data.json()["criteria"][""]["counted"] == len(rows)
    assert "example.org" not in page + data.content.decode()
    listed = client.get(address).content.decode()
    assert study.title in listed and f'class="narrow-only">{len(rows)} votes by 6 raters<' in listed


def rounds(pairs: list[tuple[str, str]], choice: str = "left", raters: int = 6, samples: int = 8) -> list[Vote]:
    """Everybody on every sample, the same answer each time."""
    return [vote(*pair, choice, f"r{r}", f"s{s}") for pair in pairs for r in range(raters) for s in range(samples)]


def turned(pairs: list[tuple[str, str]], every: int) -> list[Vote]:
    """Six people on six samples prefer the first of two, but for every so many, spread over people and samples alike."""
    return [vote(*pair, "left" if (r + s) % every else "right", f"r{r}", f"s{s}") for pair in pairs for r in range(6) for s in range(6)]


@pytest.mark.parametrize(
    ("votes", "labels", "reason", "ordered", "sections"),
    [
        ([], {}, None, False, set()),
        (rounds([("x", "y")], raters=1), {}, few_raters(1), False, {"scales", "raters"}),
        (
            [vote("a", "b", "left", "r0", "s0"), vote("c", "d", "left", "r1", "s1"), vote("e", "f", "left", "r2", "s2")],
            {},
            few_raters(3),
            False,
            {"scales", "raters"},
        ),
        (simulated_votes(RATERS_FOR_FIGURE, 8, 6), {}, None, True, {"scales", "metrics", "enough", "raters"}),
        (rounds([("x", "y")], "tie"), {}, Reason(Key.NO_PREFERENCE), False, {"raters"}),
        (
            rounds([("x", "broken"), ("y", "blank")]),
            {"broken": "corruption", "blank": "empty"},
            Reason(Key.ONLY_DAMAGED),
            False,
            {"raters"},
        ),
        (rounds([("broken", "blank")]), {"broken": "corruption", "blank": "empty"}, Reason(Key.ONLY_DAMAGED), False, {"raters"}),
        (turned([("a", "b"), ("b", "c"), ("a", "c")], every=2), {}, None, True, {"scales", "metrics", "enough", "raters"}),
        (turned([("a", "b"), ("c", "d")], every=5), {}, None, True, {"scales", "metrics", "enough", "raters"}),
    ],
    ids=[
        "opened",
        "one rater",
        "three who never meet",
        "few and eight",
        "nobody prefers any",
        "damaged only",
        "no entry",
        "level",
        "parts",
    ],
)
def test_the_page_has_in_every_state_only_the_parts_that_there_are(phase, client, votes, labels, reason, ordered, sections):
    if votes:
        study = imported(phase, votes, labels=labels)
        analyse_due()
    else:
        study = Study.objects.create(phase=phase, slug="people", title="P", question="Q?", is_public=True, state="open", key="k" * 20)
    response = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/{study.slug}/")
    page = " ".join(response.content.decode().split())
    assert response.status_code == 200
    found = response.context.get("found")
    assert (found is None) == (not votes)
    if found is not None:
        assert (found.reason, found.ordered) == (reason, ordered)
        assert reason is None or sentence(reason, study.noun) in page
    assert set(re.findall(r'id="(scales|metrics|criteria|scatter|enough|turned|raters|judges)"', page)) == sections
    assert response.context["is_early"] == (not votes or too_few(reason))
    opened = [row for row in response.context["table"].entries if row.opens] if found is not None else []
    assert page.count('<tr class="part">') == len(opened)
    assert len(response.context.get("sentences") or []) <= 3
    assert " open" not in "".join(re.findall(r"<details[^>]*>", page.partition("<h2>Details</h2>")[2])) or not votes


def test_votes_are_for_organizers_and_hidden_studies_too(phase, client, people):
    study = imported(phase, simulated_votes(3, 2, 3), is_public=False)
    analyse_due()
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/"
    assert client.get(address).status_code == 404 and client.get(f"{address}votes.csv").status_code == 404
    assert address not in client.get("/studies/").content.decode()
    Study.objects.update(is_public=True)
    assert address in client.get("/studies/").content.decode()
    Study.objects.update(is_public=False)
    client.force_login(people.organizer)
    assert client.get(address).status_code == 200
    rows = list(csv.reader(io.StringIO(b"".join(client.get(f"{address}votes.csv").streaming_content).decode("utf-8-sig"))))
    assert rows == [[*map(str, row)] for row in voting.write(study.votes())] and len(rows) == 1 + 18


def test_a_name_that_a_spreadsheet_would_evaluate_is_plain_in_every_export_and_reads_back(phase, client, people, tmp_path):
    study = imported(phase, [vote("=1+1", "@x", "left", group="+cmd"), vote("-2", "@x", "tie", rater="r", seconds=1.5)], is_public=False)
    client.force_login(people.organizer)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/"
    sent = b"".join(client.get(f"{address}votes.csv").streaming_content).decode("utf-8-sig")
    call_command("study", "export", f"{phase.challenge.slug}/{phase.slug}", "people", str(tmp_path / "out.csv"))
    for text in (sent, (tmp_path / "out.csv").read_text("utf-8-sig")):
        first, second = csv.DictReader(io.StringIO(text))
        assert (first["group"], first["left"], first["right"]) == ("'+cmd", "'=1+1", "'@x")
        assert (second["left"], second["seconds"]) == ("-2", "1.5")  # a number is no formula
    assert voting.read(tmp_path / "out.csv") == list(study.votes())


def test_another_criterion_has_its_own_page_and_unknown_ones_none(phase, client):
    imported(phase, [vote("x", "y", "left", criterion="overall"), vote("x", "y", "right", criterion="detail")])
    analyse_due(), analyse_due()
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/"
    assert "<b>Overall</b>" in client.get(address).content.decode()
    assert "<b>detail</b>" in client.get(f"{address}?criterion=detail").content.decode()
    assert client.get(f"{address}?criterion=none").status_code == 404


def test_criteria_are_listed_as_the_study_asks_them_wherever_they_are(phase, client, people):
    keys = ["texture_details", "overall", "form", "geometry_details"]  # by name, by length, or as they come, they stand otherwise
    asked = [{"key": key, "title": key, "text": ""} for key in keys]
    votes = [vote("x", "y", "left", f"r{n}", criterion=key) for n, key in enumerate(["about", *sorted(keys)])]
    imported(phase, votes, criteria=asked)
    while analyse_due():
        pass
    expected = [*keys, "about"]
    place = f"{phase.challenge.slug}/{phase.slug}/people/people/"
    page = client.get(f"/challenges/{place}").content.decode()
    assert (
        re.findall(r'(?:<b>|criterion=[a-z_]+">)([a-z_]+)</(?:b|a)>', page.partition('class="tools">')[2].partition("</p>")[0]) == expected
    )
    assert "<b>overall</b>" in page
    assert [*json.loads(client.get(f"/challenges/{place}analysis.json").content)["criteria"]] == expected
    told = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/people").json()
    assert told["criteria"] == [*told["analyses"]] == expected
    study = Study.objects.get()
    assert StudyAnalysis.main(study).criterion == study.leading(keys) == "overall"
    made = list(study.analyses.order_by("id").values_list("criterion", flat=True))
    assert made == ["overall", *(key for key in expected if key != "overall")], "boards speak by another until the leading one is there"
    assert study.leading(["about", "form"]) == "form" and study.in_order(["b", "overall", "text_asset_alignment", "a"]) == [
        "overall",
        "text_asset_alignment",
        "a",
        "b",
    ]


# --- the command


def test_the_command_imports_other_columns_and_exports(phase, tmp_path, capsys):
    path = tmp_path / "theirs.csv"
    path.write_text("worker,prompt,left,right,winner,gold,order,at\n1,p,A,B,left,,1,2026-11-22T14:05:09Z\n2,p,B,A,tie,yes,,\n")
    place = f"{phase.challenge.slug}/{phase.slug}"
    columns = ["--column", "choice=winner", "--column", "rater=worker", "--column", "sample=prompt"]
    call_command(
        "study", "import", place, "theirs", str(path), "--title", "T", "--question", "Q?", "--public", "--other-programs", *columns
    )
    made = Study.objects.get(slug="theirs")
    assert (made.study_votes.count(), made.raters.count()) == (2, 2)
    assert list(made.entries.order_by("label").values_list("label", "submission")) == [("A", None), ("B", None)]
    assert "2 votes of 2 raters" in capsys.readouterr().out
    call_command("study", "analyse")
    assert "1 analysis computed." in capsys.readouterr().out
    call_command("study", "export", place, "theirs", str(tmp_path / "out.csv"))
    rows = voting.read(tmp_path / "out.csv")
    assert [(row.choice, row.gold, row.order, row.at) for row in rows] == [
        ("left", "", "1", "2026-11-22T14:05:09+00:00"),
        ("tie", "1", "", ""),
    ]
    assert Study.objects.get(slug="theirs").runs_other_programs
    analysis = Study.objects.get(slug="theirs").analyses.get().content
    assert (analysis["votes"], analysis["counted"]) == (2, 1)


def test_the_command_takes_labels_and_writes_those_of_any_study(phase, people, tmp_path, capsys):
    place = f"{phase.challenge.slug}/{phase.slug}"
    rows = making.entries(phase, people, 2)
    type(rows[1]).objects.filter(pk=rows[1].pk).update(is_baseline=True)
    own = making.live(phase, people.organizer, rows, opened=False, artifacts=(artifacts.CORRUPTIONS[0], artifacts.NOTHING))
    known = {"secret-method-0": "team", "secret-method-1": "baseline", "deform_low": "corruption", "empty entry": "empty"}
    votes, labels = str(tmp_path / "votes.csv"), str(tmp_path / "labels.csv")
    call_command("study", "export", place, "live", votes, "--labels", labels)
    assert own.damaged == {"deform_low", "empty entry"} and read_labels(tmp_path / "labels.csv") == known
    (tmp_path / "votes.csv").write_text("rater,left,right,choice\nr,secret-method-0,deform_low,left\nr,empty entry,secret-method-1,right\n")
    call_command("study", "import", place, "again", votes, "--labels", labels, "--title", "T", "--question", "Q?")
    again = Study.objects.get(slug="again")
    assert again.entries.filter(submission__isnull=False).count() == 2 and "4 methods" in capsys.readouterr().out
    assert again.damaged == own.damaged and again.labels() == known
    assert list(artifacts.waiting().values_list("study__slug", flat=True)) == ["live", "live"]
    (tmp_path / "labels.csv").write_text("method,label\nlive,team\n")
    with pytest.raises(CommandError, match="The labels name none of the methods"):
        call_command("study", "import", place, "third", votes, "--labels", labels, "--title", "T", "--question", "Q?")
    assert not Study.objects.filter(slug="third").exists()


def test_the_page_names_what_is_damaged_but_no_entry_that_is_hidden(judged, client, people):
    phase, entries = judged
    votes = [*votes_for(entries, ["s"], 0), vote("blank", "near", "right")]
    study = imported(phase, votes, labels={"blank": "empty", "far off": "corruption"})
    analyse_due()
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/"
    assert "blank (empty), far off (corruption)" in client.get(address).content.decode()
    study.entries.get(label="far off").submission.hide(people.organizer, "a test")
    assert "far off" not in (page := client.get(address).content.decode()) and "baselines: blank (empty)." in page
    client.force_login(people.organizer)
    assert "far off (corruption)" in client.get(address).content.decode()


@pytest.mark.parametrize(
    ("place", "slug", "text", "sentence"),
    [
        ("nothing/here", "x", "rater,left,right,choice\n", "There is no phase 'nothing/here'"),
        (None, "No Slug", "rater,left,right,choice\nr,a,b,left\n", "'No Slug' is not an address"),
        (None, "x", "rater,left,right,choice\nr,a,a,left\n", "line 2: 'a' stands on both sides"),
    ],
)
def test_what_the_command_cannot_do_it_says_and_changes_nothing(phase, tmp_path, place, slug, text, sentence):
    (tmp_path / "v.csv").write_text(text)
    where = place or f"{phase.challenge.slug}/{phase.slug}"
    with pytest.raises(CommandError, match=sentence):
        call_command("study", "import", where, slug, str(tmp_path / "v.csv"), "--title", "T", "--question", "Q")
    assert not Study.objects.exists()


def test_the_json_of_an_analysis_holds_only_numbers_that_json_knows(phase, client):
    imported(phase, [vote("x", "y", "left")])
    analyse_due()
    data = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/analysis.json").content.decode()
    assert "NaN" not in data and json.loads(data)["criteria"][""]["scales"][0]["regularised"] is True
    assert json.loads(data)["criteria"][""]["why"] == sentence(few_raters(1))


def test_a_phase_without_a_study_says_so_and_lets_its_organizers_make_one(phase, client, people):
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/"
    found = client.get(address)
    assert (found.status_code, found.context["rows"]) == (200, []) and "/console/" not in found.content.decode()
    client.force_login(people.organizer)
    page = client.get(address).content.decode()
    studies = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/"
    assert f'href="{studies}new/"' in page and f'href="{studies}"' in page


def test_the_page_links_single_votes_for_organizers_alone(phase, client, people):
    imported(phase, simulated_votes(3, 2, 3))
    analyse_due()
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/"
    page = client.get(address).content.decode()
    assert "votes.csv" not in page
    client.force_login(people.organizer)
    assert "votes.csv" in client.get(address).content.decode()


def test_a_study_goes_on_asking_beside_what_it_found(phase, people, client):
    study = making.live(phase, people.organizer, making.entries(phase, people), is_public=True)
    rater = making.rater(study)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/{study.slug}/"
    assert answer(study, rater, making.at(study, rater).current.token, making.same_answer(study, "left"), 1.0) == ""
    while analyse_due():
        pass
    page = client.get(address).content.decode()
    assert "· 1 vote" in page and sentence(few_raters(1)) in page and f'href="/rate/{study.key}/"' in page
    assert "95 % interval" not in page.partition("What people prefer")[2].partition("Which metrics agree")[0].partition("<table")[2]
    campaign.close(study, people.organizer)
    assert f'href="/rate/{study.key}/"' not in client.get(address).content.decode()


def test_withheld_entries_are_counted_among_those_that_were_judged(judged, people, client):
    phase, entries = judged
    third = scores.houses(phase, people.other_team, 8, 0.3, 2, method_name="between")
    items = list(phase.batches.get(state="current").reference.item_ids)
    names = [*(entry.method_name for entry in entries), "between"]
    rows = [vote(a, b, "left", f"r{k}", item) for a, b in combinations(names, 2) for k in range(6) for item in items[:6]]
    study = imported(phase, rows)
    assert analyse_due() == 1
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/{study.slug}/"

    def counted() -> tuple[int, int]:
        found = client.get(address).context
        return found["n_entries"], found["n_redacted"]

    assert counted() == (3, 0)
    for one in (entries[1], third):
        one.refresh_from_db()
        one.hide(people.organizer, "a test")
    assert counted() == (3, 2)


def test_too_few_samples_are_called_as_their_challenge_calls_them_now(phase, client):
    study = imported(phase, simulated_votes(6, 3, 3))
    assert analyse_due() == 1
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/"
    for noun in ("house", "body"):
        type(phase.challenge).objects.filter(pk=phase.challenge.pk).update(item_noun=noun)
        page, data = client.get(address).content.decode(), client.get(f"{address}analysis.json").json()
        assert sentence(few_items(3), noun) in page and "Too few samples" not in page
        found = data["criteria"][""]
        assert found["why"] == found["metrics"][0]["decided"]["why"] == sentence(few_items(3), noun)
    stored = study.analyses.get().content
    assert stored["reason"] == asdict(few_items(3)) and "why" not in json.dumps(stored)  # no text is stored


def test_entries_of_which_nobody_preferred_any_are_not_listed_as_damaged(phase, client):
    imported(phase, [vote("m0", "m1", "tie", f"r{k}", f"s{n}") for k in range(6) for n in range(6)])
    rows = [Rating(f"r{k}", name, 3.0, f"s{n}") for k in range(6) for n in range(6) for name in ("m0", "m1")]
    Study.import_ratings(phase, None, rows, **(ABOUT | {"slug": "scores", "is_public": True}))
    while analyse_due():
        pass
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/"
    pairs, scores = (client.get(f"{address}{name}/") for name in ("people", "scores"))
    undecided, alike = sentence(Reason(Key.NO_PREFERENCE)), sentence(Reason(Key.SAME_SCORES, have=36, value=3.0))
    assert client.get(address).content.decode().count(f'title="{undecided}">–') == 2
    assert scores.content.decode().count(f'<p class="sub">{alike}</p>') == 1, "why there is no interval stands beside the figures"
    assert scores.content.decode().count(f'<small class="range">{alike}') == 2
    assert [found.context["found"].reason for found in (pairs, scores)] == [Reason(Key.NO_PREFERENCE)] * 2
    assert [(found.context["is_early"], found.context["found"].ordered) for found in (pairs, scores)] == [(False, False)] * 2
    assert 'id="damaged"' not in pairs.content.decode()


@pytest.mark.parametrize(("raters", "shown"), [(RATERS_FOR_FIGURE - 1, False), (RATERS_FOR_FIGURE, True)])
def test_who_agrees_with_whom_is_drawn_from_the_smallest_number_of_people_on(phase, client, raters, shown):
    rows = simulated_votes(raters, 5, 3)
    imported(phase, rows)
    analyse_due()
    response = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/")
    page = response.content.decode()
    assert (response.context["map"] is not None) is shown and (" votes)" in page) is shown
    first = sum(row.rater == "r0" for row in rows), sum(row.rater == "r0" and row.choice == "tie" for row in rows)
    assert f'<td>a</td><td class="n">{first[0]}</td><td class="n">{first[1]}</td>' in page  # counts bear themselves


def test_a_metric_without_values_of_single_items_is_in_no_map_of_who_agrees():
    both = [[1.0, 0.8, 0.7, None], [0.8, 1.0, 0.6, None], [0.7, 0.6, 1.0, None], [None, None, None, None]]
    agreement = Matrix(
        names=["a", "b", "hss", "imported"],
        kinds=["person", "person", "metric", "metric"],
        all=both,
        decisive=both,
        common=[[4.0] * 4] * 4,
        order=[0, 1, 2, 3],
        cluster=[0] * 4,
        silhouette=None,
    )
    metrics = [SimpleNamespace(key="hss"), SimpleNamespace(key="imported")]
    summary = SimpleNamespace(agreement=agreement, reason=None, metrics=metrics, raters=agreement.names[:2], groups=["", ""])
    assert "2 raters and 1 metric" in _agreement_map(summary, {}).summary


def test_a_study_just_opened_promises_figures_from_the_smallest_numbers_on_and_the_board_names_it(phase, people, client):
    study = making.live(phase, people.organizer, making.entries(phase, people), is_public=True)
    page = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/{study.slug}/")
    assert page.context["is_early"] and page.content.decode().count(f"{RATERS_FOR_FIGURE} raters") == 2
    assert page.content.decode().count(f"{ITEMS_FOR_FIGURE} items.") == 2
    snapshots.make_all(phase)
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    assert f"{study.title}</a>" in client.get(address).content.decode()
    Study.objects.update(is_public=False)
    assert study.title not in client.get(address).content.decode()


def test_a_study_whose_answers_are_all_known_pairs_is_analysed_and_its_page_says_so(phase, client):
    """The first answers of a live study may all be of that kind."""
    rows = [vote("a", "b", "left", f"r{k}", f"s{n}", gold="1") for k in range(6) for n in range(6)]
    study = Study.import_votes(phase, None, rows, slug="gold", title="Gold", question="Which?", is_public=True)
    assert analyse_due() == 1
    row = study.analyses.get()
    assert row.state == StudyAnalysis.State.DONE and row.summary.answers == 0
    page = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/gold/")
    assert page.status_code == 200 and sentence(NOTHING_COUNTS) in page.content.decode()


def test_a_study_all_of_whose_raters_were_left_out_does_not_say_that_its_pairs_were_known(phase):
    study = imported(phase, simulated_votes(6, 5, 3))
    study.raters.update(is_counted=False)
    assert analyse_due() == 1
    assert study.analyses.get().summary.reason == NOTHING_COUNTS


def test_damaged_entries_stand_in_no_table_of_criteria(phase, client):
    rows = [
        Rating(f"r{k}", name, float(score - (k + n) % 2), f"s{n}", criterion=criterion)
        for criterion in ("overall", "texture")
        for k in range(6)
        for n in range(6)
        for name, score in (("good", 5), ("bad", 3), ("ruined", 2))
    ]
    Study.import_ratings(phase, None, rows, {"ruined": "corruption"}, **ABOUT, is_public=True)
    while analyse_due():
        pass
    page = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/").content.decode()
    table = page.partition("By criterion</h2>")[2].partition("</table>")[0]
    assert re.findall(r'<th scope="row">([a-z]+)</th>', table) == ["good", "bad"]
    assert "ruined" in page

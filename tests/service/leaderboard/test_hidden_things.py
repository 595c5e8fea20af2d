"""Decisions and hidden things stay so through every door: old rankings, per-item values, late choices."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.models import EvaluationBatch, PhaseMetric, Score
from leaderboard.boards import snapshots
from leaderboard.bundle.apply import apply
from leaderboard.bundle.parse import parse
from leaderboard.exports.tables.file_formats import FILE_FORMATS
from leaderboard.models import Snapshot
from leaderboard.records.study import HIDDEN_NAME
from leaderboard.tasks import build_due_boards
from leaderboard.templatetags.plumbline import digits
from submissions.errors import Refused
from submissions.formats.wireframe.wireframe_files import Wireframe
from submissions.models import Phase, Submission
from tests.service.leaderboard.bundle.test_results import bundle as imported_table
from tests.support.factories import perturbed
from tests.support.leaderboard.scores import entry as scored_entry
from tests.support.leaderboard.scores import spread
from tests.support.pages import coded

SLUGS = ("corner_f1", "edge_f1", "hss")
ITEMS = "/api/v1/submissions/{}/items?metric={}"


def snapshot_addresses(phase: Phase, digest: str) -> list[str]:
    place = [phase.challenge.slug, phase.slug, digest]
    api = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{digest}/rows"
    return [
        reverse("snapshot", args=place),
        *(reverse("snapshot_export", args=[*place, kind]) for kind in FILE_FORMATS),
        api,
    ]


@pytest.mark.parametrize("act", ["hide", "disqualify"])
def test_an_entry_hidden_later_cannot_be_read_from_an_old_ranking(client, phase, people, scored, act):
    entry = scored(method_name="leaky-name", paper_url="https://example.org/leaky-paper")
    scored(0.2, method_name="other-method", team=people.other_team)
    old = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    assert [path for path in snapshot_addresses(phase, old.digest) if "leaky-name" not in client.get(path).content.decode()] == []
    getattr(entry, act)(people.organizer, "a reason")
    snapshots.make(phase, Snapshot.Audience.PUBLIC)
    for path in snapshot_addresses(phase, old.digest):
        text = client.get(path).content.decode()
        assert "leaky" not in text and HIDDEN_NAME in text and "other-method" in text, path
    assert Snapshot.objects.get(pk=old.pk).board.entries[0].name == "leaky-name", "the row itself never changes"


def test_a_disqualified_entry_tells_the_public_why_and_nothing_else(client, phase, people, scored):
    entry = scored(method_name="roof-oracle", description="Seen houses.", code_url="https://example.org/code")
    snapshots.make(phase, Snapshot.Audience.PUBLIC)
    entry.disqualify(people.organizer, "Test houses seen.")
    page = client.get(reverse("entry", args=[entry.pk])).content.decode()
    assert "roof-oracle" in page and "Test houses seen." in page and "Ridge" in page
    assert "Seen houses" not in page and "example.org/code" not in page and "Edge F1" not in page and "house_01" not in page
    inside = [reverse(name, args=[entry.pk]) for name in ("entry_progress", "badge", "entry_card", "entry_thumbnail")]
    for path in (*inside, reverse("entry_item", args=[entry.pk, "house_01"]), f"/api/v1/submissions/{entry.pk}"):
        assert client.get(path).status_code == 404, path
    client.force_login(people.owner)
    page = client.get(reverse("entry", args=[entry.pk])).content.decode()
    assert "Test houses seen." in page and "Seen houses" in page
    assert client.get(f"/api/v1/submissions/{entry.pk}").json()["rank"] is None, "before the next ranking, too"


IN_AN_HOUR, AN_HOUR_AGO = timedelta(hours=1), timedelta(hours=-1)


def moved(row, values: dict) -> None:
    """Store these values, durations from now."""
    now = timezone.now()
    changed = {name: now + value if isinstance(value, timedelta) else value for name, value in values.items()}
    if changed:
        type(row).objects.filter(pk=row.pk).update(**changed)
    row.refresh_from_db()


@pytest.mark.parametrize(
    ("of_entry", "of_phase"),
    [
        ({"hidden_at": timedelta(0), "hidden_reason": "It names a person."}, {}),
        ({"withdrawn_at": timedelta(0)}, {}),
        ({}, {"board": Phase.Board.HIDDEN, "board_at": IN_AN_HOUR}),
        ({"disqualified_in_public": False}, {}),  # as where the reason was written for the team alone, before readers of boards were told
    ],
)
def test_a_disqualified_entry_that_is_no_longer_shown_otherwise_is_not_there(client, phase, people, scored, of_entry, of_phase):
    entry = scored(method_name="roof-oracle")
    entry.disqualify(people.organizer, "Test houses seen.")
    path = reverse("entry", args=[entry.pk])
    assert client.get(path).status_code == 200
    moved(entry, of_entry), moved(phase, of_phase)
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("of_entry", "of_phase"),
    [
        ({"hidden_at": timedelta(0)}, {}),
        ({"status": "scoring"}, {}),
        ({}, {"board": Phase.Board.HIDDEN, "board_at": IN_AN_HOUR}),
        ({}, {"opens_at": IN_AN_HOUR}),
        ({"received_at": timedelta(0)}, {"board": Phase.Board.FROZEN, "board_at": AN_HOUR_AGO}),
    ],
)
def test_a_disqualified_entry_that_no_public_board_showed_then_is_not_there_later(client, phase, people, scored, of_entry, of_phase):
    entry, before = scored(method_name="roof-oracle"), phase.opens_at
    moved(entry, of_entry), moved(phase, of_phase)
    entry.disqualify(people.organizer, "Test houses seen.")
    moved(entry, {"hidden_at": None, "status": "scored"}), moved(phase, {"board": Phase.Board.LIVE, "board_at": None, "opens_at": before})
    assert client.get(reverse("entry", args=[entry.pk])).status_code == 404


def test_a_withheld_entry_has_no_date_and_no_number_in_the_api_and_cannot_be_chosen_to_compare(client, phase, people, scored):
    Phase.objects.filter(pk=phase.pk).update(entries="all")
    entry = scored(method_name="first")
    for n, name in enumerate(("second", "third"), 2):
        scored(n / 10, method_name=name, team=people.other_team)
    old = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    entry.hide(people.organizer, "a reason")
    row, other, _ = client.get(snapshot_addresses(phase, old.digest)[-1]).json()["items"]
    assert (row["received_at"], row["number"]) == (None, 0) and other["received_at"] and other["number"] == 2
    page = client.get(reverse("compare", args=[phase.challenge.slug, phase.slug])).content.decode()
    assert "second" in page and HIDDEN_NAME not in page and f'value="{entry.pk}"' not in page


@pytest.mark.parametrize("order", ["", "&order=reversed"])
def test_a_withheld_entry_stands_last_by_date(client, phase, people, scored, order):
    entry = scored(method_name="first")
    scored(0.2, method_name="second", team=people.other_team)
    scored(0.3, method_name="third")
    old = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    Submission.objects.filter(method_name="second").get().hide(people.organizer, "a reason")
    table = client.get(f"{snapshot_addresses(phase, old.digest)[1]}?sort=date{order}").content.decode()
    assert [line.split(",")[3] for line in table.splitlines()[1:]][-1] == HIDDEN_NAME and entry.method_name in table


def test_what_an_imported_table_says_beside_a_name_goes_with_the_name(client, tmp_path, people):
    apply(parse(imported_table(tmp_path)).definition)
    phase = Phase.objects.get(challenge__slug="reported")
    old = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    addresses, files = snapshot_addresses(phase, old.digest), tuple(f".{kind}" for kind in FILE_FORMATS)  # which have no such column
    assert [address for address in addresses if not address.endswith(files) and "2020" not in client.get(address).content.decode()] == []
    Submission.objects.get(method_name="One").hide(people.staff, "a reason")
    for address in (*addresses, reverse("board", args=[phase.challenge.slug, phase.slug])):
        page = client.get(address).content.decode()
        assert "2021" in page or address.endswith(files)
        assert HIDDEN_NAME in page and not re.search(r"\b2020\b", page), address


def test_what_is_withheld_keeps_its_place_and_loses_its_figures(phase, people, scored):
    entry = scored(0.0, method_name="first")
    scored(0.3, method_name="second", team=people.other_team)
    old = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    entry.hide(people.organizer, "a reason")
    content = Snapshot.get(phase, old.digest).board
    assert content.overall.rank == old.board.overall.rank == [1, 2]
    for metric in content.metrics:
        assert metric.value[0] is None and metric.ci_low[0] is None and metric.value[1] is not None


def test_a_freeze_that_was_dated_back_holds_for_old_rankings(client, phase, people, scored):
    scored(method_name="late-entry")
    old = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.FROZEN, board_at=timezone.now() - timedelta(hours=1))
    assert "late-entry" not in client.get(snapshot_addresses(phase, old.digest)[-1]).content.decode()


@pytest.fixture
def with_lengths(phase):
    """The same phase measured by a length too, whose worst value is the reference's diagonal."""
    PhaseMetric.objects.create(phase=phase, slug="chamfer", key="ecd_chamfer", position=7)
    phase.missing = Phase.Missing.WORST
    phase.save()
    EvaluationBatch.start(phase)
    phase.refresh_from_db()
    return phase


def test_a_hidden_reference_is_not_measured_by_leaving_items_out(client, with_lengths, people, references, scored):
    items = perturbed(references, 0.1)
    items.pop("house_02")
    entry = scored(items=items)
    rows = {row["item"]: row for row in client.get(ITEMS.format(entry.pk, "chamfer")).json()["items"]}
    assert rows["house_02"]["value"] is None and rows["house_02"]["status"] == "missing_pred"
    assert rows["house_01"]["value"] > 0, "what the entry did send is shown"
    assert {key: row for key, row in rows.items() if row["parts"] != {}} == {}, "parts count the reference's corners and edges"
    client.force_login(people.owner)
    page = client.get(reverse("entry_item", args=[entry.pk, "house_02"])).content.decode()
    assert "in the reference" not in page and "missing" in page
    f1 = client.get(ITEMS.format(entry.pk, "corner_f1")).json()["items"]
    assert [row["value"] for row in f1 if row["item"] == "house_02"] == [0.0], "a plain 0 tells nothing"


def test_a_hidden_reference_is_not_measured_by_the_worst_of_an_entrys_values(client, with_lengths, people, references, scored):
    items = perturbed(references, 0.1)
    items.pop("house_02")
    entry = scored(items=items)
    score = Score.objects.get(evaluation__submission=entry, slug="chamfer")
    length = digits(score.maximum)  # the diagonal of the house that is missing
    assert score.maximum == max(score.values) == score.values[1] > 1
    for viewer, told in ((people.anonymous, False), (people.owner, False), (people.organizer, True)):
        client.logout()
        if viewer.is_authenticated:
            client.force_login(viewer)
        assert (f">{length}<" in client.get(reverse("entry", args=[entry.pk])).content.decode()) is told, viewer


def test_where_values_per_item_are_withheld_none_is_told_as_the_worst_or_the_best(client, phase, people, scored):
    entry = scored()
    scored(0.3, team=people.other_team)
    build_due_boards()
    Phase.objects.filter(pk=phase.pk).update(withhold_items=True)
    page = " ".join(client.get(reverse("entry", args=[entry.pk])).content.decode().split())
    assert "Median" in page and ">Worst<" not in page and ">Best<" not in page
    assert "worst and best" not in page
    client.force_login(people.organizer)
    page = client.get(reverse("entry", args=[entry.pk])).content.decode()
    assert ">Worst<" in page and ">Best<" in page


def test_a_hidden_reference_is_not_measured_by_wireframes_far_away(client, with_lengths, references, scored):
    items = {name: Wireframe(vertices=item.vertices + 1e5, edges=item.edges, edge_score=None) for name, item in references.items()}
    entry = scored(items=items)
    rows = client.get(ITEMS.format(entry.pk, "chamfer")).json()["items"]
    assert [row["status"] for row in rows] == ["ok"] * 4 and [row["value"] for row in rows] == [None] * 4, "capped at the diagonal"


def test_an_entry_hidden_a_moment_ago_is_not_read_before_the_next_ranking(client, phase, people, scored):
    entry = scored(method_name="leaky-name")
    snapshots.make(phase, Snapshot.Audience.PUBLIC)
    board = reverse("board", args=[phase.challenge.slug, phase.slug])
    assert "leaky-name" in client.get(board).content.decode() and "leaky-name" in client.get("/").content.decode()
    entry.hide(people.organizer, "a reason")
    assert "leaky-name" not in client.get(board).content.decode()
    assert "leaky-name" not in client.get("/").content.decode()


def test_who_may_see_the_reference_sees_every_number(client, with_lengths, people, references, scored):
    items = perturbed(references, 0.1)
    items.pop("house_02")
    entry = scored(items=items)
    Phase.objects.filter(pk=with_lengths.pk).update(reference_access=Phase.ReferenceAccess.PUBLIC)
    rows = {row["item"]: row for row in client.get(ITEMS.format(entry.pk, "chamfer")).json()["items"]}
    assert rows["house_02"]["value"] > 1 and rows["house_01"]["parts"]


@pytest.mark.parametrize(
    "decided",
    [
        {"closes_at": timedelta(seconds=-1)},
        {"board": Phase.Board.FROZEN, "board_at": timedelta(seconds=-1)},
        {"board": Phase.Board.HIDDEN, "board_at": timedelta(seconds=-1)},
    ],
)
def test_nobody_chooses_once_the_phase_is_decided(phase, scored, decided):
    first, second = scored(method_name="first"), scored(0.3, method_name="second")
    first.choose()
    now = timezone.now()
    Phase.objects.filter(pk=phase.pk).update(**{k: now + v if isinstance(v, timedelta) else v for k, v in decided.items()})
    second.phase.refresh_from_db()
    with pytest.raises(Refused, check=coded("choice_over")):
        second.choose()
    first.refresh_from_db()
    assert first.is_chosen


def test_nobody_chooses_by_withdrawing_once_the_board_has_been_revealed(client, phase, people):
    """Ten entries, each worse than the one before; the board goes by the latest, and was revealed."""
    now = timezone.now()
    Phase.objects.filter(pk=phase.pk).update(entries="latest", board=Phase.Board.HIDDEN, board_at=now, closes_at=now)
    sent = [
        scored_entry(phase, people.team, dict.fromkeys(SLUGS, spread(1 - n / 10)), at=now - timedelta(hours=10 - n), method_name=f"net {n}")
        for n in range(10)
    ]
    scored_entry(phase, people.other_team, dict.fromkeys(SLUGS, spread(0.5)), at=now, method_name="other")
    client.force_login(people.owner)
    for number, one in enumerate(sent[:0:-1]):
        if number % 2:
            assert client.post(f"/entries/{one.pk}/withdraw/").status_code == 302
        else:
            assert client.post(f"/api/v1/submissions/{one.pk}/withdraw").json()["is_withdrawn"] is True
    snapshots.make_all(phase)
    board = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/board").json()
    rows = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{board['digest']}/rows").json()
    assert [(row["name"], row["rank"]) for row in rows["items"]] == [("other", 1)]
    assert client.get(f"/api/v1/submissions/{sent[0].pk}").json()["reason_code"] == "kept_off"


def test_one_chooses_while_the_board_is_hidden(phase, scored):
    entry = scored()
    Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.HIDDEN, board_at=timezone.now() + timedelta(days=1))
    entry.phase.refresh_from_db()
    entry.choose()
    assert entry.is_chosen

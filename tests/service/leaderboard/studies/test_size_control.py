"""Sizes of what a study compares come from what is stored, and the reference point that knows them alone is in its tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from evaluation.models import Reference
from leaderboard.boards import snapshots
from leaderboard.boards.people import of_board
from leaderboard.models import Snapshot, Study
from leaderboard.stats.davidson import Cause
from leaderboard.stats.mos_table import Rating
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.size_control import covariates_of, sizes_of
from leaderboard.wording.agreement import caveats
from submissions.formats.arrays import Mesh, Wireframe
from submissions.kinds import WIREFRAME
from submissions.models import Submission
from submissions.storage import stored_files
from submissions.storage.store import StorageError
from tests.support.factories import MESH_METRICS, ChallengeFactory, PhaseFactory, TeamFactory, boxes, gables, give_reference
from tests.support.leaderboard.scores import entry, with_files
from tests.support.leaderboard.stats.ballots import vote
from tests.support.leaderboard.studies.live import making

pytestmark = pytest.mark.django_db
HOUSES = [f"house_{k:02d}" for k in range(1, 9)]
KEPT = {"small": 12, "middle": 14, "large": 17}  # of the 17 edges of a house


def cut(n: int) -> dict[str, Wireframe]:
    return {name: replace(item, edges=item.edges[:n]) for name, item in gables(8).items()}


@pytest.fixture
def phase(challenge):
    phase = PhaseFactory(challenge=challenge, entries="all")
    give_reference(phase, gables(8))
    return phase


@pytest.fixture
def rows(phase, people) -> dict[str, Submission]:
    """Three entries; `hss` orders them by their edges, `corner_f1` goes with people more often."""
    made = {}
    for k, (name, n) in enumerate(KEPT.items()):
        values = {"hss": [n / 100] * 8, "corner_f1": [0.2 * k + 0.01 * h for h in range(8)]}
        made[name] = with_files(entry(phase, people.team, values, method_name=name), cut(n))
    return made


def study_of(phase, **more) -> Study:
    """Eight people who prefer the larger one, one time in seven the other."""
    pairs = [("large", "small"), ("large", "middle"), ("middle", "small")]
    votes = [
        vote(first, second, "right" if (k + 3 * h + n) % 7 == 0 else "left", f"r{k}", house)
        for k in range(8)
        for h, house in enumerate(HOUSES)
        for n, (first, second) in enumerate(pairs)
    ]
    about = {"slug": "people", "title": "Which is closer?", "question": "Which?", "is_public": True}
    return Study.import_votes(phase, None, votes, **about | more)


def test_the_reference_point_of_size_is_last_and_a_metric_that_is_no_more_than_size_says_so(phase, rows, client):
    study = study_of(phase)
    analyse_due()
    summary = study.analyses.get().summary
    assert [line.key for line in summary.metrics if line.reference_point] == ["constant", "coin", "size"]
    assert summary.metrics[-1].key == "size" and summary.metrics[-1].title == "Size only"
    size, hss = summary.metric("size"), summary.metric("hss")
    assert hss.decided == size.decided and size.decided.value > 0.8
    assert hss.above_size is False and size.above_size is None
    page = client.get(reverse("study", args=[phase.challenge.slug, phase.slug, "people"]))
    told = next(line for line in page.context["lines"] if line.key == "hss")
    (caveat,) = caveats(told)
    assert told.above_size is False and escape(caveat) in page.content.decode().lower()
    snapshots.make_all(phase)
    on_board = of_board(Snapshot.current(phase, "public").board).line("hss")
    assert on_board.above_size is False


def test_scores_stand_beside_the_size_of_the_reference_too(phase, rows):
    scores = {"large": 5, "middle": 4, "small": 2}
    ratings = [
        Rating(f"r{k}", name, float(score - (k + h) % 2), house)
        for k in range(8)
        for h, house in enumerate(HOUSES)
        for name, score in scores.items()
    ]
    about = {"slug": "scores", "title": "How good?", "question": "How good?", "is_public": True}
    study = Study.import_ratings(phase, None, ratings, **about)
    analyse_due()
    points = {line.key: line for line in study.analyses.get().summary.metrics if line.reference_point}
    assert list(points) == ["constant", "coin", "size", "reference only"]
    assert points["size"].decided.value == 1 and points["reference only"].decided.value == 0.5


def test_what_is_not_stored_has_no_size(phase, rows):
    study = study_of(phase)
    batch = phase.batches.get(state="current")
    methods = ["large", "middle", "small"]
    found = sizes_of(study, batch, [*HOUSES[:2], "elsewhere"], methods)
    assert np.array_equal(found.entries, [[17, 14, 12]] * 2 + [[np.nan] * 3], equal_nan=True)
    assert np.array_equal(found.reference, [17, 17, np.nan], equal_nan=True) and found.coloured is None
    Submission.objects.filter(pk=rows["middle"].pk).update(withdrawn_at=timezone.now())
    assert np.isnan(sizes_of(study, batch, HOUSES, methods).entries).all(axis=0).tolist() == [False, True, False]
    key = with_files(rows["small"], cut(3)).artifact_key
    stored_files.store().save_bytes(key, b"something else")
    assert sizes_of(study, batch, HOUSES, methods) is None
    stored_files.store().delete(key)
    assert sizes_of(study, batch, HOUSES, methods) is None
    analyse_due()
    assert [line.key for line in study.analyses.get().summary.metrics if line.reference_point] == ["constant", "coin"]


def test_items_that_an_entry_left_out_add_nothing(phase, rows):
    with_files(rows["small"], {"house_02": gables(8)["house_02"]})
    found = sizes_of(study_of(phase), phase.batches.get(state="current"), HOUSES[:2], ["large", "small"])
    assert found.entries.tolist() == [[17, 0], [17, 17]]


def test_a_sample_of_which_the_reference_lacks_an_item_has_no_size_itself(phase, rows):
    """Two houses are one sample: of the first two the reference has 4 + 9 edges, of the others it has only one house."""
    reference = phase.batches.get(state="current").reference
    stored = {name: replace(gables(8)[name], edges=gables(8)[name].edges[:n]) for name, n in zip(HOUSES, (4, 9, 6), strict=False)}
    key = f"{reference.key}.partial"  # what lies under a key never changes
    stored_files.store().save_bytes(key, WIREFRAME.pack(stored))
    Reference.objects.filter(pk=reference.pk).update(key=key, groups=["north", "north", "south", "south", *HOUSES[4:]])
    found = sizes_of(study_of(phase), phase.batches.get(state="current"), ["north", "south"], ["large", "small"])
    assert np.array_equal(found.reference, [13, np.nan], equal_nan=True)
    assert found.entries.tolist() == [[2 * 17, 2 * 12]] * 2


def test_a_stored_file_is_counted_once(phase, rows, monkeypatch):
    study = study_of(phase)
    monkeypatch.setattr(WIREFRAME.__class__, "unpack", lambda *_: pytest.fail("no item needs to be read"))
    assert analyse_due() == 1
    monkeypatch.setattr(WIREFRAME.__class__, "stored_extents", lambda *_: pytest.fail("they are known"))
    study.touch_votes()
    assert analyse_due() == 1 and study.analyses.get().summary.metric("size") is not None


@pytest.mark.django_db(transaction=True)
def test_an_analysis_waits_for_the_storage(phase, rows, monkeypatch):
    study = study_of(phase)

    def away() -> None:
        raise StorageError("The storage does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(stored_files, "store", away)
        analyse_due()
    row = study.analyses.get()
    assert (row.state, row.attempts, row.failure) == ("waiting", 0, "")


def test_studies_of_results_alone_have_no_reference_point_of_size(phase, people):
    values = {"hss": [0.5] * 8, "corner_f1": [0.5] * 8}
    for name in KEPT:
        entry(phase, people.team, values, method_name=name)
    study = study_of(phase)
    analyse_due()
    assert [line.key for line in study.analyses.get().summary.metrics if line.reference_point] == ["constant", "coin"]


# --- what a study takes account of


def of_account(phase, client) -> str:
    """The page of a study that takes account of size."""
    Study.objects.update(covariates=["size"])
    analyse_due()
    return client.get(reverse("study", args=[phase.challenge.slug, phase.slug, "people"])).content.decode()


def test_the_page_says_what_size_wins_among_equals_beside_the_column_without(phase, people, client):
    edges = {(k, h): (4, 8, 16)[(k + h) % 3] for k in range(3) for h in range(8)}
    houses = gables(8)
    for k, name in enumerate(KEPT):
        files = {house: replace(houses[house], edges=houses[house].edges[: edges[k, h]]) for h, house in enumerate(HOUSES)}
        with_files(entry(phase, people.team, {"hss": [0.5] * 8, "corner_f1": [0.5] * 8}, method_name=name), files)
    votes = []
    for r in range(8):
        for h, house in enumerate(HOUSES):
            for i, j in ((0, 1), (0, 2), (1, 2)):
                larger = (edges[i, h] > edges[j, h]) != ((r + 3 * h + i + j) % 4 == 0)
                votes.append(vote(list(KEPT)[i], list(KEPT)[j], "left" if larger else "right", f"r{r}", house))
    Study.import_votes(phase, None, votes, slug="people", title="Which?", question="Which?", is_public=True)
    page = of_account(phase, client)
    summary = Study.objects.get().analyses.get().summary
    (size,) = summary.model.covariates
    assert size.name == "size" and 0.5 < size.share_low < size.share < size.share_high
    share, low, high = (round(100 * end) for end in (size.share, size.share_low, size.share_high))
    assert f"{share} % [{low}, {high}]" in page and ">Without</th>" in page
    # Nothing but size was preferred, so equals are level, and surer than where size was left to chance.
    assert [line.implied[0] for line in summary.scales] == pytest.approx([0.5] * 3, abs=0.01)
    assert [line for line in summary.scales if not line.implied[2] < line.implied_without[2]] == []


def omitted(study: Study) -> list[tuple[str, Cause]]:
    return [(one.name, one.cause) for one in study.analyses.get().summary.model.omitted]


def test_a_size_that_is_the_entrys_own_or_not_known_of_everything_is_left_out_with_a_note(phase, rows, client):
    study = study_of(phase)
    assert ">Without</th>" not in of_account(phase, client)
    assert omitted(study) == [("size", Cause.INSEPARABLE)]
    Submission.objects.filter(pk=rows["middle"].pk).update(withdrawn_at=timezone.now())
    study.touch_votes()
    assert ">Without</th>" not in of_account(phase, client)
    assert omitted(study) == [("size", Cause.UNKNOWN)]


def test_faces_and_colours_of_meshes(people):
    phase = PhaseFactory(challenge=ChallengeFactory(family="mesh"), reference_access="public")
    phase.challenge.organizers.add(people.organizer)
    batch = give_reference(phase, boxes(), MESH_METRICS)
    team = TeamFactory(challenge=phase.challenge)
    plain, painted = (entry(phase, team, {"chamfer_l1": [0.1, 0.1]}, method_name=name) for name in ("plain", "painted"))
    box = boxes()["box_1"]
    with_files(plain, boxes())
    with_files(painted, {"box_1": Mesh(box.vertices, box.faces[:6], np.zeros((6, 3), np.uint8)), "box_2": boxes()["box_2"]})
    study = making.live(phase, people.organizer, [plain, painted], samples=("box_1", "box_2"))
    found = sizes_of(study, batch, ["box_1", "box_2"], ["painted", "plain"])
    assert found.entries.tolist() == [[6, 12], [12, 12]] and found.reference.tolist() == [12, 12]
    assert found.coloured.tolist() == [[1, 0], [0, 0]]
    study.covariates = ["size", "texture"]
    named = covariates_of(study, found, (2, 2))
    assert named["texture"].tolist() == [[1, 0], [0, 0]] and named["size"][0] == pytest.approx(np.log2([6, 12]))
    assert {key: table for key, table in covariates_of(study, None, (2, 2)).items() if not np.isnan(table).all()} == {}

"""Human agreement kept in a ranking: which study, in which words, and what is left of it when things are taken back."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from evaluation.metrics.column import Column
from leaderboard.boards import human_agreement, snapshots
from leaderboard.boards.people import People, of_board
from leaderboard.boards.rows import BoardRows, Choice
from leaderboard.models import Snapshot, Study, StudyEntry
from leaderboard.models.question import Opinion
from leaderboard.models.rater import Rater
from leaderboard.records.board import HumanAgreement
from leaderboard.records.claim import Claim
from leaderboard.stats.minimums import RATERS_FOR_FIGURE
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.votes import Vote
from leaderboard.studies import metric_ranking
from leaderboard.studies.analysis import analyse_due, metric_scores
from leaderboard.wording.people import withdrawn
from leaderboard.wording.reasons import sentence
from tests.service.leaderboard.studies.test_analysis import imported, judged, votes_for  # noqa: F401
from tests.support.leaderboard.boards import board_of
from tests.support.leaderboard.reasons import few_raters
from tests.support.leaderboard.stats.ballots import vote
from tests.support.leaderboard.studies.scored_houses import NAMES, comparisons, items, scored_houses

pytestmark = pytest.mark.django_db


def test_where_entries_are_level_with_people_none_is_said_to_be_first(judged):  # noqa: F811
    phase, entries = judged
    near, far = (entry.method_name for entry in entries)
    rows = [Vote(f"r{k}", near, far, "left" if (k + n) % 2 else "right", item) for k in range(8) for n, item in enumerate(items(phase))]
    imported(phase, rows)
    assert analyse_due() == 1
    board = board_of([1.0, 0.5], id=[entry.pk for entry in entries], name=[near, far])
    found = human_agreement.of_phase(phase, True, board.entries, {})
    assert found.value == [0.5, 0.5] and found.firm is None
    claim = People(board, found).claim
    assert [name for name, _ in claim.metrics] == [near] and {name for name, _ in claim.people} == {near, far}


def test_the_board_and_the_study_name_the_same_entries_that_may_be_first(challenge, people):
    phase = scored_houses(challenge, people)
    study = imported(phase, comparisons(phase, raters=RATERS_FOR_FIGURE, seed=3))
    assert analyse_due() == 1
    summary = study.analyses.get().summary
    pks = [summary.entries[line.method] for line in summary.ranked]
    found = human_agreement.of_phase(phase, True, board_of([1.0] * len(pks), id=pks).entries, {})
    open_ = [n for n, line in enumerate(summary.ranked) if line.rank[0] == 1]
    assert found.may_be_first == open_ and 0 in open_
    assert HumanAgreement.model_validate(found.model_dump(mode="json")).may_be_first == open_
    del (earlier := found.model_dump(mode="json"))["may_be_first"]
    assert HumanAgreement.model_validate(earlier).may_be_first is None


def test_who_may_be_first_is_asked_among_those_who_hold_a_rank(challenge, people):
    """All put `far off` first and tell the other two from nobody but it: where it is a baseline, or not on the board, both may be first."""
    phase = scored_houses(challenge, people)
    near, midway, far = NAMES
    houses = items(phase)
    rows = []
    for k in range(9):
        for n, house in enumerate(houses):
            rows += [vote(far, other, "right" if (k + 3 * n) % 7 == 0 else "left", f"r{k}", house) for other in (near, midway)]
            is_near = (k + 3 * n) % 9 < 5  # on five of nine
            rows.append(vote(near, midway, "left" if is_near else "right", f"r{k}", house))
            if n % 2:  # each side as often
                rows[-1] = vote(midway, near, "right" if is_near else "left", f"r{k}", house)
    study = imported(phase, rows)
    assert analyse_due() == 1
    pks = study.analyses.get().summary.entries

    def claim(names: list[str], counted: list[bool]) -> Claim:
        board = board_of([1.0, 0.5, 0.2][: len(names)], id=[pks[name] for name in names], name=names, counted=counted)
        found = human_agreement.of_phase(phase, True, board.entries, {})
        assert found.firm is None
        return People(board, found).claim

    for names, before in (([near, midway, far], ("far off",)), ([near, midway], ())):
        made = claim(names, [True, True, False][: len(names)])
        assert made.metrics == made.people and (made.first.open, made.before) == ([1], before)


def test_the_interval_of_a_mean_is_the_same_on_pages_and_in_files_and_is_not_cut_to_the_scale(challenge, people, client):
    phase = scored_houses(challenge, people)
    # One of six people finds the best one bad: its interval reaches beyond 5.
    rows = [
        Rating(f"r{k}", name, score - (2.0 if k == 0 and n else 0.0), house)
        for k in range(6)
        for n, house in enumerate(items(phase))
        for name, score in zip(NAMES, (5.0, 4.0, 3.0), strict=True)
    ]
    study = Study.import_ratings(phase, None, rows, slug="people", title="T", question="?", is_public=True)
    assert analyse_due() == 1
    snapshots.make_all(phase)
    best = next(line for line in study.analyses.get().summary.scales if line.method == NAMES[0])
    mean, low, high = best.mos
    assert low < mean < 5 < high
    board = Snapshot.current(phase, "public").board
    column, at = of_board(board).column, board.index_of(study.analyses.get().summary.entries[NAMES[0]])
    assert (column.value[at], column.ci_low[at], column.ci_high[at]) == best.mos
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    told = client.get(f"{place}people/people/analysis.json").json()["criteria"][""]["scales"]
    assert next(line["mos"] for line in told if line["method"] == NAMES[0]) == pytest.approx(best.mos)
    assert f"[{low:.2f}, {high:.2f}]" in " ".join(client.get(f"{place}people/people/").content.decode().split())
    table = client.get(f"{place}?sort=people").content.decode()
    assert f"±{high - mean:.2f}".replace("±0.", "±.") in table


def test_an_entry_that_too_few_people_scored_has_no_place_beside_those_with_enough(challenge, people):
    """Two people gave `far off` five each time; eight others scored the other two, `near` higher."""
    phase = scored_houses(challenge, people)
    near, midway, far = NAMES
    rows = [
        Rating(f"r{k}", name, float(best - (k + n) % 2), house)
        for k in range(8)
        for n, house in enumerate(items(phase))
        for name, best in ((near, 5), (midway, 3))
    ]
    rows += [Rating(f"r{k}", far, 5.0, house) for k in range(2) for house in items(phase)]
    study = Study.import_ratings(phase, None, rows, slug="people", title="T", question="?", is_public=True)
    assert analyse_due() == 1
    pks = study.analyses.get().summary.entries
    board = board_of([0.3, 0.2, 0.1], id=[pks[name] for name in NAMES], name=list(NAMES))
    found = human_agreement.of_phase(phase, True, board.entries, {})
    few = few_raters(2)
    assert (found.first, found.few, found.value[2]) == (0, {str(pks[far]): few}, 5.0)
    made = board.model_copy(update={"people": found})
    said = of_board(made)
    column = said.column
    assert (column.value, column.rank) == ([4.5, 2.5, None], [1, 2, None])
    assert said.claim.metrics == said.claim.people
    lines = BoardRows(made, Choice()).lines
    assert [(line.people.value, line.people.reason) for line in lines][2] == (None, few)
    assert HumanAgreement.model_validate(found.model_dump(mode="json")) == found
    assert found.redacted([2], {pks[far]}, {far}).few == {}
    assert "few" not in found.model_copy(update={"few": None}).model_dump(mode="json")


def test_a_part_of_a_study_that_too_few_people_judged_has_no_column_on_the_board(judged):  # noqa: F811
    """The part with most answers is of four people; the other, of eight, met none of it."""
    phase, entries = judged
    houses = items(phase)
    near, far = (entry.method_name for entry in entries)
    rows = [vote(near, far, "left" if (k + n) % 3 else "right", f"r{k}", house) for k in range(4) for n, house in enumerate(houses)]
    rows += [vote(near, far, "left", f"r{k}", house) for k in range(4) for house in houses]
    rows += [vote("A", "B", "left" if (k + n) % 6 else "right", f"s{k}", house) for k in range(8) for n, house in enumerate(houses[:3])]
    imported(phase, rows)
    assert analyse_due() == 1
    board = board_of([1.0, 0.5], id=[entry.pk for entry in entries], name=[near, far])
    found = human_agreement.of_phase(phase, True, board.entries, {})
    assert found.reason is None and set(found.few.values()) == {few_raters(4)} and found.first is None
    made = board.model_copy(update={"people": found})
    said = of_board(made)
    assert said.column is None and said.claim is None and said.first_place is None


def test_of_several_studies_the_one_with_most_answers_stands_on_the_board(judged):  # noqa: F811
    phase, entries = judged
    many = imported(phase, votes_for(entries, items(phase), 0))
    few = Study.import_votes(
        phase, None, votes_for(entries, items(phase), 1)[: len(items(phase)) * 2], slug="few", title="Few", question="?", is_public=True
    )
    while analyse_due():
        pass
    rows = board_of([1.0] * len(entries), id=[entry.pk for entry in entries]).entries
    assert human_agreement.of_phase(phase, True, rows, {}).study.id == many.pk
    many.publish(None, False)
    assert human_agreement.of_phase(phase, True, rows, {}).study.id == few.pk and (
        human_agreement.of_phase(phase, False, rows, {}).study.id == many.pk
    )


def test_a_board_follows_the_study_that_the_ranking_of_metrics_follows(judged):  # noqa: F811
    """More people in one, more answers in another, most of both in one that is too early or made up: the second stands for all."""
    phase, entries = judged
    houses = items(phase)
    answers = votes_for(entries, houses, 0)

    def brought(slug: str, rows: list[Vote], **more) -> Study:
        return Study.import_votes(phase, None, rows, slug=slug, title=slug, question="?", is_public=True, **more)

    brought("people", [row for row in answers if row.sample in houses[:5]])
    most = brought("answers", [row for row in answers if row.rater < "r6"])
    again = [*answers, *(replace(row, rater=f"{row.rater} again") for row in answers)]
    brought("made-up", again, simulated=True)
    brought("early", [row for row in again if row.sample in houses[:4]])
    while analyse_due():
        pass
    rows = board_of([1.0] * len(entries), id=[entry.pk for entry in entries]).entries
    assert human_agreement.of_phase(phase, True, rows, {}).study.id == most.pk
    family = metric_ranking.of(AnonymousUser()).families["wireframe"]
    assert [one.id for one in family.studies] == [most.pk] and family.early == 1
    most.publish(None, False)
    assert human_agreement.of_phase(phase, True, rows, {}).study.slug == "people"
    phase.studies.exclude(slug="early").exclude(slug="made-up").update(is_public=False)
    assert human_agreement.of_phase(phase, True, rows, {}).study.slug == "made-up"


def test_entries_that_never_met_are_in_no_common_order(judged, client):  # noqa: F811
    phase, entries = judged
    near, far = (entry.method_name for entry in entries)
    # What is far off wins more of its comparisons, in the smaller part.
    rows = [Vote(f"r{k}", near, "A", "left" if (k + n) % 3 else "right", item) for k in range(8) for n, item in enumerate(items(phase))]
    rows += [Vote(f"r{k}", far, "B", "left" if (k + n) % 6 else "right", item) for k in range(6) for n, item in enumerate(items(phase))]
    imported(phase, rows)
    assert analyse_due() == 1
    board = board_of([1.0] * len(entries), id=[entry.pk for entry in entries]).entries
    found = human_agreement.of_phase(phase, True, board, {})
    assert found.value[1] is None and 0.5 < found.value[0] < 0.8 and found.first == 0
    made = board_of([1.0] * len(entries), id=[entry.pk for entry in entries]).model_copy(update={"people": found})
    lines = BoardRows(made, Choice()).lines
    assert (lines[1].people.value, lines[1].place, lines[1].people.reason) == (None, None, Reason(Key.MET_NONE_WITH_PLACE))
    page = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/people/").content.decode()
    assert re.findall(r'<td class="rank">([^<]*)</td>', page) == ["1", "2", "1", "2"]


def test_opinion_scores_give_their_column_and_marks(judged, client):  # noqa: F811
    phase, entries = judged
    batch = phase.batches.get(state="current")
    study = Study.objects.create(
        phase=phase,
        slug="scores",
        title="Scores",
        question="How good?",
        kind="opinions",
        is_public=True,
        revision=1,
        criteria=[{"key": key, "title": key, "text": ""} for key in ("semantic", "overall")],
    )
    rows = [StudyEntry.objects.create(study=study, label=entry.method_name, submission=entry) for entry in entries]
    for k in range(6):
        rater = Rater.objects.create(study=study, name=f"jane{k}@example.org", group="experts" if k % 2 else "others")
        for sample in batch.reference.item_ids:
            for row, score in zip(rows, (2, 4 + k % 2), strict=True):  # the one that is far off is liked better
                for criterion in ("overall", "semantic"):
                    Opinion.objects.create(
                        study=study, rater=rater, sample=sample, entry=row, criterion=criterion, score=score, seconds=3.0
                    )
    assert sum(1 for _ in iter(analyse_due, 0)) == 2
    snapshots.make_all(phase)
    content = Snapshot.current(phase, "public").board
    said = dict(zip((entry.id for entry in content.entries), content.people.value, strict=True))
    assert said == {entries[0].pk: 2.0, entries[1].pk: 4.5}
    assert content.people.groups == ["experts", "others"] and content.people.raters == 6
    mark = content.people.marks["corner_f1"][str(entries[0].pk)]
    assert mark[0].preferred == entries[1].method_name and mark[0].id == entries[1].pk and mark[0].samples
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    snapshot = Snapshot.current(phase, "public").digest
    told_rows = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{snapshot}/rows").json()["items"]
    own = 6 * len(batch.reference.item_ids)  # scores that each entry got on a criterion
    assert {row["id"]: (row["people"]["value"], row["people"]["n"]) for row in told_rows} == {
        entries[0].pk: (2.0, own),
        entries[1].pk: (4.5, own),
    }
    board = client.get(f"{place}?sort=people").content.decode()
    assert "Opinion score" in board and "6 raters" in board and 'class="against"' in board
    card = client.get("/").content.decode().partition('class="soft counted"')[2].partition("<br>")[0]
    assert card.endswith(f"{2 * own} ratings")
    Rater.objects.filter(study=study).update(withdrawn=1, left_at=timezone.now())
    assert withdrawn(6, True) in client.get(f"{place}snapshots/{snapshot}/").content.decode()
    page = client.get(f"{place}people/scores/").content.decode()
    head = page.partition("By criterion</h2>")[2].partition("</thead>")[0]
    assert head.index("overall") > head.index("semantic")  # as the study asks them
    assert "6 ratings withdrawn" in page and "semantic" in page and "experts" in page
    assert client.get(f"{place}people/scores/?criterion=semantic&metric=hss").status_code == 200
    data = client.get(f"{place}people/scores/analysis.json")
    assert data.json()["criteria"]["overall"]["reliability"]["raters"][0]["rater"] == "rater 1"
    assert "example.org" not in page + data.content.decode() + client.get(f"{place}people/").content.decode()
    study.screening = {"others": {"r": 0.3}}
    study.save()
    assert analyse_due() == 1  # another choice is another analysis
    Rater.objects.filter(study=study, name__startswith="jane0").update(is_counted=False)
    Study.objects.filter(pk=study.pk).update(revision=2)
    while analyse_due():
        pass
    assert study.analyses.get(criterion="overall").content["n_raters"] == 5


def test_a_metric_of_the_whole_set_has_no_sample_but_an_order(judged, monkeypatch):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, items(phase), 0))
    real = Column.spec.fget
    monkeypatch.setattr(Column, "spec", property(lambda column: replace(real(column), level="set")))
    found = metric_scores(study, study.batch, tuple(items(phase)), tuple(sorted(entry.method_name for entry in entries)))[0]
    assert np.isnan(found.values).all() and not np.isnan(found.of_methods).any()
    analyse_due()
    line = study.analyses.get().summary.metrics[0]
    assert line.decided.value is None and line.rho.n == 2 and line.rho.value is None and line.spa.value is None


def test_new_scores_of_a_studys_entries_ask_for_its_analysis_again(judged):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, items(phase), 0))
    assert analyse_due() == 1 and analyse_due() == 0
    before = study.scored_under
    entries[0].evaluations.update(state="running")
    assert study.scored_under != before and analyse_due() == 1


def test_a_study_says_nothing_of_an_entry_that_is_withheld_from_the_board(judged, client, request):  # noqa: F811
    phase, entries = judged
    imported(phase, votes_for(entries, items(phase), 1))
    scores = Study.objects.create(phase=phase, slug="scores", title="Scores", question="?", kind="opinions", is_public=True, revision=1)
    for number, entry in enumerate(entries):
        row = StudyEntry.objects.create(study=scores, label=entry.method_name, submission=entry)
        for k in range(6):
            rater, _ = Rater.objects.get_or_create(study=scores, name=f"r{k}")
            Opinion.objects.create(study=scores, rater=rater, sample=items(phase)[0], entry=row, score=2 + number + k % 2)
    while analyse_due():
        pass
    place, api = (f"challenges/{phase.challenge.slug}/{between}{phase.slug}" for between in ("", "phases/"))
    pages = ["people/", *(f"people/{slug}/{end}" for slug in ("people", "scores") for end in ("", "analysis.json"))]
    addresses = [f"/{place}/{page}" for page in pages] + [f"/api/v1/{api}/studies/{slug}" for slug in ("people", "scores")]
    name, row = entries[1].method_name, type(entries[1]).objects.filter(pk=entries[1].pk)

    def naming() -> list[str]:
        answers = {address: client.get(address) for address in addresses}
        assert {answer.status_code for answer in answers.values()} == {200}
        return [address for address, answer in answers.items() if name in answer.content.decode()]

    assert naming() == addresses
    page = f"/{place}/people/people/"
    link = f'href="/entries/{entries[1].pk}/"'
    assert link in client.get(page).content.decode()
    for change in ({"artifact": "empty"}, {"artifact": ""}):  # whose page, if it has one, is not the public's
        StudyEntry.objects.filter(submission=entries[1]).update(**change)
        assert (link in client.get(page).content.decode()) == (change["artifact"] == "")
    for mark in ("hidden_at", "disqualified_at"):
        row.update(hidden_at=None, disqualified_at=None)
        row.update(**{mark: timezone.now()})
        assert naming() == []
    client.force_login(request.getfixturevalue("people").organizer)
    assert naming() == addresses


def test_the_list_of_studies_asks_no_more_for_more_of_them(judged, client, django_assert_max_num_queries):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, items(phase), 0))
    assert analyse_due() == 1
    done = study.analyses.get()
    for number in range(5):
        study.pk, study.slug, study._state.adding = None, f"s{number}", True
        study.save()
        done.pk, done.study, done._state.adding = None, study, True
        done.save()
    with django_assert_max_num_queries(10):
        page = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/").content.decode()
    assert page.count(entries[0].method_name) == 6


def test_scores_of_two_people_are_counted_and_give_no_figure(judged, client):  # noqa: F811
    phase, entries = judged
    study = Study.objects.create(phase=phase, slug="few", title="Few", question="How good?", kind="opinions", is_public=True, revision=1)
    rows = [StudyEntry.objects.create(study=study, label=entry.method_name, submission=entry) for entry in entries]
    sample = phase.batches.get(state="current").reference.item_ids[0]
    for name, scores in (("a", (1, 2)), ("b", (5, 4))):
        rater = Rater.objects.create(study=study, name=name)
        for row, score in zip(rows, scores, strict=True):
            Opinion.objects.create(study=study, rater=rater, sample=sample, entry=row, criterion="", score=score, seconds=3.0)
    assert analyse_due() == 1
    line = study.analyses.get().summary.scales[0]
    assert line.mos == (3.0, None, None) and line.reason == few_raters(2) and line.answers == 2
    snapshots.make_all(phase)
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    page = client.get(f"{place}people/few/").content.decode()
    assert sentence(few_raters(2)) in page and "3.00" not in page
    board = client.get(f"{place}?sort=people").content.decode()
    assert f"2 of {RATERS_FOR_FIGURE} raters" in board and "Opinion score" not in board


def test_a_ranking_keeps_its_figures_and_says_what_was_withdrawn_since(client, judged):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, items(phase), 0))
    while analyse_due():
        pass
    made = snapshots.make(phase, "public")
    here = f"/challenges/{phase.challenge.slug}/{phase.slug}/snapshots/{made.digest}"
    api = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{made.digest}"
    said = withdrawn(3, False)
    assert said not in client.get(f"{here}/").content.decode()
    left = study.raters.first()
    left.leave()
    assert not left.votes.exists()
    study.raters.filter(pk=left.pk).update(withdrawn=3)  # answers that were imported belong to no question, and are not counted
    assert said in client.get(f"{here}/").content.decode() and said in client.get(f"{here}.md").content.decode()
    told = client.get(api).json()["study"]
    assert (told["withdrawn"], told["answers"]) == (3, made.board.people.answers)

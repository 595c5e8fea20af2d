"""What a ranking keeps of people: which study, in which words, and what is left of it when things are taken back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.utils import timezone

from leaderboard import people
from leaderboard.models import Snapshot, Study, StudyEntry
from leaderboard.models.question import Opinion
from leaderboard.models.rater import Rater
from leaderboard.studies.analysis import analyse_due, metric_scores
from tests.service.leaderboard.studies.test_analysis import imported, judged, votes_for  # noqa: F401

pytestmark = pytest.mark.django_db


def figure(value=None, low=None, high=None, n=0):
    return {"value": value, "low": low, "high": high, "n": n}


def told(**changes):
    order = {"srocc": 0.5, "srocc_ci": [0.1, 0.9], "plcc": 0.4, "krocc": 0.3, "plcc_ci": None, "krocc_ci": None, "n": 9}
    base = {
        "study": {"id": 1, "slug": "s", "title": "S", "question": "?", "source": "", "made_up": False}, "kind": "pairs", "of": "votes",
        "criterion": "", "raters": 11, "groups": [], "judgements": 1200, "questions": 1234, "at": "2026-11-21T12:00:00+00:00",
        "between": figure(0.85), "note": "", "left_out": [], "value": [0.75, 0.25], "low": [0.7, 0.2], "high": [0.8, 0.3], "marks": {},
        "metrics": [{"slug": "hss", "by": {"": figure(0.82, 0.8, 0.84, 900)}, "order": order}],
    }  # fmt: skip
    return base | changes


def test_a_column_says_pairs_correlation_raters_and_date():
    found = people.People(told(), {"hss": "HSS"})
    trust = found.trust("hss")
    assert (trust.share, trust.words, trust.more) == (82, "82 / 100 pairs, 11\xa0raters", "ρ 0.50 [0.10, 0.90]")
    assert trust.title == (
        "HSS orders 82 of 100 pairs as the raters did (95 % interval 80 to 84); two raters agree on 85. "
        "Spearman's ρ with the people's order: 0.50 (95 % interval 0.10 to 0.90). "
        "1,200 answers on 1,234 pairs by 11 raters, 21 November 2026."
    )
    assert found.trust("other") is None


def test_a_metric_without_answers_is_compared_by_its_order_alone():
    order = {"srocc": -0.2, "srocc_ci": None, "n": 3}
    found = people.People(told(metrics=[{"slug": "fid", "by": {"": figure()}, "order": order}]), {"fid": "FID"})
    assert (found.trust("fid").share, found.trust("fid").words, found.trust("fid").more) == (None, "answers no pair", "ρ −0.20")


def test_what_one_pair_says_has_no_interval():
    order = {"srocc": None, "srocc_ci": None, "n": 2}
    found = people.People(told(metrics=[{"slug": "hss", "by": {"": figure(1.0, n=1)}, "order": order}]), {"hss": "HSS"})
    assert found.reading("hss") == "HSS orders 100 of 100 pairs as the raters did; two raters agree on 85."
    assert [row["ends"] for chart in found.charts() for row in chart["rows"]] == [""]


def test_charts_are_ordered_by_agreement_for_each_group():
    metrics = [
        {"slug": "a", "by": {"": figure(0.8, 0.7, 0.9), "x": figure(0.9, 0.8, 1.0), "y": figure(0.6, 0.5, 0.7)}, "order": {"srocc": None}},
        {"slug": "b", "by": {"": figure(0.7, 0.6, 0.8), "x": figure(0.6, 0.5, 0.7), "y": figure(0.8, 0.7, 0.9)}, "order": {"srocc": None}},
    ]
    charts = people.People(told(metrics=metrics, groups=["x", "y"]), {"a": "A", "b": "B"}).charts()
    # The lines reach from 0.5 to 1: two raters, who agree on 0.85 of the pairs, are marked at 70 % of them.
    assert {row["two_agree"] for chart in charts for row in chart["rows"]} == {70.0}
    assert [(chart["group"], [row["title"] for row in chart["rows"]]) for chart in charts] == [
        ("", ["A", "B"]),
        ("x", ["A", "B"]),
        ("y", ["B", "A"]),
    ]
    assert charts[0]["rows"][0]["bar"] == {"dot": 60.0, "left": 40.0, "width": 40.0} and charts[0]["rows"][0]["ends"] == "70 to 90"


def test_judge_models_stand_among_the_metrics():
    judge = {"slug": "gpt", "by": {"": figure(0.9, 0.8, 1.0)}, "order": None}
    rows = people.People(told(judges=[judge]), {"hss": "HSS"}).charts()[0]["rows"]
    assert [(row["title"], row["is_judge"]) for row in rows] == [("gpt", True), ("HSS", False)]
    assert rows[0]["reading"].startswith("gpt orders 90 of 100 pairs as the raters did")


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.8, "much as the opinion scores do"), (0.4, "somewhat as"), (0.0, "hardly as"), (-0.5, "against the opinion scores")],
)
def test_correlations_are_read_in_plain_words(value, words):
    assert words in people.opinion_reading("PSNR", figure(value, None, None, 11))


def test_what_is_withheld_leaves_no_trace():
    marks = {
        "hss": {"7": [{"preferred": "x", "id": 8, "samples": [], "n": 0}], "8": [{"preferred": "y", "id": None, "samples": [], "n": 0}]}
    }
    left = people.withheld(told(marks=marks, n=[40, 30]), [1], frozenset({8}))
    assert left["n"] == [40, 0]
    assert left["value"] == [0.75, None] and left["high"] == [0.8, None] and left["marks"] == {"hss": {"7": []}}


def test_of_several_studies_the_one_with_most_raters_stands_on_the_board(judged):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    many = imported(phase, votes_for(entries, items, 0))
    few = Study.import_votes(
        phase, None, votes_for(entries, items, 1)[: len(items) * 2], slug="few", title="Few", question="?", is_public=True
    )
    while analyse_due():
        pass
    rows = [{"id": entry.pk, "counted": True} for entry in entries]
    assert people.told(phase, True, rows, {})["study"]["id"] == many.pk
    many.publish(None, False)
    assert people.told(phase, True, rows, {})["study"]["id"] == few.pk and people.told(phase, False, rows, {})["study"]["id"] == many.pk


def test_opinion_scores_give_their_column_and_marks(judged, client):  # noqa: F811
    phase, entries = judged
    batch = phase.batches.get(state="current")
    study = Study.objects.create(
        phase=phase, slug="scores", title="Scores", question="How good?", kind="opinions", is_public=True, revision=1,
        criteria=[{"key": key, "title": key, "text": ""} for key in ("semantic", "overall")],
    )  # fmt: skip
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
    Snapshot.make_all(phase)
    content = Snapshot.current(phase, "public").content
    said = dict(zip((entry["id"] for entry in content["entries"]), content["people"]["value"], strict=True))
    assert said == {entries[0].pk: 2.0, entries[1].pk: 4.5}
    assert content["people"]["groups"] == ["experts", "others"] and content["people"]["raters"] == 6
    mark = content["people"]["marks"]["corner_f1"][str(entries[0].pk)]
    assert mark[0]["preferred"] == entries[1].method_name and mark[0]["id"] == entries[1].pk and mark[0]["samples"]
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    snapshot = Snapshot.current(phase, "public").digest
    told_rows = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{snapshot}/rows").json()["items"]
    own = 6 * len(batch.reference.item_ids)  # scores that each entry got on a criterion
    assert {row["id"]: (row["people"]["value"], row["people"]["n"]) for row in told_rows} == {
        entries[0].pk: (2.0, own),
        entries[1].pk: (4.5, own),
    }
    board = client.get(f"{place}?sort=people").content.decode()
    assert "Opinion score" in board and "6 raters" in board and "people say otherwise" in board
    page = client.get(f"{place}people/scores/").content.decode()
    head = page.partition("By criterion</h2>")[2].partition("</thead>")[0]
    assert head.index("overall") > head.index("semantic")  # as the study asks them
    for words in (
        "Mean opinion scores",
        "By criterion",
        "semantic",
        "Rater by rater",
        "Where a metric turns",
        "Sample by sample",
        "ρ, experts",
    ):
        assert words in page
    assert client.get(f"{place}people/scores/?criterion=semantic&metric=hss").status_code == 200
    data = client.get(f"{place}people/scores/analysis.json")
    assert data.json()["criteria"]["overall"]["reliability"]["raters"][0]["rater"] == "rater 1"
    assert "example.org" not in page + data.content.decode() + client.get(f"{place}people/").content.decode()
    study.screens_raters = True
    study.save()
    assert analyse_due() == 1  # another choice is another analysis
    Rater.objects.filter(study=study, name__startswith="jane0").update(is_counted=False)
    Study.objects.filter(pk=study.pk).update(revision=2)
    while analyse_due():
        pass
    assert study.analyses.get(criterion="overall").content["n_raters"] == 5


def test_a_metric_of_the_whole_set_has_no_sample_but_an_order(judged, monkeypatch):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    study = imported(phase, votes_for(entries, items, 0))
    from leaderboard import studies

    real = studies.spec_of
    monkeypatch.setattr(studies, "spec_of", lambda column: replace(real(column), level="set"))
    found = metric_scores(study, study.batch, tuple(items), tuple(sorted(entry.method_name for entry in entries)))[0]
    assert np.isnan(found.values).all() and not np.isnan(found.of_methods).any()
    analyse_due()
    line = study.analyses.get().content["metrics"][0]
    assert line["pairs"]["value"] is None and line["order"]["n"] == 2 and line["order"]["srocc"] is not None


def test_new_scores_of_a_studys_entries_ask_for_its_analysis_again(judged):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    study = imported(phase, votes_for(entries, items, 0))
    assert analyse_due() == 1 and analyse_due() == 0
    before = study.scored_under
    entries[0].evaluations.update(state="running")
    assert study.scored_under != before and analyse_due() == 1


def test_a_study_says_nothing_of_an_entry_that_is_withheld_from_the_board(judged, client, request):  # noqa: F811
    phase, entries = judged
    items = list(phase.batches.get(state="current").reference.item_ids)
    imported(phase, votes_for(entries, items, 1))
    scores = Study.objects.create(phase=phase, slug="scores", title="Scores", question="?", kind="opinions", is_public=True, revision=1)
    for number, entry in enumerate(entries):
        row = StudyEntry.objects.create(study=scores, label=entry.method_name, submission=entry)
        for k in range(6):
            rater, _ = Rater.objects.get_or_create(study=scores, name=f"r{k}")
            Opinion.objects.create(study=scores, rater=rater, sample=items[0], entry=row, score=2 + number + k % 2)
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
    items = list(phase.batches.get(state="current").reference.item_ids)
    study = imported(phase, votes_for(entries, items, 0))
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


def test_an_interval_of_few_scores_is_shown_no_further_than_the_scale_goes(judged, client):  # noqa: F811
    phase, entries = judged
    study = Study.objects.create(phase=phase, slug="few", title="Few", question="How good?", kind="opinions", is_public=True, revision=1)
    rows = [StudyEntry.objects.create(study=study, label=entry.method_name, submission=entry) for entry in entries]
    sample = phase.batches.get(state="current").reference.item_ids[0]
    for name, score in (("a", 1), ("b", 5)):
        rater = Rater.objects.create(study=study, name=name)
        for row in rows:
            Opinion.objects.create(study=study, rater=rater, sample=sample, entry=row, criterion="", score=score, seconds=3.0)
    assert analyse_due() == 1
    assert study.analyses.get().content["scales"][0]["mos"] == pytest.approx([3.0, -22.41, 28.41], abs=0.01)  # as computed
    Snapshot.make_all(phase)
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    page = client.get(f"{place}people/few/").content.decode()
    assert "1.00 to 5.00" in page and "28.41" not in page
    board = client.get(f"{place}?sort=people").content.decode()
    assert "±2.0" in board and "±25" not in board


def test_a_ranking_keeps_its_figures_and_says_what_was_withdrawn_since(client, judged):  # noqa: F811
    phase, entries = judged
    study = imported(phase, votes_for(entries, list(phase.batches.get(state="current").reference.item_ids), 0))
    while analyse_due():
        pass
    made = Snapshot.make(phase, "public")
    here = f"/challenges/{phase.challenge.slug}/{phase.slug}/snapshots/{made.digest}"
    api = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{made.digest}"
    assert "withdrawn since" not in client.get(f"{here}/").content.decode()
    left = study.raters.first()
    left.leave()
    assert not left.votes.exists()
    study.raters.filter(pk=left.pk).update(withdrawn=3)  # answers that were imported belong to no question, and are not counted
    assert "3 judgements were withdrawn since" in client.get(f"{here}/").content.decode()
    assert "3 judgements were withdrawn since" in client.get(f"{here}.md").content.decode()
    told = client.get(api).json()["study"]
    assert (told["withdrawn"], told["judgements"]) == (3, made.content["people"]["judgements"])

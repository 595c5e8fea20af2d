"""Metric programs against people: an organizer's on each study they may see, entries of a challenge of metrics on its hidden one."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.models import MetricProgram
from evaluation.work.worker import drain
from leaderboard.models import MetricChallenge, ProgramValues, Study, StudyAnalysis
from leaderboard.stats import metric_board, mos_table, opinion_study
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.records import plain
from leaderboard.stats.study import MetricScores
from leaderboard.stats.votes import Vote
from leaderboard.studies import programs as against
from submissions.errors import Refused
from submissions.kinds import FAMILIES
from submissions.models import Submission
from submissions.storage import stored_files
from tests.conftest import need
from tests.support.evaluation.programs import DRAWN, LENGTHS, passed, ready, written
from tests.support.factories import PhaseFactory, TeamFactory, gables, give_reference, perturbed
from tests.support.leaderboard import scores
from tests.support.processes import end_leases

pytestmark = pytest.mark.django_db(transaction=True)

BLIND = "def score(prediction, reference, params):\n    return 0.0"
CLOSER = """
    import numpy as np

    def score(prediction, reference, params):
        return float(np.abs(prediction.vertices - reference.vertices).mean())
"""


@pytest.fixture(autouse=True)
def _sandbox():
    need("sandbox")


@pytest.fixture
def phase(challenge):
    """Twelve houses, so that each half of them can say something."""
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase, gables(12))
    return phase


def sent(phase, references, scale: float, seed: int) -> Submission:
    """An entry of so much damage, whose files alone matter here."""
    return scores.with_files(scores.entry(phase, TeamFactory(challenge=phase.challenge), {}), perturbed(references, scale, seed))


@pytest.fixture
def study(phase, references, people) -> Study:
    """Six people on three entries of growing damage over the twelve houses, who see which is closer."""
    entries = {
        label: sent(phase, references, scale, n) for n, (label, scale) in enumerate((("near", 0.05), ("far", 0.15), ("farther", 0.3)))
    }
    order = list(entries)
    votes = [
        Vote(rater=f"r{r}", left=order[a], right=order[b], choice="left" if (r + a + s) % 7 else "right", sample=sample)
        for r in range(6)
        for s, sample in enumerate(phase.references.get().groups)
        for a in range(3)
        for b in range(a + 1, 3)
    ]
    made = Study.import_votes(phase, None, votes, slug="hidden", title="Hidden", question="Which is closer?", is_public=False)
    for label, entry in entries.items():
        made.entries.filter(label=label).update(submission=entry)
    StudyAnalysis.request_missing()
    content = {"kind": "pairs"}  # that it was analysed is enough for somebody to see it
    StudyAnalysis.objects.filter(study=made).update(state=StudyAnalysis.State.DONE, content=content, finished_at=timezone.now())
    return made


def worked() -> None:
    drain()
    while against.request() and against.score_due():
        pass


def test_an_organizers_program_is_held_against_the_studies_they_may_see(study, people, tmp_path):
    challenge = study.phase.challenge
    row = MetricProgram.add(challenge, written(tmp_path, CLOSER), "closer", people.organizer)
    worked()
    found = ProgramValues.objects.get(program=row)
    assert found.state == ProgramValues.State.DONE, found.failure
    assert set(found.values) == {"near", "far", "farther"}
    assert found.values["near"].keys() == set(study.phase.references.get().groups)
    # Of 216 answers those are for the left, which is the closer one, whose (rater + entry + sample) is no multiple of 7.
    left = [bool((r + a + s) % 7) for r in range(6) for s in range(12) for a in range(3) for _ in range(a + 1, 3)]
    assert found.decided["value"] == pytest.approx(sum(left) / len(left))
    assert found.decided["n"] == len(left)


def test_a_programs_figure_is_of_the_newest_answers_and_rules_and_stands_until_then(study, people, tmp_path, monkeypatch):
    row = ready(study.phase.challenge, tmp_path, people.organizer, code=CLOSER)
    worked()
    found = ProgramValues.objects.get(program=row)
    assert found.decided["n"] == 216 and against.request() == 0
    study.study_votes.filter(rater__name="r0").delete()
    Study.objects.get(pk=study.pk).touch_votes()
    with monkeypatch.context() as patch:
        patch.setattr(against, "_values", None)  # which are there already
        assert against.request() == 1
        waiting = ProgramValues.objects.get(program=row)
        assert (waiting.state, waiting.decided["n"]) == (ProgramValues.State.WAITING, 216)
        assert against.score_due() == 1 and against.request() == 0
    assert ProgramValues.objects.get(program=row).decided["n"] == 180
    monkeypatch.setattr("leaderboard.models.study.VERSION", 0)
    assert against.request() == 1


def test_a_program_gets_values_of_the_samples_that_people_judge_later(study, people, tmp_path):
    later = list(study.study_votes.filter(sample__in=["house_11", "house_12"]))
    assert len(later) == 36
    study.study_votes.filter(pk__in=[one.pk for one in later]).delete()
    row = ready(study.phase.challenge, tmp_path, people.organizer, code=CLOSER)
    worked()
    assert ProgramValues.objects.get(program=row).decided["n"] == 180
    type(later[0]).objects.bulk_create(later)
    Study.objects.get(pk=study.pk).touch_votes()
    worked()
    found = ProgramValues.objects.get(program=row)
    assert found.decided["n"] == 216 and found.values["near"].keys() == set(study.phase.references.get().groups)


def test_values_are_made_in_slices_that_go_on_from_what_is_kept(study, people, tmp_path, monkeypatch):
    row = ready(study.phase.challenge, tmp_path, people.organizer, code=CLOSER)
    monkeypatch.setattr(against, "SLICE_SECONDS", 0.0)  # is over after one item
    monkeypatch.setattr(against, "TURN_SECONDS", -1.0)  # one slice a turn
    against.request()
    for n in range(1, 4):
        assert against.score_due() == 1
        found = ProgramValues.objects.get(program=row)
        assert (found.values, sum(len(one["item_ids"]) for one in found.under_way["scores"])) == ({}, n)
        if n == 2:  # a worker claims it and is killed; what it had found by then is lost, and no more
            late = ProgramValues.objects.waiting().claim("killed")
            assert end_leases(ProgramValues.objects.all()) == 1
            assert not late.keep_slice({"of": [], "scores": []}, 3)
    monkeypatch.undo()
    worked()
    found.refresh_from_db()
    assert (found.state, found.under_way) == (ProgramValues.State.DONE, {}), found.failure
    references, entries = study.phase.references.get().items(), {one.label: one.submission for one in against.scored_entries(study)}
    far = FAMILIES["wireframe"].load(stored_files.store().local_path(entries["far"].artifact_key))
    for item, reference in references.items():
        assert found.values["far"][item] == pytest.approx(float(np.abs(far[item].vertices - reference.vertices).mean()), rel=1e-12)


def test_of_a_slow_item_no_more_than_its_effort_is_taken_and_the_others_are_found(study, people, tmp_path, monkeypatch):
    code = """
    def score(prediction, reference, params):
        while abs(prediction.vertices).max() == {slow}:
            pass
        return 1.0
    """
    references = study.phase.references.get().items()
    entry = next(one for one in against.scored_entries(study) if one.label == "near")
    near = FAMILIES["wireframe"].load(stored_files.store().local_path(entry.submission.artifact_key))
    fifth = sorted(references)[4]
    slow = repr(float(np.abs(near[fifth].vertices).max()))
    effort = "{seconds: 0.05, memory_mb: 60}"  # so a call is stopped after a second
    ready(study.phase.challenge, tmp_path, people.organizer, code=code.replace("{slow}", slow), effort=effort, worst="7")
    worked()
    values = ProgramValues.objects.get().values["near"]
    assert values.pop(fifth) == 7.0 and set(values.values()) == {1.0} and len(values) == 11


def test_damaged_entries_take_no_part(study):
    assert len(against.counted_answers(study)) == 216
    study.entries.filter(label="farther").update(artifact="remove_high")
    counted = against.counted_answers(Study.objects.get(pk=study.pk))
    assert len(counted) == 72
    assert {counted.entries[n] for n in (*counted.a, *counted.b)} == {"near", "far"}


def test_raters_whom_the_rules_of_a_study_of_pairs_leave_out_take_no_part(study):
    study.study_votes.filter(rater__name="r3").update(seconds=0.3)
    study.study_votes.exclude(rater__name="r3").update(seconds=4)
    assert against.counted_answers(study).clusters.n_raters == 6
    Study.objects.filter(pk=study.pk).update(screening={"fast": {"seconds": 1.0, "share": 0.2, "answers": 10}})
    counted = against.counted_answers(Study.objects.get(pk=study.pk))
    assert {counted.raters[n] for n in counted.rater} == {"r0", "r1", "r2", "r4", "r5"}


def test_a_stranger_to_the_study_is_told_nothing_of_it(study, people, tmp_path):
    row = ready(study.phase.challenge, tmp_path, people.stranger, code=CLOSER)
    worked()
    assert not ProgramValues.objects.filter(program=row).exists()


class TestOpinionScores:
    """The same of studies in which people gave scores."""

    @pytest.fixture
    def opinions(self, phase, references) -> Study:
        """Six people who score eight entries of growing damage on the twelve houses, the more damage the lower."""
        entries = {f"method {n}": sent(phase, references, 0.04 * (n + 1), n) for n in range(3)}
        ratings = [
            Rating(rater=f"r{r}", entry=label, score=float(max(1, min(5, 5 - 2 * n + (r + s + n) % 2))), sample=sample)
            for r in range(6)
            for s, sample in enumerate(phase.references.get().groups)
            for n, label in enumerate(entries)
        ]
        made = Study.import_ratings(phase, None, ratings, slug="scores", title="Scores", question="How good?", is_public=False)
        for label, entry in entries.items():
            made.entries.filter(label=label).update(submission=entry)
        StudyAnalysis.request_missing()
        StudyAnalysis.objects.filter(study=made).update(
            state=StudyAnalysis.State.DONE, content={"kind": "opinions"}, finished_at=timezone.now()
        )
        return made

    def test_a_program_gets_the_figures_of_a_shipped_metric(self, opinions, people, tmp_path):
        row = ready(opinions.phase.challenge, tmp_path, people.organizer, code=CLOSER)
        worked()
        found = ProgramValues.objects.get(program=row)
        assert found.state == ProgramValues.State.DONE, found.failure
        # The same values, as a metric of the study's phase: what its analysis says of them.
        ratings = mos_table.canonical(opinions.ratings(counted=True))
        x = np.array([[found.values[label][sample] for label in ratings.methods] for sample in ratings.samples])
        metrics = [MetricScores("shipped", x, higher_is_better=False)]
        shipped = plain(opinion_study.analyse(ratings, metrics).metric("shipped"))
        assert found.decided["value"] == pytest.approx(shipped["decided"]["value"])
        assert (found.decided["low"], found.decided["n"]) == (pytest.approx(shipped["decided"]["low"]), shipped["decided"]["n"])
        for name in ("rho", "tau", "r", "fitted", "spa", "acc_eq"):
            assert found.figures[name] == pytest.approx(shipped[name]) if name == "fitted" else found.figures[name] == shipped[name], name
        assert found.figures["rho"]["value"] == pytest.approx(1.0)
        assert found.figures["fitted"]["n"] == 36

    def test_its_page_has_intervals_or_reasons_and_nothing_of_too_few_people(self, opinions, people, tmp_path, client):
        row = ready(opinions.phase.challenge, tmp_path, people.organizer, code=CLOSER)
        worked()
        found = ProgramValues.objects.get(program=row)
        assert found.decided["coverage"] == 1.0
        sure = {"value": 0.9, "low": 0.61, "high": 0.97, "n": 9, "why": ""}
        decided = found.decided | {"coverage": 0.4, "rough": True}
        ProgramValues.objects.update(decided=decided, figures=found.figures | dict.fromkeys(("rho", "tau", "r"), sure))
        client.force_login(people.organizer)

        def page(address: str) -> str:
            return " ".join(client.get(address).content.decode().split())

        console = f"/console/challenges/{row.challenge.slug}/programs/{row.pk}/"
        for address in (f"/metrics/{row.full_key}/", console):
            assert page(address).count("0.900 [0.610, 0.970]") == 3, address
            assert "0.5 is chance." in page(address)
            assert "It answers 40 % of the duels." in page(address) and "read this interval as a rough one" in page(address)
        assert "No study with people yet" not in page(f"/metrics/{row.full_key}/")
        few = decided | {"low": None, "high": None, "rough": False, "why": "Too few raters: 5 are needed, there are 3."}
        ProgramValues.objects.update(decided=few)
        for address in (f"/metrics/{row.full_key}/", console):
            assert "there are 3." in page(address) and "Over 9 entries" not in page(address), address

    def test_scores_of_three_people_give_no_figure_of_a_program(self, opinions, people, tmp_path, client):
        opinions.opinions.exclude(rater__name__in=("r0", "r1", "r2")).delete()
        row = ready(opinions.phase.challenge, tmp_path, people.organizer, code=CLOSER)
        worked()
        assert ProgramValues.objects.get(program=row).figures["rho"]["value"] is not None
        client.force_login(people.organizer)
        for page in (f"/metrics/{row.full_key}/", reverse("console_program", args=[row.challenge.slug, row.pk])):
            text = client.get(page).content.decode()
            assert "Too few raters: 5 are needed, there are 3." in text and "ρ" not in text, page

    def test_a_challenge_of_metrics_can_stand_on_one(self, opinions, people, tmp_path):
        contest = MetricChallenge.open(opinions, "Find one", timezone.now() + timedelta(days=30), None, seed=1)
        entry = contest.enter(people.owner, written(tmp_path, CLOSER), "a.zip")
        passed(entry.program)
        worked()
        contest.refresh_from_db()
        for half in ("public", "final"):
            (row,) = (one for one in contest.standings[half] if one["key"] == str(entry.pk))
            assert row["decided"]["value"] > 0.9 and row["decided"]["low"] is not None

    def test_published_means_decide_nothing(self, opinions):
        Study.objects.update(from_results=True)
        opinions.refresh_from_db()
        with pytest.raises(Refused, match="the means alone were published"):
            MetricChallenge.open(opinions, "Find one", timezone.now() + timedelta(days=30), None)


class TestChallenge:
    @pytest.fixture
    def contest(self, study) -> MetricChallenge:
        return MetricChallenge.open(study, "Find a metric", timezone.now() + timedelta(days=30), None, seed=1, limit_total=2)

    def test_programs_are_ranked_with_tiers_and_guards_on_each_half(self, contest, people, tmp_path):
        first = contest.enter(people.owner, written(tmp_path / "a", CLOSER), "a.zip")
        second = contest.enter(people.stranger, written(tmp_path / "b", BLIND, title="Blind"), "b.zip")
        worked()
        contest.refresh_from_db()
        for half in ("public", "final"):
            rows = contest.standings[half]
            assert [row["key"] for row in rows][-3:] == ["size", "coin", "constant"]
            assert {row["key"] for row in rows[:-3]} == {str(first.pk), str(second.pk)}
            blind = next(row for row in rows if row["key"] == str(second.pk))
            assert blind["decided"]["value"] == 0.5 and blind["above_size"] is False
        assert contest.standings["public"] != contest.standings["final"]

    def test_until_the_end_the_public_half_is_shown_and_then_the_other(self, contest, people, tmp_path, client):
        passed(contest.enter(people.owner, written(tmp_path, CLOSER, title="Closer"), "a.zip").program)
        worked()
        page = client.get(f"/metric-challenges/{contest.pk}/").content.decode()
        assert "Board on the public half" in page
        assert "Closer" in page and "Size alone" in page and "the larger entry first" in page
        assert "Too few samples" not in page
        assert "0.500" in page and "Half of every duel." in page  # the constant, whose half is no estimate
        MetricChallenge.objects.update(closes_at=timezone.now())
        page = client.get(f"/metric-challenges/{contest.pk}/").content.decode()
        assert "Final board" in page
        # Programs have seen all items, and so may everybody have; what was kept back is how far they agree on them.
        assert "of which no board was shown before the end" in page and "nobody saw" not in page

    def test_a_metric_that_is_silent_on_most_duels_says_so_and_so_does_an_interval_of_few(self, contest, people, tmp_path, client):
        entry = contest.enter(people.owner, written(tmp_path, CLOSER, title="Silent"), "a.zip")
        passed(entry.program)
        worked()
        values = ProgramValues.objects.get(program=entry.program)
        public = metric_board.halves(tuple(sorted(values.values["near"])), contest.seed)[0]
        silent = {label: {name: None if label == "far" else value for name, value in row.items()} for label, row in values.values.items()}
        ProgramValues.objects.update(values=silent)
        contest.ask()
        worked()
        page = " ".join(client.get(f"/metric-challenges/{contest.pk}/").content.decode().split())
        assert len(public) == 6 and "answers 33 % of the duels" in page and "few raters or items: a rough interval" in page

    def test_what_was_public_decides_nothing_in_the_end_though_the_study_goes_on(self, contest, study, people, tmp_path):
        later = list(study.study_votes.filter(sample="house_01"))
        study.study_votes.filter(sample="house_01").delete()
        passed(contest.enter(people.owner, written(tmp_path, CLOSER), "a.zip").program)
        worked()
        contest.refresh_from_db()
        public, final = map(set, contest.standings["halves"])
        type(later[0]).objects.bulk_create(later)
        Study.objects.get(pk=study.pk).touch_votes()
        worked()
        contest.refresh_from_db()
        more = [set(half) for half in contest.standings["halves"]]
        assert public <= more[0] and final <= more[1] and more[0] | more[1] == public | final | {"house_01"}
        assert sum(row["decided"]["n"] for half in ("public", "final") for row in contest.standings[half][:1]) == 216

    def test_one_upload_a_day_and_no_more_than_there_are(self, contest, people, tmp_path):
        contest.enter(people.owner, written(tmp_path / "a", CLOSER), "a.zip")
        with pytest.raises(Refused, match="from midnight UTC") as refused:
            contest.enter(people.owner, written(tmp_path / "b", LENGTHS, version=2), "b.zip")
        assert refused.value.retry_at is not None
        contest.entries.update(created_at=timezone.now() - timedelta(days=2))
        contest.enter(people.owner, written(tmp_path / "b", LENGTHS, version=2), "b.zip")
        contest.entries.update(created_at=timezone.now() - timedelta(days=2))
        with pytest.raises(Refused, match="all 2 uploads"):
            contest.enter(people.owner, written(tmp_path / "c", LENGTHS, version=3), "c.zip")

    def test_what_fails_its_checks_uses_nothing_up_and_stands_nowhere(self, contest, people, tmp_path):
        entry = contest.enter(people.owner, written(tmp_path / "a", DRAWN), "a.zip")
        worked()
        entry.program.refresh_from_db()
        assert entry.program.state == MetricProgram.State.FAILED
        assert contest.left(people.owner) == (1, 2)
        assert not ProgramValues.objects.filter(program=entry.program).exists()

    def test_organizers_take_no_part_and_the_study_must_be_hidden(self, contest, study, people, tmp_path, client):
        client.force_login(people.organizer)
        assert "so you cannot take part" in client.get(f"/metric-challenges/{contest.pk}/").content.decode()
        with pytest.raises(Refused, match="organize"):
            contest.enter(people.organizer, written(tmp_path, CLOSER), "a.zip")
        Study.objects.update(is_public=True)
        study.refresh_from_db()
        with pytest.raises(Refused, match="public"):
            MetricChallenge.open(study, "Another", timezone.now() + timedelta(days=1), None)

    def test_nobody_can_work_out_which_samples_decide(self, study):
        seeds = {MetricChallenge.open(study, f"Find {n}", timezone.now() + timedelta(days=1), None).seed for n in range(3)}
        assert len(seeds) == 3

    def test_a_half_has_the_samples_that_a_figure_needs(self, study):
        study.study_votes.exclude(sample__in=[f"house_{n:02d}" for n in range(1, 10)]).delete()
        with pytest.raises(Refused, match="on 9 samples; a half needs 5 for any figure, so 10 are needed"):
            MetricChallenge.open(study, "Find a metric", timezone.now() + timedelta(days=1), None)

    def test_the_study_stays_hidden_until_it_has_ended(self, contest, study, people):
        with pytest.raises(Refused, match="stay hidden until that has ended"):
            study.publish(people.organizer, True)
        contest.end(people.organizer)
        study.publish(people.organizer, True)
        assert Study.objects.get(pk=study.pk).is_public

    def test_before_and_after_its_time_nothing_is_taken(self, contest, people, tmp_path):
        MetricChallenge.objects.update(closes_at=timezone.now())
        contest.refresh_from_db()
        with pytest.raises(Refused, match="has ended"):
            contest.enter(people.owner, written(tmp_path, CLOSER), "a.zip")

    def test_a_program_that_entered_has_no_page_and_is_no_metric_of_the_organizers(self, contest, people, tmp_path, client):
        entry = contest.enter(people.owner, written(tmp_path, CLOSER), "a.zip")
        passed(entry.program)
        assert client.get(f"/metrics/{entry.program.full_key}/").status_code == 404

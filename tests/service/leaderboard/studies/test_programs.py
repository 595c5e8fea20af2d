"""Metric programs against people: an organizer's on each study they may see, entries of a challenge of metrics on its hidden one."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from importlib import import_module

import numpy as np
import pytest
from django.apps import apps
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from evaluation.models import MetricProgram
from evaluation.programs.results import Cause
from evaluation.work import programs as work_programs
from evaluation.work.worker import drain
from leaderboard.models import MetricChallenge, ProgramValues, Study, StudyAnalysis
from leaderboard.models.metric_challenge import midnight
from leaderboard.stats import mos_table
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.records import plain
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.studies import programs as against
from leaderboard.wording.reasons import sentence
from submissions.errors import Refused
from submissions.kinds import FAMILIES
from submissions.models import AuditEntry, Challenge
from submissions.storage import stored_files
from tests.conftest import need
from tests.support.evaluation.programs import DRAWN, LENGTHS, passed, ready, written
from tests.support.factories import ChallengeFactory, PhaseFactory, gables, give_reference
from tests.support.leaderboard.hidden_study import BLIND, CLOSER, hidden_study, on_hidden_items, sent, worked
from tests.support.leaderboard.reasons import few_raters
from tests.support.pages import coded
from tests.support.processes import end_leases

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _sandbox():
    need("sandbox")


@pytest.fixture
def phase(challenge):
    """Twelve houses, so that each half of them can say something."""
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase, gables(12))
    return phase


@pytest.fixture
def study(phase, people) -> Study:
    """Six people on three entries of growing damage over the twelve houses, who see which is closer."""
    return hidden_study(phase)


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
    study.study_votes.filter(rater__name="rater 1").delete()
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
            assert not late.keep_slice([], [], 3)
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
    ready(study.phase.challenge, tmp_path, people.organizer, code=code.replace("{slow}", slow), effort=effort)
    worked()
    values = ProgramValues.objects.get().values["near"]
    assert values.pop(fifth) is None and set(values.values()) == {1.0} and len(values) == 11


def test_damaged_entries_take_no_part(study):
    assert len(against.answers_of(study)[0]) == 216
    study.entries.filter(label="farther").update(artifact="remove_high")
    counted = against.answers_of(Study.objects.get(pk=study.pk))[0]
    assert len(counted) == 72
    assert {counted.entries[n] for n in (*counted.a, *counted.b)} == {"near", "far"}


def test_raters_whom_the_rules_of_a_study_of_pairs_leave_out_take_no_part(study):
    study.study_votes.filter(rater__name="rater 4").update(seconds=0.3)
    study.study_votes.exclude(rater__name="rater 4").update(seconds=4)
    assert against.answers_of(study)[0].clusters.n_raters == 6
    Study.objects.filter(pk=study.pk).update(screening={"fast": {"seconds": 1.0, "share": 0.2, "answers": 10}})
    counted = against.answers_of(Study.objects.get(pk=study.pk))[0]
    assert {counted.raters[n] for n in counted.rater} == {f"rater {n}" for n in (1, 2, 3, 5, 6)}


SHOWN = {"is_public": True, "slug": "shown"}


def test_a_program_of_another_challenge_runs_on_a_study_only_while_its_organizers_let_it(phase, people, tmp_path, client, settings):
    settings.CREATE_CHALLENGES = "anyone"
    client.force_login(people.stranger)
    client.post("/console/new/", {"title": "Trap", "slug": "trap", "summary": "", "family": "wireframe"})
    trap = Challenge.objects.get(slug="trap")
    assert list(trap.organizers.all()) == [people.stranger]
    study = hidden_study(phase, **SHOWN)
    row = ready(trap, tmp_path / "stranger", people.stranger, code=CLOSER)
    own = ready(phase.challenge, tmp_path / "own", people.organizer, code=CLOSER)
    worked()
    assert list(ProgramValues.objects.values_list("program", "study")) == [(own.pk, study.pk)]
    # Also a row that is there somehow is not worked on.
    ProgramValues.objects.create(program=row, study=study)
    assert against.score_due() and not ProgramValues.objects.filter(program=row).exists()

    console = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/"
    client.force_login(people.organizer)
    client.post(console, {"study": study.pk, "act": "other_programs"})
    worked()
    assert ProgramValues.objects.get(program=row).decided["n"] == 216
    # A failure there may quote the hidden reference, and its text is for the organizers of the study.
    ProgramValues.objects.filter(program=row).update(state="failed", decided=None, failure="The roof is at 7.91.")
    client.force_login(people.stranger)
    page = client.get(reverse("console_program", args=["trap", row.pk]))
    assert page.status_code == 200 and "7.91" not in page.content.decode()

    client.force_login(people.organizer)
    client.post(console, {"study": study.pk, "act": "own_programs"})
    assert list(ProgramValues.objects.values_list("program", flat=True)) == [own.pk]
    worked()
    assert list(ProgramValues.objects.values_list("program", flat=True)) == [own.pk]
    acts = AuditEntry.objects.filter(action="study.programs").order_by("pk").values_list("detail", flat=True)
    assert [act["after"] for act in acts] == [{"others": True}, {"others": False}]
    client.force_login(people.stranger)
    assert client.post(console, {"study": study.pk, "act": "other_programs"}).status_code == 403


def test_a_study_of_the_same_organizers_is_another_challenges_too(phase, people, tmp_path):
    second = ChallengeFactory(slug="second")
    second.organizers.add(people.organizer)
    hidden_study(phase, **SHOWN)
    row = ready(second, tmp_path, people.organizer, code=CLOSER)
    worked()
    assert not ProgramValues.objects.filter(program=row).exists()


def test_an_entrants_program_runs_on_the_study_of_its_contest_alone(phase, study, people, tmp_path):
    other = hidden_study(phase, **SHOWN, runs_other_programs=True)
    contest = MetricChallenge.open(study, "Find a metric", timezone.now() + timedelta(days=30), None, seed=1)
    entry = contest.enter(people.owner, written(tmp_path, CLOSER), "a.zip")
    passed(entry.program)
    ProgramValues.objects.create(program=entry.program, study=other, decided={"value": 0.5})
    worked()
    assert list(ProgramValues.objects.values_list("study", flat=True)) == [study.pk]


def test_what_was_computed_before_anybody_was_asked_is_removed(phase, study, people, tmp_path):
    elsewhere, own = (
        ready(challenge, tmp_path / str(n), people.organizer) for n, challenge in enumerate((ChallengeFactory(), phase.challenge))
    )
    contest = MetricChallenge.open(study, "Find a metric", timezone.now() + timedelta(days=30), None, seed=1)
    entered = passed(contest.enter(people.owner, written(tmp_path / "e", CLOSER), "a.zip").program)
    other = hidden_study(phase, **SHOWN)
    for program, on in ((elsewhere, study), (own, study), (own, other), (entered, study), (entered, other)):
        ProgramValues.objects.create(program=program, study=on)
    import_module("leaderboard.migrations.0032_where_programs_may_run").remove_forbidden(apps, None)
    kept = set(ProgramValues.objects.values_list("program", "study"))
    assert kept == {(own.pk, study.pk), (own.pk, other.pk), (entered.pk, study.pk)}


def test_a_stranger_to_the_study_is_told_nothing_of_it(study, people, tmp_path):
    row = ready(study.phase.challenge, tmp_path, people.stranger, code=CLOSER)
    worked()
    assert not ProgramValues.objects.filter(program=row).exists()


class TestOpinionScores:
    """The same of studies in which people gave scores."""

    @pytest.fixture
    def opinions(self, phase) -> Study:
        """Six people who score eight entries of growing damage on the twelve houses, the more damage the lower."""
        entries = {f"method {n}": sent(phase, 0.04 * (n + 1), n) for n in range(3)}
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
        shipped = plain(analyse(ratings, metrics).metric("shipped"))
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
        sure = {"value": 0.9, "low": 0.61, "high": 0.97, "n": 9, "state": "known", "reason": None}
        decided = found.decided | {"coverage": 0.4, "state": "rough"}
        ProgramValues.objects.update(decided=decided, figures=found.figures | dict.fromkeys(("rho", "tau", "r"), sure))
        client.force_login(people.organizer)

        def page(address: str) -> str:
            return " ".join(client.get(address).content.decode().split())

        console = f"/console/challenges/{row.challenge.slug}/programs/{row.pk}/"
        for address in (f"/metrics/{row.full_key}/", console):
            assert page(address).count("0.900 [0.610, 0.970]") == 3, address
            assert "40 %" in page(address) and "rough" in page(address)
        few = decided | {"low": None, "high": None, "state": "too_few", "reason": asdict(few_raters(3))}
        ProgramValues.objects.update(decided=few)
        for address in (f"/metrics/{row.full_key}/", console):
            assert "there are 3." in page(address) and "Over 9 entries" not in page(address), address

    def test_figures_and_standings_of_before_keep_their_numbers_and_get_states(self, opinions, people, tmp_path, client):
        row = ready(opinions.phase.challenge, tmp_path, people.organizer, code=CLOSER)
        few = {"value": 0.75, "low": None, "high": None, "n": 9, "coverage": 1.0, "rough": False, "why": sentence(few_raters(3))}
        alike = {"value": 0.5, "low": None, "high": None, "n": 9, "why": "All answers are alike."}
        values = ProgramValues.objects.create(program=row, study=opinions, state="done", decided=few, figures={"acc_eq": alike})
        contest = MetricChallenge.open(opinions, "Find one", timezone.now() + timedelta(days=30), None, seed=1)
        standings = {"public": [{"key": "1", "decided": few}], "final": [], "made": timezone.now().isoformat()}
        MetricChallenge.objects.filter(pk=contest.pk).update(standings=standings)
        for _ in range(2):  # a second time nothing changes
            import_module("leaderboard.migrations.0035_states_of_figures").convert(apps, None)
            values.refresh_from_db()
            contest.refresh_from_db()
            expected = few | {"state": "too_few", "reason": asdict(few_raters(3))}
            assert values.decided == contest.standings["public"][0]["decided"] == expected
            assert values.figures["acc_eq"] == alike | {"state": "alike", "reason": asdict(Reason(Key.ALIKE))}
            assert contest.standings["made"] == standings["made"] and contest.before_today is None
        client.force_login(people.organizer)
        assert sentence(few_raters(3)) in client.get(f"/metrics/{row.full_key}/").content.decode()

    def test_scores_of_three_people_give_no_figure_of_a_program(self, opinions, people, tmp_path, client):
        opinions.opinions.exclude(rater__name__in=("rater 1", "rater 2", "rater 3")).delete()
        row = ready(opinions.phase.challenge, tmp_path, people.organizer, code=CLOSER)
        worked()
        assert ProgramValues.objects.get(program=row).figures["rho"]["value"] is not None
        client.force_login(people.organizer)
        for page in (f"/metrics/{row.full_key}/", reverse("console_program", args=[row.challenge.slug, row.pk])):
            text = client.get(page).content.decode()
            assert sentence(few_raters(3)) in text and "ρ" not in text, page

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
        with pytest.raises(Refused, check=coded("wrong_study")):
            MetricChallenge.open(opinions, "Find one", timezone.now() + timedelta(days=30), None)


class TestChallenge:
    @pytest.fixture
    def contest(self, study) -> MetricChallenge:
        return MetricChallenge.open(study, "Find a metric", timezone.now() + timedelta(days=30), None, seed=1, limit_total=2)

    def test_programs_have_places_and_reference_points_on_each_half(self, contest, people, tmp_path):
        first = contest.enter(people.owner, written(tmp_path / "a", CLOSER), "a.zip")
        second = contest.enter(people.stranger, written(tmp_path / "b", BLIND, title="Blind"), "b.zip")
        worked()
        contest.refresh_from_db()
        for half in ("public", "final"):
            rows = contest.standings[half]
            assert [row["key"] for row in rows][-3:] == ["constant", "coin", "size"]
            assert {row["key"] for row in rows[:-3]} == {str(first.pk), str(second.pk)}
            blind = next(row for row in rows if row["key"] == str(second.pk))
            assert blind["decided"]["value"] == 0.5 and blind["above_size"] is False and blind["standing"] == "at_chance"
            assert {row["key"]: (row["places"], row["may_be_best"]) for row in rows[:-3]} == {
                str(first.pk): ([1, 1], True),
                str(second.pk): ([2, 2], False),
            }
        assert contest.standings["public"] != contest.standings["final"]

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

    def test_what_fails_its_checks_uses_up_an_upload_and_stands_nowhere(self, contest, people, tmp_path):
        entry = contest.enter(people.owner, written(tmp_path / "a", DRAWN), "a.zip")
        worked()
        entry.program.refresh_from_db()
        assert (entry.program.state, entry.program.cause) == (MetricProgram.State.FAILED, Cause.DIFFERS)
        assert contest.left(people.owner) == (0, 1)
        assert not ProgramValues.objects.filter(program=entry.program).exists()

    def test_what_the_service_fails_to_check_uses_up_nothing_and_can_be_sent_again(self, contest, people, tmp_path, monkeypatch):
        entry = contest.enter(people.owner, written(tmp_path / "a", CLOSER), "a.zip")
        with monkeypatch.context() as patch:
            patch.setattr(work_programs.sandbox, "run", lambda *_: 1 / 0)
            for _ in range(settings.MAX_ATTEMPTS):
                MetricProgram.objects.update(lease_until=None)
                drain()
        entry.program.refresh_from_db()
        assert (entry.program.state, entry.program.cause) == (MetricProgram.State.FAILED, Cause.SERVICE)
        assert contest.left(people.owner) == (1, 2)
        again = contest.enter(people.owner, tmp_path / "a", "a.zip")
        assert again.pk == entry.pk and contest.left(people.owner) == (0, 1)
        again.program.refresh_from_db()
        assert again.program.state == MetricProgram.State.WAITING
        contest.entries.update(created_at=timezone.now() - timedelta(days=1))
        with pytest.raises(Refused, check=coded("sent_before")):
            contest.enter(people.owner, tmp_path / "a", "a.zip")

    def test_an_entry_without_a_figure_leaves_the_one_before_it_counted(self, contest, people, tmp_path):
        first = contest.enter(people.owner, written(tmp_path / "a", CLOSER), "a.zip")
        worked()
        contest.entries.update(created_at=timezone.now() - timedelta(days=1))
        second = contest.enter(people.owner, written(tmp_path / "b", on_hidden_items("1 / 0"), version=2), "b.zip")
        worked()
        contest.refresh_from_db()
        assert [row["key"] for row in contest.standings["public"] if not row["reference_point"]] == [str(first.pk)]
        assert contest.standings["without"] == [second.pk]
        run = ProgramValues.objects.get(program=second.program)
        assert len(run.failures) == 10 and run.failures[0].startswith("far, house_01: ZeroDivisionError")
        ProgramValues.objects.filter(pk=run.pk).update(state=ProgramValues.State.FAILED, decided=None)
        contest.ask()
        worked()
        contest.refresh_from_db()
        assert contest.standings["without"] == [second.pk]

    def test_the_standings_that_are_shown_are_those_of_the_last_midnight(self, contest):
        def made(**ago: float) -> None:
            moment = timezone.now() - timedelta(**ago)
            contest.keep({"public": [], "final": [], "halves": [[], []], "without": [ago]}, moment)
            contest.refresh_from_db()

        today = midnight()
        made(days=3)
        assert contest.shown_standings(today)["without"] == [{"days": 3}]
        made(days=1)
        made(seconds=0)
        made(seconds=0)
        assert contest.shown_standings(timezone.now())["without"] == [{"days": 1}]
        assert contest.shown_standings(today + timedelta(days=1))["without"] == [{"seconds": 0}]
        assert contest.shown_standings(contest.closes_at)["without"] == [{"seconds": 0}]

    def test_organizers_take_no_part_and_the_study_must_be_hidden(self, contest, study, people, tmp_path, client):
        client.force_login(people.organizer)
        assert client.get(f"/metric-challenges/{contest.pk}/").context["organizes"] is True
        with pytest.raises(Refused, check=coded("organizer")):
            contest.enter(people.organizer, written(tmp_path, CLOSER), "a.zip")
        Study.objects.update(is_public=True)
        study.refresh_from_db()
        with pytest.raises(Refused, check=coded("public_study")):
            MetricChallenge.open(study, "Another", timezone.now() + timedelta(days=1), None)

    def test_nobody_can_work_out_which_samples_decide(self, study):
        seeds = {MetricChallenge.open(study, f"Find {n}", timezone.now() + timedelta(days=1), None).seed for n in range(3)}
        assert len(seeds) == 3

    def test_a_half_has_the_samples_that_a_figure_needs(self, study):
        study.study_votes.exclude(sample__in=[f"house_{n:02d}" for n in range(1, 10)]).delete()
        with pytest.raises(Refused, check=coded("too_few_samples")):
            MetricChallenge.open(study, "Find a metric", timezone.now() + timedelta(days=1), None)

    def test_the_study_stays_hidden_until_it_has_ended(self, contest, study, people):
        with pytest.raises(Refused, check=coded("decides_a_challenge")):
            study.publish(people.organizer, True)
        contest.end(people.organizer)
        study.publish(people.organizer, True)
        assert Study.objects.get(pk=study.pk).is_public

    def test_before_and_after_its_time_nothing_is_taken(self, contest, people, tmp_path):
        MetricChallenge.objects.update(closes_at=timezone.now())
        contest.refresh_from_db()
        with pytest.raises(Refused, check=coded("closed")):
            contest.enter(people.owner, written(tmp_path, CLOSER), "a.zip")

    def test_a_program_that_entered_has_no_page_and_is_no_metric_of_the_organizers(self, contest, people, tmp_path, client):
        entry = contest.enter(people.owner, written(tmp_path, CLOSER), "a.zip")
        passed(entry.program)
        assert client.get(f"/metrics/{entry.program.full_key}/").status_code == 404

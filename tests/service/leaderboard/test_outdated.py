"""After an upgrade: what boards, consoles, commands and studies say of values of older versions, and the one act that scores them anew."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.metrics import registry
from evaluation.models import Evaluation, EvaluationBatch, Part
from evaluation.work.worker import drain, score
from leaderboard.boards import snapshots
from leaderboard.management.commands.doctor import Command as Doctor
from leaderboard.models import Snapshot
from leaderboard.records.board import WAITING, Board
from leaderboard.service.mail import send_due_mail
from leaderboard.studies.analysis import analyse_due
from submissions.entry_states import Reason, Why
from submissions.models import AuditEntry, Submission
from tests.service.leaderboard.studies.test_analysis import imported, votes_for
from tests.support.factories import PhaseFactory, give_reference
from tests.support.leaderboard import scores
from tests.support.versions import set_version

pytestmark = pytest.mark.django_db
KEY = "edge_f1"  # any metric of the phase would do


@pytest.fixture
def stood(phase, people):
    """`stood(0.1)`: an entry that was scored before the upgrade, with so much damage."""

    def made(scale: float, seed: int = 0, **fields) -> Submission:
        return scores.houses(phase, people.team, 4, scale, seed, uploaded_by=people.owner, **fields)

    return made


@pytest.fixture
def raised(monkeypatch):
    """`raised()`: the upgrade; returns the sentence that is to be read everywhere from then on."""

    def upgrade() -> str:
        old = registry.get(KEY).version
        return f"Values of {KEY} version {old}; version {set_version(monkeypatch, KEY)} is current."

    return upgrade


@pytest.fixture
def board(client, phase):
    """`board()`: the ranking as it is built now, and the page that shows it."""

    def build() -> tuple[Board, str]:
        snapshots.make_all(phase)
        response = client.get(reverse("board", args=[phase.challenge.slug, phase.slug]))
        return Snapshot.current(phase, "public").board, response.content.decode()

    return build


def said_by(command: str, *arguments: str, capsys) -> str:
    call_command(command, *arguments)
    return capsys.readouterr().out


class TestTheBoard:
    def test_stands_to_the_last_digit_and_says_of_what_version_it_is(self, phase, stood, board, raised):
        stood(0.1)
        _, page = board()
        before = Snapshot.current(phase, "public").digest
        assert "is current." not in page
        sentence = raised()
        _, page = board()
        assert Snapshot.current(phase, "public").digest == before and sentence in page

    def test_shows_a_newer_entry_unranked_beside_the_ranked_one_of_its_team(self, phase, stood, scored, board, raised, people):
        phase.entries, phase.ranking = phase.Entries.LATEST, "mean_rank"
        phase.save()
        first = stood(0.3, method_name="first")
        raised()
        second = scored(0.1, method_name="second")
        content, page = board()
        rows = {row.id: (index, row) for index, row in enumerate(content.entries)}
        at, row = rows[second.pk]
        columns = {column.slug: column for column in content.metrics}
        assert (row.state, row.counted, content.overall.rank[at]) == (WAITING, False, None)
        assert columns[KEY].value[at] is None and columns["corner_f1"].value[at] is not None
        assert columns["corner_f1"].rank[at] is None
        at, row = rows[first.pk]
        assert row.counted and content.overall.rank[at] == 1 and columns[KEY].value[at] is not None
        assert (content.n_teams, content.n_entries) == (1, 2) and ">waiting<" in page

    def test_ranks_a_newer_entry_that_waits_in_a_column_beside_the_ranking(self, phase, scored, board, raised):
        """The default rule goes by the primary metric, which is another."""
        raised()
        scored(0.1)
        content, page = board()
        (row,) = content.entries
        assert (row.state, row.counted, row.waiting) == ("", True, [KEY])
        assert content.overall.rank == [1] and ">waiting<" in page

    def test_switches_as_a_whole_when_all_is_scored_anew(self, phase, stood, scored, board, raised):
        first = stood(0.3)
        sentence = raised()
        second = scored(0.1)
        batch = EvaluationBatch.start(phase)
        score(Part.objects.waiting("cpu").filter(evaluation__batch=batch).claim("a"))
        content, page = board()
        assert sentence in page and "0 of 2 done" in page and content.batch != batch.pk
        drain()
        content, page = board()
        assert content.batch == batch.pk and sentence not in page
        assert {row.id for row in content.entries if row.counted} & {first.pk, second.pk}
        assert [row for row in content.entries if row.state] == []

    def test_an_old_snapshot_and_the_api_say_it_too(self, phase, stood, board, raised, client):
        stood(0.1)
        board()
        sentence, digest = raised(), Snapshot.current(phase, "public").digest
        at = [phase.challenge.slug, phase.slug]
        assert sentence in client.get(reverse("snapshot", args=[*at, digest])).content.decode()
        found = client.get(f"/api/v1/challenges/{at[0]}/phases/{at[1]}/board").json()
        assert {column["slug"]: column["outdated"] for column in found["columns"]} == {"corner_f1": "", KEY: sentence, "hss": ""}

    def test_the_evidence_of_a_column_is_that_of_its_own_values(self, phase, stood, board, raised, client):
        stood(0.1)
        content, _ = board()
        column = next(one for one in content.metrics if one.slug == KEY)
        address = f"/metrics/{KEY}/?phase={phase.challenge.slug}/{phase.slug}&column={KEY}&fingerprint={column.fingerprint[:16]}"
        sentence = raised()
        page = client.get(address).content.decode()
        assert sentence in page
        assert sentence not in client.get(f"/metrics/{KEY}/").content.decode()


class TestAnEntry:
    def test_says_on_its_page_in_the_api_and_by_e_mail_what_it_waits_for(self, phase, scored, raised, client, people):
        raised()
        entry = scored(0.1)
        client.force_login(people.owner)
        page = client.get(reverse("entry", args=[entry.pk])).content.decode()
        assert "Edge F1" in page
        found = client.get(f"/api/v1/submissions/{entry.pk}").json()
        assert found["waiting"] == [KEY] and set(found["scores"]) == {"corner_f1", "hss"}
        mail.outbox.clear()
        Submission.objects.update(notified_at=None)
        send_due_mail()
        assert re.search(r"^Edge F1: \D+$", mail.outbox[0].body, re.M), "no number"


class TestTheOneAct:
    def test_doctor_fails_until_it_is_done(self, phase, stood, raised):
        stood(0.1)
        assert Doctor()._values()
        sentence, where = raised(), f"{phase.challenge.slug}/{phase.slug}"
        with pytest.raises(CommandError, match=f"{where}.*reevaluate --outdated") as failed:
            Doctor()._values()
        assert sentence in str(failed.value)
        EvaluationBatch.start(phase)
        assert Doctor()._values().endswith("; 1 being scored again")
        drain()
        assert "being scored" not in Doctor()._values()

    def test_the_command_scores_all_outdated_phases_and_no_other(self, phase, stood, raised, capsys):
        others = [PhaseFactory(challenge=phase.challenge), PhaseFactory(challenge=phase.challenge)]
        give_reference(others[0], metrics=({"slug": "hss", "key": "hss"},))
        give_reference(others[1], metrics=({"slug": KEY, "key": KEY},))
        stood(0.1)
        raised()
        said = said_by("reevaluate", "--outdated", capsys=capsys)
        assert said.count("Batch ") == 2 and f"1 entry of {phase}" in said and str(others[0]) not in said
        assert EvaluationBatch.objects.filter(phase=phase, state="building").get().reason.startswith(f"New: {KEY} version ")
        assert EvaluationBatch.current(others[1]).outdated() == [], "nothing to score, so it switched at once"
        said = said_by("reevaluate", "--outdated", capsys=capsys)
        assert "Batch " not in said, "what is being scored anew is not begun again"

    def test_the_command_takes_a_phase_or_all_of_them(self, phase):
        for arguments in ((), ("--outdated", phase.challenge.slug, phase.slug), (phase.challenge.slug,)):
            with pytest.raises(CommandError, match="Name a challenge and a phase"):
                call_command("reevaluate", *arguments)

    def test_one_phase_by_command_keeps_the_reference_that_was_decided_last(self, phase, stood, references):
        """It was the one of the board, so a batch that was being built took its newer reference with it."""
        from evaluation.models import Reference

        stood(0.1)
        newer = Reference.add(phase, references)
        EvaluationBatch.start(phase, reference=newer)
        call_command("reevaluate", phase.challenge.slug, phase.slug)
        assert EvaluationBatch.latest(phase).reference == newer

    def test_an_organizer_is_told_and_does_it_for_one_phase(self, phase, stood, raised, client, people):
        stood(0.1)
        sentence = raised()
        client.force_login(people.organizer)
        for address in ("console", "console_challenge", "console_scoring"):
            names = {"console": [], "console_challenge": [phase.challenge.slug]}
            page = client.get(reverse(address, args=names.get(address, [phase.challenge.slug, phase.slug]))).content.decode()
            assert sentence in page
        assert "reevaluate_outdated" not in client.get(reverse("console")).content.decode()
        assert client.post(reverse("console"), {"act": "reevaluate_outdated"}).status_code == 403
        assert not EvaluationBatch.objects.filter(state="building").exists()
        client.post(reverse("console_scoring", args=[phase.challenge.slug, phase.slug]), {"act": "reevaluate", "reason": ""})
        assert not EvaluationBatch.objects.get(state="building").outdated()

    def test_phases_of_others_are_not_told(self, phase, stood, raised, client, people):
        stood(0.1)
        sentence = raised()
        client.force_login(people.other_organizer)
        assert sentence not in client.get(reverse("console")).content.decode()

    def test_an_operator_does_it_for_all_with_one_button(self, phase, stood, raised, client, people):
        stood(0.1)
        sentence = raised()
        client.force_login(people.staff)
        assert sentence in client.get(reverse("console")).content.decode()
        page = client.post(reverse("console"), {"act": "reevaluate_outdated"}, follow=True).content.decode()
        assert sentence not in page
        assert AuditEntry.objects.filter(action="phase.reevaluate").latest("pk").actor == people.staff

    def test_a_re_evaluation_of_before_says_that_it_must_be_begun_anew(self, phase, stood, raised, client, people):
        stood(0.1)
        EvaluationBatch.start(phase)
        sentence = raised()
        client.force_login(people.organizer)
        found = client.get(reverse("console_scoring", args=[phase.challenge.slug, phase.slug]))
        assert found.context["waits"] and sentence in found.content.decode()


class TestAStudy:
    @pytest.fixture
    def studied(self, phase, stood):
        """Eight raters on two scored entries, analysed."""
        entries = [stood(0.05, method_name="near"), stood(0.6, method_name="far off", seed=1)]
        phase.entries = phase.Entries.ALL
        phase.save()
        study = imported(phase, votes_for(entries, phase.references.get().item_ids, 0))
        assert analyse_due() == 1
        return study, entries

    @staticmethod
    def fingerprint_of(study) -> str:
        return next(line["fingerprint"] for line in study.analyses.get().content["metrics"] if line["key"] == KEY)

    def test_is_analysed_again_under_the_current_version_once_its_entries_are_scored_with_it(self, studied, phase, raised):
        study, _ = studied
        before = self.fingerprint_of(study)
        raised()
        assert analyse_due() == 0, "an upgrade alone changes nothing"
        EvaluationBatch.start(phase)
        assert analyse_due() == 0
        drain()
        assert analyse_due() == 1
        assert before != self.fingerprint_of(study) == phase.metrics.get(slug=KEY).fingerprint

    def test_keeps_its_values_where_an_entry_cannot_be_scored_anew(self, studied, phase, raised, board, client):
        study, entries = studied
        before = self.fingerprint_of(study)
        sentence = raised()
        gone = EvaluationBatch.start(phase).evaluations.get(submission=entries[1])
        gone.fail(Why(Reason.ERROR), "")
        drain()
        gone.refresh_from_db()
        gone.exclude()
        assert EvaluationBatch.current(phase).state == "current" and not EvaluationBatch.current(phase).outdated()
        assert analyse_due() == 0 and self.fingerprint_of(study) == before
        content, _ = board()
        assert KEY not in {line.slug for line in content.people.metrics}, "what was found of other values is not said of these"
        assert "corner_f1" in {line.slug for line in content.people.metrics}
        page = client.get(reverse("study", args=[phase.challenge.slug, phase.slug, study.slug])).content.decode()
        assert sentence in page

    def test_of_another_version_stands_apart_on_the_metrics_page(self, studied, raised, client):
        old = registry.get(KEY).version
        apart = f"version {old};"
        assert apart not in client.get(f"/metrics/{KEY}/").content.decode()
        raised()
        assert apart in client.get(f"/metrics/{KEY}/").content.decode()


def test_an_entry_that_was_left_out_does_not_wait(phase, stood, board):
    """No score at all is another thing than a column that waits."""
    entry = stood(0.1)
    Evaluation.objects.filter(submission=entry).update(state="excluded")
    content, page = board()
    assert [row.state for row in content.entries] == [""] and ">waiting<" not in page

"""Contents of a ranking, whom it counts, and that a snapshot of it never changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from evaluation.models import Evaluation, EvaluationBatch, Reference, Score
from leaderboard.api import boards as api
from leaderboard.boards import build, snapshots
from leaderboard.models import Snapshot, read_board
from leaderboard.records.board import Board, BoardEntry, ColumnHead, MetricColumn, PublicEntry, StudyFacts, StudyName
from leaderboard.stats.ranking import NoOrder
from leaderboard.tasks import build_due_boards, due_phases
from submissions.errors import Refused
from submissions.models import Phase, Submission
from tests.support.factories import PhaseFactory, TeamFactory, gables, give_reference
from tests.support.leaderboard.boards import column_of
from tests.support.leaderboard.scores import as_json, entry, samples, spread

pytestmark = pytest.mark.django_db
SLUGS = ("corner_f1", "edge_f1", "hss")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def scores(mean: float, **others) -> dict:
    return {slug: spread(others.get(slug, mean)) for slug in SLUGS}


def set_phase(phase: Phase, **values) -> Phase:
    Phase.objects.filter(pk=phase.pk).update(**values)
    phase.refresh_from_db()
    return phase


def names(content: Board, column: MetricColumn | None = None) -> list[str]:
    """Entries in the order of a column (by default the overall one)."""
    return [content.entries[i].name for i in (column or content.overall).order]


def ranks(content: Board) -> dict[str, int | None]:
    return {entry.name: rank for entry, rank in zip(content.entries, content.overall.rank, strict=True)}


def public(phase: Phase, now=None) -> Board:
    return build.build(phase, "public", now)


def organizers(phase: Phase, now=None) -> Board:
    return build.build(phase, "organizers", now)


class TestWhichEntriesCount:
    @pytest.fixture
    def three(self, phase, people):
        """One team with three entries: best first, then the worst, then a middling one."""
        for number, (name, mean) in enumerate((("best", 0.9), ("worst", 0.1), ("last", 0.5))):
            entry(phase, people.team, scores(mean), at=START + timedelta(hours=number), method_name=name)
        entry(phase, people.other_team, scores(0.6), at=START, method_name="other")
        return phase

    @pytest.mark.parametrize(
        ("rule", "shown"),
        [("all", ["best", "other", "last", "worst"]), ("latest", ["other", "last"]), ("best", ["best", "other"])],
    )
    def test_all_latest_and_best_of_a_team(self, three, rule, shown):
        assert names(public(set_phase(three, entries=rule))) == shown

    def test_only_chosen_entries_where_teams_choose(self, three):
        set_phase(three, entries="chosen")
        assert names(public(three)) == []
        Submission.objects.get(method_name="worst").choose()
        assert names(public(three)) == ["worst"]

    def test_best_follows_the_direction_of_the_primary_metric(self, challenge, people):
        from tests.support.factories import PhaseFactory

        phase = PhaseFactory(challenge=challenge, entries="best")
        give_reference(phase, metrics=({"slug": "far", "key": "wf_hausdorff", "is_primary": True},))
        entry(phase, people.team, {"far": spread(3.0)}, method_name="far off")
        entry(phase, people.team, {"far": spread(1.0)}, method_name="near")
        assert names(public(phase)) == ["near"]

    def test_the_earlier_of_two_equally_good_entries_counts(self, phase, people):
        entry(phase, people.team, scores(0.5), at=START + timedelta(hours=1), method_name="later")
        entry(phase, people.team, scores(0.5), at=START, method_name="earlier")
        assert names(public(set_phase(phase, entries="best"))) == ["earlier"]

    def test_numbers_of_teams_and_entries_are_of_all_that_may_be_seen(self, three):
        content = public(set_phase(three, entries="best"))
        assert (content.n_teams, content.n_entries, len(content.entries)) == (2, 4, 2)

    def test_withdrawn_and_unfinished_entries_are_on_no_board(self, three):
        set_phase(three, entries="all")
        Submission.objects.get(method_name="best").withdraw()
        Submission.objects.filter(method_name="last").update(status="failed")
        assert names(public(three)) == names(organizers(three)) == ["other", "worst"]


class TestWithdrawnOnceDecided:
    """A phase that closed on 2 March, with entries of 1 March: of one team the best, the worst and a middling one, an hour apart."""

    END = datetime(2026, 3, 2, 12, tzinfo=UTC)

    @pytest.fixture
    def closed(self, phase, people):
        """`closed("latest")`: the phase under this rule, decided in this way."""
        for number, (name, mean) in enumerate((("best", 0.9), ("worst", 0.1), ("middling", 0.5))):
            entry(phase, people.team, scores(mean), at=START + timedelta(hours=number), method_name=name)
        entry(phase, people.other_team, scores(0.3), at=START, method_name="other")
        return lambda rule, **dates: set_phase(phase, entries=rule, **({"closes_at": self.END} | dates))

    @staticmethod
    def withdraw(*names: str, at: datetime) -> None:
        for name in names:
            Submission.objects.get(method_name=name).withdraw(now=at)

    @pytest.mark.parametrize(
        ("rule", "withdrawn", "shown"),
        [
            ("latest", ["middling"], ["other"]),
            ("latest", ["middling", "worst"], ["other"]),
            ("latest", ["worst"], ["middling", "other"]),  # a later one stands
            ("best", ["best"], ["middling", "other"]),
            ("best", ["middling", "worst"], ["other"]),
            ("chosen", ["worst"], []),
            ("chosen", ["best"], ["worst"]),
            ("all", ["middling", "worst"], ["best", "other"]),  # as ever
        ],
    )
    def test_no_entry_that_was_received_before_a_withdrawn_one_stands(self, closed, rule, withdrawn, shown):
        Submission.objects.filter(method_name="worst").update(is_chosen=True)
        phase = closed(rule)
        self.withdraw(*withdrawn, at=self.END)
        for board in (public(phase), organizers(phase)):
            assert names(board) == shown
            assert [ranks(board)[name] for name in shown] == list(range(1, len(shown) + 1)), "the ranks of others close up"

    @pytest.mark.parametrize("rule", ["latest", "best"])
    def test_before_the_end_a_withdrawal_is_a_choice(self, closed, rule):
        phase = closed(rule)
        self.withdraw("middling", "worst", at=self.END - timedelta(microseconds=1))
        assert names(public(phase)) == ["best", "other"]

    @pytest.mark.parametrize("board", ["hidden", "frozen"])
    def test_a_freeze_and_a_reveal_decide_as_the_end_does(self, closed, board):
        phase = closed("latest", closes_at=None, board=board, board_at=self.END)
        self.withdraw("middling", at=self.END - timedelta(microseconds=1))
        assert names(public(phase)) == ["other", "worst"]
        self.withdraw("worst", at=self.END)
        assert names(public(phase)) == ["other"]

    def test_the_dates_are_taken_as_they_are_now(self, closed):
        phase = closed("latest")
        self.withdraw("middling", at=self.END)
        assert names(public(phase)) == ["other"]
        set_phase(phase, closes_at=self.END + timedelta(microseconds=1))
        assert names(public(phase)) == ["other", "worst"], "an end that is moved opens the phase again"
        set_phase(phase, closes_at=None)
        assert names(public(phase)) == ["other", "worst"]

    @pytest.mark.parametrize("flag", ["hidden_at", "disqualified_at"])
    def test_what_stood_for_nobody_keeps_nothing_off(self, closed, people, flag):
        phase = closed("latest")
        Submission.objects.filter(method_name="middling").update(**{flag: self.END})
        self.withdraw("middling", at=self.END + timedelta(hours=1))
        assert names(public(phase)) == ["other", "worst"]
        Submission.objects.filter(method_name="middling").update(**{flag: None}, status="rejected")
        assert names(public(phase)) == ["other", "worst"]

    def test_what_came_after_the_freeze_keeps_nothing_off(self, closed, people):
        phase = closed("latest", closes_at=None, board="frozen", board_at=START + timedelta(hours=1))
        self.withdraw("middling", at=self.END)
        assert names(public(phase)) == ["other", "worst"]

    def test_organizers_let_an_entry_stand_until_the_next_withdrawal(self, closed, people):
        phase = closed("latest")
        self.withdraw("middling", at=self.END)
        worst, best = Submission.objects.get(method_name="worst"), Submission.objects.get(method_name="best")
        worst.let_stand(people.organizer, "Its licence.", now=self.END + timedelta(hours=1))
        assert names(public(phase)) == names(organizers(phase)) == ["other", "worst"]
        best.let_stand(people.organizer, "Likewise.", now=self.END + timedelta(hours=1))
        worst.refresh_from_db()
        worst.withdraw(now=self.END + timedelta(hours=2))
        assert names(public(phase)) == ["other"], "that withdrawal came later"

    def test_only_what_is_kept_off_can_be_let_stand(self, closed, people):
        closed("latest")
        for name in ("worst", "middling"):
            with pytest.raises(Refused) as refused:
                Submission.objects.get(method_name=name).let_stand(people.organizer, "Why not.")
            assert refused.value.code == "not_kept_off"

    def test_kept_rankings_do_not_change(self, closed):
        phase = closed("latest")
        snapshots.make_all(phase)
        kept = Snapshot.objects.get(phase=phase, audience="public")
        self.withdraw("middling", at=self.END)
        snapshots.make_all(phase)
        assert names(read_board(kept.pk, kept.digest)) == ["middling", "other"]
        assert names(Snapshot.objects.filter(phase=phase, audience="public").order_by("pk").last().board) == ["other"]


class TestBaselinesHiddenAndLate:
    def test_a_baseline_stands_in_its_place_and_takes_no_rank(self, phase, people):
        entry(phase, people.team, scores(0.9), method_name="first")
        entry(phase, people.other_team, scores(0.7), method_name="hull", is_baseline=True)
        entry(phase, people.other_team, scores(0.5), method_name="second")
        content = public(set_phase(phase, ranking="mean_rank"))
        assert names(content) == ["first", "hull", "second"]
        assert ranks(content) == {"first": 1, "hull": None, "second": 2}
        assert content.metrics[0].rank == [1, None, 2]

    @pytest.mark.parametrize(("act", "state"), [("hide", "hidden"), ("disqualify", "disqualified")])
    def test_a_hidden_row_is_for_organizers_only_and_gives_its_rank_to_the_next(self, phase, people, act, state):
        bad = entry(phase, people.team, scores(0.9), method_name="bad")
        entry(phase, people.other_team, scores(0.5), method_name="good")
        getattr(bad, act)(people.organizer, "its reason")
        assert ranks(public(phase)) == {"good": 1}
        assert "its reason" not in as_json(public(phase))
        seen = organizers(phase)
        assert ranks(seen) == {"bad": None, "good": 1}
        row = next(e for e in seen.entries if e.name == "bad")
        assert (row.state, row.reason) == (state, "its reason")

    def test_the_next_best_entry_of_the_team_counts_when_its_best_is_disqualified(self, phase, people):
        best = entry(phase, people.team, scores(0.9), method_name="best")
        entry(phase, people.team, scores(0.8), method_name="next")
        best.disqualify(people.organizer, "no")
        assert names(public(set_phase(phase, entries="best"))) == ["next"]

    def test_a_frozen_board_leaves_later_entries_to_the_organizers(self, phase, people):
        freeze = START + timedelta(days=1)
        set_phase(phase, board="frozen", board_at=freeze, entries="all")
        entry(phase, people.team, scores(0.5), at=freeze, method_name="on the second")
        entry(phase, people.other_team, scores(0.9), at=freeze + timedelta(seconds=1), method_name="late")
        assert names(public(phase, freeze - timedelta(seconds=1))) == ["late", "on the second"], "not frozen yet"
        assert names(public(phase, freeze)) == ["on the second"]
        assert names(organizers(phase, freeze)) == ["late", "on the second"]
        assert [e.late for e in organizers(phase, freeze).entries] == [False, True]

    def test_an_entry_without_a_score_is_last_and_unranked(self, phase, people):
        entry(phase, people.team, {"corner_f1": spread(0.9), "edge_f1": spread(0.9)}, method_name="no hss")
        entry(phase, people.other_team, scores(0.2), method_name="complete")
        content = public(set_phase(phase, ranking="mean_rank"))
        assert names(content) == ["complete", "no hss"] and ranks(content) == {"complete": 1, "no hss": None}
        assert None in content.overall.ranks and content.overall.incomplete == 1


class TestRanks:
    def test_equal_values_share_a_rank_and_the_next_is_left_out(self, phase, people):
        for name, mean in (("a", 0.8), ("b", 0.8), ("c", 0.4)):
            entry(phase, TeamFactory(challenge=phase.challenge), scores(mean), method_name=name)
        assert ranks(public(phase)) == {"a": 1, "b": 1, "c": 3}

    @given(
        means=st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.75]), min_size=2, max_size=5),
        missing=st.sets(st.sampled_from(SLUGS), min_size=1),
    )
    def test_a_row_with_missing_values_never_changes_the_order_or_the_ranks_of_the_others(self, means, missing):
        """On the figures alone, so that many cases can be tried."""
        counted = [True] * len(means)
        for rule in ("mean_rank", "median_rank", "borda", "weighted"):
            metrics = [column_of(slug, list(means)) for slug in SLUGS]
            before = build._overall(rule, SLUGS[0], metrics, dict.fromkeys(SLUGS, np.full((len(counted), 4), np.nan)), counted)
            more = [column_of(slug, [*means, None if slug in missing else 0.99]) for slug in SLUGS]
            after = build._overall(rule, SLUGS[0], more, dict.fromkeys(SLUGS, np.full((len(counted) + 1, 4), np.nan)), [*counted, True])
            assert after.rank == [*before.rank, None]
            assert after.order == [*before.order, len(means)]

    def test_rules_that_cannot_be_used_are_said_and_rank_nobody(self, phase, people):
        entry(phase, people.team, scores(0.5))
        batch = EvaluationBatch.current(phase)
        EvaluationBatch.objects.filter(pk=batch.pk).update(metrics=[{**m, "weight": 0.0} for m in batch.metrics])
        content = public(set_phase(phase, ranking="weighted"))
        assert content.overall.problem.reason is NoOrder.WEIGHTS and content.overall.rank == [None]

    def test_a_phase_without_a_batch_has_no_board(self, challenge):
        from tests.support.factories import PhaseFactory

        assert build.build(PhaseFactory(challenge=challenge), "public") is None


class TestScale:
    def test_one_value_far_out_does_not_press_the_others_together(self):
        near = [0.5 + 0.01 * i for i in range(20)]
        low, high = build.scale([*near, 9000.0], [*near, 8000.0], [*near, 9999.0], (0.0, None))
        assert 0 <= low < 0.5 and 0.69 < high < 2

    def test_equal_values_and_no_values_still_have_a_scale(self):
        assert build.scale([None], [None], [None], (0.0, 1.0)) == (0.0, 1.0)
        low, high = build.scale([0.5, 0.5], [None] * 2, [None] * 2, (0.0, 1.0))
        assert low < 0.5 < high


class TestSnapshot:
    def test_the_same_ranking_is_kept_once_and_becomes_current_again(self, phase, people):
        one = entry(phase, people.team, scores(0.9))
        first = snapshots.make(phase, "public")
        assert snapshots.make(phase, "public").pk == first.pk
        one.hide(people.organizer, "wait")
        second = snapshots.make(phase, "public")
        assert second.pk != first.pk and Snapshot.current(phase, "public").pk == second.pk
        one.unhide(people.organizer)
        assert snapshots.make(phase, "public").pk == first.pk
        assert Snapshot.current(phase, "public").pk == first.pk and Snapshot.objects.count() == 2

    def test_a_kept_snapshot_does_not_change_with_what_it_was_made_from(self, phase, people):
        one = entry(phase, people.team, scores(0.9), method_name="before")
        kept = snapshots.make(phase, "public")
        said = as_json(kept.board)
        Submission.objects.filter(pk=one.pk).update(method_name="after")
        snapshots.make(phase, "public")
        read_board.cache_clear()
        again = Snapshot.get(phase, kept.digest)
        assert as_json(again.board) == said and again.board.entries[0].name == "before"

    def test_it_is_found_by_its_digest_or_the_beginning_of_it(self, phase, people):
        entry(phase, people.team, scores(0.9))
        kept = snapshots.make(phase, "public")
        assert Snapshot.get(phase, kept.digest).pk == Snapshot.get(phase, kept.short).pk == kept.pk
        assert Snapshot.get(phase, kept.digest[:7]) is None and Snapshot.get(phase, "0" * 64) is None

    def test_reading_the_payload_twice_asks_the_database_once(self, phase, people, django_assert_num_queries):
        entry(phase, people.team, scores(0.9))
        snapshots.make(phase, "public")
        read_board.cache_clear()
        with django_assert_num_queries(3):
            assert Snapshot.current(phase, "public").board.entries
            assert Snapshot.current(phase, "public").board.entries

    @pytest.mark.parametrize("hidden", [False, True])
    def test_both_audiences_get_what_each_would_get_alone(self, phase, people, hidden):
        entry(phase, people.team, scores(0.9))
        other = entry(phase, people.other_team, scores(0.5))
        if hidden:
            other.hide(people.organizer, "no")
        snapshots.make_all(phase)
        for audience in ("public", "organizers"):
            kept = Snapshot.current(phase, audience)
            assert as_json(kept.board) == as_json(build.build(phase, audience))
            assert snapshots.make(phase, audience).pk == kept.pk

    def test_a_batch_switched_while_reading_is_read_again(self, phase, people, monkeypatch):
        entry(phase, people.team, scores(0.9))
        built = build.build
        switched = []

        def build_and_switch(*args):
            content = built(*args)
            if not switched:
                switched.append(1)
                old = EvaluationBatch.current(phase)
                EvaluationBatch.objects.filter(pk=old.pk).update(state="retired")
                EvaluationBatch.objects.create(phase=phase, reference=old.reference, metrics=old.metrics, state="current")
            return content

        monkeypatch.setattr(build, "build", build_and_switch)
        kept = snapshots.make(phase, "public")
        assert kept.board.batch == EvaluationBatch.current(phase).pk


def test_a_board_is_the_same_to_the_byte_in_whatever_order_its_items_are_listed(challenge, people):
    """Seventeen groups of one to three items: not all patterns of signs are tried, and entries are so close that the patterns decide."""
    phase = PhaseFactory(challenge=challenge, ranking="mean_rank", entries="all")
    batch = give_reference(phase, gables(34))
    ids, group_of = list(batch.reference.item_ids), {name: f"group {n % 17}" for n, name in enumerate(batch.reference.item_ids[:33])}
    group_of[ids[33]] = "group 0"
    rng, table = np.random.default_rng(2), {}
    for n in range(7):
        # Sixty-fourths, whose sums are exact: a group's mean is of its items as they come.
        rows = np.round(64 * np.clip(rng.normal(0.5 + 0.03 * n, 0.12, (len(SLUGS), len(ids))), 0, 1)) / 64
        sent = entry(
            phase, people.team, {slug: spread(0.5, len(ids)) for slug in SLUGS}, at=START + timedelta(hours=n), method_name=f"m{n}"
        )
        table[sent.pk] = {slug: dict(zip(ids, row.tolist(), strict=True)) for slug, row in zip(SLUGS, rows, strict=True)}

    listed = {"names": ids, "turned round": ids[::-1], "shuffled": [ids[n] for n in rng.permutation(len(ids))]}
    boards, stored = {}, set()
    for order, names_in_order in listed.items():
        groups = [group_of[name] for name in names_in_order]
        Reference.objects.filter(pk=batch.reference_id).update(item_ids=names_in_order, groups=groups)
        Score.objects.all().delete()
        for evaluation in Evaluation.objects.select_related("batch__reference"):
            values = table[evaluation.submission_id]
            found = {slug: samples(evaluation.batch, slug, [values[slug][name] for name in names_in_order]) for slug in SLUGS}
            Score.write(evaluation.pk, evaluation.batch.columns, found)
        stored.add(bytes(Score.objects.order_by("evaluation", "slug").first().vector))
        boards[order] = public(phase)
    assert len(stored) == 3
    board = boards["names"]
    assert board.n_resampled == 17 and max(board.metrics[0].group) > 1
    assert {name: as_json(one) for name, one in boards.items()} == dict.fromkeys(listed, as_json(board))


class TestBuilding:
    def test_phases_that_changed_are_ranked_for_both_audiences_once(self, phase, people):
        entry(phase, people.team, scores(0.9))
        assert build_due_boards() == 1
        assert {s.audience for s in Snapshot.objects.all()} == {"public", "organizers"}
        assert build_due_boards() == 0

    def test_a_phase_ranked_a_moment_ago_waits_for_the_next_round(self, phase, people):
        entry(phase, people.team, scores(0.9))
        build_due_boards()
        entry(phase, people.other_team, scores(0.8))
        assert build_due_boards() == 0
        assert build_due_boards(timezone.now() + timedelta(seconds=3)) == 1
        assert Snapshot.current(phase, "public").n_entries == 2

    def test_a_change_that_changes_nothing_shown_is_not_built_for_ever(self, phase, people):
        entry(phase, people.team, scores(0.9))
        build_due_boards()
        phase.touch_board()
        later = timezone.now() + timedelta(seconds=3)
        assert build_due_boards(later) == 1 and due_phases(later) == []

    def test_changes_that_change_nothing_shown_are_not_built_at_every_nudge(self, phase, people):
        entry(phase, people.team, scores(0.9))
        hour = timezone.now() + timedelta(hours=1)  # long after the newest snapshot, which stays the newest
        assert build_due_boards() == 1
        for moment, built in ((0.0, 1), (0.5, 0), (1.9, 0), (2.1, 1)):
            phase.touch_board()
            assert build_due_boards(hour + timedelta(seconds=moment)) == built

    def test_somebody_elses_build_of_the_same_phase_is_left_to_them(self, phase, people):
        from django.core.cache import cache

        entry(phase, people.team, scores(0.9))
        cache.add(f"board-build-{phase.pk}", 1, 60)
        assert build_due_boards() == 0 and not Snapshot.objects.exists()


def test_the_api_tells_of_entries_columns_and_studies_what_their_records_hold():
    for part, record in ((api.Row, PublicEntry), (api.Column, ColumnHead), (api.StudyOut, StudyFacts), (api.StudyOut, StudyName)):
        theirs, ours = part.model_json_schema()["properties"], record.model_json_schema()["properties"]
        assert {name: theirs[name] for name in ours.keys() - {"weight"}} == {name: ours[name] for name in ours.keys() - {"weight"}}
    assert BoardEntry.model_fields.keys() - api.Row.model_fields.keys() == {"team_id", "reason", "waiting"}

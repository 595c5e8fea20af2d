"""Pages of methods, teams and people: what stands on them is what boards show to whoever reads, in as many queries for many boards as for
few."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards.board_summary import front
from leaderboard.models import Snapshot, Study, read_board
from leaderboard.studies.analysis import analyse_due
from leaderboard.tasks import build_due_boards
from leaderboard.wording.board import rule as rule_words
from submissions.models import Challenge, Phase, Submission, Team, User
from submissions.visibility import Person, persons, sees_challenge, sees_entry
from tests.service.leaderboard.views.test_board import scores, signed_in, text
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, give_reference, join
from tests.support.leaderboard.scores import entry
from tests.support.leaderboard.studies.scored_houses import comparisons, scored_houses

pytestmark = pytest.mark.django_db


def method_page(team: Team, name: str) -> str:
    return reverse("method", args=[team.pk, name])


def another(challenge: Challenge, **values: object) -> Phase:
    phase = PhaseFactory(challenge=challenge, **values)
    give_reference(phase)
    return phase


def boards_on(page: str) -> set[str]:
    return set(re.findall(r'<th scope="row">\s*<a\s+href="/challenges/[^/]+/([^/]+)/"', page))


@pytest.fixture
def ridge(phase, people) -> Phase:
    """Two teams on a board; the better one sent its method twice."""
    phase.entries = Phase.Entries.ALL
    phase.save()
    entry(phase, people.team, scores(0.6), method_name="ridge-net")
    entry(phase, people.team, scores(0.9), method_name="ridge-net", code_url="https://example.org/code", description="It *roofs*.")
    entry(phase, people.other_team, scores(0.7), method_name="valley-net")
    build_due_boards()
    return phase


class TestMethod:
    def test_its_best_entry_stands_with_rank_range_and_value(self, client, ridge, people):
        page = text(client.get(method_page(people.team, "ridge-net")))
        board = Snapshot.current(ridge, "public").board
        first = next(index for index, rank in enumerate(board.overall.rank) if rank == 1)
        assert board.entries[first].name == "ridge-net"
        assert "<b>1</b>" in page and "of 3" in page and "the best of" in page
        assert f"by {rule_words(board.rule)}" in page and "no range" in page  # four houses are too few for a range
        assert "https://example.org/code" in page and "<em>roofs</em>" in page

    def test_names_of_any_letters_lead_to_their_page(self, client, phase, people):
        for name in ("a/b", "50 % better?", "C# + Ä", "猫"):
            entry(phase, people.team, scores(0.9), method_name=name)
            assert client.get(method_page(people.team, name)).status_code == 200, name
        assert client.get(method_page(people.team, "a")).status_code == 404

    def test_until_the_next_ranking_people_place_it_among_those_that_are_shown_as_on_the_board(self, client, challenge, people):
        phase = scored_houses(challenge, people)
        Study.import_votes(phase, None, comparisons(phase, raters=40), slug="s", title="S", question="Which?", is_public=True)
        analyse_due()
        build_due_boards()
        board = Snapshot.current(phase, "public").board
        assert {board.entries[n].name: ends for n, ends in enumerate(board.people.places)}["midway"] == (2, 2)
        pages = [method_page(people.team, "midway"), reverse("board_embed", args=[phase.challenge.slug, phase.slug])]
        assert [page for page in pages if "2nd" not in text(client.get(page))] == []
        Submission.objects.get(phase=phase, method_name="near").hide(people.organizer, "looked at again")
        told = [text(client.get(page)) for page in pages]
        assert [n for n, page in enumerate(told) if not ("1st" in page and "3rd" not in page)] == []
        assert "of 2" in told[0].partition("1st")[2][:40]

    def test_what_the_reader_may_not_see_is_not_on_it(self, client, ridge, people):
        now = timezone.now()
        frozen = another(ridge.challenge, board=Phase.Board.FROZEN, board_at=now - timedelta(hours=1), slug="frozen")
        unseen = another(ridge.challenge, board=Phase.Board.HIDDEN, board_at=now + timedelta(days=2), slug="unseen")
        for place in (frozen, unseen):
            entry(place, people.team, scores(0.8), method_name="ridge-net")
        build_due_boards()
        path = method_page(people.team, "ridge-net")
        for reader in (client, signed_in(people.stranger), signed_in(people.other)):
            assert boards_on(text(reader.get(path))) == {ridge.slug}
        for reader in (signed_in(people.mate), signed_in(people.organizer)):
            assert boards_on(text(reader.get(path))) == {ridge.slug, "frozen", "unseen"}

    def test_a_method_of_hidden_entries_alone_is_not_there(self, client, phase, people):
        hidden = entry(phase, people.team, scores(0.9), method_name="secret-net")
        hidden.hide(people.organizer, "looked at again")
        build_due_boards()
        assert client.get(method_page(people.team, "secret-net")).status_code == 404
        assert client.get(reverse("team_page", args=[people.team.pk])).status_code == 404
        assert signed_in(people.mate).get(method_page(people.team, "secret-net")).status_code == 200

    def test_an_entry_decided_upon_since_the_ranking_is_gone_at_once(self, client, ridge, people):
        for one in ridge.submissions.filter(method_name="ridge-net"):
            one.hide(people.organizer, "looked at again")
        assert client.get(method_page(people.team, "ridge-net")).status_code == 404

    def test_the_same_team_elsewhere_is_one_that_shares_a_member(self, client, ridge, people):
        same, other = another(ChallengeFactory(), slug="elsewhere"), another(ChallengeFactory(), slug="taken-name")
        theirs, not_theirs = TeamFactory(challenge=same.challenge, name="ridge"), TeamFactory(challenge=other.challenge, name="Ridge")
        join(people.owner, theirs, leader=True)
        join(people.stranger, not_theirs, leader=True)
        for place, team in ((same, theirs), (other, not_theirs)):
            entry(place, team, scores(0.5), method_name="ridge-net")
        build_due_boards()
        page = text(client.get(method_page(people.team, "ridge-net")))
        assert boards_on(page) == {ridge.slug, "elsewhere"} and "of 2 challenges" in page

    def test_people_have_their_place_where_the_study_is_shown(self, client, ridge, people):
        ridge.refresh_from_db()
        study = Study.objects.create(phase=ridge, slug="asked", title="Asked", question="Which?", is_public=True)
        snapshot = Snapshot.current(ridge, "public")
        board = snapshot.board
        n = len(board.entries)
        nothing = [None] * n
        found = {
            "people": 2,
            "study": {"id": study.pk, "slug": "asked", "title": "Asked", "question": "Which?", "source": "", "simulated": False},
            "kind": "pairs",
            "of": "votes",
            "criterion": "",
            "raters": 12,
            "groups": [],
            "answers": 96,
            "questions": 12,
            "at": timezone.now().isoformat(),
            "note": "",
            "left_out": [],
            "why": "",
            "band": None,
            "metrics": [],
            "value": [0.25, 0.5, 0.75][:n],
            "low": [0.2, 0.4, 0.7],
            "high": [0.3, 0.6, 0.8],
            "n": [32] * n,
            "first": 2,
            "over": nothing,
            "marks": {},
        }
        raw = board.model_dump(mode="json") | {"people": found}
        board = type(board).model_validate(raw)
        Snapshot.keep(ridge, snapshot.batch, board, front(board))
        page = text(client.get(method_page(people.team, "ridge-net")))
        assert "96 votes by 12 raters" in page and "<b>2nd</b>" in page
        Study.objects.filter(pk=study.pk).update(is_public=False)
        assert "96 answers" not in text(client.get(method_page(people.team, "ridge-net")))

    def test_many_boards_take_as_many_queries_as_few(self, phase, people):
        def boards(n: int) -> None:
            for _ in range(n):
                place = another(phase.challenge)
                entry(place, people.team, scores(0.9), method_name="ridge-net")
                elsewhere = another(ChallengeFactory())
                team = TeamFactory(challenge=elsewhere.challenge, name=people.team.name)
                join(people.owner, team, leader=True)
                entry(elsewhere, team, scores(0.9), method_name="ridge-net")
            build_due_boards()

        entry(phase, people.team, scores(0.9), method_name="ridge-net")
        people.owner.has_page = True
        people.owner.save()
        paths = [method_page(people.team, "ridge-net"), reverse("team_page", args=[people.team.pk]), reverse("person", args=["owner"])]
        boards(1)
        taken = {}
        for n in (0, 6):
            boards(n)
            for who in ("anonymous", "mate", "organizer"):
                reader = Client() if who == "anonymous" else signed_in(getattr(people, who))
                for path in paths:
                    read_board.cache_clear()
                    with CaptureQueriesContext(connection) as queries:
                        assert reader.get(path).status_code == 200
                    taken.setdefault((who, path), []).append(len(queries))
        assert [(few, many) for few, many in taken.values() if not (few == many and few <= 20)] == [], taken


class TestElsewhere:
    """The boards beside an entry on which its method, or another of its team, stands."""

    @staticmethod
    def lines(reader: Client, one: Submission) -> dict[str, str]:
        page = text(reader.get(reverse("entry", args=[one.pk])))
        part = re.search(r"<dt>Elsewhere</dt>(.*?)</dd>", page, re.DOTALL)
        found = re.findall(r"<li>(.*?)</li>", part[1] if part else "", re.DOTALL)
        words = [" ".join(re.sub("<[^>]+>", "", line).split()) for line in found]
        return {line.partition(" · ")[2].partition(":")[0]: line.partition(": ")[2] for line in words}

    def test_its_method_stands_before_others_of_the_team(self, client, ridge, people):
        first = ridge.submissions.filter(method_name="ridge-net").first()
        assert self.lines(client, first) == {}
        both, other = another(ridge.challenge, title="Both", slug="both"), another(ChallengeFactory(), title="Other", slug="other")
        same, not_same = TeamFactory(challenge=other.challenge, name="ridge"), TeamFactory(challenge=other.challenge, name="valley")
        join(people.owner, same, leader=True)
        join(people.stranger, not_same, leader=True)
        Phase.objects.filter(pk=both.pk).update(entries=Phase.Entries.ALL)
        entry(both, people.team, scores(0.9), method_name="better-net")
        entry(both, people.team, scores(0.5), method_name="ridge-net")
        entry(other, not_same, scores(0.9), method_name="ridge-net")
        entry(other, same, scores(0.8), method_name="hip-net")
        build_due_boards()
        assert {board: line.split()[1] for board, line in self.lines(client, first).items()} == {"Both": "2", "Other": "2"}
        assert self.lines(client, first)["Other"].endswith("with hip-net")

    def test_boards_and_entries_that_the_reader_may_not_see_are_not_named(self, client, ridge, people):
        first, now = ridge.submissions.filter(method_name="ridge-net").first(), timezone.now()
        unseen = another(ridge.challenge, title="Unseen", board=Phase.Board.HIDDEN, board_at=now + timedelta(days=2), slug="unseen")
        private = another(ChallengeFactory(visibility=Challenge.Visibility.PRIVATE), title="Private", slug="private")
        taken_down = another(ridge.challenge, title="Taken down", slug="taken-down")
        team = TeamFactory(challenge=private.challenge, name=people.team.name)
        join(people.owner, team, leader=True)
        private.challenge.organizers.add(people.organizer)
        for place, of in ((unseen, people.team), (private, team), (taken_down, people.team)):
            last = entry(place, of, scores(0.8), method_name="ridge-net")
        build_due_boards()
        last.hide(people.organizer, "looked at again")
        for reader in (client, signed_in(people.stranger), signed_in(people.other)):
            assert self.lines(reader, first) == {}
        assert set(self.lines(signed_in(people.organizer), first)) == {"Unseen", "Private", "Taken down"}


class TestTeam:
    def test_members_are_for_the_team_and_the_organizers(self, client, ridge, people):
        path = reverse("team_page", args=[people.team.pk])
        page = text(client.get(path))
        assert "ridge-net" in page and "owner" not in page and "mate" not in page
        assert "mate" in text(signed_in(people.owner).get(path)) and "mate" in text(signed_in(people.organizer).get(path))
        User.objects.filter(pk=people.mate.pk).update(has_page=True)
        page = text(client.get(path))
        assert 'href="/users/mate/"' in page and "owner" not in page and "example.org" not in page.replace("example.org/code", "")

    def test_boards_and_entries_lead_to_it(self, client, ridge, people):
        link = f'href="/teams/{people.team.pk}/"'
        for name in ("board", "entries"):
            assert link in text(client.get(reverse(name, args=[ridge.challenge.slug, ridge.slug]))), name
        first = ridge.submissions.filter(team=people.team).first()
        page = text(client.get(reverse("entry", args=[first.pk])))
        assert link in page and f'href="{method_page(people.team, "ridge-net")}"' in page


class TestPerson:
    def test_it_is_there_for_everybody_only_by_choice(self, client, ridge, people):
        assert client.get("/users/mate/").status_code == 404
        assert "Only you" in text(signed_in(people.mate).get("/users/mate/"))
        signed_in(people.mate).post("/account/", {"has_page": "on", "time_zone": ""})
        page = text(client.get("/users/mate/"))
        assert "ridge-net" in page and "Ridge" in page and people.mate.email not in page and "Only you" not in page

    def test_a_user_name_that_is_an_address_is_not_shown(self, client, people):
        User.objects.filter(pk=people.mate.pk).update(username="mate@example.org")
        signed_in(User.objects.get(pk=people.mate.pk)).post("/account/", {"has_page": "on", "time_zone": ""})
        assert not User.objects.filter(pk=people.mate.pk, has_page=True).exists()
        User.objects.filter(pk=people.mate.pk).update(has_page=True)
        assert client.get("/users/mate@example.org/").status_code == 404

    def test_who_has_left_the_service_has_none(self, client, people):
        User.objects.filter(pk=people.mate.pk).update(has_page=True, is_active=False)
        assert client.get("/users/mate/").status_code == 404

    def test_organized_challenges_are_those_the_reader_may_see(self, client, phase, people):
        private = ChallengeFactory(visibility=Challenge.Visibility.PRIVATE, title="Private one")
        private.organizers.add(people.organizer)
        User.objects.filter(pk=people.organizer.pk).update(has_page=True)
        page = text(client.get("/users/organizer/"))
        assert phase.challenge.title in page and "Private one" not in page
        assert "Private one" in text(signed_in(people.organizer).get("/users/organizer/"))


def test_people_of_several_challenges_are_judged_as_one_by_one(phase, people):
    """`persons` fetches at once what `Person` asks for by itself: both must say the same of every challenge and entry."""
    now = timezone.now()
    private = ChallengeFactory(visibility=Challenge.Visibility.PRIVATE, admitted_emails=["stranger@example.org"])
    closed = ChallengeFactory(visibility=Challenge.Visibility.PRIVATE)
    draft = ChallengeFactory(visibility=Challenge.Visibility.DRAFT)
    draft.organizers.add(people.other)
    people.stranger.emailaddress_set.create(email="stranger@example.org", verified=True)
    join(people.mate, TeamFactory(challenge=closed), leader=True)
    places = [phase.challenge, private, closed, draft]
    entry(phase, people.team, scores(0.9)).hide(people.organizer, "no")
    rows = list(phase.submissions.select_related("phase__challenge"))
    for name, user in people.users().items():
        at_once = persons(user, places, now)
        for challenge in places:
            alone = Person(user, challenge, now)
            met = at_once[challenge.pk]
            assert (met.organizes, met.team_id, met.is_listed, met.participates) == (
                alone.organizes,
                alone.team_id,
                alone.is_listed,
                alone.participates,
            ), (name, challenge.slug)
            assert sees_challenge(met, challenge) == sees_challenge(alone, challenge), (name, challenge.slug)
        for row in rows:
            assert sees_entry(at_once[phase.challenge_id], row) == sees_entry(Person(user, phase.challenge, now), row)

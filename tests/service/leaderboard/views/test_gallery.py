"""An entry's page: its items from the worst to the best, its comparisons, its place, and what others are not shown of it."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from leaderboard.tasks import build_due_boards
from submissions.entry_states import Reason, State, Why
from submissions.formats.arrays import Wireframe
from submissions.models import Phase, Submission
from tests.service.leaderboard.views.test_board import scores, signed_in, text
from tests.service.leaderboard.views.test_entries import page_of
from tests.support.factories import MESH_METRICS, PhaseFactory, boxes, gables, give_reference
from tests.support.leaderboard.scores import entry, spread, with_files

pytestmark = pytest.mark.django_db


def tiles(page: str) -> list[str]:
    """The items of the gallery, in its order."""
    part = page.partition('class="tiles"')[2].partition("</ul>")[0]
    return [piece.partition("<")[0] for piece in part.split("<b><span>")[1:]]


class TestItems:
    def test_they_stand_from_the_worst_to_the_best(self, client, two):
        page = text(client.get(page_of(two[0])))
        assert tiles(page) == ["house_01", "house_02", "house_03", "house_04"], "spread() rises with the item"
        assert page.index("worst</span>") < page.index("2nd worst</span>") < page.index("best</span>")

    def test_of_many_items_six_are_shown_with_both_in_the_middle(self, client, challenge, people):
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(12), metrics=({"slug": "hss", "key": "hss", "is_primary": True},))
        it = entry(phase, people.team, {"hss": spread(0.5, 12)})
        assert tiles(text(client.get(page_of(it)))) == [f"house_{n:02d}" for n in (1, 2, 6, 7, 11, 12)]

    def test_where_all_items_are_alike_none_is_called_the_worst(self, client, challenge, people):
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(8), metrics=({"slug": "hss", "key": "hss", "is_primary": True},))
        page = text(client.get(page_of(entry(phase, people.team, {"hss": [0.5] * 8}))))
        assert page.count("all alike</span>") == 3 and "worst</span>" not in page

    def test_lines_are_told_apart_only_for_who_may_see_the_reference(self, two, people):
        first = two[0]
        more = Wireframe(gables()["house_01"].vertices, gables()["house_01"].edges[:-2], None)
        with_files(first, gables() | {"house_01": more})
        owner, other, organizer = (signed_in(user) for user in (people.owner, people.other, people.organizer))
        Phase.objects.filter(pk=first.phase_id).update(reference_access="hidden")
        page = text(owner.get(page_of(first)))
        assert page.count('class="h" d="M') == 4 and 'class="r" d="M' not in page and "missed" not in page
        page = text(other.get(page_of(first)))
        assert len(tiles(page)) == 4 and '<svg class="wf' not in page, "what a team has sent is its own while the reference is hidden"
        assert "2 missed" in text(organizer.get(page_of(first)))
        Phase.objects.filter(pk=first.phase_id).update(reference_access="public")
        page = text(other.get(page_of(first)))
        assert page.count('class="r" d="M') == 4 + 1 and "2 missed" in page, "one more in the legend"

    def test_withheld_items_have_no_gallery(self, two, people):
        Phase.objects.filter(pk=two[0].phase_id).update(withhold_items=True)
        for user in (people.owner, people.other):
            page = text(signed_in(user).get(page_of(two[0])))
            assert not tiles(page) and "house_01" not in page
        assert tiles(text(signed_in(people.organizer).get(page_of(two[0]))))

    def test_meshes_are_shaded_and_stay_light(self, client, challenge, people):
        challenge.family = "mesh"
        challenge.save()
        phase = PhaseFactory(challenge=challenge, reference_access="public")
        give_reference(phase, boxes(), metrics=MESH_METRICS)
        it = with_files(entry(phase, people.team, {"chamfer_l1": [0.1, 0.2]}), boxes(1.2))
        page = text(client.get(page_of(it)))
        assert page.count('<svg class="solid"') == 2 and len(page) < 60_000


class TestPlace:
    def test_the_page_and_its_description_say_the_rank(self, client, two):
        response = client.get(page_of(two[0]))
        summary = response.context["summary"]
        assert summary["rank"].text in strip_tags(text(response)) and f'name="description" content="{summary["brief"]}' in text(response)

    def test_the_one_above_is_counted_item_by_item_only_where_items_are_shown(self, two, people):
        owner = signed_in(people.other)
        page = text(owner.get(page_of(two[1])))
        assert "worse on 4" in page and "ridge-net" in page
        Phase.objects.filter(pk=two[0].phase_id).update(withhold_items=True)
        page = text(owner.get(page_of(two[1])))
        assert "worse on" not in page and "ridge-net" in page

    def test_an_entry_that_does_not_count_says_which_one_does(self, phase, people):
        Phase.objects.filter(pk=phase.pk).update(entries="best")
        better = entry(phase, people.team, scores(0.9), method_name="better one")
        it = entry(phase, people.team, scores(0.4), method_name="worse one")
        build_due_boards()
        response = signed_in(people.other).get(page_of(it))
        state = response.context["state"]
        assert (state.state, state.why) == (State.UNRANKED, Why(Reason.BEST_COUNTS, {"number": better.number, "name": "better one"}))
        assert response.context["sentence"] in unescape(text(response))

    def test_while_the_board_is_hidden_a_team_reads_no_place(self, two, people):
        Phase.objects.filter(pk=two[0].phase_id).update(board="hidden", board_at=timezone.now() + timedelta(days=1))
        page = text(signed_in(people.owner).get(page_of(two[0])))
        assert "Rank 1" not in page and 'class="strips' not in page and "valley-net" not in page and "badge.svg" not in page
        assert "0.900" in page, "its own scores it may see"


class TestTries:
    def test_a_team_sees_all_of_its_own_and_others_those_on_the_board(self, client, phase, people):
        kept = entry(phase, people.team, scores(0.9), method_name="third try")
        entry(phase, people.team, scores(0.4), method_name="second try")
        entry(phase, people.team, scores(0.3), method_name="hidden try", hidden_at=timezone.now())
        Submission.objects.create(
            phase=phase,
            team=people.team,
            status="rejected",
            number=77,
            method_name="rejected try",
            file_name="e.zip",
            size=1,
            received_at=timezone.now(),
        )
        build_due_boards()
        mine, theirs = text(signed_in(people.mate).get(page_of(kept))), text(client.get(page_of(kept)))
        assert [name for name in ("second try", "hidden try", "rejected try") if name not in mine] == []
        assert "second try" in theirs and "hidden try" not in theirs and "rejected try" not in theirs

    def test_values_follow_the_scores_they_are_of(self, phase, people):
        kept = entry(phase, people.team, scores(0.9), method_name="third try")
        entry(phase, people.team, scores(0.4123), method_name="second try")
        build_due_boards()
        hidden = {"board": "hidden", "board_at": timezone.now() + timedelta(days=1), "withhold_scores": True}
        Phase.objects.filter(pk=phase.pk).update(**hidden)
        page = text(signed_in(people.owner).get(page_of(kept)))
        assert "0.9" not in page.partition("<main")[2] and "0.41" not in page


class TestBadge:
    def test_it_is_offered_where_everybody_may_see_the_place(self, client, two, challenge):
        assert reverse("badge", args=[two[0].pk]) in text(client.get(page_of(two[0])))
        challenge.visibility = "private"
        challenge.save()
        assert client.get(page_of(two[0])).status_code == 404

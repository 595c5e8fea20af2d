"""Entries, one entry, its items and their geometry, and two entries compared: what each person gets."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from evaluation.models import Evaluation, EvaluationBatch
from leaderboard.views.entry import OwnPair, _worst
from submissions.entry_states import Reader, Reason
from submissions.models import Phase, Status, Submission
from submissions.wording import sentence
from tests.service.leaderboard.views.test_board import address, scores, signed_in, text
from tests.support.factories import gables
from tests.support.leaderboard.scores import entry, spread

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("closes_in", "said"),
    [
        (timedelta(hours=5), "a day."),
        (timedelta(days=1, hours=1), "1 day."),
        (timedelta(days=22, hours=1), "22 days."),
        (timedelta(days=400), ""),
        (-timedelta(days=2), "Closed "),
    ],
)
def test_a_page_of_a_phase_tells_its_end_in_days_and_only_the_overview_on_two_clocks(client, phase, closes_in, said):
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() + closes_in)
    head = " ".join(text(client.get(address(phase, "entries"))).partition('<nav class="tabs"')[0].split())
    told = re.findall(r"Close[sd] [^<]*", head)
    assert len(told) == bool(said) and "".join(told).endswith(said) and ("<time" in head) == (closes_in < timedelta())
    overview = " ".join(text(client.get(f"/challenges/{phase.challenge.slug}/")).split())
    assert re.search(r'<td data-label="Closes">\s*<time datetime="[^"]+" data-local="text">', overview)


def unfinished(phase: Phase, team, status: str, **fields) -> Submission:
    given = {"number": 50 + Submission.objects.count(), "method_name": "unfinished", "file_name": "e.zip", "size": 1}
    return Submission.objects.create(phase=phase, team=team, status=status, received_at=timezone.now(), **(given | fields))


def page_of(submission: Submission, name: str = "entry", **more) -> str:
    return reverse(name, kwargs={"pk": submission.pk, **more})


class TestList:
    def test_visitors_see_scored_entries_and_a_team_its_own_in_any_state(self, client, two, people):
        phase = two[0].phase
        unfinished(phase, people.team, Status.REJECTED, method_name="rejected one")
        page = text(client.get(address(phase, "entries")))
        assert "ridge-net" in page and "rejected one" not in page
        assert "rejected one" in text(signed_in(people.mate).get(address(phase, "entries")))
        assert "rejected one" not in text(signed_in(people.other).get(address(phase, "entries")))
        assert "rejected one" in text(signed_in(people.organizer).get(address(phase, "entries")))

    def test_it_filters_by_words_state_and_whose(self, two, people):
        phase = two[0].phase
        unfinished(phase, people.team, Status.REJECTED, method_name="rejected one")
        owner = signed_in(people.owner)
        assert "valley-net" not in text(owner.get(address(phase, "entries") + "?q=RIDGE"))
        assert "ridge-net" not in text(owner.get(address(phase, "entries") + "?state=rejected"))
        assert "valley-net" not in text(owner.get(address(phase, "entries") + "?mine=yes"))
        assert owner.get(address(phase, "entries") + "?q=%00&state=%00&page=x").status_code == 200

    def test_while_the_board_is_hidden_a_team_sees_its_own_alone_and_scores_unless_withheld(self, two, people):
        phase = two[0].phase
        Phase.objects.filter(pk=phase.pk).update(board="hidden", board_at=timezone.now() + timedelta(days=1))
        page = text(signed_in(people.owner).get(address(phase, "entries")))
        assert "ridge-net" in page and "valley-net" not in page and "0.900" in page
        Phase.objects.filter(pk=phase.pk).update(withhold_scores=True)
        page = text(signed_in(people.owner).get(address(phase, "entries")))
        assert "ridge-net" in page and "0.900" not in page
        page = text(Client().get(address(phase, "entries")))
        assert "ridge-net" not in page and "valley-net" not in page


class TestEntry:
    def test_a_scored_entry_shows_scores_ranks_and_items_worst_first(self, client, two):
        response = client.get(page_of(two[0]))
        page = text(response)
        assert response.context["summary"]["rank"].text in strip_tags(page) and "0.900" in page
        items = page.partition('id="items"')[2]
        assert items.index("house_01") < items.index("house_04"), "spread() rises with the item"
        backwards = text(client.get(page_of(two[0]) + "?sort=hss&order=best")).partition('id="items"')[2]
        assert backwards.index("house_04") < backwards.index("house_01")
        assert "<strong>roofs</strong>" in page and "https://example.org/code" in page

    def test_a_table_of_a_thousand_items_is_cut_into_pages(self, client, challenge, people):
        from tests.support.factories import PhaseFactory, give_reference

        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(250), metrics=({"slug": "hss", "key": "hss", "is_primary": True},))
        it = entry(phase, people.team, {"hss": spread(0.5, 250)})
        page = text(client.get(page_of(it))).partition('id="items"')[2]
        assert page.count("/items/") == 100 and "house_01<" in page and "house_99<" not in page
        assert text(client.get(page_of(it) + "?page=3")).partition('id="items"')[2].count("/items/") == 50

    @pytest.mark.parametrize("status", [s for s in Status if s != Status.SCORED])
    def test_an_entry_that_is_not_scored_is_for_its_team_and_organizers(self, client, phase, people, status):
        it = unfinished(phase, people.team, status)
        for viewer in (client, signed_in(people.stranger), signed_in(people.other)):
            assert viewer.get(page_of(it)).status_code == viewer.get(page_of(it, "entry_progress")).status_code == 404
        for viewer in (signed_in(people.mate), signed_in(people.organizer)):
            assert "unfinished" in text(viewer.get(page_of(it)))

    def test_a_rejected_one_lists_its_problems_and_how_many_there_are(self, phase, people):
        problem = "house_07.obj: line 31: edge names vertex 90, there are 88"
        it = unfinished(phase, people.team, Status.REJECTED, problems=[problem], n_problems=140)
        page = text(signed_in(people.owner).get(page_of(it)))
        assert "140 problems" in page and problem in page and sentence(it.state, Reader.TEAM) in page

    def test_a_failed_one_has_a_sentence_for_people_and_the_traceback_for_staff_only(self, phase, people):
        it = unfinished(phase, people.team, Status.FAILED, reason=Reason.ERROR, failure_detail="Traceback: line 7")
        page = text(signed_in(people.owner).get(page_of(it)))
        assert sentence(it.state, Reader.TEAM) in page and "Traceback: line 7" not in page
        assert reverse("entry_retry", args=[it.pk]) in page
        assert "Traceback: line 7" not in text(signed_in(people.organizer).get(page_of(it)))
        assert "Traceback: line 7" in text(signed_in(people.staff).get(page_of(it)))

    def test_warnings_and_bytes_sent_before_are_told_to_the_team_alone(self, two, people):
        first = unfinished(two[0].phase, people.team, Status.REJECTED, sha256="ab" * 32, method_name="sent first")
        again = entry(two[0].phase, people.team, scores(0.5), sha256="ab" * 32, warnings=["Two vertices lie on each other."])
        response = signed_in(people.owner).get(page_of(again))
        assert response.context["duplicates"] == [first] and "sent first" in text(response) and again.warnings[0] in text(response)
        response = signed_in(people.other).get(page_of(again))
        assert response.context["duplicates"] == [] and "sent first" not in text(response) and "Two vertices" not in text(response)

    def test_progress_counts_items_and_asks_for_the_whole_page_when_done(self, phase, people):
        it = unfinished(phase, people.team, Status.SCORING)
        evaluation = Evaluation.make(it, EvaluationBatch.current(phase))
        part = evaluation.parts.first()
        evaluation.parts.filter(pk=part.pk).update(state="done", started_at=timezone.now())
        owner = signed_in(people.owner)
        response = owner.get(page_of(it, "entry_progress"))
        now_at = response.context["standing"]
        assert (now_at.done, now_at.total) == (1, 4) and "HX-Refresh" not in response and 'hx-trigger="every 2s"' in text(response)
        Submission.objects.filter(pk=it.pk).update(status=Status.SCORED)
        response = owner.get(page_of(it, "entry_progress"))
        assert response["HX-Refresh"] == "true" and "hx-trigger" not in text(response)

    def test_a_waiting_entry_says_its_place_in_the_queue(self, phase, people):
        unfinished(phase, people.other_team, Status.RECEIVED)
        it = unfinished(phase, people.team, Status.RECEIVED)
        assert signed_in(people.owner).get(page_of(it)).context["standing"].position == 2

    def test_actions_are_offered_to_the_team_alone(self, two, people):
        first = two[0]
        Phase.objects.filter(pk=first.phase_id).update(entries="chosen")
        acts = [reverse(name, args=[first.pk]) for name in ("entry_withdraw", "entry_choose", "entry_edit")]
        mine, theirs = (text(signed_in(user).get(page_of(first))) for user in (people.mate, people.other))
        assert [act for act in acts if act not in mine] == [] and [act for act in acts if act in theirs] == []

    def test_withheld_values_stay_withheld(self, two, people):
        first = two[0]
        Phase.objects.filter(pk=first.phase_id).update(withhold_items=True)
        for user in (people.owner, people.other):
            page = text(signed_in(user).get(page_of(first)))
            assert "0.900" in page and "/items/" not in page
        assert "/items/" in text(signed_in(people.organizer).get(page_of(first)))
        hidden = {"board": "hidden", "board_at": timezone.now() + timedelta(days=1), "withhold_scores": True}
        Phase.objects.filter(pk=first.phase_id).update(**hidden)
        assert "0.900" not in text(signed_in(people.owner).get(page_of(first)))
        assert signed_in(people.other).get(page_of(first)).status_code == 404

    def test_an_entry_received_after_the_freeze_is_its_teams_own(self, client, two, people):
        late = two[1]
        Phase.objects.filter(pk=late.phase_id).update(board="frozen", board_at=late.received_at - timedelta(seconds=1))
        assert client.get(page_of(late)).status_code == signed_in(people.owner).get(page_of(late)).status_code == 404
        assert signed_in(people.other).get(page_of(late)).status_code == 200


class TestItems:
    def test_the_reference_and_all_that_shows_it_go_with_its_access(self, two, people):
        first = two[0]
        geometry, item = page_of(first, "entry_geometry", item="house_01"), page_of(first, "entry_item", item="house_01")
        everybody = {name: (Client() if name == "anonymous" else signed_in(user)) for name, user in people.users().items()}
        sees = {
            "hidden": {"organizer", "staff"},
            "participants": {"organizer", "staff", "owner", "mate", "other"},
            "public": set(everybody),
        }
        for access, allowed in sees.items():
            Phase.objects.filter(pk=first.phase_id).update(reference_access=access)
            answers = {name: viewer.get(geometry).status_code for name, viewer in everybody.items()}
            assert {name for name, code in answers.items() if code == 200} == allowed, access
            assert set(answers.values()) <= {200, 403}
            for name, viewer in everybody.items():
                assert ("viewer/viewer.js" in text(viewer.get(item))) == (name in allowed)

    def test_geometry_is_the_entry_over_the_reference_at_the_phases_threshold(self, client, two):
        Phase.objects.filter(pk=two[0].phase_id).update(reference_access="public", unit="m")
        data = json.loads(text(client.get(page_of(two[0], "entry_geometry", item="house_02"))))
        reference, prediction = data["models"]
        assert (reference["role"], prediction["role"], prediction["name"]) == ("reference", "prediction", "ridge-net")
        assert set(prediction["edge_class"]) == {"matched"} and data["unit"] == "m"
        sent = np.array(reference["vertices"]) + data["origin"]
        assert np.allclose(sent, gables()["house_02"].vertices, atol=1e-12)

    def test_a_missing_item_shows_the_reference_alone(self, client, two):
        Phase.objects.filter(pk=two[1].phase_id).update(reference_access="public")
        Submission.objects.filter(pk=two[1].pk).update(missing_items=["house_02"])
        data = json.loads(text(client.get(page_of(two[1], "entry_geometry", item="house_02"))))
        assert [model["role"] for model in data["models"]] == ["reference"]
        assert client.get(page_of(two[1], "entry_item", item="house_02")).context["is_missing"]

    def test_missing_items_are_said_once(self, two, people):
        said = "house_02 is missing; missing items get the worst value of each metric."
        Submission.objects.filter(pk=two[0].pk).update(missing_items=["house_02"], warnings=[said])
        console = f"/console/challenges/{two[0].phase.challenge.slug}/entries/{two[0].pk}/"
        for user, path in ((people.owner, page_of(two[0])), (people.organizer, console)):
            assert text(signed_in(user).get(path)).partition('id="items"')[0].count("missing") == said.count("missing")

    @pytest.mark.parametrize(("act", "state"), [("hide", "Hidden"), ("disqualify", "Disqualified")])
    def test_an_entry_that_was_taken_off_is_called_what_it_is(self, two, people, act, state):
        entry(two[0].phase, people.team, scores(0.5))
        getattr(two[0], act)(people.organizer, "looked at again")
        page = text(signed_in(people.owner).get(page_of(two[0])))
        assert f"<h2>{state}</h2>" in page and f'">{state.lower()}</span></td>' in page and "<h2>Scored</h2>" not in page
        console = f"/console/challenges/{two[0].phase.challenge.slug}/entries/{two[0].pk}/"
        assert f"submission.{act}" not in text(signed_in(people.organizer).get(console))

    def test_items_that_are_not_there_are_not_found(self, client, two):
        Phase.objects.filter(pk=two[0].phase_id).update(reference_access="public")
        for item in ("house_99", "..", "HOUSE_01", "house_01/house_01"):
            # Written by hand: an address that names no item cannot even be made.
            assert client.get(f"/entries/{two[0].pk}/items/{item}/").status_code == 404
            assert client.get(f"/entries/{two[0].pk}/geometry/{item}.json").status_code == 404

    def test_withheld_items_have_no_page(self, two, people):
        Phase.objects.filter(pk=two[0].phase_id).update(withhold_items=True)
        assert signed_in(people.owner).get(page_of(two[0], "entry_item", item="house_01")).status_code == 403
        assert signed_in(people.organizer).get(page_of(two[0], "entry_item", item="house_01")).status_code == 200

    def test_an_item_leads_on_to_the_next_worse_one(self, client, two):
        page = text(client.get(page_of(two[0], "entry_item", item="house_02")))
        assert 'rel="prev">← house_01' in page and 'rel="next">house_03' in page and "item 2 of 4" in page
        type(two[0].phase.challenge).objects.update(item_noun="house")
        page = text(client.get(page_of(two[0], "entry_item", item="house_02")))
        assert "house 2 of 4" in page and "<h1>house_02</h1>" in page


@pytest.mark.parametrize(
    ("values", "higher", "bounds", "sees_items", "said"),
    [
        ((0, 0, 0, 0), True, (0, 1), False, (4, 4, "M")),
        ((0, 0, 0.5, 1), True, (0, 1), True, (2, 4, "M")),
        ((0, 0, 0.5, 1), True, (0, 1), False, None),
        ((0, 0.1, 0.5, 1), True, (0, 1), True, None),
        ((1, 1, 1, 0), False, (0, 1), True, (3, 4, "M")),
        ((9, 9, 9, 9), False, (0, None), True, None),
    ],
)
def test_most_items_at_the_worst_value_are_a_warning(values, higher, bounds, sees_items, said):
    spec = SimpleNamespace(bounds=bounds, higher_is_better=higher)
    assert _worst([SimpleNamespace(spec=spec, vector=np.array(values), metric=SimpleNamespace(title="M"))], sees_items) == said


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((0.5, 0.25, 0.75), "0.50 points higher [0.25, 0.75]"),
        ((-0.52, -1.03, -0.02), "0.52 points lower [0.02, 1.03]"),
        ((-0.25, -0.75, 0.25), "0.25 points lower [−0.25, 0.75]"),
        ((0.0, -0.5, 0.5), "as high as the other [−0.50, 0.50]"),
    ],
)
def test_points_are_higher_or_lower_and_never_higher_by_less_than_none(ends, words):
    assert OwnPair("other", None, *ends, answers=40, is_sure=False).points == words

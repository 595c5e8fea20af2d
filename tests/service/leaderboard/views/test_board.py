"""The board, its snapshots and exports, as people and programs get them."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationBatch
from evaluation.properties import bundled_tables
from evaluation.properties.gate.design import Outcome
from leaderboard.boards import snapshots
from leaderboard.exports.tables.file_formats import FILE_FORMATS
from leaderboard.models import Snapshot, read_board
from leaderboard.records.study import HIDDEN_NAME
from leaderboard.tasks import build_due_boards
from leaderboard.views.board import rendered, written
from submissions.format_time import in_words
from submissions.models import Challenge, Phase, Status, Submission
from tests.support.evaluation.retired import add_column
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, give_reference
from tests.support.leaderboard.scores import entry, spread
from tests.support.pictures import views

pytestmark = pytest.mark.django_db
SLUGS = ("corner_f1", "edge_f1", "hss")


def scores(mean: float) -> dict:
    return {slug: spread(mean) for slug in SLUGS}


def address(phase: Phase, name: str = "board", **more) -> str:
    return reverse(name, kwargs={"challenge": phase.challenge.slug, "phase": phase.slug, **more})


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text(response) -> str:
    assert response.status_code == 200, response
    return response.content.decode()


@pytest.fixture
def ranked(phase, people):
    """Three entries of two teams and a baseline, ranked."""
    entry(phase, people.team, scores(0.9), method_name="ridge-net", paper_url="https://example.org/paper")
    entry(phase, people.other_team, scores(0.6), method_name="valley-net", is_verified=True)
    entry(phase, people.other_team, scores(0.3), method_name="hull", is_baseline=True)
    Phase.objects.filter(pk=phase.pk).update(ranking="mean_rank", entries="all")
    build_due_boards()
    phase.refresh_from_db()
    return phase


class TestBoard:
    def test_a_freeze_is_said_from_its_moment_on_even_if_nothing_was_ranked_since(self, client, ranked):
        Phase.objects.filter(pk=ranked.pk).update(board="frozen", board_at=timezone.now() + timedelta(hours=1))
        assert "is frozen" not in text(client.get(address(ranked)))
        Phase.objects.filter(pk=ranked.pk).update(board_at=timezone.now() - timedelta(seconds=1))
        assert "is frozen" in text(client.get(address(ranked)))

    @pytest.mark.parametrize(("opens_in", "closes_in", "offers"), [(-2, 1, True), (-2, None, True), (1, 2, False), (-2, -1, False)])
    @pytest.mark.parametrize("name", ["board", "entries"])
    def test_an_upload_is_offered_while_the_phase_is_open(self, client, phase, people, name, opens_in, closes_in, offers):
        now = timezone.now()
        closes_at = now + timedelta(days=closes_in) if closes_in else None
        Phase.objects.filter(pk=phase.pk).update(opens_at=now + timedelta(days=opens_in), closes_at=closes_at)
        client.force_login(people.organizer)
        buttons = re.findall(r'<a class="button[^"]*" href="[^"]*/upload/"', text(client.get(address(phase, name))))
        assert bool(buttons) == offers

    def test_a_visitor_sees_entries_values_and_ranks(self, client, ranked):
        response = client.get(address(ranked))
        page = text(response)
        assert page.index("ridge-net") < page.index("valley-net") < page.index("hull")
        assert response.context["rule"] in page and "<b>0.9000</b>" in page and "±" not in page
        assert "baseline" in page and "verified" in page and response.context["people_column"] is None

    def test_an_entrys_day_is_of_the_phases_clock(self, client, ranked):
        Phase.objects.filter(pk=ranked.pk).update(time_zone="Pacific/Kiritimati")  # 14 hours before UTC
        Submission.objects.filter(method_name="ridge-net").update(received_at=datetime(2026, 3, 1, 12, tzinfo=UTC))
        kept = snapshots.make(ranked, "public")
        page = text(client.get(address(ranked)))
        assert 'title="2 March 2026, 02:00 UTC+14">2 Mar</time>' in page
        made = in_words(kept.created_at, "Pacific/Kiritimati")
        assert f">{made}</time>" in text(client.get(address(ranked, "snapshot", digest=kept.digest)))

    def test_a_column_that_is_no_longer_computed_keeps_its_values(self, client):
        phase = PhaseFactory(challenge=ChallengeFactory(family="render"))
        give_reference(phase, views(2), metrics=[{"slug": "psnr", "key": "psnr", "is_primary": True}])
        add_column(phase, "osim", "osim")
        entry(phase, TeamFactory(challenge=phase.challenge), {"osim": [0.5, 0.5], "psnr": [20.0, 21.0]})
        build_due_boards()
        response = client.get(address(phase))
        tested = [column.metric for column in response.context["columns"] if column.metric.acceptance_test]
        assert {metric.slug: metric.acceptance_test.state for metric in tested} == {"osim": Outcome.RETIRED} and "0.5000" in text(response)

    def test_it_sorts_by_any_column_by_link(self, client, ranked):
        orders = {"?sort=hss": ("ridge-net", "valley-net", "hull"), "?sort=hss&order=reversed": ("hull", "valley-net", "ridge-net")}
        for query, names in {**orders, "?sort=name": ("hull", "ridge-net", "valley-net")}.items():
            page = text(client.get(address(ranked) + query))
            places = [page.index(f">{name}</a>") for name in names]
            assert places == sorted(places), query

    def test_odd_addresses_are_answered_and_never_break_the_page(self, client, ranked):
        odd = ("?page=0", "?page=-1", "?page=99999999999999999999", "?page=x", "?sort=%00", "?sort='", "?q=%00", "?order=no&mine=yes")
        for query in (*odd, "?q=" + "x" * 5000):
            assert client.get(address(ranked) + query).status_code == 200, query

    def test_names_are_shown_as_text(self, client, ranked, people):
        entry(ranked, people.team, scores(0.1), method_name="<script>alert(1)</script>")
        snapshots.make(ranked, "public")
        page = text(client.get(address(ranked)))
        assert "<script>alert" not in page and "&lt;script&gt;alert" in page

    def test_pages_of_a_hundred_keep_the_ranks_of_the_full_set(self, client, phase):
        for n in range(105):
            entry(phase, TeamFactory(challenge=phase.challenge), {"corner_f1": spread(0.9 - n / 1000)}, method_name=f"m{n:03d}")
        snapshots.make(phase, "public")
        page = text(client.get(address(phase) + "?page=2"))
        assert ">m100<" in page and ">m099<" not in page and ">101<" in page and ">1<small>" not in page

        # A full page of a hundred rows, as it comes and as it goes over the wire.
        whole = client.get(address(phase))
        assert text(whole).count('<td class="rank') == 100
        packed = client.get(address(phase), headers={"accept-encoding": "gzip"})
        assert packed["Content-Encoding"] == "gzip"
        assert len(whole.content) < 320_000 and len(packed.content) < 45_000

    def test_before_the_first_entry_it_has_no_rows(self, client, phase):
        assert client.get(address(phase)).context["rows"] is None
        build_due_boards()
        response = client.get(address(phase))
        assert response.context["rows"].indices == [] and '<div class="empty' in text(response)

    def test_simulated_data_are_labelled_once_on_the_page_in_its_title_and_where_it_is_shared(self, client, ranked):
        assert "Simulated" not in text(client.get(address(ranked)))
        Challenge.objects.update(simulated=True)
        page = text(client.get(address(ranked)))
        assert page.count('aria-label="Simulated"') == 1 and "<title>Simulated · " in page
        assert '<meta property="og:title" content="Simulated · ' in page and '<meta property="og:image:alt" content="Simulated: ' in page

    def test_a_team_sees_its_entry_in_progress_and_others_do_not(self, client, ranked, people):
        running = Submission.objects.create(
            phase=ranked,
            team=people.team,
            number=90,
            status=Status.SCORING,
            method_name="in the works",
            file_name="e.zip",
            size=1,
            received_at=timezone.now(),
        )
        evaluation = Evaluation.make(running, EvaluationBatch.current(ranked))
        evaluation.parts.filter(pk=evaluation.parts.first().pk).update(state="done")
        response = signed_in(people.mate).get(address(ranked))
        (own,) = response.context["own"]
        assert (own["entry"].pk, own["done"], own["total"]) == (running.pk, 1, 4) and "in the works" in text(response)
        for viewer in (client, signed_in(people.other), signed_in(people.stranger)):
            response = viewer.get(address(ranked))
            assert "in the works" not in text(response) and (response.context["own"], response.context["n_queued"]) == ([], 1)

    def test_a_team_sees_the_uploads_it_has_left(self, ranked, people):
        Phase.objects.filter(pk=ranked.pk).update(limit_per_day=5)
        response = signed_in(people.owner).get(address(ranked))
        assert response.context["quota"].left_today == 4 and "4 of 5 uploads" in text(response)


class TestColumns:
    def test_columns_that_somebody_chose_are_kept_in_their_browser_until_they_ask_for_the_usual_ones(self, client, ranked):
        def heads(query: str = "") -> list[str]:
            table = text(client.get(address(ranked) + query)).partition("<thead>")[2].partition("</thead>")[0]
            return re.findall(r'class="by" href="[^"]*sort=([a-z0-9_]+)', table)[2:]

        usual = heads()
        slugs = [metric["slug"] for metric in EvaluationBatch.current(ranked).metrics]
        assert heads(f"?column={slugs[-1]}") == slugs[-1:] == heads()
        other = Client()
        assert text(other.get(address(ranked))) and len(usual) > 1
        assert heads("?column=../../etc&column=usual") == usual == heads()
        assert heads("?" + "&".join(f"column={slug}" for slug in slugs)) == slugs

    def test_what_teams_state_can_be_chosen_as_a_column_and_goes_into_the_files_of_that_page(self, client, ranked):
        ranked.submissions.filter(method_name="ridge-net").update(parameters=38_000_000)
        kept = snapshots.make(ranked, "public")
        assert ">38 M<" not in text(client.get(address(ranked)))
        page = text(client.get(address(ranked) + "?column=hss&column=stated_parameters"))
        assert '<td class="n soft wide-only">38 M</td>' in page
        link = re.search(r'href="([^"]+\.csv[^"]*)"', page)[1].replace("&amp;", "&")
        assert link == address(ranked, "snapshot_export", digest=kept.digest, kind="csv") + "?column=stated_parameters"
        rows = list(csv.DictReader(io.StringIO(text(client.get(link)).removeprefix("\ufeff"))))
        assert {row["entry"]: row["parameters"] for row in rows} == {"ridge-net": "38000000", "valley-net": "", "hull": ""}

    def test_rows_are_made_once_for_all_who_may_see_the_same(self, client, ranked, people):
        rendered.answers.clear()
        for viewer in (client, Client(), signed_in(people.stranger)):
            text(viewer.get(address(ranked)))
        assert len(rendered.answers) == 1
        text(signed_in(people.owner).get(address(ranked)))  # whose own rows are marked
        text(client.get(address(ranked) + "?sort=name"))
        assert len(rendered.answers) == 3
        text(signed_in(people.owner).get(address(ranked) + "?q=hull"))  # a page without rows of its own
        text(client.get(address(ranked) + "?q=hull"))
        assert len(rendered.answers) == 4
        first = ranked.submissions.get(method_name=re.findall(r'<td class="name"><b><a[^>]*>([^<]+)', text(client.get(address(ranked))))[0])
        first.hide(people.organizer, "no")
        assert first.method_name not in text(client.get(address(ranked)))


class TestWhoSeesIt:
    def test_a_hidden_board_says_when_instead(self, client, ranked, people):
        Phase.objects.filter(pk=ranked.pk).update(board="hidden", board_at=timezone.now() + timedelta(days=3), time_zone="Europe/Prague")
        for name in ("board", "charts"):
            for viewer in (client, signed_in(people.owner), signed_in(people.stranger)):
                page = text(viewer.get(address(ranked, name)))
                assert "ridge-net" not in page and ("CET" in page or "CEST" in page)
        assert "ridge-net" in text(signed_in(people.organizer).get(address(ranked)))

    @pytest.mark.parametrize(("days", "opens_with_phase"), [(1, True), (3, False)])
    def test_before_the_phase_a_hidden_board_says_when_it_opens_itself(self, client, ranked, days, opens_with_phase):
        opens, shown = timezone.now() + timedelta(days=2), timezone.now() + timedelta(days=days)
        Phase.objects.filter(pk=ranked.pk).update(opens_at=opens, board="hidden", board_at=shown)
        page = text(client.get(address(ranked)))
        assert ("its leaderboard opens then" in page) == opens_with_phase
        assert ("The organizers show this leaderboard from" in page) != opens_with_phase

    def test_hidden_snapshots_and_exports_are_not_served_either(self, client, ranked, people):
        digest = Snapshot.current(ranked, "public").digest
        Phase.objects.filter(pk=ranked.pk).update(board="hidden", board_at=timezone.now() + timedelta(days=3))
        assert "ridge-net" not in text(client.get(address(ranked, "snapshot", digest=digest)))
        assert client.get(address(ranked, "snapshot_export", digest=digest, kind="csv")).status_code == 404
        assert signed_in(people.organizer).get(address(ranked, "snapshot_export", digest=digest, kind="csv")).status_code == 200

    @pytest.mark.parametrize("visibility", ["draft", "private"])
    def test_a_challenge_that_is_not_public_is_not_there_for_strangers(self, client, ranked, people, visibility):
        Challenge.objects.filter(pk=ranked.challenge_id).update(visibility=visibility)
        for viewer in (client, signed_in(people.stranger), signed_in(people.other_organizer)):
            for name in ("board", "entries", "charts", "compare"):
                assert viewer.get(address(ranked, name)).status_code == 404
        assert signed_in(people.organizer).get(address(ranked)).status_code == 200

    def test_an_unknown_phase_or_snapshot_is_not_found(self, client, ranked):
        assert client.get(f"/challenges/{ranked.challenge.slug}/nothing/").status_code == 404
        assert client.get(address(ranked, "snapshot", digest="0" * 64)).status_code == 404
        assert client.get(address(ranked, "snapshot", digest="short")).status_code == 404

    def test_organizers_see_hidden_rows_with_the_reason_and_can_look_as_the_public(self, ranked, people, client):
        reason = "asked for by its authors"
        Submission.objects.get(method_name="ridge-net").hide(people.organizer, reason)
        for audience in ("public", "organizers"):
            snapshots.make(ranked, audience)
        organizer = signed_in(people.organizer)
        page = text(organizer.get(address(ranked)))
        assert "ridge-net" in page and reason in page
        for page in (text(organizer.get(address(ranked) + "?view=public")), text(client.get(address(ranked) + "?view=organizers"))):
            assert "ridge-net" not in page and reason not in page

    def test_an_organizers_snapshot_is_for_organizers_even_with_its_address(self, ranked, people, client):
        Submission.objects.get(method_name="ridge-net").hide(people.organizer, "secret reason")
        kept = snapshots.make(ranked, "organizers")
        for viewer in (client, signed_in(people.owner), signed_in(people.other_organizer)):
            assert viewer.get(address(ranked, "snapshot", digest=kept.digest)).status_code == 404
            assert viewer.get(address(ranked, "snapshot_export", digest=kept.digest, kind="json")).status_code == 404
        assert "secret reason" in text(signed_in(people.organizer).get(address(ranked, "snapshot", digest=kept.digest)))


class TestSnapshot:
    def test_it_has_an_address_a_line_to_cite_and_stays_when_the_board_goes_on(self, client, ranked, people):
        kept = Snapshot.current(ranked, "public")
        response = client.get(address(ranked, "snapshot", digest=kept.digest))
        page = text(response)
        assert response.context["is_current"] and kept.digest in page
        assert "@misc{plumbline-" in page and "howpublished" in page
        entry(ranked, people.team, scores(0.99), method_name="newcomer")
        snapshots.make(ranked, "public")
        response = client.get(address(ranked, "snapshot", digest=kept.digest))
        assert not response.context["is_current"] and "newcomer" not in text(response)
        assert "newcomer" in text(client.get(address(ranked)))

    def test_of_a_withheld_entry_it_keeps_the_place_alone(self, client, ranked, people):
        kept = Snapshot.current(ranked, "public")
        it = Submission.objects.get(method_name="ridge-net")
        assert f'href="/entries/{it.pk}/"' in text(client.get(address(ranked, "snapshot", digest=kept.digest)))
        it.hide(people.organizer, "asked for by its authors")
        response = client.get(address(ranked, "snapshot", digest=kept.digest))
        row = text(response).partition(f"<b>{HIDDEN_NAME}</b>")[2].partition("</td>")[0]
        assert row and "<time" not in row and f"/entries/{it.pk}/" not in text(response)
        it.refresh_from_db()
        assert (response.context["n_unnamed"], response.context["unnamed_at"]) == (1, it.hidden_at)

    def test_a_short_digest_leads_to_the_whole_one(self, client, ranked):
        kept = Snapshot.current(ranked, "public")
        response = client.get(address(ranked, "snapshot", digest=kept.short))
        assert response.status_code == 302 and response["Location"] == address(ranked, "snapshot", digest=kept.digest)

    def test_exports_hold_the_rows_of_the_choice(self, client, ranked, people):
        kept = Snapshot.current(ranked, "public")

        def export(kind: str, query: str = "") -> str:
            response = client.get(address(ranked, "snapshot_export", digest=kept.digest, kind=kind) + query)
            assert "attachment" in response["Content-Disposition"]
            return text(response).removeprefix("\ufeff")

        rows = list(csv.DictReader(io.StringIO(export("csv"))))
        assert [row["entry"] for row in rows] == ["ridge-net", "valley-net", "hull"]
        assert float(rows[0]["hss"]) == pytest.approx(0.9) and rows[2]["rank"] == "" and rows[2]["flags"] == "baseline"
        assert len(list(csv.DictReader(io.StringIO(export("csv", "?baselines=no"))))) == 2
        data = json.loads(export("json", "?sort=hss&order=reversed"))
        assert [row["entry"] for row in data["rows"]] == ["hull", "valley-net", "ridge-net"]
        assert kept.digest in data["caption"]["address"]
        assert r"\toprule" in export("tex") and "| Rank |" in export("md")
        ranked.submissions.get(method_name="ridge-net").hide(people.organizer, "no")  # a file that was written before is not given again
        assert [kind for kind in FILE_FORMATS if not ("ridge-net" not in export(kind) and "valley-net" in export(kind))] == []

    def test_a_file_is_written_once_for_all_who_may_see_the_same(self, client, ranked, people):
        kept = Snapshot.current(ranked, "public")
        file = address(ranked, "snapshot_export", digest=kept.digest, kind="csv")
        written.answers.clear()
        for viewer, query in ((client, ""), (signed_in(people.owner), "?page=2"), (signed_in(people.stranger), "?column=hss")):
            assert len(list(csv.DictReader(io.StringIO(text(viewer.get(file + query)))))) == 3
        assert len(written.answers) == 1
        mine = csv.DictReader(io.StringIO(text(signed_in(people.owner).get(f"{file}?mine=yes"))))
        assert [row["entry"] for row in mine] == ["ridge-net"]


class TestQueries:
    def test_a_board_is_read_in_at_most_eleven_queries_whoever_reads_it(self, ranked, people, django_assert_max_num_queries, monkeypatch):
        monkeypatch.setattr(bundled_tables, "tables", lambda fingerprint: [])  # as where columns are measured here
        Phase.objects.filter(pk=ranked.pk).update(limit_per_day=9, limit_total=9, limit_at_once=9)
        running = Submission.objects.create(
            phase=ranked,
            team=people.team,
            number=90,
            status=Status.SCORING,
            method_name="x",
            file_name="e.zip",
            size=1,
            received_at=timezone.now(),
        )
        Evaluation.make(running, EvaluationBatch.current(ranked))
        for viewer in (Client(), signed_in(people.stranger), signed_in(people.owner), signed_in(people.organizer), signed_in(people.staff)):
            read_board.cache_clear()
            with django_assert_max_num_queries(11):
                assert viewer.get(address(ranked)).status_code == 200

    def test_the_number_of_queries_does_not_grow_with_the_entries(self, client, ranked, django_assert_max_num_queries):
        for _ in range(20):
            entry(ranked, TeamFactory(challenge=ranked.challenge), scores(0.4))
        snapshots.make(ranked, "public")
        with django_assert_max_num_queries(6):
            client.get(address(ranked))

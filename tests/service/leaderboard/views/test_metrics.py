"""Metric pages and a board's heads, as people and programs get them."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import EvaluationBatch, PhaseMetric, Score
from leaderboard.boards.metric_evidence import Cost
from leaderboard.tasks import build_due_boards
from leaderboard.wording.weights import card_facts
from submissions.kinds import FAMILIES
from submissions.models import Challenge, Phase
from tests.service.leaderboard.views.test_board import text
from tests.support.evaluation.networks import random_weights
from tests.support.leaderboard.property_tables import HOUSES, TIGHT, measured, run_of, table
from tests.support.leaderboard.scores import entry, spread

pytestmark = pytest.mark.django_db


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


@pytest.fixture
def tight(phase):
    """A second corner F1, with another threshold, ranked."""
    PhaseMetric.objects.create(phase=phase, slug="tight", key="corner_f1", title="Corner F1, tight", position=9, params=TIGHT)
    EvaluationBatch.start(phase, reference=phase.references.get())
    phase.refresh_from_db()
    return phase


@pytest.fixture
def ranked(tight, people):
    slugs = ("corner_f1", "edge_f1", "hss", "tight")
    entry(tight, people.team, {slug: spread(0.6) for slug in slugs}, method_name="ridge-net")
    build_due_boards()
    tight.refresh_from_db()
    return tight


def board(phase: Phase) -> str:
    return reverse("board", args=[phase.challenge.slug, phase.slug])


def column_page(phase: Phase, slug: str = "tight", key: str = "corner_f1", more: str = "") -> str:
    return f"/metrics/{key}/?phase={phase.challenge.slug}/{phase.slug}&column={slug}{more}"


class TestPage:
    def test_every_metric_has_its_page_with_its_definition(self, client, phase):
        used = set(phase.metrics.values_list("key", flat=True))
        for key, spec in registry.REGISTRY.items():
            response = client.get(f"/metrics/{key}/")
            page = text(response)
            assert spec.title in page and response.context["studies"] == [], key
            assert [paper for paper in spec.origin.papers if paper.title not in page] == [], key
            assert [param for param in spec.params if param.name not in page] == [], key
            assert (phase.challenge.title in page) == (key in used), key
            cost = words(page).partition(" Cost ")[2]
            assert (f"{spec.effort.seconds:g} s of one core" in cost) if spec.effort else "Declared effort" not in cost, key

    def test_a_learned_metric_warns_and_says_whose_votes_its_weights_have_seen(self, client, phase, monkeypatch, tmp_path):
        random_weights.shelf(monkeypatch, tmp_path)
        page = client.get("/metrics/wf_learned/")
        assert "reward hacking" in text(page) and "−∞ to ∞" in text(page)
        (needed,) = page.context["page"].needed
        assert (needed.name, needed.there, needed.facts) == ("study", False, ()) and "wireframe-preference" in needed.refusal
        random_weights.learned_shelf(monkeypatch, tmp_path)
        card = {"data": {"decisions": 1234, "raters": 5}, "accuracy": {"mean": 0.7612, "sd": 0.0456, "folds": 10}, "simulated": True}
        random_weights.put_learned(tmp_path, "drawn", **card)
        PhaseMetric.objects.create(phase=phase, slug="learned", key="wf_learned", position=9, params={"weights": "drawn"})
        page = client.get(column_page(phase, "learned", "wf_learned"))
        (needed,) = page.context["page"].needed
        assert (needed.name, needed.there, needed.refusal) == ("drawn", True, "") and needed.facts[:1] == tuple(card_facts(card))[:1]
        assert [words for _, words in needed.facts if words not in unescape(text(page))] == [] and "reward hacking" in text(page)

    @pytest.mark.parametrize(
        ("key", "name", "is_here", "names"),
        [
            ("osim", "yolox-x", False, "yolox-x"),
            ("psnr@bbox", "yolox-x", False, "yolox-x"),
            ("lpips_alex", None, False, "alexnet lpips-alex"),
            ("puzzlesim_pieces", "lite0", True, ""),
            ("locase", "stage1", True, ""),
        ],
    )
    def test_it_says_whether_the_weights_are_here_and_how_to_get_them(self, client, monkeypatch, tmp_path, key, name, is_here, names):
        random_weights.shelf(monkeypatch, tmp_path)
        page = client.get(f"/metrics/{key}/")
        needed = page.context["page"].needed
        assert {one.there for one in needed} == {is_here} and (name is None or [one.name for one in needed] == [name])
        commands = [one.command for one in needed if one.command]
        assert commands == [f"python manage.py fetch_weights {names}"] * len(commands) and bool(commands) is not is_here
        assert ("fetch_weights" in text(page)) is not is_here
        assert [words for one in needed for _, words in one.facts if words not in unescape(text(page))] == []

    def test_it_shows_both_tables_the_published_one_and_what_differs(self, client, ships):
        roofs = table("corner_f1", {}, 5, type(HOUSES)("roofs_43", "43 real roofs", 43, False))
        ships(table("corner_f1", {}, 12), roofs)
        page = words(text(client.get("/metrics/corner_f1/")))
        assert page.index("12 of 16") < page.index("5 of 16") and "43 real roofs" in page and "12 of 17" in page
        assert "1.00 ✓ passes" in page and "0.25 ✗ fails" in page and "≠" in page and "2026-03-01" in page

    def test_the_order_of_all_metrics_against_the_paper_is_told_only_of_those_that_it_has(self, client):
        page = words(text(client.get("/metrics/wf_hausdorff/")))
        assert re.search(r"13 of 17 passed\..*217 of 272 cells.*Spearman 0\.10", page)
        assert "Spearman 0.10" not in words(text(client.get("/metrics/hss/")))

    def test_its_weaknesses_are_drawn_with_the_metrics_own_values(self, client):
        page = text(client.get("/metrics/edge_recall/"))
        assert 'class="ref"' in page and 'class="pred"' in page and re.search(r"<figcaption>[^<]+: <b>[\d.e-]+</b>", page)

    def test_what_an_item_costs_is_of_this_server_where_it_has_scored(self, client, ships, scored):
        ships(table("hss", {}, 12, ms=250.0))
        told = client.get("/metrics/hss/")
        assert told.context["evidence"].cost == Cost(250.0, "shipped") and "250 ms" in text(told)
        entry = scored(0.1)
        Score.objects.filter(evaluation__submission=entry, key="hss").update(cost_ms=61.0)
        told = client.get("/metrics/hss/")
        assert told.context["evidence"].cost == Cost(61.0, "here") and "61 ms" in text(told)

    def test_each_parameter_says_where_its_default_is_from_and_what_differs_from_the_paper(self, client):
        page = words(text(client.get("/metrics/osim/")))
        assert re.search(r"conf 0.35 paper ", page) and re.search(r"nms 0.65 peer ", page)
        assert re.search(r"class_agnostic False our choice ", page)
        assert re.search(r"cv_ins -0.5 authors’ code ", words(text(client.get("/metrics/wed_prereg/"))))


class TestColumn:
    def test_it_shows_the_table_of_exactly_its_parameters(self, client, ships, tight):
        ships(table("corner_f1", {}, 12))
        page = words(text(client.get(column_page(tight))))
        assert "Corner F1, tight" in page and "tau = 0.21" in page and "12 of 16" not in page and "Not measured" in page
        measured(passed=11)
        assert "11 of 16" in words(text(client.get(column_page(tight))))

    def test_what_is_being_measured_says_how_far_it_is_and_moves_by_itself(self, client, tight):
        run_of("corner_f1", TIGHT, done=544, total=2176, seconds=30.0)
        page = text(client.get(column_page(tight)))
        assert "544 of 2,176" in words(page) and "90 s" in words(page)
        assert 'hx-select="#properties"' in page and 'value="25.0"' in page

    def test_what_failed_says_so_without_a_traceback(self, client, tight):
        run = run_of("corner_f1", TIGHT, state="failed", failure="Measuring this metric failed.", failure_detail="Traceback: secret")
        page = text(client.get(column_page(tight)))
        assert run.failure in page and "secret" not in page

    def test_an_old_rankings_column_is_found_after_it_was_edited_or_removed(self, client, tight):
        old = tight.metrics.get(slug="tight").fingerprint
        tight.metrics.filter(slug="tight").update(params={"tau": 0.3})
        assert "0.3" in words(text(client.get(column_page(tight))))
        assert "tau = 0.21" in words(text(client.get(column_page(tight, more=f"&fingerprint={old[:16]}"))))
        tight.metrics.filter(slug="tight").delete()
        assert "tau = 0.21" in words(text(client.get(column_page(tight))))

    def test_what_is_not_there_is_not_found(self, client, tight):
        here = f"{tight.challenge.slug}/{tight.slug}"
        for query in ("column=tight", f"phase={here}", f"phase={here}&column=no", f"phase={here}&column=hss", "phase=a/b&column=tight"):
            assert client.get(f"/metrics/corner_f1/?{query}").status_code == 404, query
        assert client.get(column_page(tight, more="&fingerprint=00")).status_code == 404
        assert client.get("/metrics/corner_f1/?phase=%00/x&column=%00").status_code == 404

    def test_columns_are_not_told_of_before_their_phase_opens(self, client, tight, people):
        organizer = Client()
        organizer.force_login(people.organizer)
        used = [viewer.get("/metrics/corner_f1/").context["page"].used for viewer in (client, organizer)]
        assert [len(one) for one in used] == [2, 2]
        Phase.objects.filter(pk=tight.pk).update(opens_at=timezone.now() + timedelta(days=1))
        assert client.get(column_page(tight)).status_code == 404 and organizer.get(column_page(tight)).status_code == 200
        used = [viewer.get("/metrics/corner_f1/").context["page"].used for viewer in (client, organizer)]
        assert [len(one) for one in used] == [0, 2]

    def test_a_hidden_challenges_columns_are_not_told_of(self, client, tight, people):
        Challenge.objects.filter(pk=tight.challenge_id).update(visibility="draft")
        assert client.get(column_page(tight)).status_code == 404
        organizer = Client()
        organizer.force_login(people.organizer)
        assert organizer.get(column_page(tight)).status_code == 200


class TestList:
    def test_each_kind_lists_its_metrics_and_says_how_many(self, client):
        for kind in FAMILIES:
            own = [key for key, spec in registry.REGISTRY.items() if spec.family == kind and "@" not in key]
            response = client.get(f"/metrics/?kind={kind}")
            assert len(response.context["tests"]) == len(own)
            assert [key for key in own if f'<code class="soft">{key}</code>' not in text(response)] == []

    def test_it_shows_properties_cost_and_uses(self, client, ships, phase):
        ships(table("corner_f1", {}, 12))
        page = text(client.get("/metrics/?kind=wireframe"))
        row = words(page[page.index("/metrics/corner_f1/") :][:1800])
        assert "12 of 16" in row and "4.0 ms" in row and " 1 " in row

    def test_it_is_made_with_a_few_queries(self, client, phase, django_assert_max_num_queries):
        with django_assert_max_num_queries(4):
            client.get("/metrics/")

    def test_uses_in_challenges_one_may_not_see_are_not_counted(self, client, phase):
        Challenge.objects.update(visibility="draft")
        page = text(client.get("/metrics/?kind=wireframe"))
        assert 'class="n">1</td>' not in page


class TestBoardHead:
    def test_each_column_links_to_its_own_definition(self, client, ships, ranked):
        ships(table("corner_f1", {}, 12))
        measured(passed=11)
        every = "&".join(f"column={metric['slug']}" for metric in EvaluationBatch.current(ranked).metrics)
        page = text(client.get(f"{board(ranked)}?{every}"))
        links = [link.replace("&amp;", "&") for link in re.findall(r'href="(/metrics/[^"]+)#properties"', page)]
        assert len(links) == 4
        for link in links:
            assert client.get(link).status_code == 200
        assert "tau = 0.21" in text(client.get(next(link for link in links if "column=tight" in link)))


class TestApi:
    def test_metrics_and_columns_tell_their_properties(self, client, ships, ranked):
        ships(table("corner_f1", {}, 12))
        run_of("corner_f1", TIGHT)
        found = client.get("/api/v1/metrics/corner_f1").json()
        failed = found["properties"].pop("failed")
        assert (
            len(failed) == 4
            and found["properties"] == {"state": "measured", "passed": 12, "of": 16}
            and found["cost_ms"] == 4.0
            and found["formula"]
        )
        assert {it["key"] for it in client.get("/api/v1/metrics?limit=100").json()["items"]} == set(registry.REGISTRY)
        assert client.get("/api/v1/metrics/wf_learned").json()["bounds"] == [None, None]
        assert {param["name"]: param["source"] for param in found["params"]}["tau"] == "authors_code"
        columns = client.get(f"/api/v1/challenges/{ranked.challenge.slug}/phases/{ranked.slug}/board").json()["columns"]
        states = {column["slug"]: column["properties"]["state"] for column in columns}
        assert states["corner_f1"] == "measured" and states["tight"] == "measuring" and states["hss"] in ("none", "measured")

"""Metric pages and a board's heads, as people and programs get them."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.metrics import registry
from evaluation.models import EvaluationBatch, PhaseMetric, Score
from evaluation.properties import bundled_tables
from leaderboard.tasks import build_due_boards
from submissions.kinds import FAMILIES
from submissions.models import Challenge, Phase
from tests.support.evaluation.networks import random_weights
from tests.support.leaderboard.property_tables import HOUSES, TIGHT, measured, run_of, table
from tests.support.leaderboard.scores import entry, spread

pytestmark = pytest.mark.django_db


def text(response) -> str:
    assert response.status_code == 200, response
    return response.content.decode()


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
    @pytest.mark.parametrize("key", list(registry.REGISTRY))
    def test_every_metric_has_its_page(self, client, key):
        page = text(client.get(f"/metrics/{key}/"))
        assert registry.get(key).title in page and "Sanity tests" in page
        assert "No study here has compared this metric with people yet." in page

    def test_a_learned_metric_warns_and_says_whose_votes_its_weights_have_seen(self, client, phase, monkeypatch, tmp_path):
        random_weights.shelf(monkeypatch, tmp_path)
        page = words(text(client.get("/metrics/wf_learned/")))
        assert "Never let it decide alone" in page and "reward hacking" in page and "−∞ to ∞" in page
        assert (
            "Weights: study not here There are no weights &#x27;study&#x27; of wf_learned" in page and "train wireframe-preference" in page
        )
        random_weights.learned_shelf(monkeypatch, tmp_path)
        told = {"data": {"decisions": 1234, "raters": 5}, "accuracy": {"mean": 0.7612, "sd": 0.0456, "folds": 10}, "simulated": True}
        random_weights.put_learned(tmp_path, "drawn", **told)
        PhaseMetric.objects.create(phase=phase, slug="learned", key="wf_learned", position=9, params={"weights": "drawn"})
        page = words(text(client.get(column_page(phase, "learned", "wf_learned"))))
        assert "Weights: drawn here Drawn at random." in page and "1,234 decisions of 5 raters, simulated" in page
        assert "0.761 ± 0.046 over 10 folds" in page and "squeezenet-imagenet, frozen" in page and "Never let it decide alone" in page

    def test_it_says_whether_the_weights_are_here_and_how_to_get_them(self, client, monkeypatch, tmp_path):
        random_weights.shelf(monkeypatch, tmp_path)
        page = words(text(client.get("/metrics/osim/")))
        assert "Weights: yolox-x not here The weights “yolox-x” of OSIM are not on this server; get them with:" in page
        assert "python manage.py fetch_weights yolox-x" in page and "the full digest is stored at the first download" in page
        page = words(text(client.get("/metrics/psnr@bbox/")))
        assert "python manage.py fetch_weights yolox-x" in page
        page = words(text(client.get("/metrics/lpips_alex/")))
        assert "fetch_weights alexnet lpips-alex" in page and "df73285e35b22355…, digest of the file in the packages" in page
        page = words(text(client.get("/metrics/puzzlesim_pieces/")))
        assert "Weights: lite0 here" in page and "579344248a93e230…, digest of the file in that package" in page
        assert "fetch_weights" not in page
        page = words(text(client.get("/metrics/locase/")))
        assert "Weights: stage1 here" in page

    def test_what_a_card_measured_on_simulated_objects_is_said_as_such(self, client):
        page = client.get(reverse("metric", args=["locase"])).content.decode()
        assert (
            "Spearman’s ρ with pseudo-scores 0.84 [0.81, 0.86], mean over 16 simulated objects" in page and "not by these weights" in page
        )

    def test_it_shows_both_tables_the_published_one_and_what_differs(self, client, ships):
        roofs = table("corner_f1", {}, 5, type(HOUSES)("roofs_43", "43 real roofs", 43, False))
        ships(table("corner_f1", {}, 12), roofs)
        page = words(text(client.get("/metrics/corner_f1/")))
        assert "12 of 16 sanity tests passed on 128 procedural houses" in page and "5 of 16 sanity tests passed on 43 real roofs" in page
        assert "Published 12 of 17 pass" in page and "≠ another verdict than ours" in page
        assert "1.00 ✓ passes" in page and "0.25 ✗ fails" in page and "– does not apply" in page
        assert "measured 2026-03-01, suite version" in page and "judged" in page and "skipped" in page

    def test_which_tests_it_fails_is_said_before_how_all_metrics_stand_against_the_paper(self, client):
        page = words(text(client.get("/metrics/wf_hausdorff/")))
        assert re.search(r"13 of 17 passed\. Fails: Monotonic \(wrong edges\); .*Quasi-proportionality \(shift, close\)\.", page)
        assert "in 217 of 272 cells, over 16 metrics. The order of metrics by number of passed tests differs (Spearman 0.10)" in page
        assert "not how many" in page
        assert "order of metrics by number of passed tests" not in words(text(client.get("/metrics/hss/")))  # which the paper has not

    @pytest.mark.parametrize(("key", "rule"), [("corner_f1", "must get worse at every step"), ("wed_mnn", "must not fall at any step")])
    def test_the_rule_of_the_monotonic_tests_is_said_once_before_the_table(self, client, ships, key, rule):
        ships(table(key, {}, 12))
        page = words(text(client.get(f"/metrics/{key}/")))
        assert page.count("In the monotonicity tests") == 1 and page.index(rule) < page.index("One by one, ten wrong edges")

    @pytest.mark.parametrize("key", [key for key, spec in registry.REGISTRY.items() if spec.effort])
    def test_what_a_slow_metric_declares_is_said_beside_its_cost(self, client, key):
        page = words(text(client.get(f"/metrics/{key}/")))
        cost = page[page.index(" Cost ") : page.index(" Where it is used ")]
        assert "Declared effort: " in cost and f"{registry.get(key).effort.seconds:g} s of one core" in cost

    def test_a_quick_metric_declares_nothing(self, client):
        assert "Declared effort" not in text(client.get("/metrics/corner_f1/"))

    def test_its_weaknesses_are_drawn_with_the_metrics_own_values(self, client):
        page = text(client.get("/metrics/edge_recall/"))
        assert 'class="ref"' in page and 'class="pred"' in page and "dashed line with dots" in page
        assert re.search(r"<figcaption>[^<]+: <b>[\d.e-]+</b>", page)

    def test_what_a_sample_costs_says_where_that_was_measured(self, client, ships, scored):
        ships(table("hss", {}, 12, ms=250.0))
        assert "250 ms per item: measured on the machine that ran the sanity tests" in words(text(client.get("/metrics/hss/")))
        entry = scored(0.1)
        Score.objects.filter(evaluation__submission=entry, key="hss").update(cost_ms=61.0)
        assert "61 ms per item: the median time of this server" in words(text(client.get("/metrics/hss/")))

    def test_each_parameter_says_where_its_default_is_from_and_what_differs_from_the_paper(self, client):
        page = words(text(client.get("/metrics/osim/")))
        assert re.search(r"conf 0.35 paper ", page) and re.search(r"nms 0.65 peer ", page)
        assert re.search(r"class_agnostic False our choice ", page)
        assert "The OSIM paper names no value" in page
        assert re.search(r"cv_ins -0.5 authors’ code ", words(text(client.get("/metrics/wed_prereg/"))))
        assert "that average is 0.875" in words(text(client.get("/metrics/jaccard_distance/")))


class TestColumn:
    def test_it_shows_the_table_of_exactly_its_parameters(self, client, ships, tight):
        ships(table("corner_f1", {}, 12))
        page = words(text(client.get(column_page(tight))))
        assert "Corner F1, tight" in page and "tau = 0.21" in page and "12 of 16" not in page and "Not measured" in page
        measured(passed=11)
        assert "11 of 16 sanity tests passed on 128 procedural houses" in words(text(client.get(column_page(tight))))

    def test_what_is_being_measured_says_how_far_it_is_and_moves_by_itself(self, client, tight):
        run_of("corner_f1", TIGHT, done=544, total=2176, seconds=30.0)
        page = text(client.get(column_page(tight)))
        assert "544 of 2,176 tests of single models" in words(page) and "about 90 s of work left" in words(page)
        assert 'hx-select="#properties"' in page and 'value="25.0"' in page

    def test_what_failed_says_so_without_a_traceback(self, client, tight):
        run_of("corner_f1", TIGHT, state="failed", failure="Measuring this metric failed.", failure_detail="Traceback: secret")
        page = text(client.get(column_page(tight)))
        assert "Measuring this metric failed." in page and "secret" not in page

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
            page = text(client.get(f"/metrics/?kind={kind}"))
            assert f"All {len(own)} metrics for {FAMILIES[kind].plural}, by name" in words(page)
            assert [key for key in own if f'<code class="soft">{key}</code>' not in page] == []

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

    def test_with_background_columns_it_still_takes_eleven_queries_at_most(
        self, ranked, people, django_assert_max_num_queries, monkeypatch
    ):
        from leaderboard.models import read_board

        monkeypatch.setattr(bundled_tables, "tables", lambda fingerprint: [])
        Phase.objects.filter(pk=ranked.pk).update(limit_per_day=9, limit_total=9, limit_at_once=9)
        address = board(ranked)
        for user in (people.owner, people.organizer, people.staff, people.stranger):
            viewer = Client()
            viewer.force_login(user)
            read_board.cache_clear()
            with django_assert_max_num_queries(11):
                assert viewer.get(address).status_code == 200


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

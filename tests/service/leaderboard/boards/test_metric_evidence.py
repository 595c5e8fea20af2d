"""Evidence on a metric: counts for boards, tables and the published verdicts, cost."""

from __future__ import annotations

import pytest

from evaluation.metrics import registry
from evaluation.models import PhaseMetric, Score
from evaluation.properties import bundled_tables, suite
from evaluation.properties.suite import Dataset, Rate
from leaderboard.boards import metric_evidence
from leaderboard.boards.metric_evidence import Count, Evidence, Line, Reason
from leaderboard.bundle.state import metric_definition
from tests.support.leaderboard.property_tables import TIGHT, measured, run_of, table


class TestCounts:
    def test_shipped_tables_cost_no_query(self, db, ships, django_assert_num_queries):
        ships(table("corner_f1", {}, 12))
        fingerprint = registry.fingerprint("corner_f1", {})
        with django_assert_num_queries(0):
            found = metric_evidence.counts([fingerprint])
        assert (found[fingerprint].passed, found[fingerprint].of, len(found[fingerprint].failed)) == (12, 16, 4)

    def test_all_others_cost_one(self, db, ships, django_assert_num_queries):
        measured()
        run_of("edge_f1", {"tau_edge": 0.1}, done=30, total=120)
        run_of("hss", {"sections": 8}, state="failed", failure="It failed.")
        keys = [("corner_f1", TIGHT), ("edge_f1", {"tau_edge": 0.1}), ("hss", {"sections": 8}), ("edge_f1", {"tau_edge": 0.2})]
        prints = [registry.fingerprint(key, params) for key, params in keys]
        with django_assert_num_queries(1):
            found = metric_evidence.counts(prints)
        assert [found[fingerprint].state for fingerprint in prints] == ["measured", "measuring", "failed", "none"]
        assert (found[prints[0]].passed, len(found[prints[0]].failed)) == (11, 5)
        assert found[prints[1]].percent == 25.0

    def test_failed_tests_are_named_and_counted_by_group(self):
        one = Count("measured", 14, 17, failed=("identity", "symmetry_shift", "symmetry_0mean"))
        assert one.fails == "Fails: Identity of indiscernibles; Symmetry (noise and shift); Symmetry (noise)."
        assert one.groups == "1 Identity, 2 Symmetry"

    def test_what_ships_is_said_beside_a_column(self):
        words = metric_evidence.shipped_words(registry.fingerprint("wf_hausdorff", {}))
        assert words.startswith("13 of 17 ") and "Monotonic (wrong edges); " in words
        assert metric_evidence.shipped_words("of no table") == ""


class TestTable:
    def test_the_shipped_one_comes_before_a_run_here(self, db, ships):
        measured("corner_f1", {}, 3)
        ships(table("corner_f1", {}, 12), table("corner_f1", {}, 9, Dataset("roofs_43", "43 real roofs", 43, False)))
        found = Evidence(registry.get("corner_f1"), registry.resolve_params("corner_f1", {}))
        assert [one.passed for one in found.tables] == [12, 9] and found.run is None and found.count.of == 16

    def test_a_run_here_is_for_its_own_parameters_only(self, db, ships):
        measured()
        ships(table("corner_f1", {}, 12))
        found = Evidence(registry.get("corner_f1"), registry.resolve_params("corner_f1", TIGHT))
        assert [one.passed for one in found.tables] == [11] and found.changed == TIGHT and not found.is_default
        assert len(found.failed) == 17 - 11 - 1, "what cannot be judged is no failure"

    def test_a_test_with_another_verdict_than_the_published_one_says_why(self):
        test = next(it for it in suite.TESTS if it.id == "mono_wrong_edges")
        passes, fails = Rate(0.95, None, None, 9, 0), Rate(0.89, None, None, 9, 0)
        assert Line(test, (passes,), 0.02).differs and Line(test, (passes,), 0.02).why == metric_evidence.UNPUBLISHED
        assert Line(test, (fails, passes), 0.90).differs, "the first table's verdict counts, and 0.90 passes"
        for same in (Line(test, (passes,), 0.90), Line(test, (fails,), 0.1), Line(test, (), 0.1), Line(test, (passes,), None)):
            assert not same.differs and same.why == ""

    def test_where_only_the_rule_makes_the_difference_it_says_so(self):
        test = next(it for it in suite.TESTS if it.id == "mono_disconnect_edges")
        still = Rate(0.0, 0.0, 1.0, 9, 0)  # nothing changes: fails by the strict rule, passes by the weak one
        assert Line(test, (still,), 1.0).why == metric_evidence.OTHER_RULE
        assert Line(test, (Rate(0.2, 0.2, 0.3, 9, 0),), 1.0).why == metric_evidence.UNPUBLISHED

    def test_the_reason_is_that_of_the_metric_where_there_is_one(self):
        test = next(it for it in suite.TESTS if it.id == "mono_disconnect_edges")
        still = Rate(1.0, 0.0, 1.0, 9, 0)
        assert Line(test, (still,), 0.0, "ecd_chamfer").why == metric_evidence.RANDOM
        assert Line(test, (still,), 0.0, "corner_offset").why.startswith(metric_evidence.OTHER_STEP)
        assert Line(test, (still,), 1.0, "ecd_chamfer").why == ""

    def test_every_cell_that_ships_with_another_verdict_than_the_published_one_says_why(self, db):
        """Its sampling is random, its step is another, it contradicts its own definition, or ours divides by something else."""
        kinds = (
            metric_evidence.RANDOM,
            metric_evidence.OTHER_STEP,
            metric_evidence.CONTRADICTS,
            "Exact symmetry depends on",
        )
        differing = 0
        for key in registry.REGISTRY:
            found = metric_evidence.of_default(registry.get(key))
            assert not found.published or found.tables, key
            for line in found.lines:
                assert bool(line.why) == line.differs
                assert not line.differs or (line.why.startswith(kinds) and line.why != metric_evidence.UNPUBLISHED), (key, line.test.id)
                differing += line.differs
        assert differing > 30

    def test_all_cells_against_the_papers_table(self):
        """Pinned: a test of METRICS that is computed otherwise, or a reason that is sorted otherwise, changes what pages say."""
        found = metric_evidence.against_paper()
        assert (found.metrics, found.verdicts, found.same) == (16, 272, 217)
        assert sum(found.reasons.values()) == 272 - 217 and round(found.order, 2) == 0.10
        assert found.reasons == {Reason.STEP: 35, Reason.SAMPLES: 11, Reason.CONTRADICTION: 6, Reason.DIVISOR: 3}

    def test_every_reason_is_of_tests_and_metrics_there_are(self):
        known = {test.id for test in suite.TESTS}
        assert metric_evidence._BY_TEST.keys() <= known
        for tests, keys, _, _ in metric_evidence._BY_METRIC:
            assert set(tests) <= known and set(keys) <= {key for key in registry.REGISTRY if bundled_tables.published(key)}


class TestCost:
    def test_it_is_measured_here_in_the_background_or_where_the_table_was_made(self, db, ships, scored):
        ships(table("corner_f1", {}, 12, ms=7.0))
        assert (metric_evidence.of_default(registry.get("corner_f1")).cost.where, metric_evidence.of_default(registry.get("hss")).cost) == (
            "shipped",
            None,
        )
        entry = scored(0.1)
        Score.objects.filter(evaluation__submission=entry, key="corner_f1").update(cost_ms=3.0)
        cost = metric_evidence.of_default(registry.get("corner_f1")).cost
        assert (cost.ms, cost.where, cost.of(500)) == (3.0, "here", 1.5)
        measured()
        assert Evidence(registry.get("corner_f1"), registry.resolve_params("corner_f1", TIGHT)).cost.where == "background"

    @pytest.mark.parametrize(("ms", "shown"), [(0.02, "under 0.1 ms"), (0.44, "0.4 ms"), (12.3, "12 ms"), (1340.0, "1.34 s")])
    def test_it_is_read_in_the_unit_that_fits(self, ms, shown):
        assert metric_evidence.Cost(ms, "here").text == shown


class TestExamples:
    @pytest.mark.parametrize("key", [key for key, spec in registry.REGISTRY.items() if spec.family == "wireframe" and not spec.weights])
    def test_every_wireframe_metric_has_drawn_weaknesses_with_its_own_values(self, key):
        found = metric_evidence.examples(key)
        assert found
        for one in found:
            assert one.title and "{" not in one.sentence
            for case in one.cases:
                assert case.drawing.reference.startswith("M") and float(case.value.split()[0]) >= 0


def test_parameters_stand_in_the_order_of_the_metric_however_they_are_kept(db):
    params = {"merge_tol": 0.1, "ce": 2.0, "cv_ins": -0.2}  # JSON of the database comes back by length of key, say
    found = Evidence(registry.get("wed_mnn"), dict(reversed(registry.resolve_params("wed_mnn", params).items())))
    assert list(found.changed) == ["cv_ins", "ce", "merge_tol"]
    kept = PhaseMetric(slug="wed", key="wed_mnn", params=params)
    assert list(metric_definition(kept).params) == ["cv_ins", "ce", "merge_tol"]

"""Evidence that an organizer sees before a metric becomes a column."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils.html import strip_tags

from evaluation.metrics import registry
from evaluation.metrics.spec import Effort
from evaluation.models import PhaseMetric, Reference
from evaluation.networks import weights
from leaderboard.bundle.definition import MetricDef
from leaderboard.console.forms.metrics import MetricForm
from leaderboard.console.metric_evidence import MetricEvidence
from leaderboard.models import ProgramValues
from leaderboard.studies.live import campaign
from submissions.models import Phase
from tests.support.evaluation import programs
from tests.support.evaluation.networks import random_weights
from tests.support.leaderboard.property_tables import measured, table
from tests.support.leaderboard.studies.live import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(desk, at, phase):
    """`page("new/corner_f1/")`: one of the phase's metric pages."""

    def read(path: str):
        response = desk.get(at(f"phases/{phase.slug}/metrics/{path}"))
        assert response.status_code == 200
        return response

    return read


@pytest.fixture
def evidence(page):
    """`evidence("new/corner_f1/")`: the evidence that the page shows."""
    return lambda path: page(path).context["evidence"]


def known(phase, key: str, **params) -> MetricEvidence:
    return MetricEvidence(registry.get(key), registry.resolve_params(key, params), phase)


class TestPage:
    def test_it_shows_properties_failures_weaknesses_and_cost(self, page, ships):
        ships(table("corner_offset", {}, 12, ms=50.0))
        response = page("new/corner_offset/")
        found, text = response.context["evidence"], " ".join(response.content.decode().split())
        assert (found.shown.count.passed, found.shown.count.of, found.has_study) == (12, 16, False)
        assert found.shown.failed and [test.title for test in found.shown.failed if test.title not in text] == []
        assert text.count(found.shown.monotone_rule) == 1 and found.shown.weaknesses
        assert (found.cost.ms, found.n_items, found.seconds_per_entry) == (50.0, 4, 0.2)

    def test_agreement_is_measured_once_there_is_a_column_where_the_phase_has_a_study(self, page, evidence, phase, people):
        PhaseMetric.objects.create(phase=phase, slug="offset", key="corner_offset", position=9, params={})
        new, edit = "new/corner_recall/", "edit/offset/"
        study = making.live(phase, people.organizer, making.entries(phase, people), opened=False)
        for path in (new, edit):
            assert not evidence(path).has_study, "a draft asks nobody"
        campaign.open_study(study, people.organizer)
        assert evidence(new).has_study and evidence(f"{new}evidence/?param_tau=0.2").has_study
        assert f"phases/{phase.slug}/studies/" in page(edit).content.decode().partition('id="evidence"')[2]
        study.entries.update(submission=None)
        assert not evidence(new).has_study, "its entries have no values here"

    def test_an_own_metric_has_its_agreement_before_there_is_a_column(self, evidence, page, phase, people, challenge, tmp_path):
        own = programs.ready(challenge, tmp_path)
        study = making.live(phase, people.organizer, making.entries(phase, people))
        decided = {"value": 0.7, "low": 0.63, "high": 0.76, "n": 6594, "state": "shown", "reason": None, "coverage": 1.0}
        ProgramValues.objects.create(program=own, study=study, state="done", decided=decided)
        path = f"new/{own.full_key}/"
        assert [(row.study, figure["value"]) for row, figure in evidence(path).on_studies] == [(study, 0.7)]
        text = " ".join(strip_tags(page(path).content.decode()).split())
        assert f"{study.title}: 70 of 100 [63, 76], 6,594 answers" in text and ". ." not in text
        assert evidence("new/corner_recall/").on_studies == []

    def test_a_learned_metric_warns_and_is_refused_without_weights(self, evidence, monkeypatch, tmp_path):
        random_weights.learned_shelf(monkeypatch, tmp_path)
        found = evidence("new/wf_learned/")
        assert found.refusal and "metric" in found.warnings
        random_weights.put_learned(tmp_path)
        assert not evidence("new/wf_learned/").refusal

    def test_a_learned_metric_opens_on_weights_that_are_there_says_what_they_saw_and_counts_for_no_rank(
        self, evidence, phase, monkeypatch, tmp_path
    ):
        random_weights.learned_shelf(monkeypatch, tmp_path)
        form = MetricForm(registry.get("wf_learned"), {"corner_f1"})
        assert form.initial["param_weights"] == "study" and form.initial["in_ranking"] is False
        random_weights.put_learned(tmp_path)
        assert MetricForm(registry.get("wf_learned"), {"corner_f1"}).initial["param_weights"] == "drawn"
        assert "weights" in evidence("new/wf_learned/").warnings
        column = PhaseMetric.objects.create(phase=phase, slug="learned", key="wf_learned", position=9, params={"weights": "gone"})
        kept = MetricForm(
            registry.get("wf_learned"), set(), metric=MetricDef("learned", "wf_learned", "", dict(column.params), 1.0, False, True)
        )
        assert kept.initial["param_weights"] == "gone" and kept.initial["in_ranking"] is True
        assert MetricForm(registry.get("corner_f1"), set()).initial["in_ranking"] is True

    def test_other_parameters_will_be_measured(self, evidence, ships):
        ships(table("corner_f1", {}, 12))
        assert evidence("new/corner_f1/").own.is_default and evidence("new/corner_f1/").shown.count.passed == 12
        found = evidence("new/corner_f1/evidence/?param_tau=0.21&param_matching=hungarian_raw")
        assert found.own.will_be_measured and found.own.changed == {"tau": 0.21} and found.shown.count.passed == 12
        measured(passed=11)
        found = evidence("new/corner_f1/evidence/?param_tau=0.21&param_matching=hungarian_raw")
        assert found.own.tables and found.shown.count.passed == 11

    def test_the_edit_page_begins_with_the_columns_own_parameters(self, evidence, ships, phase):
        ships(table("corner_f1", {}, 12))
        PhaseMetric.objects.create(phase=phase, slug="tight", key="corner_f1", position=9, params={"tau": 0.21})
        assert evidence("edit/tight/").own.changed == {"tau": 0.21}
        for path in ("edit/tight/", "new/corner_f1/evidence/?column=tight&param_tau=0.21&param_matching=hungarian_raw"):
            assert "same_definition" not in evidence(path).warnings, path

    def test_parameters_that_cannot_be_leave_the_defaults_shown(self, evidence, ships):
        ships(table("corner_f1", {}, 12))
        for query in ("param_tau=x", "param_tau=-1", "", "param_tau=0.2&param_matching=no", "param_tau=nan&param_matching=hungarian_raw"):
            assert evidence(f"new/corner_f1/evidence/?{query}").shown.count.passed == 12, query

    def test_a_metric_of_another_family_has_none(self, desk, at, phase):
        for key in ("chamfer_l1", "nothing"):
            assert desk.get(at(f"phases/{phase.slug}/metrics/new/{key}/evidence/")).status_code == 404


class TestWarnings:
    def test_a_column_with_the_same_definition_is_named(self, phase):
        assert "Corner F1" in known(phase, "corner_f1").warnings["same_definition"]
        assert "same_definition" not in known(phase, "corner_f1", tau=0.3).warnings

    def test_half_a_metric_asks_for_the_other_half(self, phase):
        assert known(phase, "corner_recall").warnings == {}
        phase.metrics.filter(key="corner_f1").delete()
        (sentence,) = known(phase, "corner_recall").warnings.values()
        assert [title for title in ("Corner precision", "Corner F1") if title not in sentence] == []

    def test_what_a_metric_needs_of_entries_is_said(self, phase):
        assert "confidence" in known(phase, "sap3d").warnings["weakness"]
        assert "axes" in known(phase, "hss", sections=8).warnings["weakness"]

    def test_lengths_are_told_in_the_files_own_unit(self, phase):
        Phase.objects.filter(pk=phase.pk).update(unit="cm", unit_scale=0.01)
        phase.refresh_from_db()
        assert "0.5 m is 50 cm" in known(phase, "edge_f1").warnings["lengths"]
        assert "lengths" not in known(phase, "wed_mnn").warnings
        Phase.objects.filter(pk=phase.pk).update(unit="unitless", unit_scale=1.0)
        phase.refresh_from_db()
        assert "have no unit" in known(phase, "edge_f1").warnings["lengths"]

    def test_a_part_that_would_be_stopped_is_foretold(self, phase, ships, settings):
        ships(table("corner_offset", {}, 12, ms=90_000.0))
        assert "stopped" in known(phase, "corner_offset").warnings  # 4 items of 90 s, 600 s at most
        settings.CHILD_SECONDS = 10_000
        assert "6 min" in known(phase, "corner_offset").warnings["slow"]

    def test_a_metric_that_declares_its_time_is_slow_and_not_in_danger(self, phase, ships):
        ships(table("hss_exact", {}, 12, ms=500.0))
        Reference.objects.filter(phase=phase).update(bounds=[[200, 600]] * 4)
        evidence = known(phase, "hss_exact")
        assert evidence.seconds_per_entry == pytest.approx(4 * 0.6 * 20**2) and evidence.is_larger_here
        assert "16 min" in evidence.warnings["slow"] and "stopped" not in evidence.warnings

    def test_a_limit_declared_for_models_of_any_size_says_less_than_a_measurement(self, phase, ships):
        ships(table("corner_offset", {}, 12, ms=50.0))
        for effort in (Effort(1.0, 1, power=0.0), Effort(1.0, 1000, power=1.0, least=True)):
            spec = replace(registry.get("corner_offset"), effort=effort)
            evidence = MetricEvidence(spec, registry.resolve_params("corner_offset", {}), phase)
            assert (evidence.seconds_per_entry, evidence.is_larger_here) == (0.2, False)
            spec = replace(registry.get("corner_recall"), effort=effort)  # nothing of it is measured
            assert MetricEvidence(spec, registry.resolve_params("corner_recall", {}), phase).seconds_per_entry == 4.0

    def test_the_cost_of_an_entry_is_that_of_its_items(self, phase, ships):
        ships(table("corner_offset", {}, 12, ms=500.0))
        assert known(phase, "corner_offset").seconds_per_entry == 2.0


class TestWeights:
    @pytest.fixture
    def absent(self, monkeypatch, tmp_path):
        """A metric whose weights have a card and no file."""
        from evaluation.metrics.registry import Param

        found = weights.Weights("net", "big", (weights.ShippedFile("net/big", tmp_path / "big.safetensors", "0" * 64),))
        monkeypatch.setattr(weights, "get", lambda network, name: found)
        return replace(registry.get("corner_f1"), weights="net", params=(Param("weights", "big", "choice", choices=("big",)),))

    def test_a_metric_whose_weights_are_absent_is_refused_with_the_way_to_get_them(self, absent, monkeypatch):
        assert "big.safetensors" in weights.refusal(absent, {"weights": "big"})
        monkeypatch.setattr(registry, "get", lambda key: absent)
        form = MetricForm(absent, set(), {"slug": "x", "weight": "1", "param_weights": "big"})
        assert not form.is_valid() and [error.code for error in form.errors.as_data()["__all__"]] == ["no_weights"]

    def test_a_metric_without_weights_is_never_refused(self):
        assert weights.refusal(registry.get("hss"), {}) == ""

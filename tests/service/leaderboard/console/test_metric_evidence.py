"""Evidence that an organizer sees before a metric becomes a column."""

from __future__ import annotations

import re

import pytest

from evaluation.metrics import registry
from evaluation.models import PhaseMetric, Reference
from evaluation.networks import weights
from leaderboard.bundle.definition import MetricDef
from leaderboard.console.forms.metrics import MetricForm
from leaderboard.console.metric_evidence import MetricEvidence
from leaderboard.studies.live import campaign
from submissions.models import Phase
from tests.support.evaluation.networks import random_weights
from tests.support.leaderboard.property_tables import measured, table
from tests.support.leaderboard.studies.live import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(desk, at, phase):
    """`page("new/corner_f1/")`: the words of one of the phase's metric pages."""

    def read(path: str) -> str:
        response = desk.get(at(f"phases/{phase.slug}/metrics/{path}"))
        assert response.status_code == 200
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", response.content.decode())).replace("&#x27;", "'")

    return read


def known(phase, key: str, **params) -> MetricEvidence:
    return MetricEvidence(registry.get(key), registry.resolve_params(key, params), phase)


class TestPage:
    def test_it_shows_properties_failures_weaknesses_and_cost(self, page, ships):
        ships(table("corner_offset", {}, 12, ms=50.0))
        text = page("new/corner_offset/")
        assert "12 of 16 sanity tests on 128 procedural houses" in text and "Agreement with people: no study yet" in text
        assert "Tests it fails" in text and "Triangle ineq. (del1/del2)" in text and "Known blind spots" in text
        assert text.count("In the monotonicity tests the distance to the original must not fall at any step") == 1
        assert "50 ms an item × 4 items ≈ under 1 s an entry" in text

    def test_agreement_is_measured_once_there_is_a_column_where_the_phase_has_a_study(self, page, phase, people):
        PhaseMetric.objects.create(phase=phase, slug="offset", key="corner_offset", position=9, params={})
        new, edit = "new/corner_recall/", "edit/offset/"
        study = making.live(phase, people.organizer, making.entries(phase, people), opened=False)
        for path in (new, edit):
            assert "Agreement with people: no study yet" in page(path), "a draft asks nobody"
        campaign.open_study(study, people.organizer)
        assert "Agreement with people: measured once the column exists" in page(new)
        assert "Agreement with people: measured once the column exists" in page(f"{new}evidence/?param_tau=0.2")
        assert "Agreement with people: in the phase's studies" in page(edit)
        study.entries.update(submission=None)
        assert "Agreement with people: no study yet" in page(new), "its entries have no values here"

    def test_a_learned_metric_warns_and_is_refused_without_weights(self, page, monkeypatch, tmp_path):
        random_weights.learned_shelf(monkeypatch, tmp_path)
        text = page("new/wf_learned/")
        assert "Never let it decide alone" in text and "There are no weights 'study' of wf_learned; available: none." in text
        random_weights.put_learned(tmp_path)
        assert "drawn" in page("new/wf_learned/")

    def test_a_learned_metric_opens_on_weights_that_are_there_says_what_they_saw_and_counts_for_no_rank(
        self, page, phase, monkeypatch, tmp_path
    ):
        random_weights.learned_shelf(monkeypatch, tmp_path)
        form = MetricForm(registry.get("wf_learned"), {"corner_f1"})
        assert form.initial["param_weights"] == "study" and form.initial["in_ranking"] is False
        random_weights.put_learned(tmp_path)
        assert MetricForm(registry.get("wf_learned"), {"corner_f1"}).initial["param_weights"] == "drawn"
        assert "Drawn at random." in page("new/wf_learned/") and "There are no weights" not in page("new/wf_learned/")
        column = PhaseMetric.objects.create(phase=phase, slug="learned", key="wf_learned", position=9, params={"weights": "gone"})
        kept = MetricForm(
            registry.get("wf_learned"), set(), metric=MetricDef("learned", "wf_learned", "", dict(column.params), 1.0, False, True)
        )
        assert kept.initial["param_weights"] == "gone" and kept.initial["in_ranking"] is True
        assert MetricForm(registry.get("corner_f1"), set()).initial["in_ranking"] is True

    def test_without_javascript_it_is_the_default_parameters(self, page, ships):
        ships(table("corner_f1", {}, 12))
        assert "12 of 16 sanity tests" in page("new/corner_f1/") and "will be measured" not in page("new/corner_f1/")

    def test_other_parameters_say_that_they_will_be_measured(self, page, ships):
        ships(table("corner_f1", {}, 12))
        text = page("new/corner_f1/evidence/?param_tau=0.21&param_matching=hungarian_raw")
        assert "for the default parameters. Yours (tau = 0.21) will be measured in the background after saving" in text
        assert "12 of 16" in text
        measured(passed=11)
        text = page("new/corner_f1/evidence/?param_tau=0.21&param_matching=hungarian_raw")
        assert "For your parameters" in text and "11 of 16" in text

    def test_the_edit_page_begins_with_the_columns_own_parameters(self, page, ships, phase):
        ships(table("corner_f1", {}, 12))
        PhaseMetric.objects.create(phase=phase, slug="tight", key="corner_f1", position=9, params={"tau": 0.21})
        assert "tau = 0.21" in page("edit/tight/")
        assert "has this very definition" not in page("edit/tight/")
        assert "has this very definition" not in page("new/corner_f1/evidence/?column=tight&param_tau=0.21&param_matching=hungarian_raw")

    def test_parameters_that_cannot_be_leave_the_defaults_shown(self, page, ships):
        ships(table("corner_f1", {}, 12))
        for query in ("param_tau=x", "param_tau=-1", "", "param_tau=0.2&param_matching=no", "param_tau=nan&param_matching=hungarian_raw"):
            assert "12 of 16" in page(f"new/corner_f1/evidence/?{query}"), query

    def test_a_metric_of_another_family_has_none(self, desk, at, phase):
        for key in ("chamfer_l1", "nothing"):
            assert desk.get(at(f"phases/{phase.slug}/metrics/new/{key}/evidence/")).status_code == 404


class TestWarnings:
    def test_a_column_with_the_same_definition_is_named(self, phase):
        assert any("Corner F1 has this very definition" in sentence for sentence in known(phase, "corner_f1").warnings)
        assert [sentence for sentence in known(phase, "corner_f1", tau=0.3).warnings if "very definition" in sentence] == []

    def test_half_a_metric_asks_for_the_other_half(self, phase):
        assert known(phase, "corner_recall").warnings == []
        phase.metrics.filter(key="corner_f1").delete()
        assert known(phase, "corner_recall").warnings == [
            "Adding wrong corners costs nothing here, and no other column of the phase sees it: add Corner precision or Corner F1 as well."
        ]

    def test_what_a_metric_needs_of_entries_is_said(self, phase):
        assert "confidence" in " ".join(known(phase, "sap3d").warnings)
        assert "axes" in " ".join(known(phase, "hss", sections=8).warnings)

    def test_lengths_are_told_in_the_files_own_unit(self, phase):
        Phase.objects.filter(pk=phase.pk).update(unit="cm", unit_scale=0.01)
        phase.refresh_from_db()
        assert "0.5 m is 50 cm" in " ".join(known(phase, "edge_f1").warnings)
        assert [sentence for sentence in known(phase, "wed_mnn").warnings if "metres" in sentence] == []
        Phase.objects.filter(pk=phase.pk).update(unit="unitless", unit_scale=1.0)
        phase.refresh_from_db()
        assert "have no unit" in " ".join(known(phase, "edge_f1").warnings)

    def test_a_part_that_would_be_stopped_is_foretold(self, phase, ships, settings):
        ships(table("corner_offset", {}, 12, ms=90_000.0))
        assert "entries may fail" in " ".join(known(phase, "corner_offset").warnings)  # 4 items of 90 s, 600 s at most
        settings.CHILD_SECONDS = 10_000
        assert "about 6 min an entry" in " ".join(known(phase, "corner_offset").warnings)

    def test_a_metric_that_declares_its_time_is_slow_and_not_in_danger(self, phase, ships, page):
        ships(table("hss_exact", {}, 12, ms=500.0))
        Reference.objects.filter(phase=phase).update(bounds=[[200, 600]] * 4)
        evidence = known(phase, "hss_exact")
        assert evidence.seconds_per_entry == pytest.approx(4 * 0.6 * 20**2) and evidence.is_larger_here
        assert "about 16 min an entry" in " ".join(evidence.warnings) and "may fail" not in " ".join(evidence.warnings)
        assert "an entry, because this phase's models are larger than those measured" in page("new/hss_exact/")

    def test_the_cost_of_an_entry_is_that_of_its_items(self, phase, ships):
        ships(table("corner_offset", {}, 12, ms=500.0))
        assert known(phase, "corner_offset").seconds_per_entry == 2.0


class TestWeights:
    @pytest.fixture
    def absent(self, monkeypatch, tmp_path):
        """A metric whose weights have a card and no file."""
        from dataclasses import replace

        from evaluation.metrics.registry import Param

        found = weights.Weights("net", "big", (weights.ShippedFile("net/big", tmp_path / "big.safetensors", "0" * 64),))
        monkeypatch.setattr(weights, "get", lambda network, name: found)
        return replace(registry.get("corner_f1"), weights="net", params=(Param("weights", "big", "choice", choices=("big",)),))

    def test_a_metric_whose_weights_are_absent_is_refused_with_the_way_to_get_them(self, absent, monkeypatch):
        assert "put big.safetensors beside its model card" in weights.refusal(absent, {"weights": "big"})
        monkeypatch.setattr(registry, "get", lambda key: absent)
        form = MetricForm(absent, set(), {"slug": "x", "weight": "1", "param_weights": "big"})
        assert not form.is_valid() and "not on this server" in str(form.non_field_errors())

    def test_a_metric_without_weights_is_never_refused(self):
        assert weights.refusal(registry.get("hss"), {}) == ""

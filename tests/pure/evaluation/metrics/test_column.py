from dataclasses import replace

import pytest

from evaluation.metrics import registry
from evaluation.metrics.column import Column, Imported, require_computed
from evaluation.metrics.registry import OtherDefinition
from evaluation.metrics.spec import Earlier

SCORED = {"slug": "p", "key": "psnr", "params": {"cap": 50.0}, "fingerprint": "f" * 64, "weights_sha256": None}
LABELS = {"title": "PSNR", "weight": 2.0, "is_primary": True, "in_ranking": False, "position": 3}
FIGURES = {"slug": "l", "key": "", "params": {}, "fingerprint": "e" * 64, **LABELS}


@pytest.mark.parametrize(
    "kept",
    [
        SCORED | LABELS,
        FIGURES | {"imported": {"higher_is_better": False, "unit": "m", "decimals": 3}},
        FIGURES | {"imported": {"higher_is_better": True, "unit": "", "decimals": 2, "items": True}},
    ],
)
def test_what_a_batch_keeps_is_read_and_written_without_a_change(kept):
    assert list(Column.of(kept).to_dict().items()) == list(kept.items())


def test_a_job_has_the_definition_alone():
    assert Column.of(SCORED | LABELS).definition() == SCORED == Column.of(SCORED).definition()
    with pytest.raises(KeyError):
        Column.of(LABELS)


def test_a_metric_has_its_own_spec_and_an_imported_column_what_it_declares():
    assert Column.of(SCORED).spec is registry.get("psnr")
    spec = Column("l", "", {}, "e" * 64, title="LPIPS", imported=Imported(False, "m", 3, items=True)).spec
    assert (spec.title, spec.higher_is_better, spec.unit, spec.level, spec.key) == ("LPIPS", False, "m", "item", "")


class TestItsVersion:
    """As a batch keeps it: by its fingerprint, so that it is known of values from before versions were told."""

    @staticmethod
    def column(key: str, **params) -> Column:
        return Column("one", key, registry.resolve_params(key, params), registry.fingerprint(key, params))

    def newer(self, monkeypatch, key: str, **changes) -> None:
        monkeypatch.setattr(registry, "REGISTRY", {**registry.REGISTRY, key: replace(registry.get(key), **changes)})

    def test_is_found_however_many_versions_ago_it_was(self, monkeypatch):
        column, old = self.column("corner_f1", tau=0.25), registry.get("corner_f1").version
        assert column.version == old and column.is_current
        self.newer(monkeypatch, "corner_f1", version=old + 3)
        assert column.version == old and not column.is_current

    def test_does_not_hang_on_parameters_that_the_metric_has_gained(self, monkeypatch):
        column, old = self.column("corner_f1"), registry.get("corner_f1").version
        gained = registry.Param("spread", 0.0, "float", doc="New.")
        self.newer(monkeypatch, "corner_f1", version=old + 1, params=(*registry.get("corner_f1").params, gained))
        assert column.version == old

    def test_is_not_known_of_newer_code_other_parameters_or_a_metric_that_is_no_more(self, monkeypatch):
        column = self.column("corner_f1")
        assert replace(column, params={"tau": 0.1}).version is None
        assert replace(column, key="gone").version is None
        with monkeypatch.context() as newer:
            self.newer(newer, "corner_f1", version=registry.get("corner_f1").version + 1)
            later = self.column("corner_f1")
        assert later.version is None and not later.is_current

    def test_other_values_than_this_code_computes_are_refused(self, monkeypatch):
        column = self.column("corner_f1")
        require_computed([column])
        self.newer(monkeypatch, "corner_f1", version=registry.get("corner_f1").version + 1)
        with pytest.raises(OtherDefinition, match="corner_f1 is asked for in another version"):
            require_computed([column])

    def test_an_earlier_version_whose_code_is_kept_is_computed_by_that_code(self, monkeypatch):
        spec, column = registry.get("corner_f1"), self.column("corner_f1")
        old = Earlier(spec.version, spec.function, "far corners")
        self.newer(monkeypatch, "corner_f1", version=spec.version + 1, function=lambda pair, **params: None, earlier=(old,))
        require_computed([column])
        found = column.computed
        assert (found.version, found.function, column.is_current) == (spec.version, spec.function, False)
        assert self.column("corner_f1").computed.version == spec.version + 1

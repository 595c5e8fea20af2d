"""Sentences on what a model leaves out become names with their reasons."""

from __future__ import annotations

from importlib import import_module

MIGRATION = import_module("leaderboard.migrations.0048_omitted_covariates_as_data")


def test_each_wording_becomes_its_name_and_cause_and_all_else_stays():
    notes = [
        "texture is not known of everything that was compared, so no account was taken of it.",
        "The effect of the side could not be separated from the entries.",
        "size could not be told apart from the entries or from another covariate.",
        "The side has no finite effect, as where everybody chose by it alone, and was left out.",
        "A weak prior was used: some entries never lost to the others.",
    ]
    causes = [("texture", "unknown"), ("side", "inseparable"), ("size", "inseparable"), ("side", "endless")]
    before, after = (
        {"nu": 0.5, "prior": True, "notes": notes},
        {"nu": 0.5, "prior": True, "omitted": [{"name": name, "cause": cause} for name, cause in causes]},
    )
    stored, converted = ({"answers": 7, "model": one, "models": [one]} for one in (before, after))
    assert MIGRATION.analysis(stored | {"all": stored}) == MIGRATION.analysis(converted | {"all": converted}) == converted | {"all": converted}
    assert MIGRATION.analysis({"answers": 7, "model": None, "models": [], "all": None}) == {"answers": 7, "model": None, "models": [], "all": None}

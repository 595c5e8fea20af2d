"""Name the side and covariates that a stored analysis leaves out, with the reason as data, in the place of sentences. The sentence on a
prior goes: `prior` says it. The sentences are those of version 25 of the statistics, which had three wordings."""

import re

from django.db import migrations

CAUSES = {
    "inseparable": r"(?:The effect of )?(.+?) could not be (?:separated|told apart) from the entries(?: or from another covariate)?\.",
    "endless": r"(.+) has no finite effect, as where everybody chose by it alone, and was left out\.",
    "unknown": r"(.+) is not known of everything that was compared, so no account was taken of it\.",
}


def model(stored):
    """A model with what it omits; one that has it already stays."""
    if stored is None or "notes" not in stored:
        return stored
    found = [
        {"name": "side" if match[1].lower() == "the side" else match[1], "cause": cause}
        for note in stored["notes"]
        for cause, pattern in CAUSES.items()
        if (match := re.fullmatch(pattern, note))
    ]
    return {name: each for name, each in stored.items() if name != "notes"} | {"omitted": found}


def analysis(content):
    """An analysis, and the one over all entries in it, with such models."""
    found = dict(content)
    if "models" in found:
        found |= {"model": model(found["model"]), "models": [model(one) for one in found["models"]]}
    if found.get("all"):
        found["all"] = analysis(found["all"])
    return found


def convert(apps, schema_editor):
    for name in ("StudyAnalysis", "JointAnalysis"):
        rows = apps.get_model("leaderboard", name).objects.exclude(content=None)
        for pk in rows.order_by("pk").values_list("pk", flat=True):
            row = rows.filter(pk=pk)
            row.update(content=analysis(row.values_list("content", flat=True).get()))


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0047_rater_setup")]
    operations = [migrations.RunPython(convert, migrations.RunPython.noop)]

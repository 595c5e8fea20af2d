"""Give rankings format 3, which has data where format 2 had sentences.

- How the overall value of an entry came about is its ranks by the metrics, as the sentence listed them. No number changes.
- Why there is no overall rank, and what an acceptance test found, are reasons; a sentence that names anything else stays as a note.
- A ranking's digest changes with its form. Its bytes of before stay under the digest of before (`EarlierForm`).
"""

import re

from django.db import migrations

from leaderboard.migrations._forms_of_rankings import convert

PROBLEMS = {
    "an overall rank needs at least one metric": "no_metric",
    "weights must be finite, not negative, and not all zero": "weights",
}
MAY_NOT_RANK = re.compile(
    r"(.+), which decides the order here, is shown and not ranked; the organizers can choose another metric\.", re.DOTALL
)
ONE_METRIC = re.compile(r"rank (\S+) in ")
RANKS = re.compile(r"(?:(?:mean|median|weighted mean) rank of|\S+ Borda points from ranks in) \d+ metrics?: ([^()]+)")
NOT_COUNTED = "not counted; would have "
TESTS = {
    "No longer computed: its values stay and do not rank.": "retired",
    "Shown, not ranked: its weights miss requirements that their model card lists.": "weights",
    "Shown, not ranked: its values are of an older version without an acceptance test; re-evaluate the phase.": "outdated",
    "Shown, not ranked: its acceptance test could not run.": "failed",
}
RUNNING = re.compile(r"Shown, not ranked yet: its acceptance test on the phase's own references is running \((\d+) %\)\.")


def ranking(raw):
    """A ranking in format 3."""
    return {**raw, "format": 3, "metrics": [_column(one) for one in raw["metrics"]], "overall": _overall(raw["overall"])}


def _column(column):
    test = column.get("acceptance_test")
    return column if test is None else {**column, "acceptance_test": acceptance_test(test)}


def acceptance_test(stored):
    sentence = stored["sentence"]
    found = {"state": TESTS.get(sentence, stored["state"]), "id": stored.get("id"), "scenes": stored.get("scenes")}
    if running := RUNNING.fullmatch(sentence):
        found["percent"] = int(running[1])
    elif sentence not in TESTS and stored["state"] != "passed":
        found["note"] = sentence
    return found


def _overall(raw):
    found = {}
    for name, each in raw.items():
        if name == "problem":
            found[name] = problem(each)
        elif name == "explanation":
            found["ranks"] = [ranks(one) for one in each]
            found["incomplete"] = sum(one.startswith("unranked: ") for one in each)
        else:
            found[name] = each
    return found


def problem(sentence):
    """The reason why there is no overall rank; None where there is one."""
    if not sentence:
        return None
    if sentence in PROBLEMS:
        return {"reason": PROBLEMS[sentence]}
    if named := MAY_NOT_RANK.fullmatch(sentence):
        return {"reason": "may_not_rank", "title": named[1]}
    return {"reason": "earlier", "note": sentence}


def ranks(explanation):
    """An entry's ranks by the metrics of the rule; None of an entry that has no value by one of them."""
    words = explanation.removeprefix(NOT_COUNTED)
    if alone := ONE_METRIC.match(words):
        return [float(alone[1])]
    listed = RANKS.match(words)
    return None if listed is None else [float(one.partition(" × ")[0]) for one in listed[1].strip().split(", ")]


def convert_rankings(apps, schema_editor):
    convert(apps, 2, ranking)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0045_reasons_of_failures")]
    operations = [migrations.RunPython(convert_rankings, migrations.RunPython.noop)]

"""Call parts of stored records by the words of the pages, and give rankings format 2.

- A ranking's digest changes with its form. Its bytes of before stay under the digest of before (`EarlierForm`), and no number changes.
- Sentences in the place of reasons, in rankings of before November 2026, become reasons and states; the sentence stays as a note.
- Analyses of studies, summaries of rankings and standings of metrics get the names alone.
"""

from django.db import migrations

from leaderboard.migrations._forms_of_rankings import convert
from leaderboard.migrations._sentences_as_states import reason_of, with_states

PEOPLES_NAMES = {"judgements": "answers"}
STUDY_NAMES = CHALLENGE_NAMES = {"made_up": "simulated"}
COLUMN_NAMES = {"trial": "acceptance_test"}
AGREEMENT_NAMES = {"guard": "reference_point"}
NOTHING_THERE = ("seen", "tier", "of_ceiling", "p_best")  # of earlier rules; rankings of later ones held them as null
ANALYSIS_NAMES = {"duels": "entry_pairs", "camps": "rater_groups"}
JUDGE_NAMES = {"duels_with_people": "pairs_with_people"}


def renamed(content, names):
    """The same in the same order, with some keys called otherwise."""
    return {names.get(name, name): each for name, each in content.items()}


def without_nothing(content):
    return {name: each for name, each in content.items() if each is not None or name not in NOTHING_THERE}


# --- rankings


def ranking(raw):
    """A ranking in format 2."""
    noun = raw.get("resampled", "item")
    found = {
        "format": 2,
        "uncertainty": raw.get("uncertainty", 1),
        **{name: each for name, each in raw.items() if name not in ("format", "uncertainty")},
        "challenge": renamed(raw["challenge"], CHALLENGE_NAMES),
        "metrics": [_column(one) for one in raw["metrics"]],
    }
    names = {"resampled": noun, "n_resampled": raw["n_items"], "inner": "" if noun == "item" else "item"}
    found |= {name: each for name, each in names.items() if name not in raw}
    found["people"] = people(raw["people"]) if raw.get("people") else None
    return found


def _column(column):
    found = renamed(column, COLUMN_NAMES)
    if found.get("acceptance_test"):
        found["acceptance_test"] = renamed(found["acceptance_test"], {"trial": "id"})
    return found


def people(stored):
    version = stored.get("people", 1)
    if version < 2:
        stored = _first_rules(stored)
    elif version < 4:
        parts = {name: stored[name] for name in ("metrics", "band", "reason", "why") if name in stored}
        few = {pk: reason_of(words) for pk, words in (stored.get("few") or {}).items()}
        stored = {**stored, **with_states(parts)} | ({"few": few} if few else {})
        if version == 3:  # today's rules, with sentences in the place of reasons
            stored["people"] = 4
    found = renamed(stored, PEOPLES_NAMES)
    found.setdefault("band", None)
    found["study"] = renamed(found["study"], STUDY_NAMES)
    found["metrics"] = [without_nothing(renamed(line, AGREEMENT_NAMES)) for line in found["metrics"]]
    if found.get("firm"):
        found["firm"] = without_nothing(found["firm"])
    return found


def _first_rules(stored):
    """People's part by the first rules: the same numbers, under the names that come nearest."""
    nothing = {"value": None, "low": None, "high": None}
    columns = []
    for line in stored["metrics"]:
        by = {name: figure | {"raters": stored["raters"] or 0} for name, figure in line["by"].items()}
        decided = by.pop("", nothing)
        if stored["kind"] == "opinions":
            decided, by = nothing, {}
        correlations = {
            name: {"value": line["order"][old], **dict(zip(("low", "high"), line["order"].get(f"{old}_ci") or (None, None), strict=True))}
            | {"n": line["order"]["n"]}
            for name, old in (("rho", "srocc"), ("tau", "krocc"), ("r", "plcc"))
        }
        columns.append({"slug": line["slug"], "decided": decided, "groups": by, "trained": line.get("trained", ""), **correlations})
    marks = {
        slug: {pk: [one | {"value": (None, None, None)} for one in each] for pk, each in by_entry.items()}
        for slug, by_entry in stored["marks"].items()
    }
    # Of these nothing says why there is no interval, and there is a value for readers only where there is one.
    for figure in (figure for column in columns for figure in (column["decided"], *column["groups"].values())):
        figure["state"] = "too_few" if figure["low"] is None else "known"
    given = {"band": None, "left_out": [], "note": "", **stored}
    n = stored.get("n") or [0] * len(stored["value"])
    return {**given, "people": 1, "metrics": with_states(columns), "marks": marks, "n": n}


def lead(kept):
    """The summary beside a ranking."""
    found = renamed(kept, {"people_made_up": "people_simulated"})
    for name in ("parted", "turned"):
        if found.get(name):
            found[name] = renamed(found[name], STUDY_NAMES)
    return found


def convert_rankings(apps, schema_editor):
    convert(apps, 1, ranking, lead)


# --- studies and challenges of metrics


def analysis(content):
    """An analysis of a study, or of several together."""
    found = renamed(content, ANALYSIS_NAMES)
    if found.get("all"):
        found["all"] = renamed(found["all"], ANALYSIS_NAMES)
    if "judges" in found:
        found["judges"] = [renamed(one, JUDGE_NAMES) for one in found["judges"]]
    return found


def standings(content):
    """Standings of a challenge of metrics; of the rule of before, which put metrics into tiers, with what later ones hold."""
    found = dict(content)
    for half in ("public", "final"):
        rows = [renamed(row, AGREEMENT_NAMES) for row in found.get(half, [])]
        if "people" not in found:
            rows = [{"trained": "", "person": None, "standing": None} | row for row in rows]
        found[half] = rows
    return found


STORED = {
    "StudyAnalysis": {"content": analysis},
    "JointAnalysis": {"content": analysis},
    "MetricChallenge": {"standings": standings, "before_today": standings},
}


def convert_analyses(apps, schema_editor):
    for name, fields in STORED.items():
        model = apps.get_model("leaderboard", name)
        for pk in model.objects.order_by("pk").values_list("pk", flat=True):
            kept = model.objects.filter(pk=pk).values(*fields).get()
            update = {field: change(kept[field]) for field, change in fields.items() if kept[field]}
            if update:
                model.objects.filter(pk=pk).update(**update)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0041_earlier_forms_of_rankings")]
    operations = [
        migrations.RunPython(convert_rankings, migrations.RunPython.noop),
        migrations.RunPython(convert_analyses, migrations.RunPython.noop),
    ]

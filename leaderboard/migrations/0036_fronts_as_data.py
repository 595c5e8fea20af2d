"""Give places with people, and what figures of people are of, as numbers in the summaries beside rankings, which held them as words.
No number changes."""

import re

from django.db import migrations

RANGE, PLACE = re.compile(r"(\d+)–(\d+)"), re.compile(r"(\d+)(?:st|nd|rd|th)")
BASIS = re.compile(r"([\d,]+) (judgement|score|answer)s?(?: on [\d,]+ pairs)? by (?:([\d,]+) (?:person|people|raters?)|\w+ unknown)")


def place(words):
    if found := RANGE.fullmatch(words):
        return [int(found[1]), int(found[2])]
    return [int(PLACE.fullmatch(words)[1])] * 2 if words else None


def basis(words):
    found = BASIS.fullmatch(words)
    if found is None:
        return None
    n, raters = (None if number is None else int(number.replace(",", "")) for number in (found[1], found[3]))
    return {"of": "ratings" if found[2] == "score" else "votes", "n": n, "raters": raters}


def converted(lead):
    """A summary with data in the place of words; one that is so already stays."""
    found = dict(lead)
    found["top"] = [one | {"place": place(one["place"])} if isinstance(one.get("place"), str) else one for one in lead.get("top", [])]
    for name in ("parted", "turned"):
        one = lead.get(name)
        if one and isinstance(one["basis"], str):
            lines = [line | {"place": place(line["place"])} for line in one.get("lines", [])]
            given = {key: each for key, each in one.items() if key != "opinions"} | {"basis": basis(one["basis"]), "lines": lines}
            found[name] = given if given["basis"] is not None else None
    if "judgements" in found:
        n, opinions = found.pop("judgements"), found.pop("opinions", False)
        raters = next((found[name]["basis"]["raters"] for name in ("parted", "turned") if found.get(name)), None)
        found["people"] = {"of": "ratings" if opinions else "votes", "n": n, "raters": raters} if n else None
    return found


def convert(apps, schema_editor):
    model = apps.get_model("leaderboard", "Snapshot")
    kept = model.objects.defer("payload").exclude(lead={}).only("pk", "lead")
    for row in kept.iterator(chunk_size=500):
        model.objects.filter(pk=row.pk).update(lead=converted(row.lead))


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0035_states_of_figures")]
    operations = [migrations.RunPython(convert, migrations.RunPython.noop)]

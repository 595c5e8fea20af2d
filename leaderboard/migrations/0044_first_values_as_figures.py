"""Give the first entry's value as a number with its interval in the summaries beside rankings, which held it as text. The numbers are those
of the ranking."""

import json
import zlib

from django.db import migrations


def converted(lead, board):
    """A summary with the first value of its ranking; one that has it already stays."""
    if not isinstance(lead["value"], str):
        return lead
    column = next((one for one in board["metrics"] if one["is_primary"]), board["metrics"][0])
    at = next(n for n, entry in enumerate(board["entries"]) if entry["id"] == lead["id"])
    ends = [None, None] if column["n"][at] == 1 else [column["ci_low"][at], column["ci_high"][at]]
    bounds = column.get("bounds") or [None, None]
    return lead | {"value": [column["value"][at], *ends], "bounds": bounds, "decimals": column["decimals"]}


def convert(apps, schema_editor):
    model = apps.get_model("leaderboard", "Snapshot")
    for row in model.objects.exclude(lead={}).only("pk", "lead", "payload").iterator(chunk_size=100):
        model.objects.filter(pk=row.pk).update(lead=converted(row.lead, json.loads(zlib.decompress(row.payload))))


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0043_numbers_for_raters_of_files")]
    operations = [migrations.RunPython(convert, migrations.RunPython.noop)]

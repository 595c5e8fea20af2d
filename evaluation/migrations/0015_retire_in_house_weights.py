"""Note in every live batch with columns on the retired in-house weights that they are shown, not ranked, and have boards made anew."""

from django.db import migrations
from django.db.models import F

RETIRED = "plumbline-small"
NETWORKS = ("puzzlesim", "osim", "lpips_plumbline_small")
NOTE = "In-house weights retired: {} shown, not ranked."


def note(apps, schema_editor):
    Batch, Phase = apps.get_model("evaluation", "EvaluationBatch"), apps.get_model("submissions", "Phase")
    for batch in Batch.objects.filter(state__in=["current", "building"], reference__isnull=False):
        titles = [column.get("title") or column["slug"] for column in batch.metrics if _is_retired(column)]
        if not titles:
            continue
        said = NOTE.format(", ".join(titles))
        batch.reason = f"{batch.reason} {said}".strip()[:240]
        batch.save(update_fields=["reason"])
    Phase.objects.update(board_revision=F("board_revision") + 1)  # other metrics with networks rank only after a trial


def _is_retired(column):
    key = column["key"]
    return (key.startswith(NETWORKS) or key.endswith("@bbox")) and RETIRED in column["params"].values()


class Migration(migrations.Migration):

    dependencies = [
        ("evaluation", "0014_trial"),
        ("submissions", "0008_boards_by_new_rules"),
    ]

    operations = [migrations.RunPython(note, migrations.RunPython.noop)]

import json
import zlib

from django.db import migrations, models

from leaderboard.rows import lead


def fill(apps, schema_editor):
    """Rankings that were kept before tell their first entry too."""
    snapshots = apps.get_model("leaderboard", "Snapshot").objects
    for pk, payload in snapshots.values_list("pk", "payload").iterator(chunk_size=20):
        snapshots.filter(pk=pk).update(lead=lead(json.loads(zlib.decompress(bytes(payload)))))


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0002_initial")]

    operations = [
        migrations.AddField(
            model_name="snapshot",
            name="lead",
            field=models.JSONField(default=dict, help_text="Who is first, for lists of challenges; empty where nobody is."),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

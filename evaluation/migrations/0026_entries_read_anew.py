"""Keep by which version of the readers a reference was read, and what a batch scores that was read anew."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0025_clocks_of_processes"), ("submissions", "0020_reader_of_entries")]
    operations = [
        migrations.AddField("reference", "reader", models.PositiveSmallIntegerField(default=1, editable=False)),
        migrations.AddField("reference", "misread", models.JSONField(blank=True, default=list, editable=False)),
        migrations.AddField("evaluationbatch", "by_hand", models.BooleanField(default=False, editable=False)),
        migrations.AddField("evaluation", "artifact_key", models.CharField(blank=True, editable=False, max_length=255)),
    ]

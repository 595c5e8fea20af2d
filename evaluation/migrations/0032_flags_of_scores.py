"""Flags of items are kept with the scores; scores of before have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0023_cause_of_a_programs_failure")]
    operations = [migrations.AddField("score", "flags", models.JSONField(blank=True, default=dict))]

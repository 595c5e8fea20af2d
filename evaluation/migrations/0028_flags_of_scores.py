"""Flags of items are kept with the scores; scores of before have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0027_card_trouble")]
    operations = [migrations.AddField("score", "flags", models.JSONField(blank=True, default=dict))]

"""Bound what remote workers hold: parts of a token at once, the time of a lease, and how long a token waits that brought nothing."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0020_best_entries_by_scenes")]
    operations = [
        migrations.AddField("part", "due_at", models.DateTimeField(null=True)),
        migrations.AddField("part", "item_seconds", models.FloatField(default=0.0)),
        migrations.AddField("part", "progressed_at", models.DateTimeField(null=True)),
        migrations.AddField("part", "left_by", models.ManyToManyField(related_name="parts_left", to="evaluation.workertoken")),
        migrations.AddField(
            "workertoken",
            "at_once",
            models.PositiveSmallIntegerField(
                default=2,
                validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)],
            ),
        ),
        migrations.AddField("workertoken", "in_vain", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("workertoken", "waits_until", models.DateTimeField(blank=True, null=True)),
    ]

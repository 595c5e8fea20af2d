import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

STATES = [("waiting", "Being made"), ("done", "Made"), ("failed", "Failed")]


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0005_property_run_pending")]

    operations = [
        migrations.CreateModel(
            name="PictureRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(db_index=True, editable=False, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=120)),
                ("scene", models.CharField(max_length=120)),
                ("items", models.JSONField()),
                ("digest", models.CharField(max_length=64)),
                ("state", models.CharField(choices=STATES, db_index=True, default="waiting", max_length=8)),
                ("made", models.JSONField(default=dict)),
                ("n_made", models.PositiveIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=400)),
                ("failure_detail", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "evaluation",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="picture_runs", to="evaluation.evaluation"),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "constraints": [models.UniqueConstraint(fields=("evaluation", "scene"), name="pictures_once_per_scene")],
            },
        )
    ]

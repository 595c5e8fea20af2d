import django.utils.timezone
from django.db import migrations, models

STATES = [("waiting", "Being measured"), ("done", "Measured"), ("failed", "Failed")]


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0003_cost")]

    operations = [
        migrations.CreateModel(
            name="PropertyRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(db_index=True, editable=False, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=120)),
                ("fingerprint", models.CharField(max_length=64, unique=True)),
                ("key", models.CharField(max_length=63)),
                ("params", models.JSONField()),
                ("suite_version", models.PositiveSmallIntegerField()),
                ("state", models.CharField(choices=STATES, db_index=True, default="waiting", max_length=8)),
                ("outcomes", models.JSONField(default=list)),
                ("done", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
                ("passed", models.PositiveSmallIntegerField(null=True)),
                ("of", models.PositiveSmallIntegerField(null=True)),
                ("table", models.JSONField(null=True)),
                ("failure", models.CharField(blank=True, max_length=400)),
                ("failure_detail", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={"ordering": ["-created_at", "-id"]},
        ),
    ]

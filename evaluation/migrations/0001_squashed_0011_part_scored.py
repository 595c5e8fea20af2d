import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("evaluation", "0001_initial"),
        ("evaluation", "0002_initial"),
        ("evaluation", "0003_cost"),
        ("evaluation", "0004_property_runs"),
        ("evaluation", "0005_property_run_pending"),
        ("evaluation", "0006_picture_runs"),
        ("evaluation", "0007_part_lacking_since"),
        ("evaluation", "0008_results"),
        ("evaluation", "0009_reference_prompts"),
        ("evaluation", "0010_runs_lacking_since"),
        ("evaluation", "0011_part_scored"),
    ]

    initial = True

    dependencies = [
        ("submissions", "0001_squashed_0004_results"),
    ]

    operations = [
        migrations.CreateModel(
            name="PhaseMetric",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "slug",
                    models.CharField(
                        max_length=63,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[a-z0-9][a-z0-9_@-]{0,62}\\Z", "Use lower-case letters, digits, _, @ and hyphens, at most 63."
                            )
                        ],
                    ),
                ),
                ("key", models.CharField(max_length=63)),
                ("title", models.CharField(blank=True, help_text="Empty: the metric's own.", max_length=80)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("position", models.PositiveSmallIntegerField(default=0)),
                ("weight", models.FloatField(default=1.0, help_text="In the weighted rank.")),
                ("is_primary", models.BooleanField(default=False)),
                ("in_ranking", models.BooleanField(default=True, help_text="Takes part in the overall rank.")),
                ("phase", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="metrics", to="submissions.phase")),
            ],
            options={
                "ordering": ["position", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("phase", "slug"), name="metric_slug_once"),
                    models.UniqueConstraint(condition=models.Q(("is_primary", True)), fields=("phase",), name="one_primary_metric"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reference",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("key", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("item_ids", models.JSONField()),
                ("groups", models.JSONField()),
                ("bounds", models.JSONField()),
                ("note", models.CharField(blank=True, max_length=240)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "phase",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="references", to="submissions.phase"),
                ),
                ("prompts", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "ordering": ["phase", "version"],
                "constraints": [models.UniqueConstraint(fields=("phase", "version"), name="reference_version_once")],
            },
        ),
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
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Being measured"), ("done", "Measured"), ("failed", "Failed")],
                        db_index=True,
                        default="waiting",
                        max_length=8,
                    ),
                ),
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
                ("pending", models.JSONField(default=list)),
                ("lacking_since", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ResultTable",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("sha256", models.CharField(max_length=64)),
                ("file_name", models.CharField(max_length=160)),
                ("layout", models.JSONField()),
                ("opinions", models.JSONField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "phase",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="result_tables", to="submissions.phase"),
                ),
            ],
            options={
                "ordering": ["phase", "version"],
                "constraints": [models.UniqueConstraint(fields=("phase", "version"), name="result_table_version_once")],
            },
        ),
        migrations.CreateModel(
            name="EvaluationBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("metrics", models.JSONField()),
                ("unit_scale", models.FloatField(default=1.0, help_text="Metres per unit, as the phase had it.")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("building", "Being scored"),
                            ("current", "Shown on the board"),
                            ("retired", "Replaced"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="building",
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=240)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("switched_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("phase", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="batches", to="submissions.phase")),
                (
                    "reference",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="batches",
                        to="evaluation.reference",
                    ),
                ),
                (
                    "results",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="batches",
                        to="evaluation.resulttable",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "evaluation batches",
                "ordering": ["-created_at", "-id"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state", "current")), fields=("phase",), name="one_current_batch"),
                    models.UniqueConstraint(condition=models.Q(("state", "building")), fields=("phase",), name="one_building_batch"),
                    models.CheckConstraint(
                        condition=models.Q(("reference__isnull", True), ("results__isnull", True), _connector="XOR"),
                        name="batch_of_one_source",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Evaluation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("scored", "Scored here"), ("imported", "Brought from elsewhere")], default="scored", max_length=10
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Being scored"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("excluded", "Excluded"),
                            ("cancelled", "Cancelled"),
                        ],
                        db_index=True,
                        default="running",
                        max_length=10,
                    ),
                ),
                ("n_items", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("failure", models.CharField(blank=True, max_length=400)),
                ("failure_detail", models.TextField(blank=True)),
                (
                    "submission",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="evaluations", to="submissions.submission"),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="evaluations", to="evaluation.evaluationbatch"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "constraints": [models.UniqueConstraint(fields=("submission", "batch"), name="evaluated_once_per_batch")],
            },
        ),
        migrations.CreateModel(
            name="Part",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(db_index=True, editable=False, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=120)),
                ("device", models.CharField(default="cpu", max_length=8)),
                ("slugs", models.JSONField()),
                ("start", models.PositiveIntegerField()),
                ("stop", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("done", "Done"), ("failed", "Failed"), ("dropped", "Dropped")],
                        db_index=True,
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("result", models.JSONField(null=True)),
                ("failure", models.CharField(blank=True, max_length=400)),
                ("failure_detail", models.TextField(blank=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "evaluation",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="evaluation.evaluation"),
                ),
                ("seconds", models.JSONField(null=True)),
                ("lacking_since", models.DateTimeField(editable=False, null=True)),
                ("scored", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["evaluation_id", "start"],
                "indexes": [models.Index(fields=["state", "device", "evaluation_id", "start"], name="evaluation__state_ade248_idx")],
            },
        ),
        migrations.CreateModel(
            name="Score",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.CharField(max_length=63)),
                ("key", models.CharField(blank=True, max_length=63)),
                ("fingerprint", models.CharField(db_index=True, max_length=64)),
                ("value", models.FloatField(null=True)),
                ("ci_low", models.FloatField(null=True)),
                ("ci_high", models.FloatField(null=True)),
                ("n", models.PositiveIntegerField(default=0)),
                ("median", models.FloatField(null=True)),
                ("minimum", models.FloatField(null=True)),
                ("maximum", models.FloatField(null=True)),
                ("sd", models.FloatField(null=True)),
                ("n_ok", models.PositiveIntegerField(default=0)),
                ("n_missing", models.PositiveIntegerField(default=0)),
                ("n_invalid", models.PositiveIntegerField(default=0)),
                ("n_null", models.PositiveIntegerField(default=0)),
                ("extra", models.JSONField(blank=True, default=dict)),
                ("vector", models.BinaryField(null=True)),
                ("status_vector", models.BinaryField(null=True)),
                ("part_vectors", models.BinaryField(null=True)),
                (
                    "evaluation",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="scores", to="evaluation.evaluation"),
                ),
                ("cost_ms", models.FloatField(null=True)),
            ],
            options={
                "ordering": ["evaluation_id", "id"],
                "constraints": [models.UniqueConstraint(fields=("evaluation", "slug"), name="one_score_per_metric")],
            },
        ),
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
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Being made"), ("done", "Made"), ("failed", "Failed")],
                        db_index=True,
                        default="waiting",
                        max_length=8,
                    ),
                ),
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
                ("lacking_since", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "constraints": [models.UniqueConstraint(fields=("evaluation", "scene"), name="pictures_once_per_scene")],
            },
        ),
    ]

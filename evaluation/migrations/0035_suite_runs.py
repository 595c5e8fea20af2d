"""Keep sanity tests and acceptance tests in one table: an acceptance test is a run of a suite over a phase's reference."""

import django.db.models.deletion
from django.db import migrations, models

SAME = (
    "lease_token", "lease_until", "attempts", "losses", "lost", "worker", "machine", "reason", "numbers", "failure", "failure_detail", "lacking_since",
    "created_at", "finished_at", "fingerprint", "key", "params", "state", "done", "total", "seconds",
)


def unite(apps, schema_editor):
    runs = apps.get_model("evaluation", "SuiteRun")
    for row in apps.get_model("evaluation", "PropertyRun").objects.order_by("pk").iterator():
        runs.objects.create(
            **{name: getattr(row, name) for name in SAME},
            version=f"sanity/{row.suite_version}",
            rows=row.outcomes,
            at=row.pending,
            results=[row.table] if row.table else [],
            judged_at=(row.finished_at or row.created_at) if row.state == "done" else None,
        )


def drop_sanity_tests(apps, schema_editor):
    apps.get_model("evaluation", "SuiteRun").objects.filter(reference=None).delete()  # they are measured again


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0034_reasons_of_failures")]
    operations = [
        migrations.RenameModel("AcceptanceTest", "SuiteRun"),
        migrations.RenameField("SuiteRun", "scenes", "results"),
        migrations.RemoveConstraint("SuiteRun", "trial_once_per_reference"),
        migrations.AlterField(
            "SuiteRun",
            "reference",
            models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="suite_runs", to="evaluation.reference"
            ),
        ),
        migrations.AlterField("SuiteRun", "key", models.CharField(max_length=105)),
        migrations.AlterField(
            "SuiteRun",
            "state",
            models.CharField(
                choices=[("waiting", "Under way"), ("done", "Done"), ("failed", "Failed")], db_index=True, default="waiting", max_length=8
            ),
        ),
        migrations.AddConstraint(
            "SuiteRun", models.UniqueConstraint(fields=["reference", "unit_scale", "fingerprint"], name="acceptance_test_once")
        ),
        migrations.AddConstraint(
            "SuiteRun",
            models.UniqueConstraint(condition=models.Q(("reference", None)), fields=["fingerprint"], name="sanity_tests_once"),
        ),
        migrations.RunPython(unite, drop_sanity_tests),
        migrations.DeleteModel("PropertyRun"),
    ]

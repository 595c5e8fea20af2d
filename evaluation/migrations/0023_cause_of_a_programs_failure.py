"""Say of programs that cannot score whether a check found that, or the service could not check them."""

from django.db import migrations, models


def fill(apps, schema_editor):
    programs = apps.get_model("evaluation", "MetricProgram").objects
    for row in programs.filter(state="failed").only("report"):
        checked = any(not found["passed"] for found in row.report.values())
        programs.filter(pk=row.pk).update(cause="check" if checked else "service")


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0022_slices_of_program_checks")]
    operations = [
        migrations.AddField("metricprogram", "cause", models.CharField(blank=True, default="", max_length=10), preserve_default=False),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

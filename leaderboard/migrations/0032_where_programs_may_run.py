"""Say of each study whether programs of other challenges may run on it, and remove what they computed before anybody was asked."""

from django.db import migrations, models
from django.db.models import F, Q
from django.utils import timezone


def remove_forbidden(apps, schema_editor):
    values = apps.get_model("leaderboard", "ProgramValues").objects
    entered = Q(program__contest_entry__isnull=False)
    own = Q(study__phase__challenge=F("program__challenge"))
    values.filter((entered & ~Q(program__contest_entry__contest__study=F("study"))) | (~entered & ~own)).delete()


def say_when_made(apps, schema_editor):
    for row in apps.get_model("leaderboard", "MetricChallenge").objects.filter(standings__isnull=False):
        row.standings = {"without": [], **row.standings, "made": (row.standings_at or timezone.now()).isoformat()}
        row.standings_at = None  # they are made anew
        row.save(update_fields=["standings", "standings_at"])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0031_slices_of_program_values"), ("evaluation", "0023_cause_of_a_programs_failure")]
    operations = [
        migrations.AddField(
            "study",
            "runs_other_programs",
            models.BooleanField(default=False, help_text="Other challenges' metric programs may read its hidden reference."),
        ),
        migrations.AddField("programvalues", "failures", models.JSONField(blank=True, default=list)),
        migrations.AddField("metricchallenge", "before_today", models.JSONField(null=True)),
        migrations.RunPython(remove_forbidden, migrations.RunPython.noop),
        migrations.RunPython(say_when_made, migrations.RunPython.noop),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0021_seconds_before_an_answer_was_taken_back")]

    operations = [
        migrations.AddField("study", "panel_parameters", models.JSONField(default=list, blank=True)),
        migrations.AddField(
            "study",
            "completion",
            models.CharField(
                max_length=300,
                blank=True,
                default="",
                help_text="An address that begins with https:// or a code, for raters who have answered everything.",
            ),
            preserve_default=False,
        ),
        migrations.AddField("rater", "panel", models.JSONField(default=dict, blank=True)),
        migrations.AddField("rater", "panel_id", models.CharField(max_length=100, blank=True, default=""), preserve_default=False),
        migrations.AddConstraint(
            "rater",
            models.UniqueConstraint(
                fields=["study", "panel_id"], condition=models.Q(("panel_id", ""), _negated=True), name="study_rater_of_panel_once"
            ),
        ),
    ]

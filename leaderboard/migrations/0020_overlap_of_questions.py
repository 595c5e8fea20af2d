from django.db import migrations, models


class Migration(migrations.Migration):
    """Studies that there are keep the plan they were opened with: nothing common, and each question to one rater first."""

    dependencies = [("leaderboard", "0019_name_of_study_entries")]

    operations = [
        migrations.AddField("study", "common_share", models.FloatField(default=0.0)),
        migrations.AlterField(
            "study",
            "common_share",
            models.FloatField(default=0.1, help_text="This share of a rater's questions is the same for all of them."),
        ),
        migrations.AddField("study", "answers_per_question", models.PositiveSmallIntegerField(default=1)),
        migrations.AlterField(
            "study",
            "answers_per_question",
            models.PositiveSmallIntegerField(
                default=2, help_text="A question that fewer raters were asked comes before one that nobody was."
            ),
        ),
    ]

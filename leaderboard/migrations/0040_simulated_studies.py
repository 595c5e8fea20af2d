"""Name columns and a model by the words of the pages: simulated studies, answers, interim analyses."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0039_scales_of_ratings")]
    operations = [
        migrations.RenameField("study", "made_up", "simulated"),
        migrations.RenameModel("StudyLook", "InterimAnalysis"),
        migrations.RenameField("interimanalysis", "judgements", "answers"),
        migrations.AlterField(
            "rater", "withdrawn", models.PositiveIntegerField(default=0, help_text="Answers that were deleted when they left.")
        ),
        migrations.AlterField(
            "study",
            "source",
            models.CharField(blank=True, help_text="Who collected the answers, where they came from elsewhere.", max_length=400),
        ),
    ]

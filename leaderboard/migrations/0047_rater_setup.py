"""Screen and eyesight of raters under the name of `leaderboard.studies.live.rater_setup`."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0046_format_3_of_rankings")]

    operations = [
        migrations.RenameField("rater", "sight", "setup"),
        migrations.RenameField("study", "sight_questions", "setup_questions"),
    ]

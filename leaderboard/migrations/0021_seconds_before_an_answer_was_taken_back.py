from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0020_overlap_of_questions")]

    operations = [migrations.AddField("question", "seconds_before", models.FloatField(default=0.0))]

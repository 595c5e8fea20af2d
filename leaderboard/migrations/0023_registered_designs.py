from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0022_panels")]

    operations = [
        migrations.AddField(
            "study", "design_hash", models.CharField(max_length=64, blank=True, default="", editable=False), preserve_default=False
        ),
        migrations.AddField("study", "registered_at", models.DateTimeField(null=True, editable=False)),
    ]

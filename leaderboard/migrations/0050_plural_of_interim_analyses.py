"""Write the plural of interim analyses as pages do. No table changes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0049_times_of_rankings_shown_again")]

    operations = [
        migrations.AlterModelOptions(
            name="interimanalysis", options={"ordering": ["study", "number"], "verbose_name_plural": "interim analyses"}
        ),
    ]

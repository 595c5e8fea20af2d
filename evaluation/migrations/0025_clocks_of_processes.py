from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0024_write_probe_of_the_sweeper")]

    operations = [
        migrations.AddField("process", "clock_ahead", models.FloatField(default=0.0)),
    ]

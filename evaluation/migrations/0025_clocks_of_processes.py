from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0023_cause_of_a_programs_failure")]

    operations = [
        migrations.AddField("process", "clock_ahead", models.FloatField(default=0.0)),
    ]

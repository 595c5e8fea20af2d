from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0002_initial")]

    operations = [
        migrations.AddField(model_name="part", name="seconds", field=models.JSONField(null=True)),
        migrations.AddField(model_name="score", name="cost_ms", field=models.FloatField(null=True)),
    ]

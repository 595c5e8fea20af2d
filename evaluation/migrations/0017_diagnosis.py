"""Keep of each evaluation whether its entry fits the reference, in one word."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0016_metric_programs'),
    ]

    operations = [
        migrations.AddField(model_name='evaluation', name='diagnosis', field=models.CharField(blank=True, default='', editable=False, max_length=8), preserve_default=False),
        migrations.AddField(model_name='part', name='fits', field=models.JSONField(null=True)),
    ]

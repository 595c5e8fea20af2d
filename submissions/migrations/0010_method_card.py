"""Let a team say of its method where its weights are, its licence, size, hardware, run time and training data."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0009_nouns'),
    ]

    operations = [
        migrations.AddField(model_name='submission', name='weights_url', field=models.URLField(blank=True, default=''), preserve_default=False),
        migrations.AddField(model_name='submission', name='licence', field=models.CharField(blank=True, default='', max_length=80), preserve_default=False),
        migrations.AddField(model_name='submission', name='parameters', field=models.BigIntegerField(blank=True, null=True)),
        migrations.AddField(model_name='submission', name='hardware', field=models.CharField(blank=True, default='', max_length=120), preserve_default=False),
        migrations.AddField(model_name='submission', name='run_seconds', field=models.FloatField(blank=True, help_text='Of one item, on that hardware.', null=True)),
        migrations.AddField(model_name='submission', name='training_data', field=models.CharField(blank=True, default='', max_length=400), preserve_default=False),
    ]

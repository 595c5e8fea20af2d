"""Let organizers state under which licence a challenge's data are."""

from django.db import migrations, models

import submissions.models.challenge


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0013_input_boxes'),
    ]

    operations = [
        migrations.AddField(model_name='challenge', name='licence', field=models.CharField(blank=True, default='', help_text='Of the data: https://… or CC-BY-4.0.', max_length=200, validators=[submissions.models.challenge.check_licence]), preserve_default=False),
    ]

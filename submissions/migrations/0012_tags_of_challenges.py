"""Let challenges be found by tags."""

from django.db import migrations, models

import submissions.models.challenge


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0011_pages_of_people'),
    ]

    operations = [
        migrations.AddField(model_name='challenge', name='tags', field=models.JSONField(blank=True, default=list, help_text='Words to find it by: indoor, roofs.', validators=[submissions.models.challenge.check_tags])),
    ]

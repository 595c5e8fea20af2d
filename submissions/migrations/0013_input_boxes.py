"""Let a phase say what was given out for each item, and hold entries back that do not fit it until their team confirms them."""

from django.db import migrations, models

import submissions.models.phase


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0012_tags_of_challenges'),
    ]

    operations = [
        migrations.AddField(model_name='phase', name='input_boxes', field=models.TextField(blank=True, default='', help_text='What was given out for each item, see `formats.inputs`: a table as CSV.', validators=[submissions.models.phase.validate_input_boxes]), preserve_default=False),
        migrations.AddField(model_name='submission', name='awaits_confirmation', field=models.BooleanField(default=False, editable=False)),
        migrations.AddField(model_name='submission', name='is_confirmed', field=models.BooleanField(default=False, editable=False)),
    ]

"""Give each challenge the nouns of its items and of groups of them; until it says otherwise, those that pages had."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0008_boards_by_new_rules'),
    ]

    operations = [
        migrations.AddField(
            model_name='challenge',
            name='item_noun',
            field=models.CharField(default='item', help_text='Singular: house, view.', max_length=30, validators=[django.core.validators.RegexValidator('\\A[a-z](?:[a-z -]*[a-z])?\\Z', 'Write one noun in the singular, in lower-case letters, for example house.')]),
        ),
        migrations.AddField(
            model_name='challenge',
            name='unit_noun',
            field=models.CharField(default='group', help_text='Of a group of items: scene, object.', max_length=30, validators=[django.core.validators.RegexValidator('\\A[a-z](?:[a-z -]*[a-z])?\\Z', 'Write one noun in the singular, in lower-case letters, for example house.')]),
        ),
    ]

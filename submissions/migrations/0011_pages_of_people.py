"""Let people choose to have a public page."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0010_method_card'),
    ]

    operations = [
        migrations.AddField(model_name='user', name='has_page', field=models.BooleanField(default=False, help_text='Everybody may read under their user name where they take part.')),
    ]

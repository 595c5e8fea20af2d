"""Note whose fault it is that an entry failed. Of those that have failed before nobody noted it, so it counts as the service's."""

from django.db import migrations, models


def blame_the_service(apps, schema_editor):
    apps.get_model("submissions", "Submission").objects.filter(status="failed").update(fault="service")


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0016_user_names_without_at'),
    ]

    operations = [
        migrations.AddField(model_name='submission', name='fault', field=models.CharField(blank=True, choices=[('entry', "The entry's"), ('service', "The service's")], default='', editable=False, max_length=8), preserve_default=False),
        migrations.RunPython(blame_the_service, migrations.RunPython.noop),
    ]

"""Keep why an entry is on hold, in place of whether it is. Of those that wait already, the sentence of the folders tells theirs."""

from django.db import migrations, models


def say_why(apps, schema_editor):
    waiting = apps.get_model("submissions", "Submission").objects.filter(awaits_confirmation=True, status="rejected")
    for entry in waiting.only("problems"):
        folders = bool(entry.problems) and all(text.startswith("The files lie in ") for text in entry.problems)
        waiting.filter(pk=entry.pk).update(on_hold="folders" if folders else "inputs")


def say_whether(apps, schema_editor):
    apps.get_model("submissions", "Submission").objects.exclude(on_hold="").update(awaits_confirmation=True)


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0020_reader_of_entries'),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='on_hold',
            field=models.CharField(blank=True, choices=[('kind', 'many of its files hold nothing that can be scored'), ('inputs', 'it does not fit the inputs that were given out'), ('folders', 'its files lie in several folders, as those of several runs do')], default='', editable=False, max_length=8),
            preserve_default=False,
        ),
        migrations.RunPython(say_why, say_whether),
        migrations.RemoveField(model_name='submission', name='awaits_confirmation'),
    ]

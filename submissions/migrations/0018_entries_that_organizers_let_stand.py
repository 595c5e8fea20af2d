"""Let organizers have an entry stand whose team has withdrawn a later one, and rank phases with withdrawn entries anew: of those that are
decided, no entry stands that was received before one that was withdrawn afterwards."""

from django.db import migrations, models
from django.db.models import F


def rank_again(apps, schema_editor):
    withdrawn = apps.get_model("submissions", "Submission").objects.filter(withdrawn_at__isnull=False)
    apps.get_model("submissions", "Phase").objects.filter(pk__in=withdrawn.values("phase")).update(board_revision=F("board_revision") + 1)


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0017_fault_of_failed_entries'),
    ]

    operations = [
        migrations.AddField(model_name='submission', name='let_stand_at', field=models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.RunPython(rank_again, migrations.RunPython.noop),
    ]

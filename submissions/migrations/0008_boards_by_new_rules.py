"""Ask for every board anew: intervals, brackets and ranks follow other rules now. Rankings kept before stay as they were made."""

from django.db import migrations
from django.db.models import F


def rank_again(apps, schema_editor):
    apps.get_model("submissions", "Phase").objects.update(board_revision=F("board_revision") + 1)


class Migration(migrations.Migration):
    dependencies = [("submissions", "0007_losses_and_turns")]
    operations = [migrations.RunPython(rank_again, migrations.RunPython.noop)]

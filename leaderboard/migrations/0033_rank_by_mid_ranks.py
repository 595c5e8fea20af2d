"""Ask for every board anew: tests of more patterns, in the order of the groups' names, and equal entries share the mean of their places."""

from django.db import migrations
from django.db.models import F


def rank_again(apps, schema_editor):
    apps.get_model("submissions", "Phase").objects.update(board_revision=F("board_revision") + 1)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0032_where_programs_may_run"), ("submissions", "0018_entries_that_organizers_let_stand")]
    operations = [migrations.RunPython(rank_again, migrations.RunPython.noop)]

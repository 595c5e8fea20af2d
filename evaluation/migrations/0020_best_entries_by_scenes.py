"""Ask for boards with tried columns anew: of each team the entry counts that is best on the scenes by which such a column ranks."""

from django.db import migrations
from django.db.models import F


def rank_again(apps, schema_editor):
    tried = apps.get_model("evaluation", "Trial").objects.values("reference__phase")
    apps.get_model("submissions", "Phase").objects.filter(pk__in=tried, entries="best").update(board_revision=F("board_revision") + 1)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0019_sandboxes_of_workers"), ("submissions", "0014_licence_of_challenges")]
    operations = [migrations.RunPython(rank_again, migrations.RunPython.noop)]

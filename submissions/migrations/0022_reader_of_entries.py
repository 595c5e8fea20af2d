"""Keep by which version of the readers the files of an entry were read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0018_entries_that_organizers_let_stand")]
    operations = [migrations.AddField("submission", "reader", models.PositiveSmallIntegerField(default=1, editable=False))]

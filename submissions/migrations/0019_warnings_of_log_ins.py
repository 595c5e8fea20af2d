"""Keep since when passwords of an account were tried so often that its owner is to be told."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0018_entries_that_organizers_let_stand")]
    operations = [
        migrations.AddField("user", "warn_of_log_ins_at", models.DateTimeField(editable=False, null=True)),
    ]

"""Call challenges whose data and entries are invented simulated, as the pages do."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0025_scopes_of_tokens")]
    operations = [
        migrations.RenameField("challenge", "made_up", "simulated"),
        migrations.AlterField(
            "challenge", "simulated", models.BooleanField(default=False, help_text="Data and entries are invented; pages say so.")
        ),
    ]

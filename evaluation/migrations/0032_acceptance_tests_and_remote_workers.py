"""Give two models the names that pages use: acceptance tests and remote workers."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0031_items_of_result_tables")]
    operations = [
        migrations.RenameModel("Trial", "AcceptanceTest"),
        migrations.AlterField(
            "acceptancetest",
            "reference",
            models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="acceptance_tests", to="evaluation.reference"),
        ),
        migrations.RenameModel("OutsideWorker", "RemoteWorker"),
    ]

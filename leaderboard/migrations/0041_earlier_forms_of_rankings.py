"""Keep the bytes and the digest that a ranking had before its form changed."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0040_simulated_studies")]
    operations = [
        migrations.CreateModel(
            name="EarlierForm",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(db_index=True, max_length=64)),
                ("payload", models.BinaryField()),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "snapshot",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="earlier_forms", to="leaderboard.snapshot"
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
    ]

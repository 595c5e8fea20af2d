"""Index the rankings of each audience of a phase, newest first and last made first. PostgreSQL makes the indexes while pages and workers
go on reading and writing the table."""

from typing import Any

from django.db import migrations, models


class AddIndexBeside(migrations.AddIndex):
    """Make an index that does not lock its table on PostgreSQL. What an interrupted run left is removed first."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(self.index.name)}")
        schema_editor.add_index(model, self.index, concurrently=True)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("leaderboard", "0033_rank_by_mid_ranks")]
    operations = [
        AddIndexBeside("snapshot", models.Index(fields=["phase", "audience", "-revision", "-id"], name="snapshot_newest")),
        AddIndexBeside("snapshot", models.Index(fields=["phase", "audience", "-id"], name="snapshot_last_made")),
    ]

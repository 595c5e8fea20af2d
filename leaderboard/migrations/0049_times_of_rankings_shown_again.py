"""Store when an earlier ranking became the current one again. Of returns until now only the order is known: each gets the earliest time that
fits the order, which is just after the ranking before was made."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db import migrations, models


def returned(made: Iterable[tuple[int, datetime]]) -> Iterator[tuple[int, datetime]]:
    """Rankings that came back, and when at the earliest, of the (key, time of making) of all in the order in which they were last current."""
    latest = None
    for pk, at in made:
        if latest is not None and at < latest:
            yield pk, latest + timedelta(microseconds=1)
        else:
            latest = at


def store_returns(apps: Any, schema_editor: Any) -> None:
    kept = apps.get_model("leaderboard", "Snapshot").objects.using(schema_editor.connection.alias)
    rows = kept.order_by("phase", "audience", "revision", "id").values_list("phase", "audience", "pk", "created_at")
    for _, group in groupby(rows.iterator(chunk_size=2000), key=lambda row: row[:2]):
        for pk, at in list(returned(row[2:] for row in group)):
            kept.filter(pk=pk).update(again_at=[at.isoformat()])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0048_omitted_covariates_as_data")]
    operations = [
        migrations.AddField(
            "snapshot",
            "again_at",
            models.JSONField(blank=True, default=list, help_text="When it became the current ranking again, as ISO times."),
        ),
        migrations.RunPython(store_returns, migrations.RunPython.noop),
    ]

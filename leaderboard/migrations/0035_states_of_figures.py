"""Give figures of metric programs, and standings of challenges of metrics, states and reasons in the place of sentences. No number changes."""

from django.db import migrations

from leaderboard.migrations._sentences_as_states import with_states

STORED = {"ProgramValues": ("decided", "figures"), "MetricChallenge": ("standings", "before_today")}


def convert(apps, schema_editor):
    for name, fields in STORED.items():
        model = apps.get_model("leaderboard", name)
        for pk in model.objects.values_list("pk", flat=True).iterator():
            kept = model.objects.filter(pk=pk).values(*fields).get()
            model.objects.filter(pk=pk).update(**{field: with_states(content) for field, content in kept.items() if content})


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0034_index_of_the_newest_ranking")]
    operations = [migrations.RunPython(convert, migrations.RunPython.noop)]

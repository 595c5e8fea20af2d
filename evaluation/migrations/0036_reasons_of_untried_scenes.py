"""Give scenes that an acceptance test could not try a reason in the place of a sentence. No verdict changes."""

from django.db import migrations

REASONS = {
    "": None,
    "It has fewer than 4 clean views.": "clean_views",
    "It has no reference picture with what the metric needs.": "reference",
    "It has no reference picture that the metric can use.": "reference",
    "A set needs at least two reference pictures.": "set",
    "The metric has no value for any of its views.": "no_value",
    "The metric has no value for any of the references.": "no_value",
}


def verdict(stored):
    """The verdict on a scene; one that has a reason already stays."""
    if "reason" not in stored:
        return stored
    found = {name: each for name, each in stored.items() if name != "reason"}
    return found | {"untried": REASONS[stored["reason"]]}


def convert(apps, schema_editor):
    model = apps.get_model("evaluation", "SuiteRun")
    for row in model.objects.exclude(reference=None).exclude(results=[]).only("pk", "results").iterator(chunk_size=100):
        model.objects.filter(pk=row.pk).update(results=[verdict(one) for one in row.results])


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0035_suite_runs")]
    operations = [migrations.RunPython(convert, migrations.RunPython.noop)]

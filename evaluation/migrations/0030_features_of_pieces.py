from django.db import migrations


def keep_dictionary(apps, schema_editor):
    """Columns that were set up while the dictionary was the default keep it until their organizers change it."""
    metrics = apps.get_model("evaluation", "PhaseMetric")
    for metric in metrics.objects.filter(key__in=("puzzlesim_pieces", "puzzlesim_pieces@mask")):
        if "features" not in metric.params:
            metric.params["features"] = "dictionary"
            metric.save(update_fields=["params"])


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0029_other_versions_of_workers")]
    operations = [migrations.RunPython(keep_dictionary, migrations.RunPython.noop)]

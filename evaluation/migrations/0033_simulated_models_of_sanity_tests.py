"""Say of tables of sanity tests that their models are simulated under that name."""

from django.db import migrations


def convert(apps, schema_editor):
    model = apps.get_model("evaluation", "PropertyRun")
    for pk in model.objects.filter(table__isnull=False).order_by("pk").values_list("pk", flat=True):
        table = model.objects.values_list("table", flat=True).get(pk=pk)
        dataset = {"simulated" if name == "made_up" else name: each for name, each in table["dataset"].items()}
        model.objects.filter(pk=pk).update(table=table | {"dataset": dataset})


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0032_acceptance_tests_and_remote_workers")]
    operations = [migrations.RunPython(convert, migrations.RunPython.noop)]

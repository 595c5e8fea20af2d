"""Number the raters of studies that were imported, and the links by which they came, in the order of their answers: the names in the
files, and those that links were called by, are kept no longer. Simulated raters have none.

What was computed of these studies, and of several as one, holds the names too. It is computed again, and the new figures replace it.
Exports have other names from now on: weights of a network that was trained on an earlier one are not known by its digest any more, and
are treated as those of which nobody knows whether they were trained on the study.
"""

from django.db import migrations
from django.db.models import F, Min
from django.db.models.functions import Coalesce

BATCH = 1000


def number_raters(apps, schema_editor):
    Study, Rater = apps.get_model("leaderboard", "Study"), apps.get_model("leaderboard", "Rater")
    for study in Study.objects.filter(key=None, simulated=False, raters__kind="person").distinct():
        first = Coalesce(Min("votes"), Min("opinions"))
        raters = list(study.raters.filter(kind="person").annotate(first=first).order_by(F("first").asc(nulls_last=True), "id"))
        digits = len(str(len(raters)))
        # Two steps, because a file may have called another one so.
        for name in ("number {pk}", "rater {n:0{digits}}"):
            for n, rater in enumerate(raters, start=1):
                rater.name = name.format(pk=rater.pk, n=n, digits=digits)
            Rater.objects.bulk_update(raters, ["name"], batch_size=BATCH)
        links = dict.fromkeys(rater.came_by for rater in raters if rater.came_by)
        links = {name: f"link {n}" for n, name in enumerate(links, start=1)}
        for rater in raters:
            rater.came_by = links.get(rater.came_by, "")
        Rater.objects.bulk_update(raters, ["came_by"], batch_size=BATCH)
        Study.objects.filter(pk=study.pk).update(revision=F("revision") + 1)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0042_format_2_of_rankings")]
    operations = [migrations.RunPython(number_raters, migrations.RunPython.noop)]

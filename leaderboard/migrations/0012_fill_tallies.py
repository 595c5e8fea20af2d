import numpy as np
from django.db import migrations


def fill(apps, schema_editor):
    """The tallies of raters who are in the middle of a study."""
    studies, raters, tallies = (apps.get_model("leaderboard", name) for name in ("Study", "Rater", "Tally"))
    for study in studies.objects.filter(key__isnull=False):
        entries = {pk: n for n, pk in enumerate(study.entries.order_by("id").values_list("pk", flat=True))}
        samples = {pk: n for n, pk in enumerate(study.samples.order_by("order", "id").values_list("pk", flat=True))}
        keys = [criterion["key"] for criterion in study.criteria]
        main = "overall" if "overall" in keys or not keys else keys[0]
        for rater in raters.objects.filter(study=study, questions__isnull=False).distinct():
            rows = rater.questions.order_by("number").values_list("id", "left_id", "right_id", "sample_id", "repeat_of_id")
            choices = dict(rater.votes.filter(criterion=main, question__isnull=False).values_list("question_id", "choice"))
            asked, said = [], []
            for pk, left, right, sample, repeat_of in rows:
                unit = entries[left] if right is None else unit_of(entries[left], entries[right], len(entries))
                cell = unit * len(samples) + samples[sample]
                asked.append(cell if repeat_of is None else -1 - cell)
                choice = choices.get(pk)
                said.append(0 if choice is None else 2 if choice == "tie" else 1 if (choice == "left") == (left < right) else 3)
            tallies.objects.create(
                rater=rater, asked=np.array(asked, dtype="<i4").tobytes(), said=np.array(said, dtype=np.uint8).tobytes()
            )


def unit_of(one, other, entries):
    low, high = sorted((one, other))
    return low * entries - low * (low + 1) // 2 + high - low - 1


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0011_rater_tallies")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]

from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery


def fill_from_questions(apps, schema_editor):
    """Say of the answers that are there what their questions say."""
    Question = apps.get_model("leaderboard", "Question")
    asked = Question.objects.filter(pk=OuterRef("question_id"))
    number = Subquery(asked.annotate(place=F("number") + 1).values("place"))
    apps.get_model("leaderboard", "StudyVote").objects.filter(question__isnull=False).update(
        order=number, is_gold=Subquery(asked.values("is_gold"))
    )
    apps.get_model("leaderboard", "Opinion").objects.filter(question__isnull=False).update(order=number)


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0015_losses_and_turns"),
    ]

    operations = [
        migrations.AddField(
            model_name="studyvote",
            name="is_gold",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="studyvote",
            name="order",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="opinion",
            name="order",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.RunPython(fill_from_questions, migrations.RunPython.noop),
    ]

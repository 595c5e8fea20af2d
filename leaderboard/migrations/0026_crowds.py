import hashlib
import json

import django.db.models.deletion
from django.db import migrations, models
from django.utils.crypto import salted_hmac

import leaderboard.models.question

# What the design of a study was made of until now.
FIXED = (
    "kind", "question", "criteria", "plan", "questions_per_rater", "repeat_share", "gold_share", "common_share", "answers_per_question",
    "rater_skill", "covariates", "seed",
)


def carry_over(apps, schema_editor):
    """The switch of screening becomes its rule; links and panels of raters are noted; designs that are what was registered are kept."""
    Study, Rater = apps.get_model("leaderboard", "Study"), apps.get_model("leaderboard", "Rater")
    Study.objects.filter(screens_raters=True).update(screening={"others": {"r": 0.3}})
    for study in Study.objects.filter(invitations__isnull=False).distinct():
        links = study.invitations.order_by("id").values_list("id", "note")
        for number, (link, note) in enumerate(links, start=1):
            Rater.objects.filter(invitation=link).update(came_by=f"link {number}: {note}" if note else f"link {number}")
    for rater in Rater.objects.exclude(panel_id="").select_related("study__phase").iterator():
        digest = salted_hmac("rater of a panel", f"{rater.study.phase.challenge_id}:{rater.panel_id}", algorithm="sha256").hexdigest()
        Rater.objects.filter(pk=rater.pk).update(panel_hash=digest)
    looks = ("planned_looks", "planned_answers")  # in designs that were registered once studies had them
    for study in Study.objects.exclude(design_hash="").select_related("reference"):
        entries = study.entries.order_by("id").values_list("label", "artifact", "gold_kind", "gold_order")
        design = {name: getattr(study, name) for name in (*FIXED, *looks)} | {
            "format": 1,
            "reference": study.reference.sha256 if study.reference else None,
            "samples": list(study.samples.order_by("order", "id").values_list("name", flat=True)),
            "entries": [{"label": a, "made_as": b, "gold_kind": c, "gold_order": d} for a, b, c, d in entries],
        }
        for known in (design, {name: value for name, value in design.items() if name not in looks}):
            text = json.dumps(known, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            if hashlib.sha256(text.encode()).hexdigest() == study.design_hash:
                Study.objects.filter(pk=study.pk).update(design_text=text)


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0025_judge_budgets_and_keys'),
    ]

    operations = [
        migrations.AddField(
            model_name='opinion',
            name='device',
            field=models.CharField(blank=True, choices=[('mouse', 'Mouse'), ('touch', 'Touch'), ('keyboard', 'Keyboard')], max_length=8),
        ),
        migrations.AddField(
            model_name='opinion',
            name='step',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='opinion',
            name='viewport_height',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='opinion',
            name='viewport_width',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='rater',
            name='came_by',
            field=models.CharField(blank=True, max_length=140),
        ),
        migrations.AddField(
            model_name='rater',
            name='finished_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='rater',
            name='panel_hash',
            field=models.CharField(blank=True, db_index=True, max_length=64),
        ),
        migrations.AddField(
            model_name='rater',
            name='sight',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name='study',
            name='design_text',
            field=models.TextField(blank=True, editable=False),
        ),
        migrations.AddField(
            model_name='study',
            name='group_quotas',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name='study',
            name='min_width',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='study',
            name='practice_questions',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='study',
            name='refuses_raters_of',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name='study',
            name='screening',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name='study',
            name='shuffles_criteria',
            field=models.BooleanField(default=False, help_text='Each rater is asked the criteria in an order of their own.'),
        ),
        migrations.AddField(
            model_name='study',
            name='sight_questions',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name='studyvote',
            name='device',
            field=models.CharField(blank=True, choices=[('mouse', 'Mouse'), ('touch', 'Touch'), ('keyboard', 'Keyboard')], max_length=8),
        ),
        migrations.AddField(
            model_name='studyvote',
            name='step',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='studyvote',
            name='viewport_height',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='studyvote',
            name='viewport_width',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.CreateModel(
            name='PracticeQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('is_gold', models.BooleanField(default=False)),
                ('token', models.CharField(default=leaderboard.models.question.new_token, max_length=40, unique=True)),
                ('answers', models.JSONField(default=dict)),
                ('seconds', models.FloatField(null=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('left', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='leaderboard.studyentry')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='practice', to='leaderboard.rater')),
                ('right', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='leaderboard.studyentry')),
                ('sample', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='leaderboard.studysample')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='leaderboard.study')),
            ],
            options={
                'ordering': ['rater', 'number'],
                'constraints': [models.UniqueConstraint(fields=('rater', 'number'), name='practice_number_once')],
            },
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='study',
            name='screens_raters',
        ),
    ]

"""Let two teams become one, and count the tries of a team for those who leave it."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0021_why_entries_are_on_hold'),
    ]

    operations = [
        migrations.AddField(model_name='challenge', name='merge_until', field=models.DateTimeField(blank=True, help_text='From then on teams cannot merge; empty: no date.', null=True)),
        migrations.AddField(model_name='team', name='earlier_entries', field=models.ManyToManyField(blank=True, related_name='counted_for', to='submissions.submission')),
        migrations.CreateModel(
            name='FormerTeam',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveBigIntegerField(unique=True)),
                ('name', models.CharField(max_length=80)),
                ('merged_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former', to='submissions.team')),
            ],
            options={'ordering': ['merged_at']},
        ),
        migrations.CreateModel(
            name='TeamMerge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('asked', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merges_wanted', to='submissions.team')),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('asking', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merges_asked', to='submissions.team')),
            ],
            options={'ordering': ['created_at'], 'constraints': [models.UniqueConstraint(fields=('asking', 'asked'), name='merge_asked_once')]},
        ),
    ]

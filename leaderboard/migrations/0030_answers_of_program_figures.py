from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0029_figures_of_programs'),
    ]

    operations = [
        migrations.AddField(
            model_name='programvalues',
            name='made_of',
            field=models.CharField(blank=True, default='', max_length=80),
        ),
    ]

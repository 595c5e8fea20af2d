from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0023_cause_of_a_programs_failure'),
    ]

    operations = [
        migrations.AddField(
            model_name='process',
            name='card_trouble',
            field=models.TextField(blank=True, default=''),
        ),
    ]

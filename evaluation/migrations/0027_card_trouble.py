from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0026_entries_read_anew'),
    ]

    operations = [
        migrations.AddField(
            model_name='process',
            name='card_trouble',
            field=models.TextField(blank=True, default=''),
        ),
    ]

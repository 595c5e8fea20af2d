from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0004_property_runs")]

    operations = [migrations.AddField(model_name="propertyrun", name="pending", field=models.JSONField(default=list))]

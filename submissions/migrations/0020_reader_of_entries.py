"""Keep by which version of the readers the files of an entry were read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0019_warnings_of_log_ins")]
    operations = [migrations.AddField("submission", "reader", models.PositiveSmallIntegerField(default=1, editable=False))]

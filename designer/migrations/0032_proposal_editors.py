from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('designer', '0031_required_inputs'),
    ]

    operations = [
        migrations.AddField(
            model_name='proposal',
            name='editors',
            field=models.JSONField(db_default=[], default=list, editable=False),
        ),
    ]

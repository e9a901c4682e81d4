from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('designer', '0029_help_texts'),
    ]

    operations = [
        migrations.AddField(
            model_name='proposal',
            name='earlier',
            field=models.TextField(blank=True, db_default='', default='', editable=False),
        ),
    ]

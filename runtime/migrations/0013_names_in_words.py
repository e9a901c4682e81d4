from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('runtime', '0012_help_texts'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='knownnetwork',
            options={'default_permissions': (), 'verbose_name': 'known network', 'verbose_name_plural': 'known networks'},
        ),
        migrations.AlterModelOptions(
            name='refusalcount',
            options={'default_permissions': ('view', 'delete'), 'ordering': ('-last_at',), 'verbose_name': 'refused caller', 'verbose_name_plural': 'refused callers'},
        ),
    ]

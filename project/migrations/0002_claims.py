from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('project', '0001_platform_metadata'),
    ]

    operations = [
        migrations.CreateModel(
            name='Claim',
            fields=[
                ('name', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('holder', models.CharField(default='', max_length=32)),
                ('until', models.DateTimeField()),
            ],
            options={
                'db_table': 'portico_claim',
            },
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runtime', '0002_idempotency'),
    ]

    operations = [
        migrations.CreateModel(
            name='DescriptionFragment',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('content', models.BinaryField()),
                ('made', models.DateTimeField(auto_now_add=True, db_index=True)),
            ],
        ),
    ]

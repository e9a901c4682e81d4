from django.db import migrations, models


def store_blocks_as_they_are(apps, schema_editor):
    """Files are mostly compressed already: PostgreSQL need not try again, and reads slices without unpacking."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE crm_file_block ALTER COLUMN content SET STORAGE EXTERNAL")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.SmallIntegerField(primary_key=True, serialize=False)),
                ('metadata_number', models.BigIntegerField(default=0)),
                ('metadata_token', models.CharField(max_length=32)),
                ('row_version', models.BigIntegerField(default=0)),
            ],
            options={
                'db_table': 'crm_revision',
            },
        ),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('file', models.CharField(max_length=36)),
                ('number', models.IntegerField()),
                ('content', models.BinaryField()),
            ],
            options={
                'db_table': 'crm_file_block',
                'constraints': [models.UniqueConstraint(fields=('file', 'number'), name='crm_file_block_number')],
            },
        ),
        migrations.CreateModel(
            name='Definition',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=10)),
                ('name', models.CharField(max_length=128)),
                ('token', models.CharField(max_length=32)),
                ('document', models.TextField()),
            ],
            options={
                'db_table': 'crm_definition',
                'constraints': [models.UniqueConstraint(fields=('kind', 'name'), name='crm_definition_name')],
            },
        ),
        migrations.CreateModel(
            name='File',
            fields=[
                ('id', models.CharField(max_length=36, primary_key=True, serialize=False)),
                ('entity', models.CharField(max_length=128)),
                ('record', models.CharField(max_length=36)),
                ('attribute', models.CharField(max_length=128)),
                ('attached', models.BooleanField(default=False)),
                ('begun_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'crm_file',
                'indexes': [models.Index(fields=['record'], name='crm_file_record'), models.Index(condition=models.Q(('attached', False)), fields=['begun_at'], name='crm_file_unattached')],
            },
        ),
        migrations.RunPython(store_blocks_as_they_are, migrations.RunPython.noop),
    ]

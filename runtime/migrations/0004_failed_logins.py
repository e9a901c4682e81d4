import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


ADMINISTRATOR = 'Administrator'


def let_administrators_lift_locks(apps, schema_editor):
    """What groups may do is set when they are made: one that is there already would not see the new page."""
    alias = schema_editor.connection.alias
    group = apps.get_model('auth', 'Group').objects.using(alias).filter(name=ADMINISTRATOR).first()
    if group is None:
        return
    of_model, _ = apps.get_model('contenttypes', 'ContentType').objects.using(alias).get_or_create(
        app_label='runtime', model='failedlogins'
    )
    for verb in ('view', 'delete'):
        permission, _ = apps.get_model('auth', 'Permission').objects.using(alias).get_or_create(
            content_type=of_model, codename=f'{verb}_failedlogins', defaults={'name': f'Can {verb} failed logins'}
        )
        group.permissions.add(permission)


class Migration(migrations.Migration):

    dependencies = [
        ('runtime', '0003_fragments'),
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='FailedLogins',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.CharField(blank=True, max_length=254, verbose_name='account')),
                ('network', models.CharField(blank=True, max_length=49, verbose_name='network')),
                ('failures', models.PositiveIntegerField(default=0, verbose_name='failures')),
                ('since', models.DateTimeField(verbose_name='since')),
                ('last_at', models.DateTimeField(db_index=True, verbose_name='last failure')),
                ('refused_until', models.DateTimeField(blank=True, null=True, verbose_name='refused until')),
            ],
            options={
                'verbose_name': 'failed logins',
                'verbose_name_plural': 'failed logins',
                'ordering': ('-last_at',),
                'default_permissions': ('view', 'delete'),
                'constraints': [models.UniqueConstraint(fields=('account', 'network'), name='failed_logins_of')],
            },
        ),
        migrations.CreateModel(
            name='KnownNetwork',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('network', models.CharField(max_length=49)),
                ('last_at', models.DateTimeField(db_index=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('user', 'network'), name='known_network_of')],
            },
        ),
        migrations.RunPython(let_administrators_lift_locks, migrations.RunPython.noop, elidable=True),
    ]

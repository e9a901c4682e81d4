"""Callers get types. Whoever could call goes on calling: the type `user`, and services beside it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

import designer.models.endpoints
import designer.models.names

# As they are at this version of the product: a migration does not depend on what they become.
# The defaults of the database are for what release 0.2 writes while it is being replaced.
_TYPES = (
    {"name": "contact", "entity": "contact", "title": "Contact"},
    {"name": "service", "title": "Service"},
    {"name": "user", "title": "User"},
)
_UPGRADED = ["service", "user"]


def add_types(apps: Any, schema_editor: Any) -> None:
    """Those that are there from the start, and always have been: no version has added them."""
    alias = schema_editor.connection.alias
    CallerType = apps.get_model("designer", "CallerType")
    CallerType.objects.using(alias).bulk_create(CallerType(**caller_type) for caller_type in _TYPES)
    if not apps.get_model("designer", "RecordedRevision").objects.using(alias).exclude(token="").exists():
        return
    RecordedItem = apps.get_model("designer", "RecordedItem")
    RecordedItem.objects.using(alias).bulk_create(
        RecordedItem(
            collection="caller_types", key=caller_type["name"], digest=_digest(caller_type), content=caller_type, facts=None
        )
        for caller_type in _TYPES
    )


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def admit_no_types_without_a_token(apps: Any, schema_editor: Any) -> None:
    alias = schema_editor.connection.alias
    for name in ("EndpointAccess", "PathAccess"):
        model = apps.get_model("designer", name)
        model.objects.using(alias).filter(authentication_required=False).update(caller_types=[])


def let_administrators_change_types(apps: Any, schema_editor: Any) -> None:
    """What groups may do is set when they are made: one that is there already would not see the new page."""
    alias = schema_editor.connection.alias
    group = apps.get_model("auth", "Group").objects.using(alias).filter(name="Administrator").first()
    if group is None:
        return
    of_model, _ = (
        apps.get_model("contenttypes", "ContentType")
        .objects.using(alias)
        .get_or_create(app_label="designer", model="callertype")
    )
    for verb in ("view", "add", "change", "delete"):
        permission, _ = (
            apps.get_model("auth", "Permission")
            .objects.using(alias)
            .get_or_create(
                content_type=of_model,
                codename=f"{verb}_callertype",
                defaults={"name": f"Can {verb} caller type"},
            )
        )
        group.permissions.add(permission)


class Migration(migrations.Migration):
    dependencies = [
        ("designer", "0009_create_outside_rule"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.CreateModel(
            name="CallerType",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="As expressions read it in user.type.",
                        max_length=63,
                        unique=True,
                        validators=[designer.models.names.caller_type_name],
                    ),
                ),
                (
                    "entity",
                    models.CharField(
                        blank=True,
                        help_text="The entity of the callers' records. Empty: callers of this type have no record.",
                        max_length=128,
                    ),
                ),
                ("title", models.CharField(blank=True, help_text="What people call it.", max_length=200)),
                ("description", models.TextField(blank=True, help_text="Who these callers are.")),
            ],
            options={
                "verbose_name": "caller type",
                "verbose_name_plural": "caller types",
                "ordering": ("name",),
            },
        ),
        migrations.RunPython(add_types, migrations.RunPython.noop),
        migrations.AddField(
            model_name="userproperty",
            name="caller_type",
            field=models.ForeignKey(
                db_default="user",
                default="user",
                help_text="Which callers have it.",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="properties",
                to="designer.callertype",
                to_field="name",
                verbose_name="caller type",
            ),
        ),
        migrations.AlterField(
            model_name="userproperty",
            name="name",
            field=models.CharField(help_text="Its name; “@user.name” in endpoints.", max_length=100),
        ),
        migrations.AlterField(
            model_name="userproperty",
            name="attribute",
            field=models.CharField(
                blank=True, help_text="For a field: the attribute of the caller's record.", max_length=128
            ),
        ),
        migrations.AddConstraint(
            model_name="userproperty",
            constraint=models.UniqueConstraint(
                fields=("caller_type", "name"),
                name="designer_userproperty_name",
                violation_error_message="The caller type has a user property with this name already.",
            ),
        ),
        # Of endpoints that are there; new ones begin with less.
        migrations.AddField(
            model_name="endpoint",
            name="caller_types",
            field=models.JSONField(
                db_default=_UPGRADED,
                default=_UPGRADED.copy,
                help_text="Which types of caller it admits. Roles are looked at afterwards.",
            ),
        ),
        migrations.AlterField(
            model_name="endpoint",
            name="caller_types",
            field=models.JSONField(
                db_default=_UPGRADED,
                default=designer.models.endpoints.admitted,
                help_text="Which types of caller it admits. Roles are looked at afterwards.",
            ),
        ),
        *(
            operation
            for name in ("endpointaccess", "pathaccess")
            for operation in (
                migrations.AddField(
                    model_name=name,
                    name="caller_types",
                    field=models.JSONField(db_default=_UPGRADED, default=_UPGRADED.copy),
                ),
                migrations.AlterField(
                    model_name=name,
                    name="caller_types",
                    field=models.JSONField(db_default=_UPGRADED, default=list),
                ),
            )
        ),
        migrations.RunPython(admit_no_types_without_a_token, migrations.RunPython.noop),
        migrations.RunPython(let_administrators_change_types, migrations.RunPython.noop),
    ]

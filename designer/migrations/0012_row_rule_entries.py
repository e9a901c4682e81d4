"""A row rule becomes a list of entries by role. The one filter that there was is everyone's entry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def make_entries(apps: Any, schema_editor: Any) -> None:
    """Rows, and what versions have recorded of them: no version has changed a rule by this."""
    alias = schema_editor.connection.alias
    exposed = apps.get_model("designer", "ExposedEntity").objects.using(alias).exclude(row_rule="")
    entries = apps.get_model("designer", "RowRuleEntry").objects.using(alias)
    ruled = set()
    for row in exposed.iterator():
        if row.row_rule.strip():
            entries.create(exposed_id=row.pk, filter=row.row_rule)
            ruled.add(row.pk)
    for item in apps.get_model("designer", "RecordedItem").objects.using(alias).filter(collection="entities"):
        content = _with_entries(item.content)
        if content != item.content:
            item.content, item.digest = content, _digest(content)
            item.save(update_fields=["content", "digest"])
    for change in apps.get_model("designer", "ItemChange").objects.using(alias).filter(collection="entities"):
        change.before, change.after = _with_entries(change.before), _with_entries(change.after)
        change.save(update_fields=["before", "after"])
    _remember(apps, alias, ruled)


def _remember(apps: Any, alias: str, ruled: set[int]) -> None:
    """Of what is enabled, whether a rule narrows what all callers reach: ending that is a publisher's."""
    endpoints = apps.get_model("designer", "Endpoint").objects.using(alias).filter(enabled=True)
    accesses = apps.get_model("designer", "EndpointAccess").objects.using(alias)
    for id, entity in endpoints.values_list("id", "entity_id").iterator():
        accesses.filter(endpoint=id).update(reaches_all_records=entity not in ruled)


def take_back(apps: Any, schema_editor: Any) -> None:
    """The filter of everyone, where that is all that there is. Raises where it is not."""
    alias = schema_editor.connection.alias
    entries = apps.get_model("designer", "RowRuleEntry").objects.using(alias)
    for row in apps.get_model("designer", "ExposedEntity").objects.using(alias).all():
        own = list(entries.filter(exposed_id=row.pk))
        if any(entry.all_records or entry.roles.exists() for entry in own) or len(own) > 1:
            raise ValueError(f"the row rule of {row.entity} has entries by role: remove these first")
        row.row_rule = own[0].filter if own else ""
        row.save(update_fields=["row_rule"])


def _with_entries(content: Any) -> Any:
    if not isinstance(content, dict) or not isinstance(content.get("row_rule"), str):
        return content
    rule = content["row_rule"]
    rest = {name: value for name, value in content.items() if name != "row_rule"}
    return {**rest, "row_rule": [{"filter": rule}]} if rule.strip() else rest


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _access_fields() -> Iterator[migrations.AddField]:
    for model in ("endpointaccess", "pathaccess"):
        yield migrations.AddField(
            model_name=model,
            name="reaches_all_records",
            field=models.BooleanField(default=None, null=True),
        )


class Migration(migrations.Migration):
    dependencies = [("designer", "0011_provider_accounts")]

    operations = [
        *_access_fields(),
        migrations.AddField(
            model_name="endpoint",
            name="acknowledgements",
            field=models.JSONField(blank=True, db_default=[], default=list, editable=False),
        ),
        migrations.CreateModel(
            name="RowRuleEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "filter",
                    models.TextField(
                        blank=True, help_text="The records that these callers reach: a FetchXML filter."
                    ),
                ),
                (
                    "all_records",
                    models.BooleanField(
                        default=False,
                        help_text="These callers reach every record. Leave the filter empty then.",
                    ),
                ),
                (
                    "exposed",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        # “row_rule” is still the field of the filter that there was.
                        related_name="+",
                        to="designer.exposedentity",
                    ),
                ),
            ],
            options={"ordering": ("id",), "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="RowRuleRole",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="designer.rowruleentry",
                    ),
                ),
                (
                    "role",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="designer.role",
                    ),
                ),
            ],
            options={"db_table": "designer_rowruleentry_roles", "default_permissions": ()},
        ),
        migrations.AddField(
            model_name="rowruleentry",
            name="roles",
            field=models.ManyToManyField(
                blank=True,
                help_text=(
                    "Callers with any one of these. None chosen: everyone, also callers without a token."
                ),
                related_name="+",
                through="designer.RowRuleRole",
                to="designer.role",
            ),
        ),
        migrations.AddConstraint(
            model_name="rowrulerole",
            constraint=models.UniqueConstraint(fields=("entry", "role"), name="designer_row_rule_role"),
        ),
        migrations.RunPython(make_entries, take_back),
    ]

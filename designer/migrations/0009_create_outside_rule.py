"""Creates did not heed row rules. Where there is one, they go on so, and the dashboard says it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db import migrations, models

_SETTING = "may_create_outside_rule"


def keep_creating(apps: Any, schema_editor: Any) -> None:
    """Set the setting in rows, and in what versions have recorded of them: no version has changed it."""
    alias = schema_editor.connection.alias
    keys = set()
    for endpoint in _creates(apps, alias):
        endpoint.settings = {**endpoint.settings, _SETTING: True}
        endpoint.save(update_fields=["settings"])
        keys.add(_key(endpoint))
        if endpoint.enabled:
            _remember(apps, alias, endpoint)
    for item in _recorded(apps, alias, "RecordedItem", keys):
        item.content = _with_setting(item.content)
        item.digest = _digest(item.content)
        item.save(update_fields=["content", "digest"])
    for change in _recorded(apps, alias, "ItemChange", keys):
        change.before, change.after = _with_setting(change.before), _with_setting(change.after)
        change.save(update_fields=["before", "after"])


def _creates(apps: Any, alias: str) -> list[Any]:
    """Those under a row rule: the entity's, their own, or perhaps that of the records in a list."""
    ruled = apps.get_model("designer", "ExposedEntity").objects.using(alias).exclude(row_rule="")
    entities = set(ruled.values_list("id", flat=True))
    modules = set(ruled.values_list("module_id", flat=True))
    lists = apps.get_model("designer", "Input").objects.using(alias).filter(type="List")
    with_lists = set(lists.values_list("endpoint_id", flat=True))
    creates = apps.get_model("designer", "Endpoint").objects.using(alias).filter(kind="create")
    return [
        endpoint
        for endpoint in creates.select_related("entity__module")
        if isinstance(endpoint.settings, dict)
        and endpoint.entity is not None
        and (
            endpoint.entity_id in entities
            or endpoint.row_rule
            or (endpoint.id in with_lists and endpoint.entity.module_id in modules)
        )
    ]


def _remember(apps: Any, alias: str, endpoint: Any) -> None:
    """What was enabled so stays a designer's to save."""
    segment = endpoint.segment or endpoint.entity.segment
    paths = (
        apps.get_model("designer", "PathAccess")
        .objects.using(alias)
        .filter(method="POST", path=f"/api/{endpoint.entity.module.segment}/{segment}")
    )
    endpoints = apps.get_model("designer", "EndpointAccess").objects.using(alias).filter(endpoint=endpoint.pk)
    for rows in (paths, endpoints):
        rows.update(creates_outside_row_rule=True)


def _key(endpoint: Any) -> str:
    places = (endpoint.entity.module.segment, endpoint.entity.segment, endpoint.segment, endpoint.kind)
    return ".".join(part for part in (*places, endpoint.name) if part)


def _recorded(apps: Any, alias: str, model: str, keys: set[str]) -> Iterator[Any]:
    for key in sorted(keys):
        yield from (
            apps.get_model("designer", model).objects.using(alias).filter(collection="endpoints", key=key)
        )


def _with_setting(content: Any) -> Any:
    if not isinstance(content, dict):
        return content
    return {**content, "settings": {**content.get("settings", {}), _SETTING: True}}


def _digest(content: Any) -> str:
    text = json.dumps(_plain(content), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Numbers as documents have them, of which digests are made."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


class Migration(migrations.Migration):
    dependencies = [("designer", "0008_audit_actions")]

    operations = [
        migrations.AddField(
            model_name="endpointaccess",
            name="creates_outside_row_rule",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="pathaccess",
            name="creates_outside_row_rule",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(keep_creating, migrations.RunPython.noop),
    ]

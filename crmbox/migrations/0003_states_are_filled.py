"""Releases up to 0.2 let the state of imported entities be emptied. Such records get the state of their status."""

import json
import secrets

from django.db import migrations


def fill_states(apps, schema_editor):
    """Let no state be emptied any more, and fill those that are empty."""
    alias = schema_editor.connection.alias
    definitions = apps.get_model("crm", "Definition").objects.using(alias)
    token = secrets.token_hex(16)
    is_changed = False
    for row in definitions.filter(kind="entity", document__contains='"State"'):
        document = json.loads(row.document)
        items = {item["attribute"]["logical_name"]: item for item in document["attributes"]}
        state, status = items.get("statecode"), items.get("statuscode")
        if state is None or state["attribute"]["type"] != "State" or status is None:
            continue
        if state["attribute"].get("required") == "SystemRequired":
            continue
        state["attribute"]["required"] = "SystemRequired"
        row.document, row.token = json.dumps(document, ensure_ascii=False), token
        row.save(update_fields=["document", "token"])
        is_changed = True
        if not document.get("is_view"):
            _fill(apps, schema_editor, document["table"], state, status, items.get("versionnumber"))
    if is_changed:
        [revision] = apps.get_model("crm", "Revision").objects.using(alias).filter(id=1)
        revision.metadata_number += 1
        revision.metadata_token = token
        revision.save(update_fields=["metadata_number", "metadata_token"])


def _fill(apps, schema_editor, table, state, status, version):
    """Write the state that each status belongs to. Whoever holds such a record sees by its version that it is
    another one now.
    """
    quote = schema_editor.connection.ops.quote_name
    state_column, status_column = quote(state["column"]), quote(status["column"])
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {quote(table)} WHERE {state_column} IS NULL LIMIT 1")
        if cursor.fetchone() is None:
            return
        changes, values = [f"{state_column} = %s"], []
        if version is not None:
            [revision] = apps.get_model("crm", "Revision").objects.using(cursor.db.alias).filter(id=1)
            revision.row_version += 1
            revision.save(update_fields=["row_version"])
            changes.append(f"{quote(version['column'])} = %s")
            values.append(revision.row_version)
        for option in status["attribute"]["options"]["options"]:
            cursor.execute(
                f"UPDATE {quote(table)} SET {', '.join(changes)} "
                f"WHERE {state_column} IS NULL AND {status_column} = %s",
                [option["state"], *values, option["value"]],
            )


class Migration(migrations.Migration):

    dependencies = [
        ("crm", "0002_deletions"),
    ]

    operations = [
        migrations.RunPython(fill_states, migrations.RunPython.noop),
    ]

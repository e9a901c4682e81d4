"""The entity sets of two many-to-many relationships get the names that they have in Dataverse.

Only addresses of the CRM server name them. Tables, columns and records stay as they are.
"""

import json
import secrets

from django.db import migrations

# The entity, with the name that releases up to 0.2 gave to its set, and that of Dataverse.
NAMES = {
    "teammembership": ("teammembership_set", "teammemberships"),
    "systemuserroles": ("systemuserroles", "systemuserrolescollection"),
}


def rename_sets(apps, schema_editor):
    """Rename the sets that have their old names, where no other entity has the new one."""
    alias = schema_editor.connection.alias
    definitions = apps.get_model("crm", "Definition").objects.using(alias).filter(kind="entity")
    token = secrets.token_hex(16)
    is_changed = False
    for row in definitions.filter(name__in=NAMES):
        before, after = NAMES[row.name]
        document = json.loads(row.document)
        is_taken = definitions.filter(document__contains=f'"{after}"').exists()
        if document["entity"]["entity_set"] != before or is_taken:
            continue
        document["entity"]["entity_set"] = after
        row.document, row.token = json.dumps(document, ensure_ascii=False, separators=(",", ":")), token
        row.save(update_fields=["document", "token"])
        is_changed = True
    if is_changed:
        [revision] = apps.get_model("crm", "Revision").objects.using(alias).filter(id=1)
        revision.metadata_number += 1
        revision.metadata_token = token
        revision.save(update_fields=["metadata_number", "metadata_token"])


class Migration(migrations.Migration):

    dependencies = [
        ("crm", "0003_states_are_filled"),
    ]

    operations = [
        migrations.RunPython(rename_sets, migrations.RunPython.noop),
    ]

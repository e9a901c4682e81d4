"""The single filter of a row rule goes, now that it is an entry. Its column stays, with what it held.

Release 0.2 reads the column while it is being replaced. What its studio would change there would be lost, so
PostgreSQL refuses that; two releases at once work on no other database. A later release drops the column.
"""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

_FUNCTION = "designer_row_rules_are_entries"
_REFUSE = f"""
CREATE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION 'row rules are changed in the new release' USING ERRCODE = 'integrity_constraint_violation';
END
$body$;
CREATE TRIGGER {_FUNCTION}_insert BEFORE INSERT ON designer_exposedentity
    FOR EACH ROW WHEN (NEW.row_rule <> '') EXECUTE FUNCTION {_FUNCTION}();
CREATE TRIGGER {_FUNCTION}_update BEFORE UPDATE ON designer_exposedentity
    FOR EACH ROW WHEN (NEW.row_rule <> OLD.row_rule) EXECUTE FUNCTION {_FUNCTION}();
"""


def refuse_changes(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(_REFUSE)


def allow_changes(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP FUNCTION {_FUNCTION}() CASCADE")


class Migration(migrations.Migration):
    dependencies = [("designer", "0012_row_rule_entries")]

    operations = [
        migrations.AlterField(
            model_name="exposedentity", name="row_rule", field=models.TextField(blank=True, db_default="")
        ),
        migrations.RunPython(refuse_changes, allow_changes),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField(model_name="exposedentity", name="row_rule")]
        ),
        migrations.AlterField(
            model_name="rowruleentry",
            name="exposed",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="row_rule",
                to="designer.exposedentity",
            ),
        ),
    ]

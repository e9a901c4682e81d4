"""Row rules of exposed entities, as tests write them."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import StateApps

from designer.models import ExposedEntity, Role, RowRuleEntry


def ruled(exposed: ExposedEntity, filter: str = "", *roles: str) -> RowRuleEntry:
    """Add an entry for callers with any of `roles`, or everyone. Without a filter, of all records."""
    entry: RowRuleEntry = RowRuleEntry.objects.create(exposed=exposed, filter=filter, all_records=not filter)
    entry.roles.set(Role.objects.filter(name__in=roles))
    return entry


def only_rule(filter: str, *, segment: str = "accounts", module: str = "") -> None:
    """Make `filter` everyone's, and all of the rule, of the entities exposed as `segment`; empty: no rule."""
    exposed = ExposedEntity.objects.filter(segment=segment)
    if module:
        exposed = exposed.filter(module__segment=module)
    RowRuleEntry.objects.filter(exposed__in=exposed).delete()
    for row in exposed if filter else ():
        ruled(row, filter)


def by_roles(entries: Collection[tuple[str, Collection[str]]], *, segment: str = "accounts") -> None:
    """Make `entries`, filters with their roles, all of the rule of the entities exposed as `segment`."""
    RowRuleEntry.objects.filter(exposed__segment=segment).delete()
    for exposed in ExposedEntity.objects.filter(segment=segment):
        for filter, roles in entries:
            ruled(exposed, filter, *roles)


def schema_before_entries(name: str) -> StateApps:
    """The models as migration `name` had them: a row rule was one filter, here that of everyone's entry."""
    if connection.vendor == "postgresql":
        # The column is still there, and refuses what nobody would read any more.
        refusing = "designer_row_rules_are_entries_update"
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(f"ALTER TABLE designer_exposedentity DISABLE TRIGGER {refusing}")
    models: StateApps = MigrationLoader(connection).project_state(("designer", name)).apps
    for entry in RowRuleEntry.objects.all():
        models.get_model("designer", "ExposedEntity").objects.filter(pk=entry.exposed_id).update(
            row_rule=entry.filter
        )
    return models

"""Installs the system entities, the root business unit and the service user, any number of times."""

from __future__ import annotations

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from crmbox.engine.connection import read_unit, write_unit
from crmbox.engine.identities import ROOT_BUSINESS_UNIT, SERVICE_USER
from crmbox.engine.names import quote
from crmbox.engine.revision import INSERT_REVISION, new_token
from crmbox.metadata import Change, change
from crmbox.records.create import create
from crmbox.system.entities import ENTITIES, MANY_TO_MANY
from crmclient.values import Guid, Reference, Values


def install(alias: str = DEFAULT_DB_ALIAS) -> None:
    """Add the system's entities and records that are missing in the database `alias`.

    The records are the root business unit and the user that the service acts as. Changes that an
    administrator has made stay.
    """
    with connections[alias].cursor() as cursor:
        # The one row with the metadata's revision, which each change of them raises. One that exists stays.
        cursor.execute(INSERT_REVISION, [new_token()])
    with change(alias) as metadata:
        _install_entities(metadata)
    _install_record(alias, "businessunit", ROOT_BUSINESS_UNIT, {"name": "Organization"})
    _install_record(
        alias,
        "systemuser",
        SERVICE_USER,
        {
            "firstname": "Portico",
            "lastname": "Service",
            "businessunitid": Reference("businessunit", ROOT_BUSINESS_UNIT),
        },
    )


def install_after_migrate(*, using: str, plan: object = (), **_: Any) -> None:
    """Install after migrations, unless they were taken back and the engine's tables are missing."""
    if "crm_definition" in connections[using].introspection.table_names():
        install(using)


def _install_entities(metadata: Change) -> None:
    """Create the system's entities and relationships that are missing, and the attributes that they lack."""
    for system in ENTITIES:
        name = system.entity.logical_name
        if name not in metadata.snapshot:
            metadata.create_entity(
                system.entity,
                system.attributes,
                system.relationships,
                ownership=system.ownership,
                has_states=False,
                extras=system.extras,
                is_view=system.is_view,
            )
            continue
        if system.is_view and not metadata.snapshot.entity(name).definition.is_view:
            # An import has made a table of it.
            continue
        present = metadata.snapshot.entity(name).columns
        missing = [a for a in system.attributes if a.logical_name not in present]
        if missing:
            added = {attribute.logical_name for attribute in missing}
            relationships = [r for r in system.relationships if r.referencing_attribute in added]
            metadata.create_attributes(name, missing, relationships, extras=system.extras)
    for relationship, entity_set in MANY_TO_MANY.items():
        if relationship.intersect and relationship.intersect not in metadata.snapshot:
            metadata.create_many_to_many(relationship, entity_set=entity_set)


def _install_record(alias: str, entity: str, id: Guid, values: Values) -> None:
    """Create a record with the id `id`, unless it exists."""
    with read_unit(alias) as unit:
        stored = unit.snapshot.entity(entity)
        rows = unit.rows(
            f"SELECT 1 FROM {quote(stored.table)} "
            f"WHERE {quote(stored.id_column.name)} = {unit.dialect.placeholder}",
            (id,),
        )
    if not rows:
        with write_unit(alias) as unit:
            create(unit, entity, values, id=id)

"""One change of the metadata: definitions, tables and revision in one transaction, under the revision's
lock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace as changed

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from crmbox.engine.connection import Unit, WriteUnit, write_unit
from crmbox.engine.definitions import Ownership
from crmbox.engine.encoding import decode_options
from crmbox.engine.failures import NotUnique
from crmbox.engine.names import quote
from crmbox.engine.revision import RAISE_METADATA, new_token
from crmbox.engine.snapshot import Snapshot
from crmbox.metadata import alterations, new_definitions, removals
from crmbox.metadata.activities import attach_activities
from crmbox.metadata.draft import Draft, OptionCheck
from crmbox.metadata.party_lists import attach_parties
from crmbox.metadata.physical_columns import NO_EXTRAS, Extras
from crmclient.errors import InvalidDefinition, UnknownOptionSet
from crmclient.metadata import AlternateKey, Attribute, Entity, OptionSet, Relationship

NOTES, REGARDING = "annotation", "objectid"

# `{0}` is the dialect's placeholder.
_PUT = (
    "INSERT INTO crm_definition (kind, name, token, document) VALUES ({0}, {0}, {0}, {0}) "
    "ON CONFLICT (kind, name) DO UPDATE SET token = excluded.token, document = excluded.document"
)
_REMOVE = "DELETE FROM crm_definition WHERE kind = {0} AND name = {0}"


class Change:
    """The changes that can be made to the metadata. All of them happen when the block ends well, or none.

    Definitions may refer to one another in any order: they are checked together, at the end. Every method
    raises InvalidDefinition, UnknownEntity or UnknownOptionSet.
    """

    def __init__(self, unit: WriteUnit) -> None:
        self._unit = unit
        self._draft = Draft(unit.snapshot, connections[unit.alias].introspection.table_names())

    @property
    def snapshot(self) -> Snapshot:
        """The metadata before the change."""
        return self._unit.snapshot

    def create_entity(
        self,
        entity: Entity,
        attributes: Sequence[Attribute] = (),
        relationships: Sequence[Relationship] = (),
        *,
        ownership: Ownership = Ownership.USER,
        has_states: bool = True,
        extras: Extras = NO_EXTRAS,
        is_view: bool = False,
    ) -> None:
        """Create an entity with its table, keys and attributes, and those that every entity has.

        A lookup that no relationship describes gets a plain one, whose delete only removes the link. `extras`
        are the store's own settings of attributes, such as default values. `is_view`: the entity shows the
        records of others, and has an SQL view in place of a table.
        """
        new_definitions.create_entity(
            self._draft,
            entity,
            attributes,
            relationships,
            ownership=ownership,
            has_states=has_states,
            extras=extras,
            is_view=is_view,
        )

    def create_attributes(
        self,
        entity: str,
        attributes: Sequence[Attribute],
        relationships: Sequence[Relationship] = (),
        *,
        extras: Extras = NO_EXTRAS,
    ) -> None:
        """Add attributes to an entity, with their columns and indexes. `relationships` are of new lookups."""
        new_definitions.create_attributes(self._draft, entity, attributes, relationships, extras)

    def create_many_to_many(
        self, relationship: Relationship, *, custom: bool = False, entity_set: str = ""
    ) -> None:
        """Create a many-to-many relationship. Only a `custom` one can be deleted again.

        `entity_set` is the name of the set of its pairs; empty: a name of the usual form.
        """
        new_definitions.create_many_to_many(self._draft, relationship, custom=custom, entity_set=entity_set)

    def create_option_set(self, option_set: OptionSet) -> None:
        """Create a global option set."""
        if option_set.name in self._draft.option_sets:
            raise InvalidDefinition(f"The option set {option_set.name!r} exists already.")
        self._draft.put_option_set(option_set)

    def alter_entity(self, entity: Entity) -> None:
        alterations.alter_entity(self._draft, entity)

    def alter_attribute(self, entity: str, attribute: Attribute) -> None:
        """Change labels, limits and options, and add targets. The type stays."""
        alterations.alter_attribute(self._draft, entity, attribute)

    def alter_indexes(self, entity: str, attribute: str, *, indexed: bool, searched: bool) -> None:
        """Add or remove the index to filter and sort by, and the one that finds pieces of the text."""
        alterations.alter_indexes(self._draft, entity, attribute, indexed=indexed, searched=searched)

    def alter_option_set(self, option_set: OptionSet) -> None:
        if option_set.name not in self._draft.option_sets:
            raise UnknownOptionSet(option_set.name)
        self._draft.put_option_set(option_set)

    def alter_relationship(self, relationship: Relationship) -> None:
        alterations.alter_relationship(self._draft, relationship)

    def create_key(self, entity: str, key: AlternateKey) -> None:
        described = self._draft.entity(entity).entity
        self.alter_entity(changed(described, keys=(*described.keys, key)))

    def delete_key(self, entity: str, name: str) -> None:
        described = self._draft.entity(entity).entity
        self.alter_entity(changed(described, keys=tuple(key for key in described.keys if key.name != name)))

    def delete_attribute(self, entity: str, name: str) -> None:
        item = self._draft.attribute(entity, name)
        holds_values = bool(item.column) and self._holds(entity, f"{quote(item.column)} IS NOT NULL")
        # Values of attributes that are no files do not keep an attribute from being deleted.
        removals.delete_attribute(self._draft, entity, name, holds_files=holds_values)

    def delete_entity(self, name: str) -> None:
        removals.delete_entity(self._draft, name, is_empty=not self._holds(name, "1 = 1"))

    def delete_option_set(self, name: str) -> None:
        removals.delete_option_set(self._draft, name)

    def carry_out(self) -> None:
        """Complete and check the changes, and write them."""
        draft = self._draft
        complete(draft)
        if not draft.is_changed:
            return
        make_tables(self._unit, draft.new_tables.values())
        write(self._unit, draft)

    def _holds(self, entity: str, condition: str) -> bool:
        """Whether any record of an entity meets the SQL `condition`.

        An entity that is made in this very change is not in the snapshot, and has no records yet.
        """
        if entity not in self.snapshot:
            return False
        stored = self.snapshot.entity(entity)
        return bool(self._unit.rows(f"SELECT 1 FROM {quote(stored.table)} WHERE {condition} LIMIT 1"))


def complete(draft: Draft) -> None:
    """Add what follows from the changes, and check the whole. Raises InvalidDefinition."""
    alterations.attach_notes(draft, NOTES, REGARDING)
    attach_parties(draft)
    attach_activities(draft)
    if draft.is_changed:
        draft.check()


def make_tables(unit: WriteUnit, tables: Iterable[Sequence[str]]) -> None:
    """Run the statements that make each table."""
    for statement in unit.dialect.before_schema_change():
        unit.execute(statement)
    for statements in tables:
        for statement in statements:
            unit.execute(statement)


def write(unit: WriteUnit, draft: Draft) -> None:
    """Write the changes of existing tables, the definitions and the revision. New tables are made before.

    Raises InvalidDefinition when the records that exist do not allow the change.
    """
    # The first problem is enough to refuse the change.
    for problem in problems_of_records(unit, draft):
        raise InvalidDefinition(problem)
    for statement in unit.dialect.before_schema_change():
        unit.execute(statement)
    unit.dialect.add_columns(unit, draft.new_columns)
    for statement, parameters in draft.statements:
        unit.execute(statement, parameters)
    placeholder = draft.dialect.placeholder
    token = new_token()
    for kind, name, document in draft.documents():
        if document is None:
            unit.execute(_REMOVE.format(placeholder), (kind.value, name))
        else:
            unit.execute(_PUT.format(placeholder), (kind.value, name, token, document))
    unit.execute(RAISE_METADATA.format(placeholder), (token,))


def problems_of_records(unit: Unit, draft: Draft) -> Iterator[str]:
    """Yield, in a sentence each, what the records that exist do not allow: shorter texts, options that go,
    and new keys whose values they repeat.
    """
    for length in draft.length_checks:
        [(count, longest)] = unit.rows(*length.query(unit.dialect.placeholder))
        if count:
            yield (
                f"{length.attribute}: it cannot be shortened to {length.length:,} characters. {count:,} "
                f"records have longer texts; the longest has {longest:,} characters."
            )
    for options in draft.option_checks:
        for value, count in option_uses(unit, options).items():
            yield f"{options.attribute}: option {value} cannot go. {count:,} records have it."
    for key in draft.key_checks:
        [(count,)] = unit.rows(key.query)
        if count:
            yield f"{key.key} cannot be made. {count:,} of its values are those of several records."


def option_uses(unit: Unit, check: OptionCheck) -> Counter[int]:
    """Return the number of records that have each of the options; nothing for options without records."""
    counts: Counter[int] = Counter()
    # The query groups by the stored value. That of a multi-select is a text with several options.
    for stored, count in unit.rows(check.query):
        for value in decode_options(stored) if check.is_several else (stored,):
            if value in check.values:
                counts[value] += count
    return counts


@contextmanager
def change(alias: str = DEFAULT_DB_ALIAS) -> Iterator[Change]:
    """Change the metadata: `with change() as metadata: metadata.create_entity(…)`.

    The changes are carried out together, in one transaction, when the block ends without an error. Raises
    InvalidDefinition for changes that do not fit together or that the records do not allow.
    """
    with transaction.atomic(using=alias), write_unit(alias) as unit:
        changes = Change(unit)
        yield changes
        try:
            changes.carry_out()
        except NotUnique as error:
            raise InvalidDefinition("Records that exist have the same values in a new key.") from error

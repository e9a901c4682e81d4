"""Putting the demo into an empty store, all of it or nothing."""

from __future__ import annotations

import datetime as dt
import io
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from django.db import DEFAULT_DB_ALIAS, transaction

from crmbox.demo.entities import ENTITIES
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.people import CONTOSO
from crmbox.demo.priority import PRIORITY
from crmbox.demo.sample_records import articles, customers, organization, portal, sales, service, views
from crmbox.demo.sample_records.script import Script
from crmbox.engine.connection import read_unit
from crmbox.engine.definitions import Ownership
from crmbox.engine.names import quote
from crmbox.importing.import_plan import plan
from crmbox.importing.source_entity import SourceEntity
from crmbox.metadata import change, staged_change
from crmbox.metadata.change import too_long
from crmbox.platform import EmbeddedPlatform
from crmclient.metadata import Attribute, AttributeType
from crmclient.platform import Delete, Operation, Update

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being loaded, how much of it is done, and how much there is."""

SEED: Final = 20_251_107
_CHUNK: Final = 250
"""Records that are written at once, between two steps of the progress."""
_TEXTS: Final = frozenset({AttributeType.STRING, AttributeType.MEMO})
_NAMES: Final = tuple(item.entity.logical_name for item in ENTITIES)


def is_wanted(alias: str = DEFAULT_DB_ALIAS) -> bool:
    """Whether the store has no records of the demo's entities; the entities may have been imported."""
    with read_unit(alias) as unit:
        tables = [unit.snapshot.entity(name).table for name in _NAMES if name in unit.snapshot]
        return not any(unit.rows(f"SELECT 1 FROM {quote(table)} LIMIT 1") for table in tables)


def load(progress: Progress, alias: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Load the demo. Return a sentence for each attribute that an import has made of another type.

    Values of such attributes are left out. Raises PlatformError when the records cannot be written at all.
    """
    today = dt.datetime.now(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    with transaction.atomic(using=alias):
        with read_unit(alias) as unit:
            is_imported = any(name in unit.snapshot for name in _NAMES)
        if is_imported:
            unfit = _define_beside(progress, alias)
        else:
            unfit = {}
            _define(progress, alias)
        _write(progress, alias, [_without(operation, unfit) for operation in script(today)])
    return [f"{entity}.{name}: {reason}" for entity, names in unfit.items() for name, reason in names.items()]


def script(today: dt.datetime) -> list[Operation]:
    """Return every record of the demo, each after the records that it refers to."""
    pages = Script(today, random.Random(SEED))  # noqa: S311  believable, not secret
    organization.write(pages)
    accounts = customers.write_accounts(pages)
    contacts, primary_contacts = customers.write_contacts(pages, accounts)
    leads = sales.write_leads(pages)
    opportunities = sales.write_opportunities(pages, accounts, contacts, leads)
    cases = service.write_cases(pages, accounts, contacts)
    customer_references = [customer.reference for customer in (*accounts, *contacts)]
    service.write_notes(pages, [*customer_references, *leads, *opportunities, *cases])
    portal.write_cases(pages)
    articles.write(pages)
    views.write(pages)
    return [Update("businessunit", CONTOSO, {"name": "Contoso"}), *pages.records, *primary_contacts]


def _define(progress: Progress, alias: str) -> None:
    progress("Entities", 0, len(ENTITIES))
    with change(alias) as metadata:
        metadata.create_option_set(PRIORITY)
        for item in ENTITIES:
            metadata.create_entity(item.entity, item.attributes, item.relationships, extras=item.extras)
    progress("Entities", len(ENTITIES), len(ENTITIES))


def _define_beside(progress: Progress, alias: str) -> dict[str, dict[str, str]]:
    """Complete the entities that an import has made.

    Return the reasons for attributes that are missing or of another type, by entity and attribute.
    """
    with read_unit(alias) as unit:
        draft = staged_change.draft_of(unit)
        sources = [_source_entity(item) for item in ENTITIES]
        plan(draft, sources, {PRIORITY.name: PRIORITY}, partial(too_long, unit), keep_lengths=True)
    staged_change.carry_out(draft, progress, alias)
    platform = EmbeddedPlatform(alias)
    unfit: dict[str, dict[str, str]] = {}
    for item in ENTITIES:
        present = platform.attributes(item.entity.logical_name)
        for attribute in item.attributes:
            existing = present.get(attribute.logical_name)
            if existing is None or not _serves(existing, attribute):
                kind = "not there" if existing is None else f"{existing.type.value} here"
                reason = f"It is {kind}. The demo needs {attribute.type.value}."
                unfit.setdefault(item.entity.logical_name, {})[attribute.logical_name] = reason
        for name in ("statecode", "statuscode"):
            if name not in present:
                unfit.setdefault(item.entity.logical_name, {})[name] = "It is not there."
    return unfit


def _serves(existing: Attribute, needed: Attribute) -> bool:
    """Whether an attribute takes the demo's values.

    `$metadata` tells neither customers from other lookups nor long texts from short ones.
    """
    if existing.type.is_reference and needed.type.is_reference:
        return set(needed.targets) <= set(existing.targets)
    if existing.type in _TEXTS and needed.type in _TEXTS:
        return (existing.max_length or 0) >= (needed.max_length or 0)
    return (existing.type, existing.behavior) == (needed.type, needed.behavior)


def _source_entity(item: DemoEntity) -> SourceEntity:
    """Return a sample entity in the form that the import takes."""
    return SourceEntity(
        item.entity,
        item.attributes,
        item.relationships,
        ownership=Ownership.USER,
        has_states=True,
        extras=item.extras,
    )


def _without(operation: Operation, unfit: Mapping[str, Mapping[str, str]]) -> Operation:
    """Return a record without the values that its attributes cannot take."""
    names = unfit.get(operation.entity)
    if names is None or isinstance(operation, Delete):
        return operation
    return replace(
        operation, values={name: value for name, value in operation.values.items() if name not in names}
    )


def _write(progress: Progress, alias: str, operations: Sequence[Operation]) -> None:
    platform = EmbeddedPlatform(alias)
    progress("Records", 0, len(operations))
    for start in range(0, len(operations), _CHUNK):
        platform.batch(operations[start : start + _CHUNK])
        progress("Records", min(start + _CHUNK, len(operations)), len(operations))
    for file in portal.ATTACHMENTS:
        platform.upload(
            "annotation",
            file.note,
            "documentbody",
            io.BytesIO(file.content),
            file_name=file.name,
            content_type=file.content_type,
        )

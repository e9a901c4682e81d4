"""Putting the demo into an empty store, all of it or nothing."""

from __future__ import annotations

import datetime as dt
import io
import random
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from django.db import DEFAULT_DB_ALIAS, transaction

from crmbox.demo.entities import ENTITIES
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.fitted_records import Losses, Write, write_beside
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
from crmbox.platform import EmbeddedPlatform
from crmclient.metadata import Attribute, AttributeType
from crmclient.platform import Update

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
    """Load the demo. What an import has made stays as it is.

    Return a sentence for each attribute and entity that the records do without, because the imported metadata
    do not allow them. Raises PlatformError when the database fails.
    """
    today = dt.datetime.now(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    losses = Losses()
    with transaction.atomic(using=alias):
        with read_unit(alias) as unit:
            snapshot = unit.snapshot
            # An import has made some of what the demo would define itself: its option set, or its entities.
            is_imported = PRIORITY.name in snapshot.option_sets or any(name in snapshot for name in _NAMES)
        if is_imported:
            _define_beside(progress, losses, alias)
        else:
            _define(progress, alias)
        _write(progress, losses, alias, script(today))
    return losses.sentences()


def script(today: dt.datetime) -> list[Write]:
    """Return every record of the demo, each after the records that it refers to.

    They are the same each time except for their dates, which depend on `today`. An account and its primary
    contact refer to each other, so updates at the end set the primary contacts.
    """
    demo_script = Script(today, random.Random(SEED))  # noqa: S311  believable, not secret
    organization.write(demo_script)
    accounts = customers.write_accounts(demo_script)
    contacts, primary_contacts = customers.write_contacts(demo_script, accounts)
    leads = sales.write_leads(demo_script)
    opportunities = sales.write_opportunities(demo_script, accounts, contacts, leads)
    cases = service.write_cases(demo_script, accounts, contacts)
    customer_references = [customer.reference for customer in (*accounts, *contacts)]
    service.write_notes(demo_script, [*customer_references, *leads, *opportunities, *cases])
    portal.write_cases(demo_script)
    articles.write(demo_script)
    views.write(demo_script)
    return [Update("businessunit", CONTOSO, {"name": "Contoso"}), *demo_script.records, *primary_contacts]


def _define(progress: Progress, alias: str) -> None:
    progress("Entities", 0, len(ENTITIES))
    with change(alias) as metadata:
        metadata.create_option_set(PRIORITY)
        for item in ENTITIES:
            metadata.create_entity(item.entity, item.attributes, item.relationships, extras=item.extras)
    progress("Entities", len(ENTITIES), len(ENTITIES))


def _define_beside(progress: Progress, losses: Losses, alias: str) -> None:
    """Complete the entities that an import has made, by the same way as an import.

    What exists stays as it is. Attributes that are missing or of another type afterwards are added to
    `losses`: the records do without them.
    """
    with read_unit(alias) as unit:
        draft = staged_change.draft_of(unit)
        sources = [_source_entity(item) for item in ENTITIES]
        present = draft.option_sets.get(PRIORITY.name)
        option_sets = {} if present is not None and present.options else {PRIORITY.name: PRIORITY}
        plan(draft, sources, option_sets, unit)
    staged_change.carry_out(draft, progress, alias)
    platform = EmbeddedPlatform(alias)
    for item in ENTITIES:
        entity = item.entity.logical_name
        attributes = platform.attributes(entity)
        for attribute in item.attributes:
            existing = attributes.get(attribute.logical_name)
            if existing is None or not _serves(existing, attribute):
                difference = "not there" if existing is None else f"{existing.type.value} here"
                reason = f"It is {difference}. The demo needs {attribute.type.value}."
                losses.add_attribute(entity, attribute.logical_name, reason)
        for name in ("statecode", "statuscode"):
            if name not in attributes:
                losses.add_attribute(entity, name, "It is not there.")


def _serves(existing: Attribute, needed: Attribute) -> bool:
    """Whether the attribute that exists takes the demo's values.

    A customer may be any lookup, and a long text a short one, because an import from `$metadata` cannot tell
    them apart.
    """
    if existing.type.is_reference and needed.type.is_reference:
        return set(needed.targets) <= set(existing.targets)
    if existing.type in _TEXTS and needed.type in _TEXTS:
        return True
    return (existing.type, existing.behavior) == (needed.type, needed.behavior)


def _source_entity(item: DemoEntity) -> SourceEntity:
    """Return a sample entity in the form that the import takes. It stands back behind what is there."""
    return SourceEntity(
        item.entity,
        item.attributes,
        item.relationships,
        ownership=Ownership.USER,
        has_states=True,
        only_completes=True,
        extras=item.extras,
    )


def _write(progress: Progress, losses: Losses, alias: str, writes: Sequence[Write]) -> None:
    """Write the records, some at once, and then the files of notes. Add what is refused to `losses`."""
    platform = EmbeddedPlatform(alias)
    progress("Records", 0, len(writes))
    for start in range(0, len(writes), _CHUNK):
        write_beside(platform, writes[start : start + _CHUNK], losses)
        progress("Records", min(start + _CHUNK, len(writes)), len(writes))
    for file in portal.ATTACHMENTS:
        if not losses.leaves_out("annotation", file.note):
            platform.upload(
                "annotation",
                file.note,
                "documentbody",
                io.BytesIO(file.content),
                file_name=file.name,
                content_type=file.content_type,
            )

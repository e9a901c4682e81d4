"""Putting the demo into an empty store, all of it or nothing."""

from __future__ import annotations

import datetime as dt
import io
import random
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from django.db import DEFAULT_DB_ALIAS, transaction

from crmbox.demo.entities import ENTITIES
from crmbox.demo.people import CONTOSO
from crmbox.demo.priority import PRIORITY
from crmbox.demo.sample_records import articles, customers, organization, portal, sales, service
from crmbox.demo.sample_records.script import Script
from crmbox.engine.connection import read_unit
from crmbox.metadata import change
from crmbox.platform import EmbeddedPlatform
from crmclient.platform import Operation, Update

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told what is being loaded, how much of it is done, and how much there is."""

SEED: Final = 20_251_107
_CHUNK: Final = 250


def is_wanted(alias: str = DEFAULT_DB_ALIAS) -> bool:
    """Whether the store has none of the demo's entities."""
    with read_unit(alias) as unit:
        return not any(item.entity.logical_name in unit.snapshot for item in ENTITIES)


def load(progress: Progress, alias: str = DEFAULT_DB_ALIAS) -> None:
    """Raises InvalidDefinition when one of the entities exists already."""
    today = dt.datetime.now(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    with transaction.atomic(using=alias):
        _define(progress, alias)
        _write(progress, alias, script(today))


def script(today: dt.datetime) -> list[Operation]:
    """Every record of the demo in an order in which each finds what it points at."""
    pages = Script(today, random.Random(SEED))  # noqa: S311  believable, not secret
    organization.write(pages)
    accounts = customers.write_accounts(pages)
    contacts, primary_contacts = customers.write_contacts(pages, accounts)
    leads = sales.write_leads(pages)
    opportunities = sales.write_opportunities(pages, accounts, contacts, leads)
    cases = service.write_cases(pages, accounts, contacts)
    known = [customer.reference for customer in (*accounts, *contacts)]
    service.write_notes(pages, [*known, *leads, *opportunities, *cases])
    portal.write_cases(pages)
    articles.write(pages)
    return [Update("businessunit", CONTOSO, {"name": "Contoso"}), *pages.records, *primary_contacts]


def _define(progress: Progress, alias: str) -> None:
    progress("Entities", 0, len(ENTITIES))
    with change(alias) as metadata:
        metadata.create_option_set(PRIORITY)
        for item in ENTITIES:
            metadata.create_entity(item.entity, item.attributes, item.relationships, extras=item.extras)
    progress("Entities", len(ENTITIES), len(ENTITIES))


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

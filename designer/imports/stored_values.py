"""The values that documents name, as they are stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction

from designer.definitions import ConfigurationDocument
from designer.documents.environment_values import ValueSources
from designer.documents.keys import COLLECTIONS
from designer.documents.named_values import NamedValue, Use, with_names
from designer.documents.record_keys import RecordKey
from designer.imports.records_by_key import PlatformRecords
from designer.models import EnvironmentValue, EnvironmentValueUse
from designer.platform import get_platform
from designer.query_chunks import CHUNK, chunks


def value_sources(given: Mapping[str, str] | None = None) -> ValueSources:
    """Return where the values of names come from: `given`, then the environment, then the last imports.

    The platform is asked each time which record a key means.
    """
    stored = dict(EnvironmentValue.objects.values_list("name", "text"))
    return ValueSources(PlatformRecords(get_platform()), given or {}, stored)


def remember(document: ConfigurationDocument, values: Collection[NamedValue], uses: Collection[Use]) -> None:
    """Store which values an import of `document` has taken from names, in place of earlier ones
    of its items.
    """
    if not uses and not EnvironmentValueUse.objects.exists():
        return
    with transaction.atomic():
        for collection in COLLECTIONS:
            for chunk in chunks(list(collection.items(document))):
                EnvironmentValueUse.objects.filter(collection=collection.field, key__in=chunk).delete()
        rows = {
            named.name: EnvironmentValue.objects.update_or_create(
                name=named.name, defaults={"type": named.type, "text": named.text}
            )[0]
            for named in values
        }
        EnvironmentValueUse.objects.bulk_create(
            [
                EnvironmentValueUse(
                    value=rows[use.name], collection=use.collection, key=use.key, path=use.path
                )
                for use in dict.fromkeys(uses)
            ],
            batch_size=CHUNK,
        )
        EnvironmentValue.objects.filter(uses=None).delete()


def stored_names() -> tuple[list[NamedValue], list[Use]]:
    """Return the values that imports took from names, and their uses."""
    rows = EnvironmentValueUse.objects.select_related("value")
    return (
        [NamedValue(row.value.name, row.value.type, row.value.text) for row in rows],
        [Use(row.collection, row.key, row.path, row.value.name) for row in rows],
    )


def named_json(document: ConfigurationDocument) -> dict[str, Any]:
    """Return the document's JSON, with names for the values that imports took from names."""
    return named_as(document, *stored_names())


def named_as(
    document: ConfigurationDocument, values: Iterable[NamedValue], uses: Iterable[Use]
) -> dict[str, Any]:
    """Return the document's JSON, with the names of `values` in the places that `uses` lists."""
    by_name = {named.name: named for named in values}
    values_by_item: defaultdict[tuple[str, str], list[tuple[str, NamedValue]]] = defaultdict(list)
    for use in uses:
        values_by_item[use.collection, use.key].append((use.path, by_name[use.name]))
    return with_names(document.to_json(), values_by_item)


def named_entities() -> frozenset[str]:
    """Return the entities of the records that imports have found by their keys."""
    keys = map(RecordKey.of_name, EnvironmentValue.objects.values_list("name", flat=True))
    return frozenset(record.entity for record in keys if record is not None)

"""The values that documents name, as they are stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction

from designer.definitions import ConfigurationDocument
from designer.documents.environment_values import Supply
from designer.documents.keys import COLLECTIONS
from designer.documents.named_values import NamedValue, Use, with_names
from designer.documents.record_keys import RecordKey
from designer.models import EnvironmentValue, EnvironmentValueUse
from designer.platform import get_platform
from designer.records_by_key import PlatformRecords

# Keys to a query: databases bound the parameters of one.
_CHUNK = 200


def supply(given: Mapping[str, str] | None = None) -> Supply:
    """What names mean here: as `given`, as the process's environment says, or as they were last imported.
    Which record a key means is asked of the platform each time."""
    stored = dict(EnvironmentValue.objects.values_list("name", "text"))
    return Supply(PlatformRecords(get_platform()), given or {}, stored)


def remember(document: ConfigurationDocument, values: Collection[NamedValue], uses: Collection[Use]) -> None:
    """Store what an import of `document` has taken from names, instead of what was known of its items."""
    if not uses and not EnvironmentValueUse.objects.exists():
        return
    with transaction.atomic():
        for collection in COLLECTIONS:
            keys = list(collection.items(document))
            for at in range(0, len(keys), _CHUNK):
                chunk = keys[at : at + _CHUNK]
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
            batch_size=_CHUNK,
        )
        EnvironmentValue.objects.filter(uses=None).delete()


def named_json(document: ConfigurationDocument) -> dict[str, Any]:
    """The document's JSON, with names where imports took its values from names."""
    rows = EnvironmentValueUse.objects.select_related("value")
    return named_as(
        document,
        [NamedValue(row.value.name, row.value.type, row.value.text) for row in rows],
        [Use(row.collection, row.key, row.path, row.value.name) for row in rows],
    )


def named_as(
    document: ConfigurationDocument, values: Iterable[NamedValue], uses: Iterable[Use]
) -> dict[str, Any]:
    """The document's JSON, with the names of `values` where `uses` say that it has them from there."""
    by_name = {named.name: named for named in values}
    known: defaultdict[tuple[str, str], list[tuple[str, NamedValue]]] = defaultdict(list)
    for use in uses:
        known[use.collection, use.key].append((use.path, by_name[use.name]))
    return with_names(document.to_json(), known)


def named_entities() -> frozenset[str]:
    """The entities of records that imports have found by their keys."""
    keys = map(RecordKey.of_name, EnvironmentValue.objects.values_list("name", flat=True))
    return frozenset(record.entity for record in keys if record is not None)

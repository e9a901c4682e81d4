"""The values that documents name, as they are stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction

from designer.definitions import ConfigurationDocument
from designer.documents.environment_values import NamedValue, Supply, Use, with_names
from designer.documents.keys import COLLECTIONS
from designer.models import EnvironmentValue, EnvironmentValueUse

# Keys to a query: databases bound the parameters of one.
_CHUNK = 200


def supply(given: Mapping[str, str] | None = None) -> Supply:
    """What names mean here: as `given`, as the process's environment says, or as they were last imported."""
    return Supply(given or {}, dict(EnvironmentValue.objects.values_list("name", "text")))


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
    """The document's JSON, with names where its values came from names."""
    uses: defaultdict[tuple[str, str], list[tuple[str, NamedValue]]] = defaultdict(list)
    for use in EnvironmentValueUse.objects.select_related("value"):
        named = NamedValue(use.value.name, use.value.type, use.value.text)
        uses[use.collection, use.key].append((use.path, named))
    return with_names(document.to_json(), uses)

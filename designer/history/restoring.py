"""The way back: what an item or the whole configuration was at a version, and making it so again."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from designer.configuration import Configuration
from designer.definitions import ConfigurationDocument
from designer.documents.applying import apply
from designer.documents.keys import COLLECTIONS, CONTEXT, OPTION_SETS
from designer.documents.plan import Change, Plan, plan
from designer.documents.reading import read
from designer.documents.writing import export
from designer.history.items import ORDER, USER_PROPERTIES, ItemKey, items_of
from designer.history.recording import Author, record_outside, recording
from designer.loading import latest
from designer.models import ItemChange, RecordedItem
from designer.models.fields import ExactJSONEncoder

_FIELDS = {collection.field: collection for collection in COLLECTIONS}


def document_at(version: int) -> ConfigurationDocument:
    """The whole configuration as version `version` left it.

    Raises DocumentError where what was recorded means nothing to this release of the product.
    """
    record_outside()
    rows = RecordedItem.objects.values_list("collection", "key", "content")
    state: dict[ItemKey, Any] = {(field, key): content for field, key, content in rows}
    later = ItemChange.objects.filter(version__gt=version).order_by("-version_id", "-id")
    for field, key, before in later.values_list("collection", "key", "before"):
        if before is None:
            state.pop((field, key), None)
        else:
            state[field, key] = before
    return _document(state)


def plan_to(wanted: ConfigurationDocument) -> Plan:
    """What has to change for the whole configuration to be as `wanted`, what it lacks removed."""
    now = export(latest())
    return plan(now, wanted, all_groups(now))


def all_groups(now: ConfigurationDocument) -> Collection[str]:
    """Every group in which a plan may remove what the wanted document lacks."""
    return {CONTEXT, OPTION_SETS, *(module.segment for module in now.modules)}


def restore(wanted: ConfigurationDocument, author: Author) -> Plan:
    """Make the whole configuration as `wanted`. Raises DocumentError; nothing has changed then."""
    with recording(author):
        planned = plan_to(wanted)
        apply(planned, wanted)
    return planned


def item_plan(collection: str, key: str, content: Any | None) -> Plan:
    """What has to change for one item to be as `content`, a JSON form; None: for it not to be there.

    Raises DocumentError where that means nothing to this release of the product.
    """
    known = _FIELDS[collection]
    now = _item_now(latest(), (collection, key))
    wanted = None
    if content is not None:
        document = _document({(collection, key): content})
        wanted = known.items(document)[key]
    return Plan(() if now == wanted else (Change(known, key, now, wanted),))


def restore_item(collection: str, key: str, content: Any | None, author: Author) -> Plan:
    """Make one item as `content`. Raises DocumentError; nothing has changed then."""
    with recording(author):
        planned = item_plan(collection, key, content)
        # The order of user properties is the present one's.
        apply(planned, export(latest()))
    return planned


def _item_now(configuration: Configuration, key: ItemKey) -> Any:
    item = items_of(configuration).get(key)
    return item.definition if item else None


def _document(state: Mapping[ItemKey, Any]) -> ConfigurationDocument:
    data: dict[str, Any] = {"format": 1}
    for field in _FIELDS:
        data[field] = [content for (known, _), content in sorted(state.items()) if known == field]
    order = state.get((ORDER, USER_PROPERTIES), [])
    places = {name: at for at, name in enumerate(order)}
    data[USER_PROPERTIES].sort(key=lambda known: places.get(known.get("name"), len(places)))
    return read(json.dumps(data, cls=ExactJSONEncoder).encode())

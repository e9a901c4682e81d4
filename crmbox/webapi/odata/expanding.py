"""What an `$expand` leads to, put into the rows: one query for all of them together."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from urllib.parse import quote

from crmbox.webapi.model import EntityType
from crmbox.webapi.odata.navigation import Collection, Lookup
from crmbox.webapi.odata.options import Expansion, Options, split
from crmbox.webapi.odata.related import listed
from crmbox.webapi.rendering import record_url
from crmclient.query.ast import Column, Filter, Query
from crmclient.values import Guid, Reference, Value

if TYPE_CHECKING:
    from crmbox.webapi.odata.asking import Asking, Row


def expand(asking: Asking, type_: EntityType, rows: list[Row], expansion: Expansion) -> None:
    """Raises WebApiError, and what `Platform.query` raises."""
    if isinstance(expansion.navigation, Lookup):
        _lookup(asking, rows, expansion, expansion.navigation)
    else:
        _collection(asking, type_, rows, expansion, expansion.navigation)


def _lookup(asking: Asking, rows: list[Row], expansion: Expansion, lookup: Lookup) -> None:
    pointed = [row.values[lookup.attribute] for row in rows]
    for target in lookup.targets:
        keys = tuple(dict.fromkeys(r.id for r in pointed if isinstance(r, Reference) and r.entity == target))
        type_ = asking.model.entity_type(target)
        if expansion.reference:
            found = {key: {"@odata.id": record_url(asking.request.base, type_, key)} for key in keys}
        else:
            found = {row.id: row.content for row in _with_keys(asking, type_, expansion.options, keys)}
        if len(lookup.targets) > 1:
            found = {key: {"@odata.type": f"#{type_.type_name}", **found[key]} for key in found}
        for row, reference in zip(rows, pointed, strict=True):
            if not isinstance(reference, Reference):
                row.content[lookup.name] = None
            elif reference.entity == target:
                row.content[lookup.name] = found.get(reference.id)
            else:
                row.content.setdefault(lookup.name, None)


def _with_keys(asking: Asking, type_: EntityType, options: Options, keys: tuple[Guid, ...]) -> list[Row]:
    if not keys:
        return []
    within = Filter((listed(type_.entity.primary_id, keys),))
    return asking.rows(type_, options, within=(within,)).rows


def _collection(
    asking: Asking, type_: EntityType, rows: list[Row], expansion: Expansion, collection: Collection
) -> None:
    keys = tuple(row.id for row in rows)
    members = _members(asking, type_, expansion, collection, keys) if keys else {}
    for row in rows:
        own = members.get(row.id, [])
        row.content[collection.name] = [member.content for member in own[: expansion.options.top]]
        row.content[f"{collection.name}@odata.nextLink"] = _address(asking, type_, row.id, expansion)


def _members(
    asking: Asking, type_: EntityType, expansion: Expansion, collection: Collection, keys: tuple[Guid, ...]
) -> dict[Guid, list[Row]]:
    """The related records of each key, in the order that the options ask for."""
    target = asking.model.entity_type(collection.entity)
    members: dict[Guid, list[Row]] = defaultdict(list)
    if collection.attribute is not None:
        within = Filter((listed(collection.attribute, keys),))
        found = asking.rows(target, expansion.options, within=(within,), also=(collection.attribute,))
        for row in found.rows:
            members[_guid(row.values[collection.attribute])].append(row)
        return members
    owners = _pairs(asking, type_, target, collection, keys)
    for row in _with_keys(asking, target, expansion.options, tuple(owners)):
        for owner in owners[row.id]:
            members[owner].append(row)
    return members


def _pairs(
    asking: Asking, type_: EntityType, target: EntityType, collection: Collection, keys: tuple[Guid, ...]
) -> dict[Guid, list[Guid]]:
    """Of a many-to-many relationship: whom each related record belongs to."""
    own, other = type_.entity.primary_id, target.entity.primary_id
    query = Query(
        collection.relationship.intersect or "", (Column(own), Column(other)), Filter((listed(own, keys),))
    )
    owners: dict[Guid, list[Guid]] = defaultdict(list)
    for pair in asking.request.platform.query(query, call=asking.request.call).rows:
        owners[_guid(pair[other])].append(_guid(pair[own]))
    return owners


def _address(asking: Asking, type_: EntityType, id: Guid, expansion: Expansion) -> str:
    """Where the related records of one record are read on their own."""
    options = "&".join(_quoted(part) for part in split(expansion.text, ";") if part)
    url = f"{record_url(asking.request.base, type_, id)}/{expansion.navigation.name}"
    return f"{url}?{options}" if options else url


def _quoted(option: str) -> str:
    name, _, value = option.partition("=")
    return f"{name.strip()}={quote(value.strip(), safe=_LEGIBLE)}"


_LEGIBLE = "(),/$=;:@'"


def _guid(value: Value) -> Guid:
    return value.id if isinstance(value, Reference) else str(value)

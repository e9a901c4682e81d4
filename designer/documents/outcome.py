"""The configuration that a plan would lead to, made in memory: nothing is written, and no writer waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from itertools import count

from designer.configuration import Configuration, Endpoint
from designer.definitions import ConfigurationDocument, ExposedEntityDefinition
from designer.documents.keys import COLLECTIONS
from designer.documents.plan import Change, Plan


def document_after(
    now: ConfigurationDocument, plan: Plan, without: Collection[Change] = ()
) -> ConfigurationDocument:
    """Return the document `now` after the confirmed changes of `plan`, except those in `without`."""
    lists: dict[str, tuple[object, ...]] = {}
    for collection in COLLECTIONS:
        items = dict(collection.items(now))
        for change in plan.changes:
            if change.collection.field != collection.field or not change.confirmed or change in without:
                continue
            if change.after is None:
                items.pop(change.key, None)
            else:
                items[change.key] = change.after
        lists[collection.field] = tuple(items.values())
    return now.model_copy(update=lists)


def configuration_after(now: Configuration, after: ConfigurationDocument) -> Configuration:
    """Return the document `after` as a configuration.

    Unchanged items are the same objects as in `now`, with their ids.
    """
    places = {(entity.module, entity.segment): entity for entity in after.entities}
    # In their present order, new ones last: unchanged endpoints then have equal `exposures`.
    order = dict.fromkeys((*((entity.module, entity.segment) for entity in now.entities), *places))
    entities = tuple(places[place] for place in order if place in places)
    exposures: defaultdict[str, list[ExposedEntityDefinition]] = defaultdict(list)
    for entity in entities:
        exposures[entity.module].append(entity)
    ids = {endpoint.definition.key: id for id, endpoint in now.endpoints.items()}
    # New endpoints get ids below zero: those of rows are above.
    new_ids = count(-1, -1)
    endpoints: dict[int, Endpoint] = {}
    for definition in after.endpoints:
        id = ids.get(definition.key) or next(new_ids)
        own_entity = places.get((definition.module, definition.exposure))
        endpoint = Endpoint(definition, own_entity, exposures=tuple(exposures[definition.module]))
        current = now.endpoints.get(id)
        endpoints[id] = current if current == endpoint and current is not None else endpoint
    return Configuration(
        revision=now.revision,
        endpoints=endpoints,
        modules=after.modules,
        entities=entities,
        roles=after.roles,
        caller_types=after.caller_types,
        issuers=after.issuers,
        user_properties=after.user_properties,
        protections=now.protections,
    )

"""Where an item of the configuration is used: which others name it, and in which of their places.

The uses are read from the definitions alone; those in an endpoint are read again only when it has changed.
Higher layers add the uses that they store with `register`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from designer.configuration import Configuration, Endpoint
from designer.definitions import (
    EndpointDefinition,
    ExposedEntityDefinition,
    IssuerDefinition,
    UserPropertyDefinition,
)
from designer.endpoint_facts.roles_named import roles_in_endpoint, roles_in_expression
from designer.endpoint_facts.user_properties_read import (
    ANY,
    properties_in_endpoint,
    properties_in_expression,
    properties_in_filter,
)
from designer.expressions.members import quoted_texts
from designer.history.items import ItemKey
from designer.names import property_key
from designer.sentences import Sentence
from designer.uses.per_endpoint import PerEndpoint


@dataclass(frozen=True, slots=True)
class Use:
    """The item `used_by` refers to another item in `place`, a text for people.

    `permission` is needed to see this use; when it is empty, whoever sees the item sees the use.
    """

    used_by: ItemKey
    place: str
    permission: str = ""


# The uses of each item, by the key of the used item.
Index: TypeAlias = Mapping[ItemKey, tuple[Use, ...]]
# The key of a used item, and the place that uses it.
_ItemInPlace: TypeAlias = tuple[ItemKey, str]
Finder: TypeAlias = Callable[[ItemKey], Iterable[Use]]

# In place of a list: the user properties of one name, whichever type of caller each belongs to.
_PROPERTIES_OF_EVERY_TYPE = "user properties of every type"

_finders: list[Finder] = []


def register(finder: Finder) -> Finder:
    """Add a function that returns further uses of an item. It may read the database."""
    _finders.append(finder)
    return finder


def uses_of(item: ItemKey, configuration: Configuration) -> list[Use]:
    """Return the uses of `item`, those in the configuration first.

    What is in the configuration is told whole. What a finder reads from the database may be the first of
    many.
    """
    return [*_index_of(configuration).get(item, ()), *uses_outside(item)]


def uses_outside(item: ItemKey) -> Iterator[Use]:
    """Yield the uses of `item` that higher layers store, such as the API accounts that hold a role."""
    for finder in _finders:
        yield from finder(item)


def _index_of(configuration: Configuration) -> Index:
    """Return the uses of each item in the configuration."""
    # The uses are keys of dicts, which keep their order and hold each use once.
    uses_by_item: defaultdict[ItemKey, dict[Use, None]] = defaultdict(dict)
    types = [type.name for type in configuration.caller_types]
    for endpoint, items_in_places in _items_by_endpoint.of(configuration).values():
        for item, place in items_in_places:
            for used in _of_every_type(item, types):
                uses_by_item[used][Use(("endpoints", endpoint.definition.key), place)] = None
    for used_by, uses_outside in _items_used_outside_endpoints(configuration):
        for item, place in uses_outside:
            uses_by_item[item][Use(used_by, place)] = None
    return {item: tuple(uses) for item, uses in uses_by_item.items()}


def _of_every_type(item: ItemKey, types: Iterable[str]) -> Iterator[ItemKey]:
    """Yield the item; for a user property of callers of every type, the property of each type."""
    collection, name = item
    if collection == _PROPERTIES_OF_EVERY_TYPE:
        yield from (("user_properties", property_key(type, name)) for type in types)
    else:
        yield item


def _items_used_outside_endpoints(
    configuration: Configuration,
) -> Iterator[tuple[ItemKey, Iterable[_ItemInPlace]]]:
    """Yield each item that is no endpoint, with the items that it uses."""
    types = [type.name for type in configuration.caller_types]
    for exposed in configuration.entities:
        yield ("entities", exposed.key), _items_of_entity(exposed, types)
    for user_property in configuration.user_properties:
        yield ("user_properties", user_property.key), _items_of_property(user_property)
    for issuer in configuration.issuers:
        yield ("issuers", issuer.name), _items_of_issuer(issuer)


def _items_used_by(endpoint: Endpoint) -> tuple[_ItemInPlace, ...]:
    """Return the items that an endpoint uses, without repetitions."""
    return tuple(dict.fromkeys(_items_of_endpoint(endpoint.definition)))


# Kept from one configuration to the next for the endpoints that have not changed.
_items_by_endpoint = PerEndpoint(_items_used_by)


def _items_of_endpoint(definition: EndpointDefinition) -> Iterator[_ItemInPlace]:
    """Yield the items that an endpoint uses."""
    access = definition.access
    if definition.module:
        yield ("modules", definition.module), Sentence("the path")
    if definition.exposure:
        yield ("entities", f"{definition.module}.{definition.exposure}"), Sentence("the entity")
    if related := definition.settings.related_segment:
        yield ("entities", f"{definition.module}.{related}"), Sentence("the related entity")
    for role in access.roles:
        yield ("roles", role), Sentence("access control")
    for type in access.caller_types if access.authentication_required else ():
        yield ("caller_types", type), Sentence("access control")
    for call in definition.example_calls:
        call_place = Sentence("the example call “%(name)s”", name=call.name)
        for role in (*call.roles, *call.refused_for):
            yield ("roles", role), call_place
        if not call.anonymous:
            yield ("caller_types", call.caller_type), call_place
    for role, role_place in roles_in_endpoint(definition):
        yield ("roles", role), role_place
    yield from _properties_of_endpoint(definition)


def _properties_of_endpoint(definition: EndpointDefinition) -> Iterator[_ItemInPlace]:
    """Yield the user properties that an endpoint uses."""
    access = definition.access
    for name, place in properties_in_endpoint(definition):
        if name == ANY:
            continue
        if not access.authentication_required:
            # Callers of every type are admitted then, with a token or without.
            yield (_PROPERTIES_OF_EVERY_TYPE, name), place
            continue
        # A property of the same name may belong to each type of caller.
        for type in access.caller_types:
            yield ("user_properties", property_key(type, name)), place


def _items_of_entity(exposed: ExposedEntityDefinition, types: Iterable[str]) -> Iterator[_ItemInPlace]:
    """Yield the items that an exposed entity uses. `types`: a user property of any caller
    type may be meant.
    """
    yield ("modules", exposed.module), Sentence("the module")
    for entry in exposed.row_rule:
        for role in entry.roles:
            yield ("roles", role), Sentence("the row rule")
        for name in properties_in_filter(entry.filter):
            for type in types:
                yield ("user_properties", property_key(type, name)), Sentence("the row rule")


def _items_of_property(user_property: UserPropertyDefinition) -> Iterator[_ItemInPlace]:
    """Yield the items that a user property uses."""
    yield ("caller_types", user_property.caller_type), Sentence("the caller type")
    for name in properties_in_expression(user_property.expression):
        if name != ANY:
            yield (
                ("user_properties", property_key(user_property.caller_type, name)),
                Sentence("the expression"),
            )
    for role in sorted(roles_in_expression(user_property.expression)):
        yield ("roles", role), Sentence("the expression")


def _items_of_issuer(issuer: IssuerDefinition) -> Iterator[_ItemInPlace]:
    """Yield the items that an issuer uses."""
    yield ("caller_types", issuer.record.type), Sentence("the record")
    for role in issuer.roles:
        yield ("roles", role), Sentence("the roles of every caller")
    for rule in issuer.role_rules:
        for grant in rule.grants:
            yield ("roles", grant.role), Sentence("the role rule “%(claim)s”", claim=rule.claim)
    # Whatever the expression gives is a role.
    for role in quoted_texts(issuer.roles_expression):
        yield ("roles", role), Sentence("the expression")
    if issuer.record.registration.endpoint:
        yield ("endpoints", issuer.record.registration.endpoint), Sentence("the registration of callers")

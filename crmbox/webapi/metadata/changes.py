"""RetrieveMetadataChanges: a choice of entities, attributes, keys and relationships in one answer.

The CRM in the box keeps no history of its metadata. The stamp names the revision: a call with the stamp of
the present revision gets no entities, and any other call gets all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from crmbox.webapi.body import parse, parse_object
from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.metadata.entity_definitions import entity_item
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.paths import Argument, unquoted
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named

_PARTS: Final = {
    "Attributes": "AttributeQuery",
    "Keys": "KeyQuery",
    "OneToManyRelationships": "RelationshipQuery",
    "ManyToOneRelationships": "RelationshipQuery",
    "ManyToManyRelationships": "RelationshipQuery",
}
"""The part of the query that selects the items of a navigation property."""

Test: TypeAlias = Callable[[Any, Any], bool]
_TESTS: Final[Mapping[str, Test]] = {
    "Equals": lambda actual, value: bool(actual == value),
    "NotEquals": lambda actual, value: bool(actual != value),
    "In": lambda actual, value: actual in value,
    "NotIn": lambda actual, value: actual not in value,
}


@named("RetrieveMetadataChanges", "GET")
def retrieve(request: Request) -> Response:
    """Answer with the entities that the query selects; with none if the client's stamp is the present one."""
    query = _query(request)
    snapshot = request.model.snapshot
    stamp = f"{snapshot.revision.number}!{snapshot.revision.token}"
    client_stamp = _argument(request, "ClientVersionStamp")
    stored = () if client_stamp and unquoted(client_stamp) == stamp else snapshot.entities.values()
    items = [entity_item(snapshot, entity) for entity in stored]
    context = f"{request.base}$metadata#Microsoft.Dynamics.CRM.RetrieveMetadataChangesResponse"
    return json_response(
        {
            "@odata.context": context,
            "ServerVersionStamp": stamp,
            "DeletedMetadata": None,
            "EntityMetadata": [_entity(item, query) for item in items if _matches(item, query)],
        }
    )


def _query(request: Request) -> Mapping[str, Any]:
    """Return the query in the arguments; an empty one, which selects everything, without it."""
    text = _argument(request, "Query")
    return parse_object(text.encode()) if text else {}


def _argument(request: Request, name: str) -> str:
    """Return an argument of the function, or the value of the alias in its place; empty if missing.

    Raises WebApiError for an alias without a value.
    """
    arguments: tuple[Argument, ...] = request.path[0].arguments or ()
    return request.without_alias(next((item.value for item in arguments if item.name == name), ""))


def _entity(item: Item, query: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entity with those of its attributes, keys and relationships that the query selects."""
    content = _content(item, query)
    property_names = _property_names(query)
    for name, part in _PARTS.items():
        query_of_part = _object(query, part)
        if property_names is None or name in property_names:
            members = item.navigations[name]()
            # Each of these navigation properties leads to a list.
            assert isinstance(members, list)  # noqa: S101  for the type checker
            content[name] = [
                _content(member, query_of_part) for member in members if _matches(member, query_of_part)
            ]
    return content


def _content(item: Item, query: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item with the properties that the query names, as RetrieveMetadataChanges answers it.

    The item's key is always among them. Option sets are answered like properties, although the item has them
    as navigation properties.
    """
    property_names = _property_names(query)
    content: dict[str, Any] = {"@odata.type": f"#Microsoft.Dynamics.CRM.Complex{item.type}"}
    for name, value in item.properties.items():
        if property_names is None or name in property_names or name == item.key:
            content[name] = value
    for name in ("OptionSet", "GlobalOptionSet"):
        if name in item.navigations and (property_names is None or name in property_names):
            option_set = item.navigations[name]()
            content[name] = option_set.properties if isinstance(option_set, Item) else None
    return content


def _property_names(query: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names of the properties to answer with; None for all. Raises WebApiError."""
    properties = _object(query, "Properties")
    names = properties.get("PropertyNames")
    if properties.get("AllProperties") or names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise bad_url("PropertyNames is a list of texts.")
    return frozenset(names)


def _matches(item: Item, query: Mapping[str, Any]) -> bool:
    """Whether an item meets the `Criteria` of a query or of a part of it. Raises WebApiError."""
    criteria = _object(query, "Criteria")
    parts = [_holds(item, condition) for condition in _list(criteria, "Conditions")]
    # A filter has the form of the criteria.
    parts += [_matches(item, {"Criteria": inner}) for inner in _list(criteria, "Filters")]
    return any(parts) if criteria.get("FilterOperator") == "Or" and parts else all(parts)


def _holds(item: Item, condition: Mapping[str, Any]) -> bool:
    """Return whether a condition of a metadata query holds for an item. Raises WebApiError."""
    name, operator = condition.get("PropertyName"), condition.get("ConditionOperator")
    if not isinstance(name, str) or name not in item.properties:
        raise bad_url(f"Criteria: '{name}' is no property of {item.type}.")
    test = _TESTS.get(str(operator))
    if test is None:
        raise unsupported(f"the ConditionOperator '{operator}' of metadata queries")
    actual, expected = item.properties[name], _value(condition.get("Value"))
    # A managed property is compared by its value.
    actual = actual.get("Value", actual) if isinstance(actual, Mapping) else actual
    if operator in ("In", "NotIn") and not isinstance(expected, list):
        raise bad_url("Criteria: In and NotIn take a list.")
    return test(actual, expected)


def _value(value: Any) -> Any:
    """Return the value of a condition.

    Clients send it plain, or as an object of its .NET type and a text. In such a text, a boolean is written
    as `True`, and a list as JSON with single quotes.
    """
    if not isinstance(value, Mapping):
        return value
    type_name, text = str(value.get("Type", "")), value.get("Value")
    if type_name == "System.Boolean" and isinstance(text, str):
        return text.lower() == "true"
    if type_name.endswith("[]") and isinstance(text, str):
        return parse(text.replace("'", '"').encode())
    return text


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object in a property; an empty one without it. Raises WebApiError for anything else."""
    mapping = value.get(name) or {}
    if not isinstance(mapping, Mapping):
        raise bad_url(f"{name} is an object.")
    return mapping


def _list(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list in a property; none without it. Raises WebApiError for anything else."""
    mappings = value.get(name) or []
    if not isinstance(mappings, list) or not all(isinstance(item, Mapping) for item in mappings):
        raise bad_url(f"{name} is a list of objects.")
    return mappings

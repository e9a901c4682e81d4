"""Values to send for an input: one that its attribute takes, and many that may be wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import count, zip_longest
from typing import Any

from crmclient import Platform
from crmclient.metadata import Attribute, AttributeType
from crmclient.query.ast import Column, Order, Page, Query
from designer.definitions import EndpointDefinition, InputDefinition

UNKNOWN = "6f0c1a52-7d3e-5b9a-9c41-2f8e5d7a1b60"
_TEXTS: tuple[Any, ...] = (
    "Ünïcode 名 %_[x]'\"<&>",
    "",
    "  ",
    5,
    "x" * 5000,
    "a\u0000b",
    None,
    "\ud83d",
    "Sales",
    "=1+1",
)
_NUMBERS: tuple[Any, ...] = (1, 0, -1, "12", 1.23456, "0.1", 922337203685477, 10**30, "much", None, True, [])
_DOUBTFUL: Mapping[str, tuple[Any, ...]] = {
    "String": _TEXTS,
    "Text": _TEXTS,
    "Boolean": (True, False, "true", 1, None),
    "DateTime": ("2026-03-29T02:30:00+01:00", "2026-03-29", "0001-01-01T00:00:00Z", "soon", 5, None),
    "Date": ("2026-02-28", "2026-02-30", "2026-02-28T00:00:00Z", 5, None),
    "OptionSet": (1, 2, 100000000, 987654, "1", 1.5, None, [1]),
    "MultiOptionSet": ([], [100000001, 100000000], [100000000, 100000000], [5], 1, None),
    "EntityReference": (UNKNOWN, "x", 5, None, {"type": "account", "id": UNKNOWN}, {"id": UNKNOWN}),
    "PartyList": (
        [],
        [{"type": "contact", "id": UNKNOWN}],
        [{"type": "team", "id": UNKNOWN}],
        [{"address": "a@b.example"}],
        [{"address": ""}],
        [UNKNOWN],
        {},
        "x",
        None,
    ),
    "Guid": (UNKNOWN, "x", 5, None),
    "List": ([], [{}], [5], {}, None, [{"nope": 1}] * 101),
}
_number = count(1)


class Values:
    """What an attribute takes, as the platform's metadata and data say."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        used = [entity for entity, definition in platform.entities().items() if not definition.is_intersect]
        self._ids = {entity: self._first(entity) for entity in used}

    def records(self, entity: str) -> tuple[str, ...]:
        """The ids of up to 200 records that were there from the beginning."""
        return self._ids[entity]

    def _first(self, entity: str) -> tuple[str, ...]:
        key = self._platform.entities()[entity].primary_id
        query = Query(entity, (Column(key),), orders=(Order(key),))
        return tuple(str(row[key]) for row in self._platform.query(query, Page(200)).rows)

    def right(self, input: InputDefinition, attribute: Attribute | None) -> Any:
        """A value that the input should take; texts differ from call to call."""
        if attribute is None:
            return f"Value {next(_number)}" if input.type in ("String", "Text") else None
        minimum = attribute.minimum if attribute.minimum is not None else Decimal(0)
        match attribute.type:
            case AttributeType.STRING | AttributeType.MEMO:
                length = min(input.max_length or 100, attribute.max_length or 100)
                return f"ä{next(_number)}@example.com"[:length]
            case AttributeType.INTEGER | AttributeType.BIGINT:
                return int(max(minimum, Decimal(7)))
            case AttributeType.DECIMAL | AttributeType.MONEY | AttributeType.DOUBLE:
                return str(max(minimum, Decimal("7.5")))
            case AttributeType.BOOLEAN:
                return True
            case AttributeType.DATETIME:
                return "2024-02-29" if input.type == "Date" else "2024-02-29T23:59:59+02:00"
            case kind if kind.has_options:
                values = [option.value for option in self._options(attribute)]
                return values[:2][::-1] if kind is AttributeType.MULTISELECT else values[-1]
            case kind if kind.holds_parties:
                return [{"type": target, "id": self.records(target)[0]} for target in attribute.targets[:2]]
            case kind if kind.is_reference:
                target = attribute.targets[0]
                id = self.records(target)[0]
                return id if len(attribute.targets) == 1 else {"type": target, "id": id}
        return None

    def _options(self, attribute: Attribute) -> Any:
        if attribute.options is not None:
            return attribute.options.options
        return self._platform.option_set(str(attribute.option_set)).options

    def bodies(self, endpoint: EndpointDefinition, entity: str | None) -> Iterator[dict[str, Any]]:
        """Right ones, then wrong ones: every doubtful value of every input."""
        attributes = self._bound(endpoint, entity)
        needed = [input for input in endpoint.inputs if input.required]
        yield {}
        for few in (needed, endpoint.inputs):
            changes = endpoint.kind == "update"
            yield {input.name: self._sent(input, attributes, changes=changes) for input in few}
        for input in endpoint.inputs[:8]:
            for value in _doubtful(input):
                yield {**{each.name: self._sent(each, attributes) for each in needed}, input.name: value}
        for row in zip_longest(*(_doubtful(input) for input in endpoint.inputs)):
            yield dict(zip((input.name for input in endpoint.inputs), row, strict=True))
        yield {"nope": 1, "__proto__": {}, "x@odata.bind": "/accounts(1)"}

    def _sent(
        self, input: InputDefinition, attributes: Mapping[str, Attribute], *, changes: bool = False
    ) -> Any:
        if input.type == "List":
            items = [{each.name: self.right(each, None) for each in input.inputs if each.required}] * 2
            return {"add": items} if changes else items
        return self.right(input, attributes.get(input.name))

    def _bound(self, endpoint: EndpointDefinition, entity: str | None) -> dict[str, Attribute]:
        """By input, the attribute that takes it as it is."""
        if entity is None or endpoint.kind == "action":
            return {}
        attributes = self._platform.attributes(entity)
        return {
            str(binding.value): attributes[binding.attribute]
            for binding in endpoint.bindings
            if binding.source == "input" and binding.attribute in attributes
        }

    def parameters(self, endpoint: EndpointDefinition) -> Iterator[dict[str, Any]]:
        """Query strings: none, each parameter with all sorts of values, unknown and repeated ones."""
        needed = {input.name: self._asked(input) for input in endpoint.inputs if input.required}
        yield {}
        yield needed
        for input in endpoint.inputs:
            right = self.records("account")[:3] if input.type == "EntityReference" else ()
            for value in (*right, *_doubtful(input)):
                if not isinstance(value, dict | bool) and value is not None and "\ud83d" not in str(value):
                    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
                    yield {**needed, input.name: text}
        yield {**needed, "colour": "red"}
        yield {**needed, "pageSize": ["1", "2"]}

    def _asked(self, input: InputDefinition) -> str:
        return self.records("account")[0] if input.type == "EntityReference" else str(_doubtful(input)[0])


def _doubtful(input: InputDefinition) -> tuple[Any, ...]:
    return _DOUBTFUL.get(input.type, _NUMBERS)

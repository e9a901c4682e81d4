"""The list of an update: `{"add": […], "change": [{"id": …}], "remove": [ids]}`, or some of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from crmclient import Guid, parse_guid
from designer.types import InputType, InvalidInput, Limits, Reader
from runtime.http.problems import FieldError
from runtime.values.inputs import Inputs, Sent

ADD, CHANGE, REMOVE = "add", "change", "remove"
ID: Final = "id"
_PARTS: Final = (ADD, CHANGE, REMOVE)
_GUID: Final = {"type": "string", "format": "uuid"}


@dataclass(frozen=True, slots=True)
class ListChanges:
    """Reads changes of a list: `added` reads the records to create, `changed` what is sent of
    existing ones.
    """

    added: Inputs
    changed: Inputs

    def reader(self, input_type: InputType, limits: Limits) -> Reader:
        """Return the function that checks a value as a whole: its parts, and their lengths together."""
        # Nobody has to change anything. All parts together are as long as a list may be.
        check = input_type.compile(replace(limits, min_length=None, required=False))

        def read(raw: Any) -> Any:
            """Return `raw` as it is if it is an object of arrays, which together are as long as they may be.
            Raises InvalidInput.
            """
            if type(raw) is not dict or not raw.keys() <= set(_PARTS):
                raise InvalidInput("wrong_type", "Must be an object of add, change and remove.")
            if not all(type(part) is list for part in raw.values()):
                raise InvalidInput("wrong_type", "Each of add, change and remove must be an array.")
            check([item for part in raw.values() for item in part])
            return raw

        return read

    def read_items(
        self, raw: Mapping[str, Any], pointer: str, errors: list[FieldError]
    ) -> dict[str, list[Any]]:
        """Return the items to add, the items to change with their ids, and the ids to remove.

        `pointer` is the JSON Pointer of the list. Mistakes are added to `errors`, among them a record that
        stands in the list twice.
        """
        seen_ids: set[Guid] = set()
        changed = [
            self._read_changed_item(item, f"{pointer}/{CHANGE}/{index}", seen_ids, errors)
            for index, item in enumerate(raw.get(CHANGE, ()))
        ]
        removed = [
            _read_id(item, f"{pointer}/{REMOVE}/{index}", seen_ids, errors)
            for index, item in enumerate(raw.get(REMOVE, ()))
        ]
        return {
            ADD: self.added.read_items(raw.get(ADD, ()), f"{pointer}/{ADD}", errors),
            CHANGE: changed,
            REMOVE: removed,
        }

    def completed_items(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return the changes in which every added and changed item has all inputs."""
        return {
            **value,
            ADD: self.added.completed_items(value[ADD]),
            CHANGE: [{**self.changed.completed(item), ID: item[ID]} for item in value[CHANGE]],
        }

    def schema_of(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON Schema of the value, made of that of a list (`schema`)."""
        item = self.changed.schema()
        item = {**item, "properties": {ID: _GUID, **item["properties"]}, "required": [ID]}
        most = schema["maxItems"]
        parts = {ADD: self.added.schema(), CHANGE: item, REMOVE: _GUID}
        return {
            "type": "object",
            "properties": {
                name: {"type": "array", "items": items, "maxItems": most} for name, items in parts.items()
            },
            "additionalProperties": False,
        }

    def _read_changed_item(
        self, item: Any, pointer: str, earlier_ids: set[Guid], errors: list[FieldError]
    ) -> Sent:
        """Return the values of an item to change, with its id. Mistakes are added to `errors`, and the id to
        `earlier_ids`.
        """
        if type(item) is not dict:
            errors.append(FieldError("wrong_type", "Must be an object.", pointer=pointer))
            return {}
        id = _read_id(item.get(ID), f"{pointer}/{ID}", earlier_ids, errors)
        rest = {name: value for name, value in item.items() if name != ID}
        return {ID: id, **self.changed.read_object(rest, pointer, errors)}


def _read_id(raw: Any, pointer: str, earlier_ids: set[Guid], errors: list[FieldError]) -> Guid:
    """Return the id of a record; empty for a wrong id, so that the rest of the list is still checked.

    A wrong id, and an id that is in `earlier_ids`, are added to `errors`. The id is added to `earlier_ids`.
    """
    if raw is None:
        errors.append(FieldError("required", "Is required.", pointer=pointer))
        return ""
    try:
        id = parse_guid(raw) if type(raw) is str else ""
    except ValueError:
        id = ""
    if not id:
        errors.append(FieldError("wrong_type", "Must be a GUID.", pointer=pointer))
    elif id in earlier_ids:
        errors.append(FieldError("repeated", "This record stands in the list twice.", pointer=pointer))
    earlier_ids.add(id)
    return id

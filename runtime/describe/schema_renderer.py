"""Renders stored parts for a reader: in one language, with links to what the reader may call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from crmclient import Platform
from crmclient.errors import MetadataError
from crmclient.metadata import ENGLISH, OptionSet
from runtime.describe.schema_parts import Part, name_of, operation_of
from runtime.describe.schema_shapes import Call, Candidates, FieldOptions, FieldShape, Option, OptionSetShape

# The members of a stored field that are shown as they are.
_AS_IS = (
    *("name", "type", "required", "nullable", "maxLength", "minLength", "maxItems", "minItems"),
    *("max", "min", "precision", "pattern", "default", "allowed", "targets", "changes"),
)


@dataclass(frozen=True, slots=True)
class Language:
    """The language of a reader. `base` is the platform's base language. Both are LCIDs."""

    lcid: int
    base: int

    def of(self, text: str | Mapping[str, str]) -> str:
        """Return a text in the language or, if it lacks that, in English, in the base language, or in any.

        A text of the configuration is a plain string and is returned as it is.
        """
        if isinstance(text, str):
            return text
        for lcid in (self.lcid, ENGLISH, self.base):
            translation = text.get(str(lcid))
            if translation is not None:
                return translation
        return next(iter(text.values()), "")


class Renderer:
    """Renders the parts of what one kind of reader may call."""

    def __init__(self, parts: Iterable[Part], language: Language, platform: Platform) -> None:
        self.language = language
        self.platform = platform
        # By an option set's entity (None: a global one) and name: its options, and its addresses by module.
        self._options: dict[tuple[str | None, str], list[Option]] = {}
        self._urls: dict[tuple[str | None, str], dict[str, str]] = {}
        # By entity: the module of each query that lists its records, and the query.
        self._candidates: dict[str, list[tuple[str, Candidates]]] = {}
        for part in parts:
            if "optionSet" in part:
                entity, name = part["optionSet"]["source"]
                self._urls.setdefault((entity, name), {})[part["module"]] = part["call"]["path"]
            elif query := _as_candidates(part):
                self._candidates.setdefault(query["entity"], []).append((part["module"], query))

    @cached_property
    def dependencies(self) -> str:
        """Everything else that the rendered text of a part depends on, as one text: a part of a cache key."""
        return f"{self.language} {self._urls} {self._candidates}"

    def call(self, part: Part) -> Call:
        """Return the description of a call, made of the `part` of a fragment, in the renderer's language."""
        module = part["module"]
        shape: dict[str, Any] = {
            "enabled": True,
            **part["call"],
            "fields": [self.sent_field(field, module) for field in part["fields"]],
            "columns": [self.field(column, module) for column in part["columns"]],
            "headers": part["headers"],
        }
        if not part["media"]:
            # The inputs of a query are its parameters, too: here they are fields already. Where there is a
            # body, a client sends all fields in it: a parameter such as `lcid` would be refused there.
            field_names = {field["name"] for field in part["fields"]}
            shape["fields"] += [
                _parameter_as_field(parameter)
                for parameter in part["parameters"]
                if parameter["name"] not in field_names
            ]
        if "related" in part:
            entity = part["related"]
            shape["related"] = {"entity": entity, "candidates": self._candidates_for([entity], module)}
        if (part["schema"] is not None or shape["fields"]) and not _is_download(part):
            shape["form"] = _form_address(part)
        return cast(Call, shape)

    def sent_field(self, stored: Part, module: str) -> FieldShape:
        """Return the shape of a field that is sent, with the queries that list records to choose from."""
        shape = self.field(stored, module)
        if "targets" in shape:
            shape["candidates"] = self._candidates_for(shape["targets"], module)
        if "items" in stored:
            shape["items"] = [self.sent_field(item, module) for item in stored["items"]]
        return shape

    def _candidates_for(self, entities: Iterable[str], module: str) -> list[Candidates]:
        """Return the queries that list records of `entities`, those of `module` first."""
        modules_and_queries = [pair for entity in entities for pair in self._candidates.get(entity, ())]
        modules_and_queries.sort(key=lambda pair: (pair[0] != module, pair[1]["url"]))
        return [query for _, query in modules_and_queries]

    def field(self, stored: Part, module: str) -> FieldShape:
        """Return the description of a field in the renderer's language. `module` is that of its endpoint."""
        shape: dict[str, Any] = {name: stored[name] for name in _AS_IS if name in stored}
        shape["label"] = self.language.of(stored["label"]) or stored["name"]
        shape["description"] = self.language.of(stored["description"])
        if "optionSet" in stored:
            entity, name, attribute = stored["optionSet"]
            options = self._options_of(entity, attribute if entity else name)
            if options is not None:
                shape["optionSet"] = FieldOptions(
                    name=name, url=self._url(entity, name, module), options=options
                )
        return cast(FieldShape, shape)

    def option_set(self, part: Part) -> OptionSetShape:
        """Return the description of an option set, made of the `part` of a fragment, in the renderer's
        language.
        """
        stored = part["optionSet"]
        return {
            "name": name_of(part),
            "displayName": self.language.of(stored["label"]) or part["name"],
            "url": part["call"]["path"],
            "options": [
                _option(option["value"], self.language.of(option["label"]), option["color"])
                for option in stored["options"]
            ],
        }

    def _options_of(self, entity: str | None, name: str) -> list[Option] | None:
        """Return the options of an entity's attribute `name` or, without an entity, of the global option set
        `name`; None if the platform does not have it.
        """
        key = (entity, name)
        if key not in self._options:
            try:
                option_set = self.platform.option_set(name, entity=entity)
            except MetadataError:
                return None
            self._options[key] = self._labelled_options(option_set)
        return self._options[key]

    def _labelled_options(self, option_set: OptionSet) -> list[Option]:
        """Return the options of an option set with labels in the renderer's language."""
        language = self.language
        return [
            _option(option.value, option.label.text(language.lcid, language.base), option.color)
            for option in option_set.options
        ]

    def _url(self, entity: str | None, name: str, module: str) -> str | None:
        """Return the URL in this module or, if it has none, in any other module that the reader may call."""
        urls_by_module: Mapping[str, str] = self._urls.get((entity, name), {})
        return urls_by_module.get(module) or next(iter(urls_by_module.values()), None)


def _as_candidates(part: Part) -> Candidates | None:
    """Return the query as a list of records to choose from; None unless its rows have an id and no field is
    required.
    """
    rows = part.get("rows")
    if rows is None or rows["id"] is None or any(field["required"] for field in part["fields"]):
        return None
    return Candidates(
        entity=rows["entity"],
        url=part["call"]["path"],
        id=rows["id"],
        name=rows["name"],
        parameters=[field["name"] for field in part["fields"]],
    )


def _is_download(part: Part) -> bool:
    """Whether a part is about getting a file or a list of files, and has no form.

    An upload may have the same name: the address of its form would mean both.
    """
    return part["place"] == "files" and not part["fields"]


def _form_address(part: Part) -> str:
    """Return the address of the form for a call."""
    match part["place"]:
        case "operations":
            return f"/api/schema/entities/{name_of(part)}?form={operation_of(part)}"
        case "files":
            # `form` is `upload.create`, say: an upload may have the name of another operation.
            return f"/api/schema/entities/{part['module']}.{part['segment']}?form={operation_of(part)}"
        case "actions":
            return f"/api/schema/processes/{name_of(part)}?form=run"
        case place:
            return f"/api/schema/{place}/{name_of(part)}?form=run"


def _option(value: int, name: str, color: str | None) -> Option:
    """Return an option. A missing colour is left out."""
    return {"value": value, "name": name} if color is None else {"value": value, "name": name, "color": color}


# The types of fields, by the types of JSON Schema.
_FIELD_TYPES = {"integer": "Integer", "number": "Double", "boolean": "Boolean", "array": "List"}


def _parameter_as_field(parameter: Part) -> dict[str, Any]:
    """Return the description of a built-in query parameter, such as `lcid`."""
    schema = parameter["schema"]
    names_of_limits = {"minimum": "min", "maximum": "max", "default": "default", "enum": "allowed"}
    return {
        "name": parameter["name"],
        "type": _FIELD_TYPES.get(schema.get("type"), "String"),
        "label": parameter["name"],
        "description": parameter["description"],
        "required": parameter["required"],
        "nullable": False,
        **{name: schema[keyword] for keyword, name in names_of_limits.items() if keyword in schema},
    }

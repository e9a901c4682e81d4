"""The texts of an endpoint or a module that have translations, and what is done to them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crmclient.metadata import Attribute
from designer.definitions import EndpointDefinition, InputDefinition, ModuleDefinition, PreconditionDefinition
from designer.definitions.translations import Translated, in_one_order
from designer.models import Endpoint, Input, Module, Precondition

# Rows whose field `translations` holds some of the texts.
Row: TypeAlias = Endpoint | Input | Module | Precondition

_NAMES: Mapping[str, Promise] = {
    "title": gettext_lazy("title"),
    "description": gettext_lazy("description"),
    "label": gettext_lazy("label"),
    "message": gettext_lazy("message"),
}
_DEFINITIONS: Mapping[type[Row], type[Translated]] = {
    Endpoint: EndpointDefinition,
    Input: InputDefinition,
    Module: ModuleDefinition,
    Precondition: PreconditionDefinition,
}


@dataclass
class Text:
    """One text of `row`. `place` tells it from the others whatever ids rows have: imports write them anew.

    `start` are the platform's words for the same, by language.
    """

    place: str
    title: str
    row: Row
    name: str
    start: Mapping[int, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return str(getattr(self.row, self.name))

    @property
    def longest(self) -> int | None:
        return _DEFINITIONS[type(self.row)].longest[self.name]

    def in_language(self, lcid: int) -> str:
        """Empty where there is none."""
        return str(self.row.translations.get(str(lcid), {}).get(self.name, ""))

    def put(self, lcid: int, text: str) -> None:
        known = {key: dict(texts) for key, texts in self.row.translations.items()}
        known.setdefault(str(lcid), {})[self.name] = text
        self.row.translations = in_one_order(known)


def texts_of_module(row: Module) -> list[Text]:
    return list(_texts(row, "", ""))


def texts_of_endpoint(row: Endpoint, bound: Mapping[str, Attribute]) -> list[Text]:
    """`bound` are the attributes of its inputs, by their names."""
    found = list(_texts(row, "", ""))
    inputs = list(row.inputs.all())
    found += _of_inputs(inputs, None, "", bound)
    for at, known in enumerate(row.preconditions.all()):
        title = _("pre-condition “%(name)s”") % {"name": known.expression}
        found += _texts(known, f"preconditions.{at}.", title)
    return found


def _of_inputs(
    inputs: Iterable[Input], parent: int | None, inside: str, bound: Mapping[str, Attribute]
) -> Iterator[Text]:
    for known in inputs:
        if known.parent_id == parent:
            place = f"{inside}inputs.{known.name}."
            title = _("input “%(name)s”") % {"name": f"{inside.replace('inputs.', '')}{known.name}"}
            yield from _texts(known, place, title, bound.get(known.name) if parent is None else None)
            yield from _of_inputs(inputs, known.pk, place, {})


def _texts(row: Row, place: str, title: str, attribute: Attribute | None = None) -> Iterator[Text]:
    for name in _DEFINITIONS[type(row)].longest:
        said = f"{title}: {_NAMES[name]}" if title else str(_NAMES[name])
        start: Mapping[int, str] = {}
        if attribute is not None:
            start = (attribute.label if name == "label" else attribute.description).texts
        yield Text(f"{place}{name}", str(capfirst(said)), row, name, start)


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the texts that some language has are there in one."""

    there: int
    all: int

    @property
    def is_whole(self) -> bool:
        return self.there == self.all


def share(definition: Translated, lcid: int) -> Share:
    """Of a definition with all that belongs to it."""
    there = wanted = 0
    for part in _parts(definition):
        translated = part.translations.get(str(lcid), {})
        for name in part.longest:
            if getattr(part, name) or any(name in texts for texts in part.translations.values()):
                wanted += 1
                there += name in translated
    return Share(there, wanted)


def _parts(definition: Translated) -> Iterator[Translated]:
    yield definition
    if isinstance(definition, EndpointDefinition):
        for known in (*definition.inputs, *definition.preconditions):
            yield from _parts(known)
    elif isinstance(definition, InputDefinition):
        for known in definition.inputs:
            yield from _parts(known)

"""The texts of an endpoint or a module that can be translated, and how many of them are."""

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

_FIELD_NAMES: Mapping[str, Promise] = {
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
    """One text of `row`: its field `name`, with translations. `title` says what the text is of.

    `place` identifies the text on a page by names, because an import gives rows new ids. `start` has the
    platform's own texts for the same thing, by language (LCID).
    """

    place: str
    title: str
    row: Row
    name: str
    start: Mapping[int, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """Return the text that is not translated."""
        return str(getattr(self.row, self.name))

    @property
    def longest(self) -> int | None:
        """Return the highest number of characters; None: any number."""
        return _DEFINITIONS[type(self.row)].longest[self.name]

    def in_language(self, lcid: int) -> str:
        """Return the text in a language; empty when it is missing."""
        return str(self.row.translations.get(str(lcid), {}).get(self.name, ""))

    def put(self, lcid: int, text: str) -> None:
        """Set the text in a language in the row, which is not saved. An empty text removes it."""
        translations = {key: dict(texts) for key, texts in self.row.translations.items()}
        translations.setdefault(str(lcid), {})[self.name] = text
        self.row.translations = in_one_order(translations)


def texts_of_module(row: Module) -> list[Text]:
    return list(_texts(row, "", ""))


def texts_of_endpoint(row: Endpoint, attributes_by_input: Mapping[str, Attribute]) -> list[Text]:
    """Return the texts of an endpoint, its inputs and its pre-conditions.

    `attributes_by_input` has the attributes that inputs are bound to, by input name. Their labels are texts
    to start with.
    """
    texts = list(_texts(row, "", ""))
    inputs = list(row.inputs.all())
    texts += _texts_of_inputs(inputs, None, "", attributes_by_input)
    for position, precondition in enumerate(row.preconditions.all()):
        title = _("pre-condition “%(name)s”") % {"name": precondition.expression}
        texts += _texts(precondition, f"preconditions.{position}.", title)
    return texts


def _texts_of_inputs(
    inputs: Iterable[Input],
    parent: int | None,
    parent_place: str,
    attributes_by_input: Mapping[str, Attribute],
) -> Iterator[Text]:
    """Yield the texts of those of `inputs` that belong to `parent`, and of the inputs inside of them.

    `inputs` are all of the endpoint. `parent` is the row id of an input; None: the endpoint itself.
    `parent_place` is the place of the parent, such as `inputs.contacts.`; empty for the endpoint.
    """
    for row in inputs:
        if row.parent_id == parent:
            place = f"{parent_place}inputs.{row.name}."
            # In the title, the input is called `contacts.phone`, as people know it.
            title = _("input “%(name)s”") % {"name": f"{parent_place.replace('inputs.', '')}{row.name}"}
            yield from _texts(
                row, place, title, attributes_by_input.get(row.name) if parent is None else None
            )
            yield from _texts_of_inputs(inputs, row.pk, place, {})


def _texts(row: Row, place: str, title: str, attribute: Attribute | None = None) -> Iterator[Text]:
    """Yield the texts of one row. `place` and `title` say what the row is; they are empty for the owner.

    `attribute` is the platform's attribute that the row stands for; None: none.
    """
    for name in _DEFINITIONS[type(row)].longest:
        full_title = f"{title}: {_FIELD_NAMES[name]}" if title else str(_FIELD_NAMES[name])
        texts_of_platform: Mapping[int, str] = {}
        if attribute is not None:
            texts_of_platform = (attribute.label if name == "label" else attribute.description).texts
        yield Text(
            place=f"{place}{name}",
            title=str(capfirst(full_title)),
            row=row,
            name=name,
            start=texts_of_platform,
        )


@dataclass(frozen=True, slots=True)
class Share:
    """How many texts are translated to one language (`there`), out of `all` that can be."""

    there: int
    all: int

    @property
    def is_whole(self) -> bool:
        return self.there == self.all


def share(definition: Translated, lcid: int) -> Share:
    """Return how many texts of a definition and of all its parts are translated to a language.

    An empty text that has no translation in any language is not counted.
    """
    translated_count = total = 0
    for part in _parts(definition):
        translated = part.translations.get(str(lcid), {})
        for name in part.longest:
            if getattr(part, name) or any(name in texts for texts in part.translations.values()):
                total += 1
                translated_count += name in translated
    return Share(translated_count, total)


def _parts(definition: Translated) -> Iterator[Translated]:
    """Yield the definition, and those of its parts that have texts: inputs at any depth, pre-conditions."""
    yield definition
    if isinstance(definition, EndpointDefinition):
        for part in (*definition.inputs, *definition.preconditions):
            yield from _parts(part)
    elif isinstance(definition, InputDefinition):
        for part in definition.inputs:
            yield from _parts(part)

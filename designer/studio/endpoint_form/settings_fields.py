"""Form fields for what only one kind of endpoint needs, made from the settings that the kind declares."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, Literal, get_args, get_origin

import pydantic
from annotated_types import Ge, Le
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from crmclient.query.designed import DesignedQuery
from designer.kinds.file_sizes import FileSize, size_in_bytes, size_in_words
from designer.kinds.pickers import Picker, PickerPlace
from designer.kinds.queries import OfferedOrder
from designer.kinds.settings import EndpointSettings
from designer.library_messages import problems_of, reason_of
from designer.sentences import said
from designer.studio.endpoint_form.fetchxml_fields import FetchXmlField
from designer.studio.look import dress, searchable
from designer.studio.metadata.choices import Choices, offered, with_present

PREFIX = "settings"
_SEPARATOR = "__"


class WordsField(forms.Field):
    """Several words, separated by commas."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> list[str]:
        return [word.strip() for word in str(value or "").split(",") if word.strip()]

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(str(item) for item in value) if isinstance(value, (list, tuple)) else value


class WholeNumbersField(forms.Field):
    """Several whole numbers, separated by commas."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> list[int]:
        words = [word.strip() for word in str(value or "").split(",") if word.strip()]
        try:
            return [int(word) for word in words]
        except ValueError as error:
            raise ValidationError(gettext("Write whole numbers, separated by commas.")) from error

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(str(item) for item in value) if isinstance(value, (list, tuple)) else value


class SizeField(forms.Field):
    """The size of a file with its unit: `10 MB`. Its value is the number of bytes."""

    widget = forms.TextInput

    def __init__(self, *, min_value: int, max_value: int, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._least, self._most = min_value, max_value

    def to_python(self, value: Any) -> int | None:
        if value in self.empty_values:
            return None
        try:
            size = value if isinstance(value, int) else size_in_bytes(str(value))
        except ValueError as error:
            raise ValidationError(gettext("Write a size with its unit, such as 10 MB or 500 KB.")) from error
        if not self._least <= size <= self._most:
            bounds = {"least": size_in_words(self._least), "most": size_in_words(self._most)}
            raise ValidationError(gettext("Write a size from %(least)s to %(most)s.") % bounds)
        return size

    def prepare_value(self, value: Any) -> Any:
        return size_in_words(value) if isinstance(value, int) else value


class OrdersField(forms.Field):
    """Orders that callers may choose from, one a line: `newest: -createdon, name`."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> list[dict[str, Any]]:
        """Return each order as the JSON of an `OfferedOrder`. Raises ValidationError for one without keys."""
        lines = [line.partition(":") for line in str(value or "").splitlines() if line.strip()]
        return [{"name": name.strip(), "by": self._keys_of(keys)} for name, _, keys in lines]

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        return "\n".join(self._line_of(order) for order in value)

    def _line_of(self, order: Any) -> str:
        """Return the line of a stored order. A row may hold anything, which is shown as it is."""
        match order:
            case {"name": str(name), "by": [*keys]}:
                return f"{name}: {', '.join(str(key) for key in keys)}"
        return str(order)

    def _keys_of(self, text: str) -> list[str]:
        """Return the keys that an order sorts by. Raises ValidationError where the text has none."""
        keys = [key.strip() for key in text.split(",") if key.strip()]
        if not keys:
            raise ValidationError(gettext("Write a name, a colon, and columns: newest: -createdon, name"))
        return keys


def refuse_unknown_settings(settings: type[EndpointSettings]) -> None:
    """Raise ValueError, with the name of the setting, for a type for which there is no form field."""
    for name, info in _all_settings(settings, PREFIX):
        try:
            if _picker_of(info) is None:
                _plain_field(info, {})
            else:
                _choice_field(info, [], {})
        except TypeError as error:
            raise ValueError(f"{name.removeprefix(PREFIX + _SEPARATOR)}: {error}") from error


def form_fields(settings: type[EndpointSettings], place: PickerPlace) -> dict[str, forms.Field]:
    """Return a form field for each setting, by its form name: `settings__filter__mode`."""
    return {name: _form_field(info, place) for name, info in _all_settings(settings, PREFIX)}


# Up to so many choices stand one below the other. Of more, a list is searched.
_MOST_LISTED = 6


def choice_fields(settings: type[EndpointSettings], place: PickerPlace) -> dict[str, forms.Field]:
    """Return fields for the settings that are chosen from metadata, by the settings' own names.

    Where a setting holds one of a few choices, the first is chosen. A setting is left out while there is
    nothing to choose from.
    """
    fields: dict[str, forms.Field] = {}
    for name, info in settings.model_fields.items():
        picker = _picker_of(info)
        choices = offered(picker, place) if picker is not None else []
        if not choices:
            continue
        arguments: dict[str, Any] = {
            "label": gettext_lazy(info.title) if info.title else "",
            "required": False,
        }
        if len(choices) > _MOST_LISTED or _holds_several(info):
            fields[name] = _choice_field(info, choices, arguments)
        else:
            radio_field = forms.ChoiceField(
                choices=choices, initial=choices[0][0], widget=forms.RadioSelect, **arguments
            )
            fields[name] = dress(radio_field)
    return fields


def initial_values(settings: type[EndpointSettings], data: Any) -> dict[str, Any]:
    """Return the initial values of the form's fields, by form name. `data` is the row's JSON, which may hold
    anything.
    """
    values = {}
    for name, info in _all_settings(settings, PREFIX):
        value = data
        for part in name.split(_SEPARATOR)[1:]:
            value = value.get(part) if isinstance(value, dict) else None
        values[name] = info.get_default(call_default_factory=True) if value is None else value
    return values


def settings_json(settings: type[EndpointSettings], cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row's JSON from the form's cleaned values. Values that were not accepted count as their
    defaults.

    Raises Django's ValidationError by form name.
    """
    data: dict[str, Any] = {}
    for name, _ in _all_settings(settings, PREFIX):
        *path, last = name.split(_SEPARATOR)[1:]
        inner = data
        for part in path:
            inner = inner.setdefault(part, {})
        if name in cleaned:
            inner[last] = cleaned[name]
    try:
        return settings.model_validate(data).to_json()
    except pydantic.ValidationError as error:
        raise ValidationError(
            {
                _SEPARATOR.join((PREFIX, *_field_path(problem["loc"]))): _with_full_stop(reason_of(problem))
                for problem in problems_of(error)
            }
        ) from error


def _field_path(place: tuple[int | str, ...]) -> Iterator[str]:
    """Yield the names that lead to the setting at `place`. The item of a list has no field of its own."""
    return takewhile(lambda step: isinstance(step, str), place)  # type: ignore[arg-type]  # narrowed by it


def _with_full_stop(reason: str) -> str:
    return f"{said(reason).rstrip('.')}."


def _all_settings(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the form name of each setting, also of those inside of other settings, with its declaration."""
    for name, info in model.model_fields.items():
        path = f"{prefix}{_SEPARATOR}{name}"
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from _all_settings(info.annotation, path)
        else:
            yield path, info


def _form_field(info: FieldInfo, place: PickerPlace) -> forms.Field:
    """Return the form field of a setting: a list if it is picked from metadata, else by its type."""
    arguments: dict[str, Any] = {
        "label": gettext_lazy(info.title) if info.title else "",
        "help_text": gettext_lazy(info.description) if info.description else "",
        "required": False,
    }
    picker = _picker_of(info)
    return (
        _plain_field(info, arguments)
        if picker is None
        else _choice_field(info, offered(picker, place), arguments)
    )


def _picker_of(info: FieldInfo) -> Picker | None:
    return next((note for note in info.metadata if isinstance(note, Picker)), None)


def _holds_several(info: FieldInfo) -> bool:
    return info.annotation == tuple[str, ...]


def _choice_field(info: FieldInfo, choices: Choices, arguments: dict[str, Any]) -> forms.ChoiceField:
    """Return the field of a setting that is picked from `choices`. `arguments` are the other arguments of the
    field. Raises TypeError for a setting of another type than text or texts.
    """
    if _holds_several(info):
        return searchable(forms.MultipleChoiceField(choices=choices, **arguments))
    if info.annotation is str:
        return searchable(forms.ChoiceField(choices=with_present(choices, None), **arguments))
    raise TypeError(f"a picker offers texts, for a setting of type str or tuple[str, ...]: {info.annotation}")


def _plain_field(info: FieldInfo, arguments: dict[str, Any]) -> forms.Field:
    """Return the field of a setting that is not picked from metadata. `arguments` are arguments of the field.

    Raises TypeError for a type of setting that has no field.
    """
    if get_origin(info.annotation) is Literal:
        labels = _labels(info)
        choices = [
            (value, gettext_lazy(labels[value]) if value in labels else value)
            for value in get_args(info.annotation)
        ]
        return dress(forms.ChoiceField(choices=choices, **arguments))
    if info.annotation is bool:
        return dress(forms.BooleanField(**arguments))
    if info.annotation == tuple[int, ...]:
        return dress(WholeNumbersField(**arguments))
    if info.annotation == tuple[str, ...]:
        return dress(WordsField(**arguments))
    if info.annotation == tuple[OfferedOrder, ...]:
        return dress(OrdersField(**arguments))
    if info.annotation == DesignedQuery | None:
        return FetchXmlField("query", **arguments)
    if info.annotation is int and any(isinstance(note, FileSize) for note in info.metadata):
        return dress(SizeField(**arguments | {"required": True} | _bounds(info)))
    if info.annotation is int:
        # An empty field would be None, which no setting of numbers takes.
        return dress(forms.IntegerField(**arguments | {"required": True} | _bounds(info)))
    if info.annotation is str:
        return dress(forms.CharField(**arguments))
    raise TypeError(f"no form field is known for a setting of type {info.annotation}")


def _bounds(info: FieldInfo) -> dict[str, int]:
    """Return the arguments of an IntegerField for the limits (`ge`, `le`) that the setting declares."""
    names = {Ge: ("min_value", "ge"), Le: ("max_value", "le")}
    bounds = [(names[type(bound)], bound) for bound in info.metadata if type(bound) in names]
    return {option: getattr(bound, attribute) for (option, attribute), bound in bounds}


def _labels(info: FieldInfo) -> Mapping[str, str]:
    """Return the labels of a setting's choices by value, which it declares as a MappingProxyType."""
    return next((item for item in info.metadata if isinstance(item, types.MappingProxyType)), {})

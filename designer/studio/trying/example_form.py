"""The form of an example call: what it is called, and what it should be answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from designer.definitions import ExampleCallDefinition
from designer.definitions.example_calls import ANYTHING
from designer.example_calls.shapes import leaves
from designer.models import Role
from designer.models.fields import ExactJSONEncoder
from designer.studio.field_values import typed_value, value_as_typed
from designer.studio.look import dress

LONGEST_NAME = 100
_MOST_VALUES = 40
# How the names of the fields for expected values begin, so that none is taken for another field.
_VALUE_PREFIX = "value__"


def name_field(**options: Any) -> forms.Field:
    """Return the field for the name of an example call."""
    return dress(
        forms.CharField(
            label=_("Name"),
            max_length=LONGEST_NAME,
            help_text=_("What the call shows, such as “a new account by a representative”."),
            **options,
        )
    )


class ExampleForm(forms.Form):
    """The form of an example call. `names_in_use` are those of the other example calls of its endpoint.

    `asks_values`: expected values are asked for, one for each value of the shape. Nothing that was answered
    stands in them: values are expected only where somebody has typed them.
    """

    def __init__(
        self,
        example: ExampleCallDefinition,
        *args: Any,
        names_in_use: frozenset[str],
        asks_values: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._example = example
        self._names_in_use = names_in_use
        self.fields["name"] = name_field(initial=example.name)
        self.fields["status"] = dress(
            forms.IntegerField(label=_("Status"), min_value=200, max_value=599, initial=example.status)
        )
        if example.shape is not None:
            self.fields["has_shape"] = dress(
                forms.BooleanField(
                    label=_("Compare the shape"),
                    required=False,
                    initial=True,
                    help_text=_("The answer may have more than the shape, and any value may be null."),
                )
            )
        self.fields["refused_for"] = dress(
            forms.MultipleChoiceField(
                label=_("Refused for"),
                required=False,
                choices=[(role.name, str(role)) for role in Role.objects.all()],
                initial=example.refused_for,
                widget=forms.CheckboxSelectMultiple,
                help_text=_("A caller who has only one of these roles must get 401, 403 or 404."),
            )
        )
        self._types_by_place = _types_by_place(example) if asks_values else {}
        for place, json_type in self._types_by_place.items():
            self.fields[f"{_VALUE_PREFIX}{place}"] = dress(
                forms.CharField(
                    label=place or _("The answer"),
                    required=False,
                    strip=False,
                    initial=_text_of(example.values[place], json_type) if place in example.values else "",
                    help_text=json_type,
                )
            )

    @property
    def shape(self) -> str:
        """The shape, for people to read; empty where the example has none."""
        shape = self._example.shape
        return "" if shape is None else json.dumps(shape, ensure_ascii=False, indent=2)

    @property
    def value_fields(self) -> list[forms.BoundField]:
        """The fields for expected values."""
        return [self[name] for name in self.fields if name.startswith(_VALUE_PREFIX)]

    @property
    def general_fields(self) -> list[forms.BoundField]:
        """The fields that are not for expected values: name, status and the like."""
        return [self[name] for name in self.fields if not name.startswith(_VALUE_PREFIX)]

    def clean_name(self) -> str:
        """Refuse the name of another example call."""
        name: str = self.cleaned_data["name"]
        if name in self._names_in_use:
            raise forms.ValidationError(
                gettext("Another example call is called “%(name)s”. Choose another name.") % {"name": name}
            )
        return name

    def changed_example(self) -> ExampleCallDefinition:
        """Return the example with the values of the valid form."""
        fields = self.cleaned_data
        # Only an example with a shape asks whether to keep it.
        keeps_shape = fields.get("has_shape", True)
        return ExampleCallDefinition.model_validate(
            {
                **dict(self._example),
                "name": fields["name"],
                "status": fields["status"],
                "shape": self._example.shape if keeps_shape else None,
                "values": {**self._values_without_fields(), **self._typed_values()},
                "refused_for": fields["refused_for"],
            }
        )

    def _typed_values(self) -> dict[str, Any]:
        """Return the expected values of the fields, by place (a JSON Pointer)."""
        values = {}
        for place, json_type in self._types_by_place.items():
            field = f"{_VALUE_PREFIX}{place}"
            text = self.cleaned_data[field]
            if field not in self.changed_data and place in self._example.values:
                # Kept, and not read from its text: an expected "" looks like a field without a value.
                values[place] = self._example.values[place]
            elif text:
                values[place] = text if json_type == "string" else typed_value(text, None)
        return values

    def _values_without_fields(self) -> Mapping[str, Any]:
        """Return the expected values that the form has no fields for, by place."""
        return {
            place: value for place, value in self._example.values.items() if place not in self._types_by_place
        }


def _text_of(value: Any, json_type: str) -> str:
    """Return the text of an expected value at a place whose values have the JSON type `json_type`.

    That is JSON where the value's own text would be read as another value, as a text that looks like a number
    would. Where only strings can be, any text is read as a string.
    """
    text = value_as_typed(value)
    if json_type == "string" or (text and typed_value(text, None) == value):
        return text
    return json.dumps(value, cls=ExactJSONEncoder, ensure_ascii=False)


def _types_by_place(example: ExampleCallDefinition) -> dict[str, str]:
    """Return the JSON types of the values that the form has fields for, by place (a JSON Pointer).

    These are the first `_MOST_VALUES` of the shape, and all that are expected already.
    """
    types_by_place = dict(leaves(example.shape)) if example.shape is not None else {}
    first_types = dict(list(types_by_place.items())[:_MOST_VALUES])
    return {**first_types, **{place: types_by_place.get(place, ANYTHING) for place in example.values}}

"""Findings on an endpoint's page: each where it is to be mended, with the button that mends it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from designer.definition import Definition
from designer.definitions import BindingDefinition, InputDefinition
from designer.models.fields import ExactJSONEncoder
from designer.readiness import Finding
from designer.studio.field_values import value_as_typed


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with its place on the page, as `finding_places.Places` names places.

    `label` is that of the button with the fix, and `fix` is JSON for `fixes.js`: fields to set and rows to
    add. Both are empty without a fix. `acknowledges` is the entity that somebody may acknowledge instead;
    empty: none. `corrected_at` is the address of the page where it is corrected, if that is another page.
    """

    finding: Finding
    place: str
    label: str = ""
    fix: str = ""
    acknowledges: str = ""
    corrected_at: str = ""


def input_row(definition: InputDefinition) -> dict[str, Any]:
    """Return an input as the values of the fields of its row on the page, by their names."""
    names = ("name", "type", "required", "nullable", "label", "description", "min_length", "max_length")
    # Only inputs that hold lists of records have a field for the relationship.
    row = _row(definition, (*names, "relationship") if definition.relationship else names)
    return {**row, "minimum": field_text(definition.minimum), "maximum": field_text(definition.maximum)}


def binding_row(definition: BindingDefinition) -> dict[str, Any]:
    """Return a binding as the values of the fields of its row on the page, by their names."""
    return {**_row(definition, ("attribute", "source")), "value_text": value_as_typed(definition.value)}


def _row(definition: Definition, names: Iterable[str]) -> dict[str, Any]:
    return {name: field_text(getattr(definition, name)) for name in names}


def field_text(value: Any) -> Any:
    """Return a value of a definition as a form field takes it: a text, or a boolean."""
    if isinstance(value, bool):
        return value
    # Through JSON: the values of enumerations and exact numbers become texts as in documents.
    return "" if value is None else value_as_typed(json.loads(json.dumps(value, cls=ExactJSONEncoder)))


def findings_at(located: Iterable[Located], place: str) -> SafeString:
    """Return the findings at a place as HTML; empty without any."""
    findings = [item for item in located or () if item.place == place]
    html = render_to_string("designer/endpoint/findings.html", {"located": findings}) if findings else ""
    return mark_safe(html)  # noqa: S308  a template's output

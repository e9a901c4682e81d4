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
from designer.studio.field_values import shown


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with its place on the page. `fix` is JSON for `fixes.js`: fields to set and rows to add.

    `acknowledges` is the entity that can be acknowledged instead.
    """

    finding: Finding
    place: str
    label: str = ""
    fix: str = ""
    acknowledges: str = ""


def input_row(made: InputDefinition) -> dict[str, Any]:
    """An input as the fields of its row."""
    names = ("name", "type", "required", "nullable", "label", "description", "min_length", "max_length")
    row = _row(made, (*names, "relationship") if made.relationship else names)
    return {**row, "minimum": field_text(made.minimum), "maximum": field_text(made.maximum)}


def binding_row(made: BindingDefinition) -> dict[str, Any]:
    return {**_row(made, ("attribute", "source")), "value_text": shown(made.value)}


def _row(made: Definition, names: Iterable[str]) -> dict[str, Any]:
    return {name: field_text(getattr(made, name)) for name in names}


def field_text(value: Any) -> Any:
    """Return a value as a form field takes it: a text, or a boolean."""
    if isinstance(value, bool):
        return value
    return "" if value is None else shown(json.loads(json.dumps(value, cls=ExactJSONEncoder)))


def findings_at(located: Iterable[Located], place: str) -> SafeString:
    """The findings at a place, as HTML."""
    findings = [item for item in located or () if item.place == place]
    html = render_to_string("designer/endpoint/findings.html", {"located": findings}) if findings else ""
    return mark_safe(html)  # noqa: S308  a template's output

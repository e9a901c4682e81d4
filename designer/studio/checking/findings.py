"""Findings on an endpoint's page: each where it is to be mended, with the button that mends it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.forms import BaseForm, BaseFormSet

from designer.definitions import BindingDefinition, InputDefinition
from designer.definitions.base import Definition
from designer.models.fields import ExactJSONEncoder
from designer.readiness import Checker, Finding
from designer.readiness.fixes import Fix
from designer.studio.checking.places import Places
from designer.studio.endpoints.values import shown


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with its place on the page. `fix` is JSON for `fixes.js`: fields to set and rows to add."""

    finding: Finding
    place: str
    label: str = ""
    fix: str = ""


def locate(
    id: int,
    checker: Checker,
    findings: Iterable[Finding],
    form: BaseForm,
    formsets: Iterable[BaseFormSet[Any]],
) -> list[Located]:
    """The findings about the endpoint with row id `id`, at their places on its page."""
    places = Places(form, formsets)
    located = []
    for finding in findings:
        fix = checker.fix(id, finding)
        shown_as = (fix.label, _script(fix, places)) if fix else ("", "")
        located.append(Located(finding, places.of(finding.field), *shown_as))
    return located


def _script(fix: Fix, places: Places) -> str:
    changes = {places.of(field): _text(value) for field, value in fix.changes.items()}
    rows = {
        "inputs": [input_row(made) for made in fix.inputs],
        "bindings": [binding_row(made) for made in fix.bindings],
    }
    return json.dumps({"set": changes, "rows": {prefix: made for prefix, made in rows.items() if made}})


def input_row(made: InputDefinition) -> dict[str, Any]:
    """An input as the fields of its row."""
    row = _row(made, ("name", "type", "required", "nullable", "description", "min_length", "max_length"))
    return {**row, "minimum": _text(made.minimum), "maximum": _text(made.maximum)}


def binding_row(made: BindingDefinition) -> dict[str, Any]:
    return {**_row(made, ("attribute", "source")), "value_text": shown(made.value)}


def _row(made: Definition, names: Iterable[str]) -> dict[str, Any]:
    return {name: _text(getattr(made, name)) for name in names}


def _text(value: Any) -> Any:
    """What a form's field takes: a text, or yes and no."""
    if isinstance(value, bool):
        return value
    return "" if value is None else shown(json.loads(json.dumps(value, cls=ExactJSONEncoder)))

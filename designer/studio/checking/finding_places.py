"""Where on an endpoint's page a finding stands: from the definition's terms to the names of form fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from django.forms import BaseForm, BaseFormSet

from designer.readiness import Checker, Finding
from designer.readiness.fixes import Fix
from designer.readiness.rules.reach_rules import entity_of
from designer.studio.endpoint_form.list_rows import item_formsets
from designer.studio.located_findings import Located, binding_row, field_text, input_row

# What rows are named by in findings, and fields that have another name in their forms.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "inputs": ("name",),
    "bindings": ("attribute",),
    "columns": ("name", "attribute"),
    "fetchers": ("name",),
}
_RENAMED: Mapping[tuple[str, str], str] = {
    ("inputs", "default"): "default_text",
    ("inputs", "allowed"): "allowed_text",
    ("bindings", "value"): "value_text",
    ("", "roles"): "callers",
}

Rows: TypeAlias = "Mapping[str, BaseFormSet[Any]]"


class Places:
    """The places on a page: names of its fields or, for a whole section, `#` and its prefix.

    A finding without a place of its own is shown at `TOP`.
    """

    TOP = ""

    def __init__(self, form: BaseForm, formsets: Iterable[BaseFormSet[Any]]) -> None:
        self._form = form
        self._formsets: Rows = {formset.prefix or "": formset for formset in formsets}

    def of(self, field: str) -> str:
        """Return the place for the `field` of a finding, such as `inputs.phone.max_length`."""
        section, _, rest = field.partition(".")
        if section in self._formsets:
            return _in_row(self._formsets, section, rest) or f"#{section}"
        # What is inside of a field's value, such as a parameter of a query, has no field of its own.
        parts = field.split(".")
        inside = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        names = (_RENAMED.get(("", place), place.replace(".", "__")) for place in inside)
        return next((name for name in names if name in self._form.fields), self.TOP)


def _in_row(formsets: Rows, section: str, place: str) -> str | None:
    """Return the field for `phone.max_length` in the rows of `inputs`; None without such a row.

    In a list, the place is `contacts.inputs.phone`.
    """
    key, _, field = place.rpartition(".")
    form = _row(formsets, section, key) if key else None
    if form is None:
        field, form = "", _row(formsets, section, place)
    if form is None:
        key, _, inner = place.partition(".")
        form = _row(formsets, section, key)
        if form is not None and (inside := _in_items(form, inner)):
            return inside
    if form is None:
        return None
    name = _RENAMED.get((section, field), field)
    return str(form.add_prefix(name if name in form.fields else next(iter(_visible(form)))))


def _in_items(form: BaseForm, place: str) -> str | None:
    section, _, inner = place.partition(".")
    items = item_formsets(form)
    return _in_row(items, section, inner) if section in items else None


def _row(formsets: Rows, section: str, key: str) -> Any:
    forms = [form for form in formsets[section].forms if not is_removed(form)]
    for form in forms:
        names = (str(getattr(form.instance, name, "")) for name in _KEYS.get(section, ()))
        if next((name for name in names if name), None) == key:
            return form
    return forms[int(key)] if key.isdecimal() and int(key) < len(forms) else None


def is_removed(form: BaseForm) -> bool:
    """Return whether a row of the page is marked for deletion, or is an extra row left empty."""
    if not form.is_bound:
        return False
    instance = getattr(form, "instance", None)
    is_new = instance is None or instance.pk is None
    return bool(form.data.get(form.add_prefix("DELETE"))) or (is_new and not form.has_changed())


def _visible(form: BaseForm) -> Iterable[str]:
    return (name for name in form.fields if name not in {"position", "id", "DELETE", "endpoint", "parent"})


def locate(
    id: int,
    checker: Checker,
    findings: Iterable[Finding],
    form: BaseForm,
    formsets: Iterable[BaseFormSet[Any]],
) -> list[Located]:
    """Return the findings about the endpoint with row id `id`, at their places on its page."""
    places = Places(form, formsets)
    located = []
    for finding in findings:
        fix = checker.fix(id, finding)
        shown_as = (fix.label, _script(fix, places)) if fix else ("", "")
        located.append(Located(finding, places.of(finding.field), *shown_as, entity_of(finding)))
    return located


def _script(fix: Fix, places: Places) -> str:
    changes = {places.of(field): field_text(value) for field, value in fix.changes.items()}
    rows = {
        "inputs": [input_row(made) for made in fix.inputs],
        "bindings": [binding_row(made) for made in fix.bindings],
    }
    return json.dumps({"set": changes, "rows": {prefix: made for prefix, made in rows.items() if made}})

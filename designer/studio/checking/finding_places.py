"""Where on an endpoint's page a finding stands: from the definition's terms to the names of form fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from django.forms import BaseForm, BaseFormSet
from django.urls import reverse

from designer.models import Endpoint
from designer.readiness import Checker, Finding
from designer.readiness.fixes import Fix
from designer.readiness.rules.reach_rules import entity_of
from designer.readiness.rules.step_rules import ENTITY_RULE
from designer.studio.endpoint_form.list_rows import item_formsets
from designer.studio.located_findings import Located, binding_row, field_text, input_row

# The attributes by whose values findings name the rows of a formset, by the prefix of the formset. The first
# attribute that is not empty counts.
_NAMING_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "inputs": ("name",),
    "bindings": ("attribute",),
    "columns": ("name", "attribute"),
    "fetchers": ("name",),
}
# The name of a field in its form, by the prefix of the formset (empty: the endpoint's own form) and the name
# that findings have for it, where the two names differ.
_FORM_NAMES: Mapping[tuple[str, str], str] = {
    ("inputs", "default"): "default_text",
    ("inputs", "allowed"): "allowed_text",
    ("bindings", "value"): "value_text",
    ("", "roles"): "callers",
}


class _Rows:
    """The rows of the formset of a section, without those that saving removes."""

    def __init__(self, section: str, formset: BaseFormSet[Any]) -> None:
        self._naming_attributes = _NAMING_ATTRIBUTES.get(section, ())
        self._formset = formset

    @cached_property
    def forms(self) -> list[Any]:
        return [form for form in self._formset.forms if not is_removed(form)]

    @cached_property
    def by_name(self) -> Mapping[str, Any]:
        """The first row of each name, which findings name rows by."""
        rows: dict[str, Any] = {}
        for form in self.forms:
            names = (str(getattr(form.instance, name, "")) for name in self._naming_attributes)
            if name := next(filter(None, names), ""):
                rows.setdefault(name, form)
        return rows


_Sections: TypeAlias = Mapping[str, _Rows]


class Places:
    """The places on an endpoint's page at which findings are shown.

    A place is the name of a form field or, for a whole section of rows, `#` and the prefix of its formset. A
    finding that belongs to neither is shown at `TOP`.
    """

    TOP = ""

    def __init__(self, form: BaseForm, formsets: Iterable[BaseFormSet[Any]]) -> None:
        self._form = form
        prefixed = ((formset.prefix or "", formset) for formset in formsets)
        self._sections: _Sections = {prefix: _Rows(prefix, formset) for prefix, formset in prefixed}

    def place_of(self, field: str) -> str:
        """Return the place for the `field` of a finding, such as `inputs.phone.max_length`."""
        section, _, rest = field.partition(".")
        if section in self._sections:
            return _field_in_rows(self._sections, section, rest) or f"#{section}"
        # A part of a field's value, such as a parameter of a query, has no field of its own: its finding is
        # shown at the field. So the longest beginning of the name that is a field counts.
        parts = field.split(".")
        beginnings = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        names = (_FORM_NAMES.get(("", place), place.replace(".", "__")) for place in beginnings)
        return next((name for name in names if name in self._form.fields), self.TOP)

    def as_typed(self, place: str, value: Any) -> Any:
        """Return a value as the field of the form at `place` shows it, such as a size with its unit."""
        field = self._form.fields.get(place)
        return value if field is None else field.prepare_value(value)


def _field_in_rows(sections: _Sections, section: str, place: str) -> str | None:
    """Return the name of the form field for a place in the rows of a section; None without such a row.

    The place is a row (`phone`), a field of a row (`phone.max_length`), a part of a field's value
    (`cases.query.topic`), or a place in the rows of a row that is a list (`contacts.inputs.phone`). A row as
    a whole stands for its first visible field.
    """
    # A field of a row.
    key, _, field = place.rpartition(".")
    form = _form_of_row(sections, section, key) if key else None
    if form is None:
        # A row as a whole.
        field, form = "", _form_of_row(sections, section, place)
    if form is None:
        # A place inside a row that is a list, or a part of a field's value, such as a parameter of a query.
        key, _, inner = place.partition(".")
        form = _form_of_row(sections, section, key)
        if form is not None and (field_of_item := _field_in_items(form, inner)):
            return field_of_item
        field = inner.partition(".")[0]
    if form is None:
        return None
    name = _FORM_NAMES.get((section, field), field)
    return str(form.add_prefix(name if name in form.fields else next(iter(_visible(form)))))


def _field_in_items(form: BaseForm, place: str) -> str | None:
    """Return the name of the form field for a place inside a row that is a list; None without such a row.

    The place begins with a formset of the list's items: `inputs.phone`, or `inputs.phone.max_length`.
    """
    section, _, inner = place.partition(".")
    sections = {name: _Rows(name, formset) for name, formset in item_formsets(form).items()}
    return _field_in_rows(sections, section, inner) if section in sections else None


def _form_of_row(sections: _Sections, section: str, key: str) -> Any:
    """Return the form of the row that a finding names by `key`: its name or, if it has none, its number.

    Return None without such a row. Rows that saving removes are not counted.
    """
    rows = sections[section]
    if key in rows.by_name:
        return rows.by_name[key]
    return rows.forms[int(key)] if key.isdecimal() and int(key) < len(rows.forms) else None


def is_removed(form: BaseForm) -> bool:
    """Whether saving leaves out this row of the page: it is marked for deletion, or new and empty."""
    if not form.is_bound:
        return False
    instance = getattr(form, "instance", None)
    is_new = instance is None or instance.pk is None
    return bool(form.data.get(form.add_prefix("DELETE"))) or (is_new and not form.has_changed())


def _visible(form: BaseForm) -> Iterable[str]:
    """Yield the names of the fields of a row that users see, in their order."""
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
    # Two rows of one name are two findings that say the same, and only the first row is found by its name.
    for finding in dict.fromkeys(findings):
        fix = checker.fix(id, finding)
        # The label of the button, and what its script does. Both are empty for a finding without a fix.
        label_and_script = (fix.label, _script(fix, places)) if fix else ("", "")
        located.append(
            Located(
                finding,
                places.place_of(finding.field),
                *label_and_script,
                entity_of(finding),
                _address_of_entity_rule(id) if finding.field.startswith(ENTITY_RULE) else "",
            )
        )
    return located


def _address_of_entity_rule(id: int) -> str:
    """Return the address of the row rule of the exposed entity that the endpoint with row id `id` is of."""
    exposed = Endpoint.objects.filter(pk=id).values_list("entity", flat=True).first()
    if exposed is None:
        return ""
    return reverse("admin:designer_exposedentity_change", args=[exposed]) + "#row_rule-group"


def _script(fix: Fix, places: Places) -> str:
    """Return a fix as JSON for `fixes.js`: `set` has values by field, `rows` has new rows by formset."""
    values = ((places.place_of(field), value) for field, value in fix.changes.items())
    changes = {place: field_text(places.as_typed(place, value)) for place, value in values}
    rows = {
        "inputs": [input_row(definition) for definition in fix.inputs],
        "bindings": [binding_row(definition) for definition in fix.bindings],
    }
    rows_to_add = {prefix: new_rows for prefix, new_rows in rows.items() if new_rows}
    return json.dumps({"set": changes, "rows": rows_to_add})

"""What the form of a page holds, as a browser sends it: its fields, and the rows under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django import forms
from django.core import signing
from django.core.exceptions import ValidationError
from django.forms import BaseForm, BaseFormSet
from django.http import QueryDict
from django.utils.translation import gettext as _

from designer.models import (
    Binding,
    Column,
    Fetcher,
    Input,
    Precondition,
    RelatedColumn,
    RoleRule,
    RowRuleEntry,
)
from designer.studio.sent_numbers import sent_number

# What was sent for a field: none for an empty checkbox, several for a list of choices.
FieldValues: TypeAlias = list[str]

_SALT = "designer.form-contents"
# Fields of rows that are not part of their values.
_POSITION = "position"
_REMOVED = "DELETE"
# What a row is known by where its id is another one: an import and a restore write the rows anew.
_KEY_FIELDS: Mapping[Any, tuple[str, ...]] = {
    Input: ("name",),
    Binding: ("attribute",),
    Column: ("name", "attribute"),
    Fetcher: ("name",),
    Precondition: ("expression",),
    RelatedColumn: ("name", "attribute"),
    RoleRule: ("claim",),
    RowRuleEntry: ("callers",),
}
# Fields that mean something only together.
_UNITS: Mapping[Any, frozenset[str]] = {
    Input: frozenset({"type", "default_text", "allowed_text"}),
    Binding: frozenset({"source", "value_text"}),
}


@dataclass
class Contents:
    """The values of a form, or of one of its rows, by field. `rows` has its rows in order, by list.

    `pk` is empty for a new row. `place` is the prefix of the fields on the page, once the contents have been
    read from a page or written to one.
    """

    values: dict[str, FieldValues]
    rows: dict[str, list[Contents]] = field(default_factory=dict)
    pk: str = ""
    removed: bool = False
    place: str = ""

    def name(self, field: str) -> str:
        """Return the name of a field on the page."""
        return f"{self.place}-{field}" if self.place else field

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` reads: all but the place, and whether the row is removed."""
        rows = {name: [row.to_json() for row in listed] for name, listed in self.rows.items()}
        return {"values": self.values, "rows": rows, "pk": self.pk}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Contents:
        rows = {name: [cls.from_json(row) for row in listed] for name, listed in data["rows"].items()}
        return cls(data["values"], rows, data["pk"])


@dataclass(frozen=True)
class Shape:
    """The fields of a form and the lists under it, without values.

    Of rows: `noun` is what one is called, `key` are the fields that people know one by, `unit` are fields
    that mean something only together, `blank` has the values of a new row, `id` is the name of the primary
    key, and `has_order` says whether rows have a position.
    """

    fields: Mapping[str, forms.Field]
    lists: Mapping[str, Shape] = field(default_factory=dict)
    noun: str = ""
    key: tuple[str, ...] = ()
    unit: frozenset[str] = frozenset()
    blank: Mapping[str, FieldValues] = field(default_factory=dict)
    id: str = "id"
    has_order: bool = False

    def known_by(self, row: Contents) -> tuple[str, ...]:
        """Return the values that people know a row by; empty if none is filled in."""
        # The first field of the key that is filled in: a column is known by its attribute without a name.
        return next((tuple(row.values[name]) for name in self.key if any(row.values.get(name, ()))), ())

    def title(self, row: Contents) -> str:
        """Return what people call a row: its noun and the value of its key, or only the noun without one."""
        field_name = next((name for name in self.key if any(row.values.get(name, ()))), None)
        if field_name is None:
            return self.noun
        text = in_words(self.fields[field_name], row.values[field_name])
        return _("%(noun)s “%(name)s”") % {"noun": self.noun, "name": text}


def shape_of(form: BaseForm, formsets: Iterable[BaseFormSet[Any]]) -> Shape:
    """Return the shape of the form of a page, with its rows."""
    return Shape(dict(form.fields), {formset.prefix or "": _shape_of_rows(formset) for formset in formsets})


def saved_contents(form: BaseForm, formsets: Iterable[BaseFormSet[Any]]) -> Contents:
    """Return the contents of an unbound form as a browser would send them unchanged."""
    values = {name: shown_value(form, name) for name in form.fields}
    return Contents(values, {formset.prefix or "": _saved_rows(formset) for formset in formsets})


def sent_contents(data: QueryDict, shape: Shape, prefix: str = "") -> Contents:
    """Return the contents of a form as sent, without lists that were not sent and new rows that are empty."""
    contents = Contents({}, place=prefix)
    contents.values = {name: list(map(str, data.getlist(contents.name(name)))) for name in shape.fields}
    for name, inner in shape.lists.items():
        total = sent_number(str(data.get(f"{contents.name(name)}-TOTAL_FORMS", "")))
        if total is not None:
            contents.rows[name] = _sent_rows(data, inner, contents.name(name), min(total, _MOST_ROWS))
    return contents


# The most rows of a list that are read. As a position, it is behind all others.
_MOST_ROWS = 2000


def write(contents: Contents, shape: Shape, data: QueryDict) -> None:
    """Put `contents` into `data`, in place of what that held of the form, and set the `place` of each row."""
    for name in shape.fields:
        data.setlist(contents.name(name), contents.values.get(name, []))
    for name, rows in contents.rows.items():
        _write_rows(rows, shape.lists[name], contents.name(name), data)


def sealed(contents: Contents) -> str:
    """Return the contents, signed, for a hidden field that brings them back unchanged."""
    return signing.dumps(contents.to_json(), salt=_SALT, compress=True)


def unsealed(text: str) -> Contents | None:
    """Return the contents that `sealed` has signed; None if this installation has not signed the text."""
    try:
        return Contents.from_json(signing.loads(text, salt=_SALT))
    except signing.BadSignature:
        return None


def meaning(field: forms.Field, sent: FieldValues) -> Any:
    """Return the value of a field so that two ways to write the same value are equal.

    What the field refuses counts as its text.
    """
    if isinstance(field.widget, forms.CheckboxInput):
        # As Django reads a checkbox.
        return bool(sent) and sent[-1].lower() != "false"
    if getattr(field.widget, "allow_multiple_selected", False):
        return sorted(set(sent))
    # Browsers send each end of a line as CR and LF.
    text = (sent[-1] if sent else "").replace("\r\n", "\n")
    if isinstance(field, forms.ChoiceField | forms.ModelChoiceField):
        # A choice of rows would make a query.
        return text
    try:
        return field.to_python(text)
    except ValidationError:
        return text


def in_words(field: forms.Field, sent: FieldValues) -> str:
    """Return the value of a field in the words that the page shows."""
    if isinstance(field.widget, forms.CheckboxInput):
        return _("yes") if meaning(field, sent) else _("no")
    labels = _labels(field)
    return ", ".join(str(labels.get(text, text)) for text in sent if text) or "–"


def _labels(field: forms.Field) -> Mapping[str, Any]:
    """Return the labels of a field's choices, by value."""
    if not isinstance(field, forms.ChoiceField | forms.ModelChoiceField):
        return {}
    labels: dict[str, Any] = {}
    choices: Iterable[Any] = field.choices  # type: ignore[assignment]  # an iterable, whatever the stubs say
    for value, label in choices:
        # A group of choices has its choices in place of a label.
        if isinstance(label, list | tuple):
            labels |= {str(inner): inner_label for inner, inner_label in label}
        else:
            labels[str(value)] = label
    return labels


def _shape_of_rows(formset: Any) -> Shape:
    """Return the shape of a formset's rows: their fields, and the formsets inside them."""
    blank = formset.empty_form
    technical = {formset.fk.name, formset.model._meta.pk.name, _POSITION, _REMOVED}
    fields = {name: field for name, field in blank.fields.items() if name not in technical}
    return Shape(
        fields,
        {
            _name_of_list(inner.formset.prefix): _shape_of_rows(inner.formset)
            for inner in getattr(formset, "item_template", ())
        },
        noun=str(formset.model._meta.verbose_name),
        key=tuple(name for name in _KEY_FIELDS.get(formset.model, ()) if name in fields),
        unit=_UNITS.get(formset.model, frozenset()),
        blank={name: shown_value(blank, name) for name in fields},
        id=formset.model._meta.pk.name,
        has_order=_POSITION in blank.fields,
    )


def _saved_rows(formset: Any) -> list[Contents]:
    """Return the contents of a formset's rows as they are saved."""
    technical = {formset.fk.name, formset.model._meta.pk.name, _POSITION, _REMOVED}
    return [
        Contents(
            {name: shown_value(form, name) for name in form.fields if name not in technical},
            {
                _name_of_list(inner.formset.prefix): _saved_rows(inner.formset)
                for inner in getattr(form, "nested_formsets", ())
            },
            pk=str(form.instance.pk),
            place=form.prefix,
        )
        for form in formset.initial_forms
    ]


def shown_value(form: BaseForm, name: str) -> FieldValues:
    """Return the value of a field as a browser would send it."""
    bound_field = form[name]
    value, widget = bound_field.value(), bound_field.field.widget
    if isinstance(widget, forms.CheckboxInput):
        return ["on"] if widget.check_test(value) else []
    formatted = widget.format_value(value)
    if isinstance(formatted, list | tuple):
        return [str(text) for text in formatted]
    return ["" if formatted is None else str(formatted)]


def _sent_rows(data: QueryDict, shape: Shape, prefix: str, total: int) -> list[Contents]:
    """Return the contents of the rows that were sent, in the order in which the form would save them."""
    placed_rows = []
    for index in range(total):
        row = sent_contents(data, shape, f"{prefix}-{index}")
        row.pk = str(data.get(row.name(shape.id), ""))
        row.removed = bool(data.get(row.name(_REMOVED)))
        # A form ignores new rows that are empty or removed again.
        if row.pk or not (row.removed or _is_blank(row, shape)):
            position = sent_number(str(data.get(row.name(_POSITION), "")))
            # As the form saves them: new rows go behind, unless they were put elsewhere.
            if position is None or (not row.pk and position == 0):
                position = _MOST_ROWS
            placed_rows.append((position, index, row))
    return [row for _position, _at, row in sorted(placed_rows, key=lambda placed_row: placed_row[:2])]


def _is_blank(row: Contents, shape: Shape) -> bool:
    """Whether a row has no rows inside it, and the values of a new row."""
    return not any(row.rows.values()) and all(
        meaning(field, row.values[name]) == meaning(field, shape.blank[name])
        for name, field in shape.fields.items()
    )


def _write_rows(rows: list[Contents], shape: Shape, prefix: str, data: QueryDict) -> None:
    """Write the rows into `data` as a formset sends them, in place of those that were sent."""
    for name in [name for name in data if name.startswith(f"{prefix}-")]:
        del data[name]
    # A form expects the saved rows before the new ones. Positions keep the order.
    listed = [*(row for row in rows if row.pk), *(row for row in rows if not row.pk)]
    data[f"{prefix}-TOTAL_FORMS"] = str(len(listed))
    data[f"{prefix}-INITIAL_FORMS"] = str(sum(bool(row.pk) for row in rows))
    for position, row in enumerate(listed):
        row.place = f"{prefix}-{position}"
        write(row, shape, data)
        data[row.name(shape.id)] = row.pk
        if row.removed:
            data[row.name(_REMOVED)] = "on"
        if shape.has_order:
            data[row.name(_POSITION)] = str(position_among(rows, row))


def position_among(rows: list[Contents], row: Contents) -> int:
    """Return the number of a row among `rows`, from 1: a new row with 0 would count as not placed."""
    return next(position for position, candidate in enumerate(rows, 1) if candidate is row)


def _name_of_list(prefix: str) -> str:
    """Return the last part of a formset's prefix: `items` for `inputs-0-items`."""
    return prefix.rpartition("-")[2]

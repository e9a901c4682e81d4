"""Formsets for the rows under an endpoint: kept in their order, no two with the same key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from django.core.exceptions import ValidationError
from django.forms.models import BaseInlineFormSet, ModelChoiceField
from django.utils.translation import gettext as _

from designer.models import Binding, Fetcher, Input

# The code of the error at a row whose key an earlier row has.
REPEATED = "repeated"
# The field whose value no two rows of one formset share, by model.
_UNIQUE_FIELDS: Mapping[Any, str] = {Input: "name", Binding: "attribute", Fetcher: "name"}


class _RowField(ModelChoiceField):  # type: ignore[type-arg]
    """The primary key of a row. It is looked up among `rows`, those that the formset has read, by key: Django
    would make a query for each.
    """

    def __init__(self, rows: Mapping[Any, Any], field: ModelChoiceField) -> None:  # type: ignore[type-arg]
        super().__init__(field.queryset, initial=field.initial, required=False, widget=field.widget)
        self._rows = rows

    def to_python(self, value: Any) -> Any:
        """Return the row of a key; None for an empty one. Raises ValidationError for an unknown key."""
        if value in self.empty_values or self.queryset is None:
            return None
        row = self._rows.get(self.queryset.model._meta.pk.to_python(value))
        if row is None:
            raise ValidationError(
                self.error_messages["invalid_choice"], code="invalid_choice", params={"value": value}
            )
        return row


class OrderedFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    """A formset whose rows have a position. New rows go to the end, unless they were put elsewhere."""

    @property
    def key(self) -> str:
        """The name of the field that no two rows may share; empty where rows have no such field."""
        return _UNIQUE_FIELDS.get(self.model, "")

    @cached_property
    def _rows(self) -> Mapping[Any, Any]:
        """The stored rows, by primary key."""
        return {row.pk: row for row in self.get_queryset()}

    def add_fields(self, form: Any, index: int | None) -> None:
        """Add the fields that the formset needs in each row. That of the row's id makes no query."""
        super().add_fields(form, index)
        id_field = self.get_queryset().model._meta.pk.name
        if isinstance(form.fields.get(id_field), ModelChoiceField):
            form.fields[id_field] = _RowField(self._rows, form.fields[id_field])

    def clean(self) -> None:
        """Refuse a row whose key an earlier row has."""
        super().clean()
        earlier = set()
        for form in self._kept_forms() if self.key else ():
            value = form.cleaned_data.get(self.key)
            if value and value in earlier:
                text = _("Two rows have “%(name)s”. Change or remove one.") % {"name": value}
                form.add_error(self.key, ValidationError(text, code=REPEATED))
            earlier.add(value)

    def save_new(self, form: Any, commit: bool = True) -> Any:
        # A new row comes with the position 0, unless somebody has moved it.
        if not form.instance.position:
            positions = [other.instance.position for other in self.forms if other is not form]
            form.instance.position = max(positions, default=-1) + 1
        return super().save_new(form, commit)

    def save_existing_objects(self, commit: bool = True) -> Any:
        if commit and self.key:
            self._free_keys()
        return super().save_existing_objects(commit)

    def _free_keys(self) -> None:
        """Give rows that change their key a temporary one, so that rows can take each other's keys while they
        are saved one by one.
        """
        for form in self.initial_forms:
            if self.key in form.changed_data or form in self.deleted_forms:
                row = form.instance
                type(row)._default_manager.filter(pk=row.pk).update(**{self.key: f"~{row.pk}"})

    def _kept_forms(self) -> Iterable[Any]:
        """Return the forms of rows that are not removed, without forms that were not validated."""
        return (
            form for form in self.forms if form not in self.deleted_forms and hasattr(form, "cleaned_data")
        )


class OwnFormSet(OrderedFormSet):
    """The formset of the endpoint's own rows, without those that belong to items of its lists."""

    @cached_property
    def _own_rows(self) -> Any:
        return super().get_queryset().filter(parent=None)

    def get_queryset(self) -> Any:
        # Asked for each row: one query set, so that it is read once.
        return self._own_rows


class ItemFormSet(OrderedFormSet):
    """The formset of a list's items. They also belong to the endpoint of the list."""

    def save_new(self, form: Any, commit: bool = True) -> Any:
        form.instance.endpoint_id = self.instance.endpoint_id
        return super().save_new(form, commit)

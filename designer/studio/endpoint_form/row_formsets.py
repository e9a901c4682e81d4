"""Rows under a row: in their order, each with a key of its own, in whatever order they are saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from django.core.exceptions import ValidationError
from django.forms.models import BaseInlineFormSet
from django.utils.translation import gettext as _

from designer.models import Binding, Fetcher, Input

# What tells a model's rows apart, under its form's name.
_KEYS: Mapping[Any, str] = {Input: "name", Binding: "attribute", Fetcher: "name"}


class OrderedFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    """New rows go behind those that are there, unless they were put elsewhere."""

    @property
    def key(self) -> str:
        """The field that no two rows may have in common; empty where any may."""
        return _KEYS.get(self.model, "")

    def clean(self) -> None:
        super().clean()
        earlier = set()
        for form in self._kept_forms() if self.key else ():
            value = form.cleaned_data.get(self.key)
            if value and value in earlier:
                form.add_error(
                    self.key, ValidationError(_("There is another “%(name)s” here.") % {"name": value})
                )
            earlier.add(value)

    def save_new(self, form: Any, commit: bool = True) -> Any:
        if not form.instance.position:
            taken = [other.instance.position for other in self.forms if other is not form]
            form.instance.position = max(taken, default=-1) + 1
        return super().save_new(form, commit)

    def save_existing_objects(self, commit: bool = True) -> Any:
        if commit and self.key:
            self._free_keys()
        return super().save_existing_objects(commit)

    def _free_keys(self) -> None:
        """Rows may take each other's: none of those that change is in the way while they are saved."""
        for form in self.initial_forms:
            if self.key in form.changed_data or form in self.deleted_forms:
                row = form.instance
                type(row)._default_manager.filter(pk=row.pk).update(**{self.key: f"~{row.pk}"})

    def _kept_forms(self) -> Iterable[Any]:
        return (
            form for form in self.forms if form not in self.deleted_forms and hasattr(form, "cleaned_data")
        )


class OwnFormSet(OrderedFormSet):
    """Those of the endpoint itself, without those of its lists' items."""

    @cached_property
    def _own(self) -> Any:
        return super().get_queryset().filter(parent=None)

    def get_queryset(self) -> Any:
        # Asked for each row: one query set, so that it is read once.
        return self._own


class ItemFormSet(OrderedFormSet):
    """The formset of a list's items. They also belong to the endpoint of the list."""

    def save_new(self, form: Any, commit: bool = True) -> Any:
        form.instance.endpoint_id = self.instance.endpoint_id
        return super().save_new(form, commit)

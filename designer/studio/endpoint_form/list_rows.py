"""Inputs that hold records, whose row holds rows of its own: the inputs and the properties of each record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import InlineAdminFormSet
from django.forms import BaseForm, BaseFormSet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from crmclient.metadata import Attribute
from designer.kinds.record_groups import RecordGroup
from designer.models import Endpoint, Input
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.endpoint_form.inlines import (
    BindingForm,
    BindingInline,
    InputForm,
    InputInline,
    binding_form,
)
from designer.studio.endpoint_form.row_formsets import ItemFormSet
from designer.studio.look import StackedInline, TabularInline, picked
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.types import holds_records

# What is in the place of a row's prefix in the rows that scripts make.
_TEMPLATE = "__row__"


class ListingInputForm(InputForm):
    """An input that may hold records; `relationships` is set on the subclass made for one endpoint."""

    takes_lists = True
    relationships: ClassVar[choices.Choices] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "relationship" in self.fields:
            present = choices.with_present(self.relationships, self.instance.relationship)
            field = forms.ChoiceField(
                label=self.fields["relationship"].label,
                choices=present,
                required=False,
                help_text=_(
                    "Only needed for records: the relationship that they belong to, or the "
                    "parameter of the process that takes them."
                ),
            )
            self.fields["relationship"] = picked(field, "relationships")


class ListingInputInline(InputInline):
    """Inputs of an endpoint that can make records of them."""

    form = ListingInputForm

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        ((_title, options),) = super().get_fieldsets(request, obj)
        return [(None, {**options, "fields": (*options["fields"], "relationship")})]

    def get_formset(self, request: HttpRequest, obj: Endpoint | None = None, **kwargs: Any) -> Any:
        offered = [(name, name) for name in groups_of(obj)]
        form = type("ListingInputForm", (ListingInputForm,), {"relationships": offered})
        return super().get_formset(request, obj, **{"form": form, **kwargs})


class ItemInputInline(InputInline):
    formset = ItemFormSet
    fk_name = "parent"


class ItemBindingInline(BindingInline):
    """`related` are the records that are chosen for the input on the page."""

    formset = ItemFormSet
    fk_name = "parent"
    related: RecordGroup | None = None

    def form_of(self, row: Any) -> type[BindingForm]:
        return binding_form(
            items_written(self.related), source=source_of(self.related) if self.related else ""
        )


def groups_of(endpoint: Endpoint | None) -> Mapping[str, RecordGroup]:
    """The records that an endpoint's inputs may hold, by name; none while the platform cannot say."""
    if endpoint is None or endpoint.operation is None:
        return {}
    entity = endpoint.entity.entity if endpoint.entity else ""
    try:
        settings = endpoint.operation.settings.model_validate(endpoint.settings)
        return settings.record_groups(entity, known_metadata())
    except (ValidationError, MetadataUnavailable):
        return {}


def source_of(related: RecordGroup) -> str:
    """Under what the page's scripts know the attributes of such records."""
    return f"entity:{related.entity}"


def items_written(related: RecordGroup | None) -> Mapping[str, Attribute]:
    """Return the attributes that may be set on a record of the list.

    The relationship sets the lookup to its parent.
    """
    if related is None:
        return {}
    try:
        attributes = known_metadata().attributes(related.entity)
    except MetadataUnavailable:
        return {}
    return {name: attribute for name, attribute in attributes.items() if name != related.parent}


def item_formsets(form: BaseForm) -> Mapping[str, BaseFormSet[Any]]:
    """Return the formsets `inputs` and `bindings` inside a row that is a list, as far as the page
    has them.
    """
    nested = getattr(form, "nested_formsets", ())
    return dict(
        zip(("inputs", "bindings"), (admin_formset.formset for admin_formset in nested), strict=False)
    )


def with_items(formsets: Iterable[BaseFormSet[Any]]) -> Iterator[BaseFormSet[Any]]:
    """Yield `formsets`, and the formsets inside their rows."""
    for formset in formsets:
        yield formset
        for form in formset.forms:
            yield from item_formsets(form).values()


class ItemRows:
    """Makes the rows of items on one page of an endpoint."""

    def __init__(self, pages: admin.ModelAdmin[Any], request: HttpRequest, endpoint: Endpoint) -> None:
        self._pages = pages
        self._request = request
        self._endpoint = endpoint
        self._groups = groups_of(endpoint)

    def of(self, form: BaseForm) -> list[InlineAdminFormSet]:
        """Return the formsets inside a row that is a list: its inputs and its properties.

        Empty for a row that is no list, and where the page was sent without these formsets: the stored rows
        then stay as they are.
        """
        if not holds_records(form["type"].value()):
            return []
        related = self._groups.get(form["relationship"].value() or "")
        made = self._item_formsets(str(form.prefix), form.instance, related)  # type: ignore[attr-defined]
        return made if all(_is_there(admin_formset.formset) for admin_formset in made) else []

    def template(self) -> list[InlineAdminFormSet]:
        """Return the formsets of an empty row, for a row that becomes a list in the browser."""
        return self._item_formsets(_TEMPLATE, Input(endpoint=self._endpoint), None)

    def _item_formsets(
        self, prefix: str, row: Input, related: RecordGroup | None
    ) -> list[InlineAdminFormSet]:
        site = self._pages.admin_site
        bindings = ItemBindingInline(Input, site)
        bindings.related = related
        return [
            self._formset(ItemInputInline(Input, site), row, f"{prefix}-items"),
            self._formset(bindings, row, f"{prefix}-properties"),
        ]

    def _formset(self, inline: StackedInline | TabularInline, row: Input, prefix: str) -> InlineAdminFormSet:
        """Return the formset of a list's items of one kind, as the admin shows formsets."""
        request = self._request
        may_change = self._pages.has_change_permission(request, self._endpoint)
        sent = self._pages.get_formset_kwargs(request, row, inline, prefix)
        if _TEMPLATE in prefix:
            sent = {name: value for name, value in sent.items() if name not in {"data", "files"}}
        formset = inline.get_formset(request, row)(**sent)
        return InlineAdminFormSet(
            inline,
            formset,
            inline.get_fieldsets(request, row),
            readonly_fields=[],
            model_admin=self._pages,
            has_add_permission=may_change and inline.has_add_permission(request, row),
            has_change_permission=may_change and inline.has_change_permission(request, row),
            has_delete_permission=may_change and inline.has_delete_permission(request, row),
            has_view_permission=inline.has_view_permission(request, row),
        )


def _is_there(formset: BaseFormSet[Any]) -> bool:
    return not formset.is_bound or f"{formset.prefix}-TOTAL_FORMS" in formset.data

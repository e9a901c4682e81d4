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
from designer.studio.look import StackedInline, TabularInline, with_shared_choices
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.types import holds_records

# The form prefix of the empty rows that scripts copy. They put the prefix of the new row in its place.
_TEMPLATE_PREFIX = "__row__"


class ListingInputForm(InputForm):
    """The form of an input that may hold records.

    `relationships` are the choices of what the records are. They are set on the subclass for one endpoint.
    """

    takes_lists = True
    relationships: ClassVar[choices.ListedChoices] = choices.ListedChoices([])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "relationship" in self.fields:
            present = self.relationships.with_present(self.instance.relationship)
            field = forms.ChoiceField(
                label=self.fields["relationship"].label,
                choices=present,
                required=False,
                help_text=_(
                    "Only needed for records: the relationship that they belong to, or the "
                    "parameter of the process that takes them."
                ),
            )
            self.fields["relationship"] = with_shared_choices(field, "relationships")


class ListingInputInline(InputInline):
    """The inputs of an endpoint that can make records of its inputs."""

    form = ListingInputForm

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        ((_title, options),) = super().get_fieldsets(request, obj)
        return [(None, {**options, "fields": (*options["fields"], "relationship")})]

    def get_formset(self, request: HttpRequest, obj: Endpoint | None = None, **kwargs: Any) -> Any:
        offered = choices.ListedChoices([(name, name) for name in groups_of(obj)])
        form = type("ListingInputForm", (ListingInputForm,), {"relationships": offered})
        return super().get_formset(request, obj, **{"form": form, **kwargs})


class ItemInputInline(InputInline):
    """The inputs of each record of a list."""

    formset = ItemFormSet
    fk_name = "parent"


class ItemBindingInline(BindingInline):
    """The properties of each record of a list. `group` says which records; None while none is chosen."""

    formset = ItemFormSet
    fk_name = "parent"
    group: RecordGroup | None = None

    def form_of(self, row: Any) -> type[BindingForm]:
        return binding_form(
            writable_attributes_of(self.group), list_name=page_data_key(self.group) if self.group else ""
        )


def groups_of(endpoint: Endpoint | None) -> Mapping[str, RecordGroup]:
    """Return the groups of records that an endpoint's inputs may hold, by name.

    Empty for settings that cannot be read, and while the platform cannot say.
    """
    if endpoint is None or endpoint.operation is None:
        return {}
    entity = endpoint.entity.entity if endpoint.entity else ""
    try:
        settings = endpoint.operation.settings.model_validate(endpoint.settings)
        return settings.record_groups(entity, known_metadata())
    except (ValidationError, MetadataUnavailable):
        return {}


def page_data_key(group: RecordGroup) -> str:
    """Return the key in the page's data under which scripts find the attributes of such records."""
    return f"entity:{group.entity}"


def writable_attributes_of(group: RecordGroup | None) -> Mapping[str, Attribute]:
    """Return the attributes that may be set on a record of the list; empty while the platform cannot say.

    The lookup to the parent record is left out, as the relationship sets it.
    """
    if group is None:
        return {}
    try:
        attributes = known_metadata().attributes(group.entity)
    except MetadataUnavailable:
        return {}
    return {name: attribute for name, attribute in attributes.items() if name != group.parent}


def item_formsets(form: BaseForm) -> Mapping[str, BaseFormSet[Any]]:
    """Return the formsets inside a row that is a list, by `inputs` and `bindings`, as far as the page has
    them.
    """
    nested = getattr(form, "nested_formsets", ())
    # In the order of `ItemRows.of`, which may have found none.
    return dict(
        zip(("inputs", "bindings"), (admin_formset.formset for admin_formset in nested), strict=False)
    )


def with_nested_formsets(formsets: Iterable[BaseFormSet[Any]]) -> Iterator[BaseFormSet[Any]]:
    """Yield `formsets`, and the formsets inside their rows."""
    for formset in formsets:
        yield formset
        for form in formset.forms:
            yield from item_formsets(form).values()


class ItemRows:
    """Makes the formsets of list items on the page of one endpoint."""

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
        group = self._groups.get(form["relationship"].value() or "")
        made = self._item_formsets(str(form.prefix), form.instance, group)  # type: ignore[attr-defined]
        return made if all(_is_complete(admin_formset.formset) for admin_formset in made) else []

    def template(self) -> list[InlineAdminFormSet]:
        """Return the formsets of an empty row, for a row that becomes a list in the browser."""
        return self._item_formsets(_TEMPLATE_PREFIX, Input(endpoint=self._endpoint), None)

    def _item_formsets(self, prefix: str, row: Input, group: RecordGroup | None) -> list[InlineAdminFormSet]:
        """Return the formsets of the inputs and of the properties inside the list `row`, in this order.

        `prefix` is the form prefix of that row. `group` is None while no records are chosen.
        """
        site = self._pages.admin_site
        bindings = ItemBindingInline(Input, site)
        bindings.group = group
        return [
            self._formset(ItemInputInline(Input, site), row, f"{prefix}-items"),
            self._formset(bindings, row, f"{prefix}-properties"),
        ]

    def _formset(self, inline: StackedInline | TabularInline, row: Input, prefix: str) -> InlineAdminFormSet:
        """Return the formset of a list's items of one kind, as the admin shows formsets."""
        request = self._request
        may_change = self._pages.has_change_permission(request, self._endpoint)
        sent = self._pages.get_formset_kwargs(request, row, inline, prefix)
        if _TEMPLATE_PREFIX in prefix:
            # The page sends nothing for its templates: they stay unbound.
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


def _is_complete(formset: BaseFormSet[Any]) -> bool:
    """Whether a formset is shown anew, or was sent along with its page."""
    return not formset.is_bound or f"{formset.prefix}-TOTAL_FORMS" in formset.data

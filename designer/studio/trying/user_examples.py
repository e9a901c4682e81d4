"""A live example on the page of a user property: what it is now, for a chosen user, as the page stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.forms import BaseFormSet, ModelForm
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit.audit_entries import note
from designer.definitions import ColumnDefinition, UserPropertyDefinition
from designer.loading import latest
from designer.models import AuditEntry, Role, UserProperty
from designer.names import USER_TYPE, property_key
from designer.ports import UserExample, get_runtime
from designer.readiness import Checker
from designer.studio.checking.finding_places import is_removed
from designer.studio.look import ModelAdmin, dress
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.trying.call_fields import user_field
from designer.studio.trying.caller_fields import ClaimsForm, record_field
from designer.studio.trying.try_page import FOR_REAL

_UNNAMED = "example"


class UserExampleForm(ClaimsForm):
    """The form that asks whose property is shown.

    Its fields stand among those of the property's page, which does not know them: `prefix` keeps them apart.
    """

    prefix = "_example"

    def __init__(self, *args: Any, caller_type: str = USER_TYPE, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if caller_type == USER_TYPE:
            self.fields["user"] = dress(user_field())
            self.fields["user"].required = True
            self.fields["user"].help_text = ""
        else:
            # Not required: some caller types have no records, and some callers have none.
            self.fields["user"] = dress(record_field(gettext_lazy("Record")))
        self.fields["roles"] = dress(
            forms.MultipleChoiceField(
                label=gettext_lazy("Roles"),
                required=False,
                choices=[(role.name, str(role)) for role in Role.objects.all()],
                widget=forms.CheckboxSelectMultiple,
            )
        )
        self.add_claims_field()


def user_example_view(pages: ModelAdmin, request: HttpRequest, row: UserProperty | None) -> HttpResponse:
    """Return a fragment for `user_example.js`: the value or, in words, why there is none.

    `row` is the stored property; None while a new one is written. Raises PermissionDenied.
    """
    allowed = pages.has_change_permission(request, row) if row else pages.has_add_permission(request)
    if not allowed or not request.user.has_perm(FOR_REAL):
        raise PermissionDenied
    caller_type = str(row.caller_type_id) if row else request.POST.get("caller_type", USER_TYPE)
    example_form = UserExampleForm(request.POST, caller_type=caller_type)
    if example_form.is_valid():
        example = _user_example(pages, request, row, example_form)
    else:
        # Any other error is that of the field for the user.
        errors = example_form.errors.get("claims")
        example = UserExample(problem=" ".join(map(str, errors)) if errors else _("Choose a user."))
    return TemplateResponse(request, "designer/user_example.html", {"example": example})


def _user_example(
    pages: ModelAdmin, request: HttpRequest, row: UserProperty | None, example_form: UserExampleForm
) -> UserExample:
    """Return the value of the property as the page stands, for the caller of the valid `example_form`."""
    # `_definition` validates the form, which writes the new name into `row`: the stored one is read first.
    stored_name = "" if row is None else row.name
    form = pages.get_form(request, row, change=row is not None)(request.POST, instance=row)
    formsets, _inlines = pages._create_formsets(request, row or form.instance, change=row is not None)
    definition = _definition(form, formsets)
    fields = example_form.cleaned_data
    # Empty for a caller without a record.
    record = str(fields["user"] or "")
    note(request, AuditEntry.Action.RUN, f"@user.{form.instance.name}", record)
    configuration = latest()
    # The property takes the place of the stored one, also when it is renamed, and of one of its new name.
    replaced_keys = (property_key(definition.caller_type, stored_name), definition.key)
    others = (other for other in configuration.user_properties if other.key not in replaced_keys)
    properties = (*others, definition)
    checker = Checker(replace(configuration, user_properties=properties), known_metadata())
    blocking = [finding.said for finding in checker.user_property(definition) if finding.is_blocking]
    if blocking:
        return UserExample(problem=" ".join(blocking))
    return get_runtime().user_example(
        properties, definition.name, record, fields["roles"], definition.caller_type, example_form.claims
    )


def _definition(
    form: ModelForm[UserProperty], formsets: Iterable[BaseFormSet[Any]]
) -> UserPropertyDefinition:
    """Return the property that saving the page would make. Fields that are not filled in are empty."""
    # Judging the form fills its instance. What is wrong in it is said by the checker.
    form.is_valid()
    property_row = form.instance
    columns = []
    for formset in formsets:
        formset.is_valid()
        columns += [row.instance for row in formset.forms if not is_removed(row)]
    return UserPropertyDefinition(
        name=property_row.name or _UNNAMED,
        caller_type=str(property_row.caller_type_id or USER_TYPE),
        kind=property_row.kind if property_row.kind in ("field", "related", "custom") else "field",
        attribute=property_row.attribute,
        relationship=property_row.relationship,
        expression=property_row.expression,
        columns=tuple(
            ColumnDefinition(attribute=column.attribute, name=column.name)
            for column in columns
            if column.attribute
        ),
    )


def stored_property(pages: ModelAdmin, request: HttpRequest, object_id: str) -> UserProperty:
    """Return the user property of an address. Raises Http404."""
    row: UserProperty | None = pages.get_object(request, object_id)
    if row is None:
        raise Http404
    return row

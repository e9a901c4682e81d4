"""The form of an endpoint: its own fields, those of its kind, and who may call."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from designer.kinds import OperationKind
from designer.kinds.pickers import PickerPlace
from designer.models import CallerType, Endpoint, ExposedEntity, Role
from designer.studio.endpoint_form.fetchxml_fields import FetchXmlField
from designer.studio.endpoint_form.settings_fields import (
    form_fields,
    initial_values,
    settings_json,
)
from designer.studio.look import dress
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.metadata.vocabulary import query_of
from designer.studio.saving.refusal_form import RefusalForm
from designer.studio.sent_numbers import RowsField

# The fields that say who may call, in this order.
ACCESS_FIELDS = ("authentication_required", "caller_types", "callers")
# The same as text, on the page of somebody who may not change the endpoint.
READ_ONLY_ACCESS_FIELDS = ("authentication_required", "caller_types_shown", "callers_shown")


class CallerRolesForm(RefusalForm):
    """A form that asks for the roles of callers in its field `callers`. Roles are rows of their own."""

    form_names: ClassVar[dict[str, str]] = {"roles": "callers"}

    callers = RowsField(
        Role.objects.all(),
        required=False,
        label=gettext_lazy("Roles"),
        widget=forms.CheckboxSelectMultiple,
        help_text=Endpoint._meta.get_field("roles").help_text,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "callers" in self.fields:
            dress(self.fields["callers"])
            self.initial["callers"] = list(self.instance.roles.all()) if self.instance.pk else []
        if "name" in self.fields:
            self.fields["name"].help_text = gettext_lazy("The last part of the path.")

    def _save_m2m(self) -> None:
        super()._save_m2m()  # type: ignore[misc]  # not in the stubs
        if "callers" in self.cleaned_data:
            self.instance.roles.set(self.cleaned_data["callers"])


class EndpointForm(CallerRolesForm):
    """`kind` is set on the subclass that is made for one endpoint, along with the fields of its settings."""

    kind: ClassVar[OperationKind | None] = None

    caller_types = forms.MultipleChoiceField(
        required=False,
        label=gettext_lazy("Caller types"),
        widget=forms.CheckboxSelectMultiple,
        help_text=Endpoint._meta.get_field("caller_types").help_text,
    )

    class Meta:
        model = Endpoint
        fields = (
            *("segment", "name", "enabled", "title", "description", "authentication_required"),
            "caller_types",
            *("kind", "module", "entity", "row_rule"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "description" in self.fields:
            self.fields["description"].widget.attrs["rows"] = 3
        if "caller_types" in self.fields:
            self._offer_caller_types()
        if self.kind is not None:
            self.initial.update(initial_values(self.kind.settings, self.instance.settings))
            self._keep_present_choices()
        rule = self.fields.get("row_rule")
        query = query_of(self.instance)
        if isinstance(rule, FetchXmlField) and query is not None:
            # The rows of a query are of its own entity.
            rule.set_entity(query.entity)

    def _offer_caller_types(self) -> None:
        """Offer the caller types, and those that the endpoint names but that do not exist any more."""
        labels = {row.name: str(row) for row in CallerType.objects.all()}
        present = {name: name for name in self.instance.caller_types}
        field: Any = dress(self.fields["caller_types"])
        field.choices = list({**present, **labels}.items())

    def _keep_present_choices(self) -> None:
        """Add the stored values of settings to their choices, where the metadata do not offer them."""
        for name, field in self.fields.items():
            if not name.startswith("settings__") or not isinstance(field, forms.ChoiceField):
                continue
            offered: list[Any] = list(field.choices)  # type: ignore[arg-type]  # a list since it was made
            present = self.initial.get(name)
            if isinstance(field, forms.MultipleChoiceField):
                # The row's JSON may hold anything.
                several = present if isinstance(present, (list, tuple)) else ()
                texts = [item for item in several if isinstance(item, str)]
                field.choices = choices.with_all_present(offered, texts)
            elif not isinstance(present, (list, dict)) and present not in {value for value, _ in offered}:
                # Without the first choice, the empty one, which `with_present` adds.
                field.choices = choices.with_present(offered[1:], present)

    def clean(self) -> dict[str, Any]:
        """Collect the settings into the endpoint, and refuse an empty name where the path has one."""
        cleaned = super().clean()
        if self.kind is not None:
            try:
                self.instance.settings = settings_json(self.kind.settings, cleaned)
            except ValidationError as error:
                self.add_error(None, error)
            if self.kind.is_named and not cleaned.get("name") and "name" in self.fields:
                self.add_error("name", gettext("The path ends in a name. Enter a name."))
        return cleaned


def form_for(kind: OperationKind, exposed: ExposedEntity | None) -> type[EndpointForm]:
    """Return the form class for endpoints of `kind` on an exposed entity (None for kinds that have none)."""
    entity = exposed.entity if exposed else ""
    place = PickerPlace(known_metadata(), entity, partial(entities_by_segment, exposed))
    fields = form_fields(kind.settings, place)
    rule_column = Endpoint._meta.get_field("row_rule")
    label = capfirst(rule_column.verbose_name)
    rule = FetchXmlField("filter", entity, label=label, help_text=rule_column.help_text)
    return type("KindForm", (EndpointForm,), {"kind": kind, "row_rule": rule, **fields})


def entities_by_segment(exposed: ExposedEntity | None) -> dict[str, str]:
    """Return the logical names of the entities that are exposed in the same module as `exposed`, by segment.

    `exposed` is one of them. None, for an endpoint of no entity, has none beside it.
    """
    if exposed is None:
        return {}
    rows = ExposedEntity.objects.filter(module=exposed.module_id)
    return dict(rows.values_list("segment", "entity"))

"""The form of an endpoint: its own fields, those of its kind, and who may call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from designer.kinds import KINDS, OperationKind, Scope
from designer.kinds.pickers import PickerPlace
from designer.models import CallerType, Endpoint, ExposedEntity, Module, Role
from designer.studio.endpoint_form.fetchxml_fields import FetchXmlField
from designer.studio.endpoint_form.settings_fields import (
    collected,
    form_fields,
    initial_values,
)
from designer.studio.look import dress
from designer.studio.metadata import choices
from designer.studio.metadata.known import known_metadata
from designer.studio.metadata.vocabulary import query_of
from designer.studio.saving.checked import RefusalForm

# Who may call, in this order.
ACCESS_FIELDS = ("authentication_required", "caller_types", "callers")
# The same for who may only look.
READABLE_ACCESS_FIELDS = ("authentication_required", "caller_types_shown", "callers_shown")


class KeyedForm(RefusalForm):
    """Compares the whole key of an endpoint with the others', whatever part of it the form asks for."""

    def _get_validation_exclusions(self) -> set[str]:
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]  # not in the stubs
        return excluded - {"kind", "module", "entity", "segment", "name"}


class NewEndpointForm(KeyedForm):
    """Asks only where it stands and what it does; the rest depends on that.

    `new_endpoint.js` shows the fields that the kind needs, and the path that they make.
    """

    class Meta:
        model = Endpoint
        fields = ("kind", "module", "entity", "segment", "name", "title")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "kind" in self.fields:
            offered = _kinds_at(self.initial)
            kinds = [(kind.name, f"{gettext(kind.label)}: {gettext(kind.summary)}") for kind in offered]
            field = forms.ChoiceField(
                label=self.fields["kind"].label, choices=kinds, help_text=self.fields["kind"].help_text
            )
            self.fields["kind"] = dress(field)
            asked = {kind.name: _asked_by(kind) for kind in offered}
            self.fields["kind"].widget.attrs["data-kinds"] = json.dumps(asked)
        if "module" in self.fields:
            modules = dict(Module.objects.values_list("pk", "segment"))
            _tell(self.fields["module"], modules)
        if "entity" in self.fields:
            # Each is called by its module, too.
            entities: Any = self.fields["entity"]
            entities.queryset = entities.queryset.select_related("module")
            segments = ExposedEntity.objects.values_list("pk", "module__segment", "segment")
            known = {key: [module, segment] for key, module, segment in segments}
            _tell(entities, known)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        kind = KINDS.get(cleaned.get("kind", ""))
        if kind is not None:
            _require_place(self, kind, cleaned)
        return cleaned

    def save(self, commit: bool = True) -> Endpoint:
        kind = KINDS[self.instance.kind]
        self.instance.enabled = False
        self.instance.authentication_required = not kind.public
        endpoint: Endpoint = super().save(commit)
        return endpoint


def _tell(field: forms.Field, segments: Mapping[int, Any]) -> None:
    """Let scripts know what each choice stands for in paths."""
    # The admin wraps what chooses among rows in its links to add and change them.
    own: Any = getattr(field.widget, "widget", field.widget)
    own.attrs["data-segments"] = json.dumps(segments)


def _kinds_at(place: Mapping[str, Any]) -> list[OperationKind]:
    """The kinds that can stand where the form was opened from; all of them where it was no place."""
    scope = Scope.ENTITY if place.get("entity") else Scope.MODULE if place.get("module") else None
    return [kind for kind in KINDS.values() if scope in (None, kind.scope)]


def _asked_by(kind: OperationKind) -> dict[str, Any]:
    place = {Scope.ENTITY: "entity", Scope.MODULE: "module"}.get(kind.scope)
    parts = [name for name in ("segment", "name") if f"{{{name}}}" in kind.path]
    return {
        "methods": ", ".join(kind.methods),
        "path": kind.path,
        "fields": [*([place] if place else []), *parts],
    }


class EndpointForm(KeyedForm):
    """`kind` is set on the subclass that is made for one endpoint, along with the fields of its settings."""

    kind: ClassVar[OperationKind | None] = None
    renamed: ClassVar[dict[str, str]] = {"roles": "callers"}

    callers = forms.ModelMultipleChoiceField(
        Role.objects.all(),
        required=False,
        label=gettext_lazy("Roles"),
        widget=forms.CheckboxSelectMultiple,
        help_text=Endpoint._meta.get_field("roles").help_text,
    )

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
        if "callers" in self.fields:
            dress(self.fields["callers"])
            self.initial["callers"] = list(self.instance.roles.all()) if self.instance.pk else []
        if "caller_types" in self.fields:
            self._offer_caller_types()
        if self.kind is not None:
            self.initial.update(initial_values(self.kind.settings, self.instance.settings))
            self._keep_present_choices()
        rule = self.fields.get("row_rule")
        query = query_of(self.instance)
        if isinstance(rule, FetchXmlField) and query is not None:
            rule.narrow(query.entity)

    def _offer_caller_types(self) -> None:
        known = {row.name: str(row) for row in CallerType.objects.all()}
        present = {name: name for name in self.instance.caller_types}
        field: Any = dress(self.fields["caller_types"])
        field.choices = list({**present, **known}.items())

    def _keep_present_choices(self) -> None:
        for name, field in self.fields.items():
            if name.startswith("settings__") and type(field) is forms.ChoiceField:
                offered: list[Any] = list(field.choices)  # type: ignore[arg-type]  # a list since it was made
                present = self.initial.get(name)
                if present not in {value for value, _ in offered}:
                    field.choices = choices.with_present(offered[1:], present)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if self.kind is not None:
            try:
                self.instance.settings = collected(self.kind.settings, cleaned)
            except ValidationError as error:
                self.add_error(None, error)
            if self.kind.is_named and not cleaned.get("name") and "name" in self.fields:
                self.add_error("name", gettext("Its path ends in a name; give it one."))
        return cleaned

    def _save_m2m(self) -> None:
        super()._save_m2m()  # type: ignore[misc]  # not in the stubs
        if "callers" in self.cleaned_data:
            self.instance.roles.set(self.cleaned_data["callers"])


def form_for(kind: OperationKind, exposed: ExposedEntity | None) -> type[EndpointForm]:
    """The form of endpoints of `kind` on an exposed entity (None for kinds that have none)."""
    entity = exposed.entity if exposed else ""
    place = PickerPlace(known_metadata(), entity, partial(_exposures, exposed))
    fields = form_fields(kind.settings, place)
    of_rule = Endpoint._meta.get_field("row_rule")
    label = capfirst(of_rule.verbose_name)
    rule = FetchXmlField("filter", entity, label=label, help_text=of_rule.help_text)
    return type("KindForm", (EndpointForm,), {"kind": kind, "row_rule": rule, **fields})


def _exposures(exposed: ExposedEntity | None) -> dict[str, str]:
    """The entities of an exposed entity's module, by segment."""
    if exposed is None:
        return {}
    rows = ExposedEntity.objects.filter(module=exposed.module_id)
    return dict(rows.values_list("segment", "entity"))


def _require_place(form: forms.BaseForm, kind: OperationKind, cleaned: dict[str, Any]) -> None:
    wanted = {Scope.ENTITY: "entity", Scope.MODULE: "module"}.get(kind.scope)
    if wanted and wanted in form.fields and not cleaned.get(wanted):
        form.add_error(
            wanted,
            ValidationError(gettext("“%(kind)s” belongs to one; choose it.") % {"kind": gettext(kind.label)}),
        )
    if kind.is_named and not cleaned.get("name"):
        form.add_error("name", ValidationError(gettext("Its path ends in a name; give it one.")))
    if not kind.is_named:
        cleaned["name"] = ""

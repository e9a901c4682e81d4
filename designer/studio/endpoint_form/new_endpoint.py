"""The form of a new endpoint: where it stands, what it does, and what its kind needs for that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy

from designer.kinds import KINDS, OperationKind, Scope
from designer.kinds.pickers import PickerPlace
from designer.models import Endpoint, ExposedEntity, Module
from designer.names import input_name, numbered, suggested_segment
from designer.studio.endpoint_form.form import CallerRolesForm, entities_by_segment
from designer.studio.endpoint_form.settings_fields import choice_fields
from designer.studio.look import dress
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.sent_numbers import sent_number

# Between the name of a kind and that of its setting.
_SEPARATOR = "__"
_PLACE_FIELDS = {Scope.ENTITY: "entity", Scope.MODULE: "module"}
# The fields for parts of the path, which are asked only where the path of the kind has the part.
_PARTS = ("segment", "name")


class NewEndpointForm(CallerRolesForm):
    """The form of a new endpoint. It asks where the endpoint stands, what it does, and who calls it.

    `new_endpoint.js` shows the fields that the kind needs, and the path that they make. At an exposed entity,
    what the kind chooses from the metadata is asked, too: the column of an upload, the process of an action.
    These fields are called `<kind>__<setting>`.
    """

    class Meta:
        model = Endpoint
        fields = ("kind", "module", "entity", "segment", "name", "title", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "enabled" in self.fields:
            # As where an entity is exposed and a query made: what can be served is served, and the rest stays
            # a draft whatever is ticked.
            self.initial["enabled"] = True
            self.fields["enabled"].help_text = gettext_lazy(
                "Callers can call the endpoint at once. It stays a draft if something is missing, or if "
                "every caller could write any record."
            )
        if "kind" in self.fields:
            offered = _kinds_at(self.initial)
            kinds = [(kind.name, f"{gettext(kind.label)}: {gettext(kind.summary)}") for kind in offered]
            field = forms.ChoiceField(
                label=self.fields["kind"].label, choices=kinds, help_text=self.fields["kind"].help_text
            )
            self.fields["kind"] = dress(field)
            needs_by_kind = {kind.name: self._needs_of(kind) for kind in offered}
            self.fields["kind"].widget.attrs["data-kinds"] = json.dumps(needs_by_kind)
        if "module" in self.fields:
            modules = dict(Module.objects.values_list("pk", "segment"))
            _tell_scripts(self.fields["module"], modules)
        if "entity" in self.fields:
            # Each choice names its module, which would cost a query each.
            entities: Any = self.fields["entity"]
            entities.queryset = entities.queryset.select_related("module")
            segments = ExposedEntity.objects.values_list("pk", "module__segment", "segment")
            _tell_scripts(entities, {key: [module, segment] for key, module, segment in segments})
        if "name" in self.fields and any(_SEPARATOR in name for name in self.fields):
            self.fields["name"].help_text = gettext_lazy(
                "The last part of the path. If you leave it empty, it is made of what you choose below."
            )

    def shows(self, field: str) -> bool:
        """Whether the page shows the field: scripts hide the parts that the path of the kind lacks."""
        kind = KINDS.get(self.data.get("kind", ""))
        is_hidden = field in _PARTS and kind is not None and field not in _needs_of_kind(kind)["fields"]
        return super().shows(field) and not is_hidden

    def _setting_field_names(self, kind: OperationKind) -> list[str]:
        """Return the names of the fields for the settings of a kind."""
        return [name for name in self.fields if name.startswith(f"{kind.name}{_SEPARATOR}")]

    def _naming_field_names(self, kind: OperationKind) -> list[str]:
        """Return the names of the setting fields whose choice can name the endpoint: those of one choice."""
        return [
            name
            for name in self._setting_field_names(kind)
            if kind.is_named and not isinstance(self.fields[name], forms.MultipleChoiceField)
        ]

    def _needs_of(self, kind: OperationKind) -> dict[str, Any]:
        """Return what scripts need to know of a kind: its path, and the names of the fields that it needs."""
        needs = _needs_of_kind(kind)
        return {
            **needs,
            "fields": [
                *needs["fields"],
                *self._setting_field_names(kind),
                *([] if kind.public else ["callers"]),
            ],
            "names": {name: self._names_by_choice(name) for name in self._naming_field_names(kind)},
        }

    def _names_by_choice(self, field: str) -> dict[str, str]:
        """Return the name of an endpoint for each choice of a field: its label, as a segment."""
        choosing: Any = self.fields[field]
        return {
            choice: suggested_segment(str(label).removesuffix(f" ({choice})"), input_name(choice))
            for choice, label in choosing.choices
            if choice
        }

    def _name_of_choice(self, kind: OperationKind, cleaned: Mapping[str, Any]) -> str:
        """Return the name that follows from what is chosen, with a number where another endpoint has it.

        Empty when nothing is chosen.
        """
        names = [
            self._names_by_choice(field).get(cleaned.get(field, ""), "")
            for field in self._naming_field_names(kind)
        ]
        name = next(filter(None, names), "")
        # Without the empty names, "" counts as free.
        others = Endpoint.objects.filter(kind=kind.name, entity=cleaned.get("entity")).exclude(name="")
        taken = set(others.values_list("name", flat=True))
        return next(free for free in numbered(name, "-") if free not in taken)

    def clean(self) -> dict[str, Any]:
        """Name the endpoint after what is chosen, where no name was typed, and refuse a missing place."""
        cleaned = super().clean()
        kind = KINDS.get(cleaned.get("kind", ""))
        if kind is not None:
            if kind.is_named and not cleaned.get("name") and "name" not in self.errors:
                cleaned["name"] = self._name_of_choice(kind, cleaned)
            _require_place(self, kind, cleaned)
            if kind.public:
                # The page hides the roles for such a kind, and may still send some.
                cleaned["callers"] = []
        return cleaned

    def save(self, commit: bool = True) -> Endpoint:
        """Save the endpoint with the settings that were chosen. It is not enabled yet."""
        kind = KINDS[self.instance.kind]
        # `EndpointAdmin.save_related` enables it: whether it can be served is known once all of it is there.
        self.instance.enabled = False
        self.instance.authentication_required = not kind.public
        self.instance.settings = {
            name.partition(_SEPARATOR)[2]: self.cleaned_data[name]
            for name in self._setting_field_names(kind)
            if self.cleaned_data.get(name)
        }
        endpoint: Endpoint = super().save(commit)
        return endpoint


def new_form_class(exposed: ExposedEntity | None) -> type[NewEndpointForm]:
    """Return the form class of a new endpoint, opened at an exposed entity or at none."""
    if exposed is None:
        return NewEndpointForm
    place = PickerPlace(known_metadata(), exposed.entity, partial(entities_by_segment, exposed))
    fields = {
        f"{kind.name}{_SEPARATOR}{setting}": field
        for kind in KINDS.values()
        if kind.scope is Scope.ENTITY
        for setting, field in choice_fields(kind.settings, place).items()
    }
    return type("NewFormAtEntity", (NewEndpointForm,), fields)


def ordered_field_names(form: type[NewEndpointForm]) -> list[str]:
    """Return the names of the form's fields in the order in which they are asked."""
    chosen = [name for name in form.base_fields if _SEPARATOR in name]
    return ["kind", "module", "entity", "segment", "name", *chosen, "title", "callers", "enabled"]


def _tell_scripts(field: forms.Field, segments: Mapping[int, Any]) -> None:
    """Put the segments that each choice stands for in paths into the field's HTML, by the row's id."""
    # The admin wraps what chooses among rows in its links to add and change them.
    widget: Any = getattr(field.widget, "widget", field.widget)
    widget.attrs["data-segments"] = json.dumps(segments)


def _kinds_at(place: Mapping[str, Any]) -> list[OperationKind]:
    """Return the kinds that can stand at an exposed entity or in a module; all kinds without such a place."""
    scope = None
    if place.get("entity"):
        scope = Scope.ENTITY
    elif place.get("module"):
        scope = Scope.MODULE
    return [kind for kind in KINDS.values() if scope in (None, kind.scope)]


def _needs_of_kind(kind: OperationKind) -> dict[str, Any]:
    """Return the methods and the path of a kind, and the names of the fields that its path needs."""
    place = _PLACE_FIELDS.get(kind.scope)
    parts = [name for name in _PARTS if f"{{{name}}}" in kind.path]
    return {
        "methods": ", ".join(kind.methods),
        "path": kind.path,
        "fields": [*([place] if place else []), *parts],
    }


def exposed_entity_of(request: HttpRequest) -> ExposedEntity | None:
    """Return the exposed entity where the form was opened, or that was chosen in it."""
    id = sent_number(request.POST.get("entity", "") or request.GET.get("entity", ""))
    return None if id is None else ExposedEntity.objects.filter(pk=id).first()


def _require_place(form: forms.BaseForm, kind: OperationKind, cleaned: dict[str, Any]) -> None:
    """Add errors for the module, entity or name that the kind needs and the form lacks.

    The name of a kind that has none is removed from `cleaned`: the field may still hold one for another kind.
    """
    required_field = _PLACE_FIELDS.get(kind.scope)
    if required_field and required_field in form.fields and not cleaned.get(required_field):
        sentences = {
            "entity": gettext("An endpoint of this kind belongs to an entity. Choose the entity."),
            "module": gettext("An endpoint of this kind belongs to a module. Choose the module."),
        }
        form.add_error(required_field, ValidationError(sentences[required_field]))
    if kind.is_named and not cleaned.get("name"):
        form.add_error("name", ValidationError(gettext("The path ends in a name. Enter a name.")))
    if not kind.is_named:
        cleaned["name"] = ""

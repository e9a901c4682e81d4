"""An entity exposed in one form: its module, segment, attributes, operations and roles."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Count
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crmclient.metadata import Attribute, Entity
from designer.audit import note
from designer.definitions import ConfigurationDocument, ExposedEntityDefinition, ModuleDefinition
from designer.documents.applied_plan import apply
from designer.documents.plan import plan
from designer.documents.problems import DocumentError
from designer.entity_exposure import Exposure, endpoints, suggested, usual
from designer.history.recording import recording
from designer.history.refused_changes import ChangeRefused
from designer.loading import latest
from designer.models import AuditEntry, Module, names
from designer.names import suggested_segment
from designer.platform import get_platform
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.look import dress, picked, suggesting
from designer.studio.metadata import choices
from designer.studio.pages.base import StudioPage
from designer.studio.pages.callers_offered import caller_types_field, roles_field
from designer.studio.pages.restore_guard import ServedWouldBreak, keeping_what_is_served
from designer.studio.saving.authors import author_of
from designer.studio.saving.refused_as_proposal import may_propose, proposed
from designer.studio.saving.undo_offers import say_done

NOTHING = ConfigurationDocument(format=2)


class ExposeForm(forms.Form):
    """Everything beside the entity, for which the page asks first."""

    def __init__(self, entity: Entity, attributes: dict[str, Attribute], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        modules = list(Module.objects.annotate(size=Count("endpoints")))
        # Where most is, most likely more belongs.
        largest = max(modules, key=lambda module: module.size, default=None)
        module = forms.CharField(
            label=gettext_lazy("Module"),
            validators=[names.segment],
            initial=largest.segment if largest else "",
            help_text=gettext_lazy(
                "The module's segment, as in /api/sales/…. If there is no such module yet, it is created."
            ),
        )
        self.fields["module"] = suggesting(module, [(row.segment, row.title) for row in modules])
        self.fields["segment"] = dress(
            forms.CharField(
                label=gettext_lazy("Segment"),
                validators=[names.segment],
                initial=suggested_segment(entity.plural_label.text(), entity.logical_name),
                help_text=gettext_lazy("What the entity is called in paths."),
            )
        )
        conventions = get_platform().conventions
        kinds = usual(conventions.abilities)
        offered = [(kind.name, f"{_(kind.label)}: {_(kind.summary)}") for kind in kinds]
        # What removes records is chosen by whoever means it.
        ticked = [kind.name for kind in kinds if not kind.removes_records]
        self._ticks("operations", gettext_lazy("Operations"), offered, ticked)
        without_files = [name for name, attribute in attributes.items() if not attribute.type.holds_file]
        first = suggested(attributes, conventions.common)
        described = [(name, label) for name, label in choices.described(attributes) if name in without_files]
        described.sort(key=lambda choice: choice[0] not in first)
        self._ticks("attributes", gettext_lazy("Attributes"), described, first)
        self.fields["caller_types"] = caller_types_field()
        self.fields["roles"] = roles_field()
        self.fields["enabled"] = dress(
            forms.BooleanField(
                label=gettext_lazy("Enabled"),
                required=False,
                initial=True,
                help_text=gettext_lazy("Served to callers at once. Otherwise they are drafts."),
            )
        )

    def _ticks(self, name: str, label: Any, offered: Any, initial: list[str]) -> None:
        """Make the field a list of check boxes."""
        field = forms.MultipleChoiceField(
            label=label,
            choices=offered,
            initial=initial,
            widget=forms.CheckboxSelectMultiple,
        )
        self.fields[name] = dress(field)


class EntityForm(forms.Form):
    """Which entity: the first question, since attributes and names follow from it."""

    def __init__(self, metadata: Metadata, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        offered = [("", ""), *choices.entities(metadata)]
        self.fields["entity"] = picked(
            forms.ChoiceField(label=gettext_lazy("Entity"), choices=offered), "own"
        )
        self.fields["entity"].widget.attrs["data-goes"] = "yes"


def _unavailable(metadata: Metadata, chosen: str) -> MetadataUnavailable | None:
    """Return why the entities, or the attributes of the chosen one, are not known; None when they are."""
    try:
        if chosen in metadata.entities():
            metadata.attributes(chosen)
    except MetadataUnavailable as error:
        return error
    return None


class ExposePage(StudioPage):
    title = gettext_lazy("Expose an entity")
    permission_required = ("designer.add_exposedentity", "designer.add_endpoint")
    template_name = "designer/pages/expose.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        metadata = Metadata(get_platform())
        chosen = self.request.GET.get("entity", "")
        entity, attributes = _entity_and_attributes(metadata, chosen)
        form = kwargs.pop("form", None)
        if form is None and entity is not None:
            form = ExposeForm(entity, attributes)
        entities = choices.entities(metadata)
        return super().get_context_data(
            entity_form=EntityForm(metadata, initial={"entity": chosen}),
            entities={"own": {name: {"label": label, "facts": ""} for name, label in entities}},
            unavailable=_unavailable(metadata, chosen),
            entity=entity,
            form=form,
            **kwargs,
        )

    def post(self, request: HttpRequest) -> HttpResponseBase:
        metadata, chosen = Metadata(get_platform()), request.GET.get("entity", "")
        entity, attributes = _entity_and_attributes(metadata, chosen)
        if entity is None and _unavailable(metadata, chosen) is not None:
            return self.again()
        if entity is None:
            return self.again(problems=[_("Choose an entity that the platform has.")])
        form = ExposeForm(entity, attributes, data=request.POST)
        if not form.is_valid():
            return self.again(form=form)
        choices = form.cleaned_data
        exposure = Exposure(
            module=choices["module"],
            segment=choices["segment"],
            operations=choices["operations"],
            attributes=choices["attributes"],
            caller_types=tuple(choices["caller_types"]),
            roles=tuple(choices["roles"]),
            enabled=choices["enabled"],
        )
        try:
            with recording(author_of(request)) as recorded, keeping_what_is_served():
                self._make(exposure, entity, attributes)
        except ChangeRefused as refused:
            if opened := proposed(request, refused, f"{exposure.module}.{exposure.segment}"):
                return opened
            return self.again(form=form, problems=refused.problems, proposes=may_propose(request, refused))
        except (DocumentError, ServedWouldBreak) as error:
            return self.again(form=form, problems=error.problems)
        made = f"entity: {exposure.module}.{exposure.segment} ({entity.logical_name})"
        note(request, AuditEntry.Action.ADD, made, ", ".join(exposure.operations))
        say_done(request, _("Exposed. Open an endpoint to try it or to change it."), recorded.version)
        listed = reverse("admin:designer_endpoint_changelist")
        return HttpResponseRedirect(f"{listed}?q={exposure.segment}")

    def _make(self, exposure: Exposure, entity: Entity, attributes: dict[str, Attribute]) -> None:
        """Expose the entity. Raises DocumentError when a path is taken, or when it may not be made."""
        configuration = latest()
        new_endpoints = tuple(endpoints(exposure, entity, attributes))
        exposed = ExposedEntityDefinition(
            module=exposure.module,
            segment=exposure.segment,
            entity=entity.logical_name,
            title=entity.plural_label.text(),
        )
        keys_in_use = {present.definition.key for present in configuration.endpoints.values()}
        problems = [
            _("There is an endpoint %(key)s already.") % {"key": definition.key}
            for definition in new_endpoints
            if definition.key in keys_in_use
        ]
        present = {entity.key: entity for entity in configuration.entities}
        other = present.get(exposed.key)
        if other is not None and other.entity != exposed.entity:
            problems.append(
                _("%(key)s exposes %(entity)s already.") % {"key": other.key, "entity": other.entity}
            )
        is_new = all(module.segment != exposure.module for module in configuration.modules)
        if is_new and not self.request.user.has_perm("designer.add_module"):
            problems.append(
                _("There is no module “%(name)s”, and you may not add one.") % {"name": exposure.module}
            )
        if problems:
            raise DocumentError(problems)
        document = ConfigurationDocument(
            format=2,
            modules=(ModuleDefinition(segment=exposure.module),) if is_new else (),
            entities=() if other else (exposed,),
            endpoints=new_endpoints,
        )
        apply(plan(NOTHING, document), document)


def _entity_and_attributes(metadata: Metadata, name: str) -> tuple[Entity | None, dict[str, Attribute]]:
    """Return the entity and its attributes; nothing for an unknown one, and while the platform cannot be
    asked.
    """
    try:
        entity = metadata.entities().get(name)
        return entity, dict(metadata.attributes(name)) if entity else {}
    except MetadataUnavailable:
        return None, {}

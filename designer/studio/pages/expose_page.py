"""An entity exposed in one form: its module, segment, attributes, operations and roles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from crmclient.metadata import Attribute, Entity
from designer.audit import note
from designer.definitions import ConfigurationDocument, ExposedEntityDefinition, ModuleDefinition
from designer.documents.applied_plan import apply
from designer.documents.plan import plan
from designer.documents.problems import DocumentError
from designer.entity_exposure import EXPOSING_KINDS, Exposure, endpoints, suggested_attributes, usual_kinds
from designer.history.recording import recording
from designer.history.refused_changes import ChangeRefused
from designer.kinds import OperationKind
from designer.loading import latest
from designer.models import AuditEntry, Endpoint, ExposedEntity, names
from designer.names import suggested_segment
from designer.overview import overview
from designer.platform import get_platform
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.look import dress, with_shared_choices
from designer.studio.metadata import choices
from designer.studio.metadata.unavailable import unavailable_words
from designer.studio.pages.base import StudioPage
from designer.studio.pages.new_endpoint_fields import (
    caller_types_field,
    enabled_field,
    module_field,
    roles_field,
)
from designer.studio.pages.restore_guard import ServedWouldBreak, keeping_what_is_served
from designer.studio.saving.authors import author_of
from designer.studio.saving.refused_as_proposal import may_propose, open_as_proposal
from designer.studio.saving.undo_offers import say_done

# A plan from it to a document adds what the document has, and touches nothing else.
EMPTY_DOCUMENT = ConfigurationDocument(format=2)


class ExposeForm(forms.Form):
    """What is asked once the entity is chosen: its module and segment, operations, attributes, callers."""

    def __init__(self, entity: Entity, attributes: dict[str, Attribute], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.fields["module"] = module_field()
        self.fields["segment"] = dress(
            forms.CharField(
                label=gettext_lazy("Segment"),
                validators=[names.segment],
                initial=suggested_segment(entity.plural_label.text(), entity.logical_name),
                help_text=gettext_lazy("What the entity is called in paths."),
            )
        )
        conventions = get_platform().conventions
        # An entity that the platform only lets read is offered no operation that writes.
        kinds = [
            kind
            for kind in usual_kinds(conventions.abilities)
            if not (entity.is_read_only and kind.writes_records)
        ]
        if not self.is_bound:
            self.fields["module"].widget.attrs["autofocus"] = True
        taken = _taken_operations(entity, attributes, self["module"].value(), self["segment"].value())
        self._add_operations(kinds, taken)
        self._add_attributes(attributes, suggested_attributes(attributes, conventions.common))
        self.fields["caller_types"] = caller_types_field()
        self.fields["roles"] = roles_field()
        help_text = gettext_lazy("Callers can call the endpoints at once. Switch this off to create drafts.")
        self.fields["enabled"] = enabled_field(help_text)

    def _add_operations(self, kinds: Sequence[OperationKind], taken: Mapping[str, str]) -> None:
        """Add a check box for each kind of operation. `taken` has the endpoints that exist, by kind."""
        offered = [
            (
                kind.name,
                _("%(operation)s: %(endpoint)s exists already.")
                % {"operation": _(kind.label), "endpoint": taken[kind.name]}
                if kind.name in taken
                else f"{_(kind.label)}: {_(kind.summary)}",
            )
            for kind in kinds
        ]
        # An operation that removes records is not ticked: nobody should serve one without having chosen it.
        ticked = [kind.name for kind in kinds if not kind.removes_records and kind.name not in taken]
        self._add_check_boxes("operations", gettext_lazy("Operations"), offered, ticked)

    def _add_attributes(self, attributes: Mapping[str, Attribute], ticked: list[str]) -> None:
        """Add a check box for each attribute; those named in `ticked` are ticked and come first.

        Attributes that hold files are left out: files have operations of their own.
        """
        offered = [
            (name, label)
            for name, label in choices.described(attributes)
            if not attributes[name].type.holds_file
        ]
        offered.sort(key=lambda choice: choice[0] not in ticked)
        self._add_check_boxes("attributes", gettext_lazy("Attributes"), offered, ticked)

    def _add_check_boxes(self, name: str, label: Any, offered: Any, initial: list[str]) -> None:
        """Add the field `name`: a check box for each pair of name and label in `offered`.

        The names in `initial` are ticked.
        """
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
        # `picker.js` takes the choices from "own" in the page's data (`ExposePage`).
        self.fields["entity"] = with_shared_choices(
            forms.ChoiceField(label=gettext_lazy("Entity"), choices=offered), "own"
        )
        # `expose.js` sends the form as soon as an entity is chosen.
        self.fields["entity"].widget.attrs["data-goes"] = "yes"
        # The next question is that of the other form, once there is an entity.
        if not self.initial.get("entity"):
            self.fields["entity"].widget.attrs["autofocus"] = True


def _why_unavailable(metadata: Metadata, chosen: str) -> MetadataUnavailable | None:
    """Return why the entities, or the attributes of the chosen one, are not known; None when they are."""
    try:
        if chosen in metadata.entities():
            metadata.attributes(chosen)
    except MetadataUnavailable as error:
        return error
    return None


class ExposePage(StudioPage):
    """Asks for the entity, then shows the form for the entity that the address names."""

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
        unavailable = _why_unavailable(metadata, chosen)
        return super().get_context_data(
            entity_form=EntityForm(metadata, initial={"entity": chosen}),
            # What `picker.js` offers. Entities have no facts to show beside their names.
            entities={"own": {name: {"label": label, "facts": ""} for name, label in entities}},
            unavailable="" if unavailable is None else unavailable_words(unavailable),
            entity=entity,
            form=form,
            **kwargs,
        )

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Expose the entity and list its endpoints; show the form again, with the problems, when it is
        refused.
        """
        metadata, chosen = Metadata(get_platform()), request.GET.get("entity", "")
        entity, attributes = _entity_and_attributes(metadata, chosen)
        if entity is None and _why_unavailable(metadata, chosen) is not None:
            # The page says itself what the platform does not answer.
            return self.show_again()
        if entity is None:
            return self.show_again(problems=[_("Choose an entity that the platform has.")])
        form = ExposeForm(entity, attributes, data=request.POST)
        if not form.is_valid():
            return self.show_again(form=form)
        fields = form.cleaned_data
        exposure = Exposure(
            module=fields["module"],
            segment=fields["segment"],
            operations=fields["operations"],
            attributes=fields["attributes"],
            caller_types=tuple(fields["caller_types"]),
            roles=tuple(fields["roles"]),
            enabled=fields["enabled"],
        )
        try:
            with recording(author_of(request)) as recorded, keeping_what_is_served():
                left_disabled = self._make_exposure(exposure, entity, attributes)
        except ChangeRefused as refused:
            if redirect := open_as_proposal(request, refused, f"{exposure.module}.{exposure.segment}"):
                return redirect
            return self.show_again(
                form=form, problems=refused.problems, proposes=may_propose(request, refused)
            )
        except (DocumentError, ServedWouldBreak) as error:
            return self.show_again(form=form, problems=error.problems)
        name = f"entity: {exposure.module}.{exposure.segment} ({entity.logical_name})"
        note(request, AuditEntry.Action.ADD, name, ", ".join(exposure.operations))
        made = {definition.key for definition in endpoints(exposure, entity, attributes)}
        text = ngettext(
            "%(count)d endpoint was created for %(entity)s. Open it to try it or to change it.",
            "%(count)d endpoints were created for %(entity)s. Open one to try it or to change it.",
            len(made),
        )
        values = {"entity": entity.plural_label.text() or entity.logical_name, "count": len(made)}
        say_done(request, text % values, recorded.version)
        if left_disabled:
            text = ngettext(
                "%(endpoints)s is blocked, so it stays disabled. Open it to see what to correct.",
                "%(endpoints)s are blocked, so they stay disabled. Open each to see what to correct.",
                len(left_disabled),
            )
            messages.warning(request, text % {"endpoints": "; ".join(left_disabled)})
        _warn_of_what_was_made(request, exposure, made)
        rows = [id for id, endpoint in latest().endpoints.items() if endpoint.definition.key in made]
        list_address = reverse("admin:designer_endpoint_changelist")
        return HttpResponseRedirect(f"{list_address}?id__in={','.join(map(str, rows))}")

    def _make_exposure(
        self, exposure: Exposure, entity: Entity, attributes: dict[str, Attribute]
    ) -> list[str]:
        """Store the exposed entity and its endpoints, and the module if there is none of that name yet.

        Return the methods and paths of endpoints that could not be served, which are stored as disabled.
        Raises DocumentError when an endpoint's key is taken, when the segment exposes another entity, and
        when the account may not add the module.
        """
        configuration = latest()
        new_endpoints = tuple(endpoints(exposure, entity, attributes))
        exposed = ExposedEntityDefinition(
            module=exposure.module,
            segment=exposure.segment,
            entity=entity.logical_name,
            title=entity.plural_label.text(),
        )
        existing = {endpoint.definition.key: endpoint for endpoint in configuration.endpoints.values()}
        problems = [
            _("The endpoint %(endpoint)s exists already. Leave out its operation, or choose another segment.")
            % {"endpoint": known.methods_and_path}
            for definition in new_endpoints
            if (known := existing.get(definition.key)) is not None
        ]
        exposed_by_key = {known.key: known for known in configuration.entities}
        already_exposed = exposed_by_key.get(exposed.key)
        if already_exposed is not None and already_exposed.entity != exposed.entity:
            problems.append(
                _("%(key)s exposes %(entity)s already.")
                % {"key": already_exposed.key, "entity": already_exposed.entity}
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
            # The entity may be exposed there already: then it only gets more endpoints.
            entities=() if already_exposed else (exposed,),
            endpoints=new_endpoints,
        )
        # Compared with an empty document, so the plan only adds.
        apply(plan(EMPTY_DOCUMENT, document), document)
        return _disable_blocked({definition.key for definition in new_endpoints if definition.enabled})


def _warn_of_what_was_made(request: HttpRequest, exposure: Exposure, keys: Collection[str]) -> None:
    """Leave a message for what was found about the endpoints with these keys, such as that they have no row
    rule. The list that follows shows them as ready.
    """
    rows = ExposedEntity.objects.filter(module__segment=exposure.module, segment=exposure.segment)
    address = reverse("admin:designer_exposedentity_change", args=[rows.get().pk])
    may_change = request.user.has_perm("designer.change_exposedentity")
    known = {endpoint.definition.key: endpoint for endpoint in latest().endpoints.values()}
    # Several endpoints have the same finding: it is told once, with the names of them all.
    found: dict[tuple[str, bool], list[str]] = {}
    for finding in overview().findings:
        if finding.subject in keys and not finding.is_blocking:
            names_of_endpoints = found.setdefault((finding.said, finding.field == "row_rule"), [])
            names_of_endpoints.append(known[finding.subject].methods_and_path)
    for (sentence, is_about_row_rule), named in found.items():
        text: str = format_html("{}: {}", "; ".join(named), sentence)
        if is_about_row_rule and may_change:
            link = format_html('<a href="{}#row_rule-group">{}</a>', address, _("Open the row rule"))
            text = format_html("{} {}", text, link)
        messages.warning(request, text)


def _taken_operations(
    entity: Entity, attributes: Mapping[str, Attribute], module: str, segment: str
) -> dict[str, str]:
    """Return the methods and paths of endpoints that exposing would make and that exist, by kind."""
    every_kind = [kind.name for kind in EXPOSING_KINDS]
    exposure = Exposure(module=module, segment=segment, operations=every_kind, attributes=())
    existing = {endpoint.definition.key: endpoint for endpoint in latest().endpoints.values()}
    return {
        definition.kind: existing[definition.key].methods_and_path
        for definition in endpoints(exposure, entity, attributes)
        if definition.key in existing
    }


def _disable_blocked(keys: Collection[str]) -> list[str]:
    """Disable those of the endpoints with these keys that are blocked. Return their methods and paths."""
    # The platform's metadata may have too little for one of them, or the entity may have had a row rule.
    blocked_keys = {finding.subject for finding in overview().findings if finding.is_blocking}
    blocked = {
        id: endpoint.methods_and_path
        for id, endpoint in latest().endpoints.items()
        if endpoint.definition.key in blocked_keys.intersection(keys)
    }
    Endpoint.objects.filter(pk__in=blocked).update(enabled=False)
    return list(blocked.values())


def _entity_and_attributes(metadata: Metadata, name: str) -> tuple[Entity | None, dict[str, Attribute]]:
    """Return the entity of that logical name, and its attributes by name.

    Return None and no attributes for an unknown name, and while the platform cannot be asked.
    """
    try:
        entity = metadata.entities().get(name)
        return entity, dict(metadata.attributes(name)) if entity else {}
    except MetadataUnavailable:
        return None, {}

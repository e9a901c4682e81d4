"""A query in one form: rows or pasted FetchXML, where it is served, and who may call it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crmclient.errors import InvalidQuery
from crmclient.metadata import Entity
from crmclient.query.designed import DesignedQuery
from crmclient.query.fetchxml import parse
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving import prepare
from designer.audit import note
from designer.calendar import calendar
from designer.definitions import ConfigurationDocument, EndpointDefinition, ModuleDefinition
from designer.documents.applied_plan import apply
from designer.documents.plan import plan
from designer.documents.problems import DocumentError
from designer.history.recording import recording
from designer.history.refused_changes import ChangeRefused
from designer.loading import latest
from designer.models import AuditEntry, Endpoint, names
from designer.names import numbered, suggested_segment
from designer.platform import get_platform
from designer.queries.query_wording import query_in_words
from designer.query_endpoints import QUERY_KINDS, WantedQuery, parameters, query_endpoint
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.sentences import said
from designer.studio.endpoint_form.fetchxml_fields import QUERY_SCRIPTS, FetchXmlField
from designer.studio.look import dress
from designer.studio.metadata.unavailable import unavailable_words
from designer.studio.pages.base import StudioPage, StudioView
from designer.studio.pages.expose_page import EMPTY_DOCUMENT
from designer.studio.pages.new_endpoint_fields import (
    caller_types_field,
    enabled_field,
    module_field,
    roles_field,
)
from designer.studio.pages.restore_guard import ServedWouldBreak, keeping_what_is_served
from designer.studio.saving.authors import author_of
from designer.studio.saving.checked_save import checker
from designer.studio.saving.refused_as_proposal import may_propose, open_as_proposal
from designer.studio.saving.undo_offers import say_done


class NewQueryForm(forms.Form):
    """A query (as FetchXML), and how it is served. Each field has the text or names that were chosen."""

    query = FetchXmlField("query", label=gettext_lazy("Query"))
    name = dress(
        forms.CharField(
            label=gettext_lazy("Name"),
            required=False,
            help_text=gettext_lazy(
                "The last part of the path. If you leave it empty, it is made from the entity's name."
            ),
        )
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        kinds = [(kind.name, f"{_(kind.label)}: {_(kind.summary)}") for kind in QUERY_KINDS]
        self.fields |= {
            # Made for each form, because modules, types and roles change.
            "kind": dress(
                forms.ChoiceField(label=gettext_lazy("Kind"), choices=kinds, widget=forms.RadioSelect)
            ),
            "module": module_field(),
            "caller_types": caller_types_field(),
            "roles": roles_field(),
            "enabled": enabled_field(
                gettext_lazy("Callers can call the endpoint at once. Switch this off to create a draft.")
            ),
        }
        self.fields["kind"].initial = kinds[0][0]
        self.order_fields(("query", "kind", "module", "name", "caller_types", "roles", "enabled"))

    def clean_query(self) -> DesignedQuery:
        """Return the query that the FetchXML means. `FetchXmlField` has refused what cannot be read."""
        text = self.cleaned_data["query"]
        if not text.strip():
            raise forms.ValidationError(_("The query is empty. Choose an entity, or paste FetchXML."))
        return parse(text)

    def clean_name(self) -> str:
        """Return the name, which may be empty. Raises ValidationError for one that fits no path."""
        name: str = self.cleaned_data["name"]
        if name:
            names.segment(name)
        return name


class NewQueryPage(StudioPage):
    """The form, and the endpoint that is made of it. Its address may name a `kind` and a `module`."""

    title = gettext_lazy("New query")
    permission_required = "designer.add_endpoint"
    template_name = "designer/pages/new_query.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # A form that was refused comes with what was typed.
        form = kwargs.pop("form", None) or NewQueryForm(initial=self._preselected())
        return super().get_context_data(form=form, query_scripts=QUERY_SCRIPTS, **kwargs)

    def _preselected(self) -> dict[str, str]:
        """Return the values that the address names, by field. An empty one would replace the usual value."""
        preselected = {name: self.request.GET.get(name, "") for name in ("kind", "module")}
        return {name: value for name, value in preselected.items() if value}

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Make the endpoint and show its page; show the form again, with the problems, when it is refused."""
        form = NewQueryForm(data=request.POST)
        if not form.is_valid():
            return self.show_again(form=form)
        choices = form.cleaned_data
        metadata = Metadata(get_platform())
        try:
            entity = metadata.entities().get(choices["query"].entity)
            if entity is None:
                form.add_error("query", _("The platform has no entity “%s”.") % choices["query"].entity)
                return self.show_again(form=form)
            common = get_platform().conventions.common
            made = query_endpoint(_wanted_query(choices, entity), entity, metadata.known_attributes, common)
            with recording(author_of(request)) as recorded, keeping_what_is_served():
                row = self._make_endpoint(made)
        except MetadataUnavailable as error:
            return self.show_again(form=form, problems=[unavailable_words(error)])
        except ChangeRefused as refused:
            if redirect := open_as_proposal(request, refused, made.key):
                return redirect
            return self.show_again(
                form=form, problems=refused.problems, proposes=may_propose(request, refused)
            )
        except (DocumentError, ServedWouldBreak) as error:
            return self.show_again(form=form, problems=error.problems)
        note(request, AuditEntry.Action.ADD, f"endpoint: {made.key}", made.title)
        words = _("The query was created. Its parameters are below, under Inputs.")
        say_done(request, words, recorded.version)
        return HttpResponseRedirect(reverse("admin:designer_endpoint_change", args=[row.pk]))

    def _make_endpoint(self, definition: EndpointDefinition) -> Endpoint:
        """Store the endpoint, and its module where there is none yet. Return the endpoint's row.

        Raises DocumentError when its key is taken, when the account may not add the module, and when it is
        enabled and cannot be served.
        """
        configuration = latest()
        for known in configuration.endpoints.values():
            if known.definition.key == definition.key:
                sentence = _("The endpoint %(endpoint)s exists already. Choose another name.") % {
                    "endpoint": known.methods_and_path
                }
                raise DocumentError([sentence])
        is_new = all(module.segment != definition.module for module in configuration.modules)
        if is_new and not self.request.user.has_perm("designer.add_module"):
            sentence = _("There is no module “%(name)s”, and you may not add one.") % {
                "name": definition.module
            }
            raise DocumentError([sentence])
        document = ConfigurationDocument(
            format=2,
            modules=(ModuleDefinition(segment=definition.module),) if is_new else (),
            endpoints=(definition,),
        )
        apply(plan(EMPTY_DOCUMENT, document), document)
        row = Endpoint.objects.get(
            kind=definition.kind, module__segment=definition.module, name=definition.name
        )
        blocking = [finding for finding in checker().endpoint_if_known(row.pk) if finding.is_blocking]
        if definition.enabled and blocking:
            raise DocumentError([finding.said for finding in blocking])
        return row


class QueryForScripts(StudioView):
    """Answers with the words, problems and parameters of a query that is not saved, as JSON for scripts.

    `name` is what its endpoint is called in `module` when nobody names it. A query with problems has no
    words, no parameters and no name. All four are empty for an empty text, and while the platform's metadata
    is not available.
    """

    permission_required = "designer.view_endpoint"
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> JsonResponse:
        metadata = Metadata(get_platform())
        field = NewQueryForm.base_fields["query"]
        answer: dict[str, Any] = {"words": "", "problems": [], "parameters": [], "name": ""}
        try:
            text = field.clean(request.POST.get("query", ""))
            if not text.strip():
                return JsonResponse(answer)
            query = parse(text)
            prepare(query, metadata.known_attributes, calendar())
            words = query_in_words(query, metadata.entities(), metadata.known_attributes)
            described_parameters = [
                f"{parameter.name} ({parameter.type})"
                for parameter in parameters(query, metadata.known_attributes)
            ]
            entity = metadata.entities().get(query.entity)
        except forms.ValidationError as error:
            return JsonResponse(answer | {"problems": error.messages})
        except QueryProblems as error:
            return JsonResponse(answer | {"problems": [said(problem.sentence) for problem in error.problems]})
        except (InvalidQuery, MetadataUnavailable):
            return JsonResponse(answer)
        name = _free_name(request.POST.get("module", ""), _suggested_name(entity)) if entity else ""
        return JsonResponse(answer | {"words": words, "parameters": described_parameters, "name": name})


def _wanted_query(choices: Mapping[str, Any], entity: Entity) -> WantedQuery:
    """Return the query that the valid form describes (`choices`).

    If the form has no name, the query gets one that is made of the entity's label.
    """
    return WantedQuery(
        kind=choices["kind"],
        module=choices["module"],
        name=choices["name"] or _free_name(choices["module"], _suggested_name(entity)),
        query=choices["query"],
        caller_types=tuple(choices["caller_types"]),
        roles=tuple(choices["roles"]),
        enabled=choices["enabled"],
    )


def _suggested_name(entity: Entity) -> str:
    """Return the name of a query that finds records of the entity: its label, as a segment."""
    return suggested_segment(entity.plural_label.text(), entity.logical_name)


def _free_name(module: str, suggestion: str) -> str:
    """Return `suggestion`, with a number after it if a query of the module has that name already."""
    names_in_use = {
        endpoint.definition.name
        for endpoint in latest().endpoints.values()
        if endpoint.definition.module == module and endpoint.definition.settings.asks_query
    }
    return next(name for name in numbered(suggestion, "-") if name not in names_in_use)

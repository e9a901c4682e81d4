"""“Try it” for an endpoint as a proposal has it. Writes are only tried as dry runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from designer.access_control.access_matrix import admitted_types
from designer.configuration import Configuration, Endpoint
from designer.documents.problems import DocumentError
from designer.models import Proposal
from designer.ports import Outcome, get_runtime
from designer.proposals.proposed_state import proposed_configuration
from designer.studio.checking.previews import service_address
from designer.studio.pages.base import Crumb, StudioPage
from designer.studio.trying.try_form import TryForm
from designer.studio.trying.try_page import FOR_REAL, make_call, table_of

# The parameter of the address that has the key of an endpoint.
ENDPOINT = "endpoint"


class TryProposed(StudioPage):
    """The form of a call of a proposed endpoint, and the outcome of the call.

    Writes are only tried as dry runs. Accounts with the right to run queries can read for real.
    """

    title = _("Try it")
    # The second right is that of “Try it” on the page of an endpoint.
    permission_required = ("designer.view_proposal", "designer.change_endpoint")
    template_name = "designer/pages/proposal_trying.html"

    def crumbs(self) -> Sequence[Crumb]:
        return [
            Crumb(_("Proposals"), reverse("studio:proposals")),
            Crumb(str(self._proposal), reverse("studio:proposal", args=[self._proposal.pk])),
        ]

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        self._proposal = get_object_or_404(Proposal, pk=kwargs["pk"])

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        if "form" not in kwargs:
            endpoint, configuration = self._proposed_endpoint()
            kwargs |= self._form_context(endpoint, configuration, {})
        return super().get_context_data(**kwargs)

    def post(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        endpoint, configuration = self._proposed_endpoint()
        context = self._form_context(endpoint, configuration, {"data": request.POST, "files": request.FILES})
        form: TryForm = context["form"]
        outcome: Outcome | None = None
        if not context["preview"].problem and form.is_valid():
            outcome = make_call(request, endpoint, configuration, form.attempt())
            form.show_refusals(outcome)
        context |= {"outcome": outcome, "table": table_of(outcome)}
        return self.render_to_response(self.get_context_data(**context))

    def _proposed_endpoint(self) -> tuple[Endpoint, Configuration]:
        """Return the endpoint in the address, and the proposed configuration that has it.

        Raises Http404 for an unknown endpoint, and for a proposal that cannot be read.
        """
        try:
            configuration = proposed_configuration(self._proposal)
        except DocumentError:
            raise Http404 from None
        key = self.request.GET.get(ENDPOINT, "")
        for endpoint in configuration.endpoints.values():
            if endpoint.definition.key == key:
                return endpoint, configuration
        raise Http404

    def _form_context(
        self, endpoint: Endpoint, configuration: Configuration, sent: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the context of the page with its form.

        `sent` has the form's arguments `data` and `files`; it is empty for a form that was not sent yet.
        """
        request = self.request
        preview = get_runtime().preview(endpoint, service_address(request))
        may_be_real = not endpoint.kind.writes and request.user.has_perm(FOR_REAL)
        types = admitted_types(endpoint.definition.access, configuration)
        form = TryForm(
            endpoint, preview, types, may_be_real=may_be_real, known_roles=configuration.roles, **sent
        )
        return {
            "proposal": self._proposal,
            "action": request.get_full_path(),
            "endpoint": endpoint,
            "preview": preview,
            "form": form,
            "media": form.media,
        }

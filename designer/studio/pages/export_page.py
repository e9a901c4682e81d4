"""Export: the configuration, or one module, as a document."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.documents.document_writer import export, json_bytes
from designer.documents.problems import DocumentError
from designer.imports.stored_values import named_json
from designer.loading import latest
from designer.models import AuditEntry
from designer.sentences import said
from designer.studio.hidden_lists import without_hidden
from designer.studio.navigation.request_overview import overview_for
from designer.studio.pages.base import StudioPage, StudioView

_PERMISSION = "designer.view_endpoint"


class ExportPage(StudioPage):
    title = gettext_lazy("Export")
    permission_required = _PERMISSION
    template_name = "designer/pages/export.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        configuration = overview_for(self.request).configuration
        return super().get_context_data(
            **kwargs,
            modules=configuration.modules,
            endpoints=len(configuration.endpoints),
            may_import=self.request.user.has_perm("designer.import_configuration"),
        )


class ExportedDocument(StudioView):
    """The document as a file: of the module that the address names, or of the whole configuration."""

    permission_required = _PERMISSION
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponseBase:
        # None is the whole configuration. The page's form sends an empty text for it.
        module = request.GET.get("module") or None
        try:
            document = json_bytes(named_json(without_hidden(export(latest(), module), request)))
        except DocumentError as error:
            for problem in error.problems:
                messages.error(request, said(problem))
            return HttpResponseRedirect(reverse("studio:export"))
        note(request, AuditEntry.Action.EXPORT, module or "")
        name = f"portico-{module}.json" if module else "portico.json"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(document, content_type="application/json", headers=headers)

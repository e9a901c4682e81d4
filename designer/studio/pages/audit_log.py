"""The audit log."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.utils.translation import gettext_lazy

from designer.models import AuditEntry
from designer.studio.pages.base import StudioPage

_PER_PAGE = 50


class AuditPage(StudioPage):
    """The entries of the log, of one account and of one action where the address names them."""

    title = gettext_lazy("Audit log")
    permission_required = "designer.view_auditentry"
    template_name = "designer/pages/audit.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        entries = AuditEntry.objects.all()
        account, action = self.request.GET.get("account", "").strip(), self.request.GET.get("action", "")
        if account:
            entries = entries.filter(account=account)
        if action in AuditEntry.Action.values:
            entries = entries.filter(action=action)
        return super().get_context_data(
            **kwargs,
            page=Paginator(entries, _PER_PAGE).get_page(self.request.GET.get("page")),
            actions=AuditEntry.Action.choices,
            account=account,
            action=action,
        )

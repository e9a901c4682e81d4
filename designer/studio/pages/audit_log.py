"""The audit log."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.utils.translation import gettext_lazy

from designer.models import AuditEntry
from designer.studio.pages.base import StudioPage

_PER_PAGE = 50


class AuditPage(StudioPage):
    """The entries of the log. The address may name whose, which action, and a part of what they are about."""

    title = gettext_lazy("Audit log")
    permission_required = "designer.view_auditentry"
    template_name = "designer/pages/audit.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        entries = AuditEntry.objects.all()
        account, about = (self.request.GET.get(name, "").strip() for name in ("account", "about"))
        action = self.request.GET.get("action", "")
        if account:
            entries = entries.filter(account=account)
        if about:
            entries = entries.filter(subject__icontains=about)
        if action in AuditEntry.Action.values:
            entries = entries.filter(action=action)
        return super().get_context_data(
            **kwargs,
            page=Paginator(entries, _PER_PAGE).get_page(self.request.GET.get("page")),
            actions=AuditEntry.Action.choices,
            account=account,
            about=about,
            action=action,
        )

"""Protection: of which modules what is served changes by a proposal alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.documents.protection import EVERYTHING
from designer.loading import latest
from designer.models import AuditEntry, Protection
from designer.studio.pages.base import StudioPage

FREE, PROTECTED, APPROVED = "free", "protected", "approved"
_LABELS = {
    FREE: gettext_lazy("Not protected: a save is live at once"),
    PROTECTED: gettext_lazy("Protected: changes go live by a proposal"),
    APPROVED: gettext_lazy("Protected, and somebody else has to approve"),
}
# Before the group in the names of the form's fields.
_FIELD = "group-"


class ProtectionPage(StudioPage):
    title = gettext_lazy("Protection")
    permission_required = "designer.change_protection"
    template_name = "designer/pages/protection.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        now = _chosen()
        groups = [
            {"field": f"{_FIELD}{group}", "group": group, "label": label, "chosen": now.get(group, FREE)}
            for group, label in _groups().items()
        ]
        return super().get_context_data(**kwargs, groups=groups, choices=_LABELS.items())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        changed = False
        with transaction.atomic():
            now = _chosen()
            for group in _groups():
                new_level = request.POST.get(f"{_FIELD}{group}", "")
                if new_level in _LABELS and new_level != now.get(group, FREE):
                    _set(group, new_level)
                    changed = True
                    detail = f"{now.get(group, FREE)} → {new_level}"
                    note(request, AuditEntry.Action.PROTECTION, group or "everything", detail)
        if changed:
            messages.success(request, _("The protection was saved. It applies from the next save on."))
        return HttpResponseRedirect(request.get_full_path())


def _groups() -> Mapping[str, str]:
    """Return the groups that can be protected, with their titles, and protected groups that no longer
    exist.
    """
    configuration = latest()
    modules = {module.segment: module.title or module.segment for module in configuration.modules}
    protected = {entry.group: entry.group for entry in configuration.protections if entry.group}
    return {EVERYTHING: _("Everything"), **modules, **protected, **modules}


def _chosen() -> dict[str, str]:
    return {
        protection.group: APPROVED if protection.needs_approval else PROTECTED
        for protection in latest().protections
    }


def _set(group: str, level: str) -> None:
    if level == FREE:
        Protection.objects.filter(group=group).delete()
    else:
        values = {"needs_approval": level == APPROVED}
        Protection.objects.update_or_create(group=group, defaults=values)

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

# The levels of protection, as the form sends them.
FREE, PROTECTED, APPROVED = "free", "protected", "approved"
_LABELS = {
    FREE: gettext_lazy("Not protected: a save is live at once"),
    PROTECTED: gettext_lazy("Protected: changes go live by a proposal"),
    APPROVED: gettext_lazy("Protected, and somebody else has to approve"),
}
# A field of the form is called `group-GROUP`.
_FIELD = "group-"


class ProtectionPage(StudioPage):
    """The level of protection of each group. A group is a module, by its segment, or EVERYTHING."""

    title = gettext_lazy("Protection")
    permission_required = "designer.change_protection"
    template_name = "designer/pages/protection.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        levels = _levels()
        groups = [
            {"field": f"{_FIELD}{group}", "group": group, "label": label, "chosen": levels.get(group, FREE)}
            for group, label in _groups().items()
        ]
        return super().get_context_data(**kwargs, groups=groups, choices=_LABELS.items())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        is_changed = False
        with transaction.atomic():
            levels = _levels()
            for group in _groups():
                old_level = levels.get(group, FREE)
                new_level = request.POST.get(f"{_FIELD}{group}", "")
                # A group that the form has no field for, because it was added meanwhile, keeps its level.
                if new_level == old_level or new_level not in _LABELS:
                    continue
                _store_level(group, new_level)
                is_changed = True
                name = "everything" if group == EVERYTHING else group
                note(request, AuditEntry.Action.PROTECTION, name, f"{old_level} → {new_level}")
        if is_changed:
            messages.success(request, _("The protection was saved. It applies from the next save on."))
        return HttpResponseRedirect(request.get_full_path())


def _groups() -> Mapping[str, str]:
    """Return the title of each group that can be protected, or that is protected and no longer exists."""
    configuration = latest()
    modules = {module.segment: module.title or module.segment for module in configuration.modules}
    protected = [entry.group for entry in configuration.protections if entry.group != EVERYTHING]
    removed = {group: group for group in protected if group not in modules}
    return {EVERYTHING: _("Everything"), **modules, **removed}


def _levels() -> dict[str, str]:
    """Return the level of each protected group: PROTECTED or APPROVED. A free group is not in it."""
    return {
        protection.group: APPROVED if protection.needs_approval else PROTECTED
        for protection in latest().protections
    }


def _store_level(group: str, level: str) -> None:
    """Store the level of a group. A free group has no row."""
    if level == FREE:
        Protection.objects.filter(group=group).delete()
    else:
        values = {"needs_approval": level == APPROVED}
        Protection.objects.update_or_create(group=group, defaults=values)

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
from designer.models.proposals import APPROVED, FREE, PROTECTED
from designer.studio.pages.base import StudioPage

_LABELS = {
    FREE: gettext_lazy("Not protected: a save is live at once"),
    PROTECTED: gettext_lazy("Protected: changes go live by a proposal"),
    APPROVED: gettext_lazy("Protected, and somebody else has to approve"),
}
# A field of the form is called `group-GROUP`. What the page showed there is sent back as `shown-GROUP`.
_FIELD, _SHOWN = "group-", "shown-"


class ProtectionPage(StudioPage):
    """The level of protection of each group. A group is a module, by its segment, or EVERYTHING."""

    title = gettext_lazy("Protection")
    permission_required = "designer.change_protection"
    template_name = "designer/pages/protection.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        levels = _levels()
        typed: Mapping[str, str] = kwargs.get("typed", {})
        groups = [
            {
                "field": f"{_FIELD}{group}",
                "shown_field": f"{_SHOWN}{group}",
                "group": group,
                "label": label,
                "level": levels.get(group, FREE),
                "chosen": typed.get(group, levels.get(group, FREE)),
            }
            for group, label in _groups().items()
        ]
        return super().get_context_data(**kwargs, groups=groups, choices=_LABELS.items())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        with transaction.atomic():
            levels = dict.fromkeys(_groups(), FREE) | _levels()
            chosen = _chosen_levels(request, levels)
            if overtaken := _overtaken(request, levels, chosen):
                return self.show_again(typed=levels | chosen, problems=overtaken)
            for group, new_level in chosen.items():
                _store_level(group, new_level)
                name = "everything" if group == EVERYTHING else group
                note(request, AuditEntry.Action.PROTECTION, name, f"{levels[group]} → {new_level}")
        if chosen:
            messages.success(request, _("The protection was saved. It applies from the next save on."))
        return HttpResponseRedirect(request.get_full_path())


def _chosen_levels(request: HttpRequest, levels: Mapping[str, str]) -> dict[str, str]:
    """Return the groups for which somebody has chosen another level than the present one (`levels`).

    A field that was left as the page showed it chooses nothing: somebody else may have changed its group
    meanwhile. A group without a field, because it was added meanwhile, keeps its level, too.
    """
    chosen = {group: request.POST.get(f"{_FIELD}{group}", "") for group in levels}
    return {
        group: level
        for group, level in chosen.items()
        if level in _LABELS and level not in (levels[group], request.POST.get(f"{_SHOWN}{group}"))
    }


def _overtaken(request: HttpRequest, levels: Mapping[str, str], chosen: Mapping[str, str]) -> list[str]:
    """Return a sentence for each chosen level whose group somebody else has changed since the page was
    opened.
    """
    titles = _groups()
    return [
        _(
            "Somebody else has changed the protection of “%(group)s” since you opened this page. It is "
            "“%(level)s” now. Look at your choice, then save again."
        )
        % {"group": titles[group], "level": _LABELS[levels[group]]}
        for group in chosen
        if request.POST.get(f"{_SHOWN}{group}", levels[group]) != levels[group]
    ]


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

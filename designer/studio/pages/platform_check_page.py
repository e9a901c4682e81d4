"""*Check the connection*: each step on the way to the platform, with what to do where it does not go on."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.models import AuditEntry
from designer.platform_check import Checked, CheckUnderWay, platform_check
from designer.studio.pages.base import Crumb, StudioPage

SECONDS: Final = 20.0
"""How long the page waits for steps. The command `checkplatform` waits for all of them."""


class PlatformCheckPage(StudioPage):
    """A button that runs the check, and the steps of the check that has just run."""

    title = gettext_lazy("Check the connection")
    permission_required = "designer.refresh_metadata"
    template_name = "designer/pages/platform_check.html"

    def crumbs(self) -> list[Crumb]:
        return [Crumb(_("Platform"), reverse("studio:platform_budget"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        why_not = platform_check.why_not()
        return super().get_context_data(**kwargs, why_not=why_not, seconds=round(SECONDS))

    def post(self, request: HttpRequest) -> HttpResponseBase:
        try:
            checked = platform_check.run(SECONDS)
        except CheckUnderWay:
            return self.show_again(409, problem=_("Another check is still under way. Try again in a minute."))
        note(request, AuditEntry.Action.TRY, "platform", _outcome(checked))
        failed = [step for step in checked.steps if step.outcome == "failed"]
        return self.render_to_response(self.get_context_data(checked=checked, failed=failed))


def _outcome(checked: Checked) -> str:
    """Return what the audit log says of a check: the steps that failed, “good”, or that time ran out."""
    failed = [step.name for step in checked.steps if step.outcome == "failed"]
    if failed:
        return f"failed: {', '.join(failed)}"
    return "good" if checked.is_whole else "not finished"

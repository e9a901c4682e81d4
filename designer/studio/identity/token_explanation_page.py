"""*Explain a token*: each step that a request with it comes to. The token is not kept, and not logged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from designer.loading import latest
from designer.models import Issuer
from designer.ports import ExplainedStep, Explanation, get_runtime
from designer.studio.pages.base import Crumb, StudioPage
from designer.token_issuers.issuer_rows import column_of

_LONGEST_TOKEN = 8 * 1024
# What people paste before a token: the header's name and its scheme.
_HEADER_BEGINNING = re.compile(r"\s*(?:authorization\s*:)?\s*(?:bearer\s)?", re.IGNORECASE)


class LinkedStep(NamedTuple):
    """A step, with a link to the setting that it is about. `label` is the link's text.

    Without a link, `label` only names the setting. Both are empty for a step that is about no setting.
    """

    step: ExplainedStep
    link: str = ""
    label: str = ""


@method_decorator((never_cache, sensitive_post_parameters("token")), name="dispatch")
class ExplainTokenPage(StudioPage):
    title = gettext_lazy("Explain a token")
    permission_required = "designer.change_issuer"
    template_name = "designer/issuers/explain_token.html"

    def crumbs(self) -> list[Crumb]:
        return [Crumb(_("Issuers"), reverse("admin:designer_issuer_changelist"))]

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Show the steps that a request with the pasted token comes to, or why the text is not a token."""
        try:
            token = pasted_token(request)
        except NoToken as problem:
            return self.show_again(problems=[problem.why])
        explained = get_runtime().explain_token(token, latest())
        linked_steps = list(_steps_with_links(explained))
        return self.render_to_response(
            self.get_context_data(
                explained=explained,
                shown=linked_steps,
                failed=[item for item in linked_steps if item.step.verdict == "refused"],
            )
        )


class NoToken(Exception):
    """The pasted text is not a token. `why` says the reason."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def pasted_token(request: HttpRequest) -> str:
    """Return the token in the form. People paste whole headers, and tokens that are broken into lines.

    Raises NoToken.
    """
    token = "".join(_HEADER_BEGINNING.sub("", request.POST.get("token", ""), count=1).split())
    if not token:
        raise NoToken(_("Paste a token."))
    if len(token) > _LONGEST_TOKEN:
        raise NoToken(_("A token has at most %(most)s characters.") % {"most": _LONGEST_TOKEN})
    return token


def _steps_with_links(explained: Explanation) -> Iterator[LinkedStep]:
    """Yield the steps of an explanation, each with a link to the setting that it is about."""
    row = None if explained.of_environment else Issuer.objects.filter(name=explained.issuer).first()
    for step in explained.steps:
        if not step.setting:
            yield LinkedStep(step)
            continue
        if explained.of_environment:
            yield LinkedStep(step, label=_("the setting ISSUERS"))
            continue
        if row is None:
            # No issuer of that name, or none that the token names: the list has them all.
            yield LinkedStep(step, reverse("admin:designer_issuer_changelist"), _("issuers"))
            continue
        html_id, label = _field_and_label(step.setting)
        yield LinkedStep(step, f"{reverse('admin:designer_issuer_change', args=[row.pk])}#{html_id}", label)


def _field_and_label(setting: str) -> tuple[str, str]:
    """Return the HTML id of the field on the issuer's page for a setting, and the field's label.

    `setting` is a place in an issuer's definition, such as `record.claim` or `role_rules.2`.
    """
    part, _separator, rest = setting.partition(".")
    if part == "role_rules":
        # The rules are an inline formset. All rules together are shown from the first one on.
        number = rest.partition(".")[0] or "0"
        return f"id_role_rules-{number}-claim", _("role rules")
    column = column_of(setting)
    field: Any = Issuer._meta.get_field(column)
    return f"id_{column}", str(field.verbose_name)

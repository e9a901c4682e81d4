"""Issuers in the studio: whose tokens are accepted. Administrators set them up."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib import admin, messages
from django.core.cache import cache
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from designer.definitions import IssuerDefinition
from designer.history.items import digest_of
from designer.loading import latest
from designer.models import Issuer, RoleRule
from designer.ports import DiscoveredIssuer, get_runtime
from designer.readiness import Finding, Severity
from designer.sentences import Sentence
from designer.studio.endpoint_form.row_formsets import OrderedFormSet
from designer.studio.identity.issuer_form import SECTIONS, IssuerForm, RoleRuleForm
from designer.studio.look import StackedInline
from designer.studio.saving.checked_save import SharedAdmin, checker, warn
from designer.token_issuers.issuer_rows import ISSUER_COLUMNS

_FETCH = "designer_issuer_fetch"
_UNREACHABLE = "issuer-keys-unreachable"
# How long the result of the last try to read an issuer's keys is shown.
_SHOWN_SECONDS = 3600


class RoleRuleInline(StackedInline):
    model = RoleRule
    form = RoleRuleForm
    formset = OrderedFormSet
    fields = ("claim", "shape", "as_named", "grants", "position")
    verbose_name_plural = _("role rules: roles out of claims, in this order")


@admin.register(Issuer)
class IssuerAdmin(SharedAdmin):
    form = IssuerForm
    when_empty = _(
        "No issuer yet. An issuer is an identity provider whose tokens are accepted, such as Entra ID."
    )
    inlines = (RoleRuleInline,)
    # All of it says whose tokens count and what they give; its description alone does not.
    access_fields = frozenset({*ISSUER_COLUMNS, "role_rules"} - {"description"})
    fieldsets = SECTIONS
    list_display = ("name", "iss", "enabled", "caller_type", "state")
    search_fields = ("name", "issuer")
    change_form_template = "designer/issuers/issuer.html"
    list_after_template = "designer/issuers/environment_issuers.html"

    class Media:
        css = {"all": ["designer/studio.css", "designer/endpoint.css"]}
        js = ["designer/rows.js", "designer/suggestions.js", "designer/issuer_fetch.js"]

    def get_urls(self) -> list[URLPattern]:
        fetch = self.admin_site.admin_view(self.fetch_view)
        return [path("fetch/", fetch, name=_FETCH), *super().get_urls()]

    @method_decorator(require_POST)
    def fetch_view(self, request: HttpRequest) -> HttpResponse:
        """Answer, as JSON, what the issuer's discovery document says, and values for fields of the form."""
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            return JsonResponse({}, status=403)
        issuer, address = (request.POST.get(name, "").strip() for name in ("issuer", "key_url"))
        if not issuer and not address:
            return JsonResponse({"problem": gettext("Enter the issuer first."), "fields": {}})
        return JsonResponse(_discovery_json(get_runtime().discover(issuer, address), issuer))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the list with a link to the page that explains a token, and below it the issuers that the
        service's environment names.
        """
        context = {
            "environment_issuers": get_runtime().environment_issuers(),
            "explain_url": reverse("studio:explain_token"),
        }
        return super().changelist_view(request, {**(extra_context or {}), **context})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        """Show the page of an issuer with its findings, at their fields and in a list."""
        row, form = kwargs.get("obj"), context["adminform"].form
        findings = _findings(row) if row is not None else []
        # Accounts that may only look get a form without fields.
        if form.fields:
            form.show_findings(findings)
        blocks = any(finding.is_blocking for finding in findings)
        context |= {"findings": findings, "blocks": blocks, "fetch_url": reverse(f"admin:{_FETCH}")}
        context["explain_url"] = reverse("studio:explain_token")
        response: HttpResponse = super().render_change_form(request, context, **kwargs)
        return response

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        """Return the blocking findings about the issuer, old ones too, and new ones about anything else."""
        definition = _definition(row)
        findings = checker().issuer(definition) if definition is not None else []
        blocking = [finding for finding in findings if finding.is_blocking]
        return [
            *blocking,
            *(refusal for refusal in super().refusals(request, row) if refusal not in blocking),
        ]

    def after_save(self, request: HttpRequest, row: Model) -> None:
        """Show the warnings about the issuer, and try to read its keys."""
        definition = _definition(row)
        if definition is not None:
            warn(request, checker().issuer(definition))
            _try_keys(request, definition)

    @admin.display(description=_("Issuer"), ordering="issuer")
    def iss(self, row: Issuer) -> str:
        return row.issuer

    @admin.display(description=_("State"))
    def state(self, row: Issuer) -> str:
        """Return for the list whether the issuer has findings, with a sign."""
        findings = _findings(row)
        if any(finding.is_blocking for finding in findings):
            return "✖ " + gettext("needs attention")
        return "⚠ " + gettext("with warnings") if findings else "✔ " + gettext("ready")


def _definition(row: Model) -> IssuerDefinition | None:
    """Return the definition of an issuer's row; None for one that cannot be read."""
    name = getattr(row, "name", "")
    return next((issuer for issuer in latest().issuers if issuer.name == name), None)


def _try_keys(request: HttpRequest, definition: IssuerDefinition) -> None:
    """Try to read the issuer's keys, warn if that fails, and remember the result for the issuer's page."""
    problem = get_runtime().key_problem(definition) if definition.enabled else ""
    cache.set(_try_cache_key(definition), problem, _SHOWN_SECONDS)
    if problem:
        messages.warning(request, gettext("The keys cannot be read now. %(why)s") % {"why": problem})


def _findings(row: Issuer) -> list[Finding]:
    """Return the findings about an issuer, with a warning if its keys could not be read at the last save."""
    definition = _definition(row)
    if definition is None:
        return []
    findings = checker().issuer(definition)
    problem = cache.get(_try_cache_key(definition))
    if problem:
        message = gettext("The keys could not be read when this was last saved. %(why)s") % {"why": problem}
        place = "keys.url" if definition.keys.url else "keys.source"
        findings.append(
            Finding(
                rule=_UNREACHABLE,
                severity=Severity.WARNING,
                message=message,
                subject=Sentence("issuer %(name)s", name=definition.name),
                field=place,
            )
        )
    return findings


def _try_cache_key(definition: IssuerDefinition) -> str:
    # With a digest of the settings for keys: a result holds only for the settings it was tried with.
    return f"portico:issuer-keys:{digest_of([definition.issuer, definition.keys.to_json()])}"


def _discovery_json(discovery: DiscoveredIssuer, issuer: str) -> dict[str, Any]:
    """Return the result of a discovery in sentences, and values for the fields of the form.

    `issuer` is what was typed; empty if only an address was. A failed discovery has a `problem` instead.
    """
    if discovery.problem:
        return {"problem": discovery.problem, "fields": {}}
    sentences = [
        gettext("Found at %(address)s:") % {"address": discovery.address},
        gettext("Issuer: %(issuer)s") % {"issuer": discovery.issuer},
        gettext("Keys: %(count)s at %(address)s")
        % {"count": len(discovery.keys), "address": discovery.keys_url},
        gettext("Algorithms: %(names)s") % {"names": ", ".join(discovery.algorithms) or "–"},
    ]
    fields: dict[str, Any] = {"key_source": "discovery"}
    if not issuer:
        fields["issuer"] = discovery.issuer
    elif discovery.issuer != issuer:
        sentences.append(
            gettext("This is not the issuer that you entered. If it is the one you mean, copy it from here.")
        )
    if discovery.algorithms:
        fields["algorithms"] = list(discovery.algorithms)
    return {"found": sentences, "fields": fields}

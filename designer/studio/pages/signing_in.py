"""The way into the studio and out of it: the login page, the identity provider, the logout."""

from __future__ import annotations

import datetime as dt
import logging
from typing import Any

from django.contrib import admin, auth
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from designer.audit import note_account
from designer.audit.audit_entries import address_of
from designer.models import AuditEntry
from designer.studio.sign_in import accounts, code_flow, pending_sign_ins
from designer.studio.sign_in.claimed_groups import ClaimedGroups, claimed_groups
from designer.studio.sign_in.provider import Provider, configured_provider, may_use_password

logger = logging.getLogger("portico.sign_in")

# The key in the studio's session for the one at the provider: the ID token and the address that end it there.
_PROVIDER_SESSION = "provider_session"


def login(request: HttpRequest) -> HttpResponseBase:
    """Show the admin's login page, with a button for the identity provider beside its form, or log in."""
    if request.method == "POST":
        # The user has decided for a password: a sign-in at the provider that was begun must not end here.
        pending_sign_ins.forget(request.session)
    # No account has an empty name. If even an empty name may not use a password, then only accounts that the
    # settings name may.
    only_named_accounts = not may_use_password("")
    return admin.site.login(
        request, {"provider": configured_provider(), "passwords_are_off": only_named_accounts}
    )


@never_cache
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Begin a sign-in, and send the browser to the provider. A GET, as by a bookmark, shows the login page.

    With `again` in the form, the provider asks even those who are signed in there to log in.
    """
    provider = configured_provider()
    if provider is None or request.method == "GET":
        return HttpResponseRedirect(reverse("admin:login"))
    pending = pending_sign_ins.keep(request.session, _safe_target(request))
    prompt_options = {"prompt": "login"} if "again" in request.POST else {}
    try:
        address = code_flow.begin(provider, _redirect_address(request), pending, **prompt_options)
    except code_flow.ProviderAway as error:
        return _provider_away_page(request, provider, error)
    return _page_leading_to(request, provider, address)


@never_cache
@require_GET
def signed_in(request: HttpRequest) -> HttpResponseBase:
    """Check the provider's answer, with which the browser comes back, and open a session for its user."""
    provider = configured_provider()
    pending = pending_sign_ins.take(request.session, request.GET.get("state", ""))
    if provider is None or pending is None:
        words = _(
            "It was used before, took longer than 10 minutes, or began in another browser. Sign in again."
        )
        return _failure_page(request, provider, 400, _("This sign-in cannot be finished"), [words])
    try:
        identity = code_flow.finish(provider, _redirect_address(request), pending, request.GET.dict())
    except code_flow.ProviderAway as error:
        return _provider_away_page(request, provider, error)
    except code_flow.Declined as error:
        words = _("It answered “%(code)s”. Sign in again, or ask %(contact)s.")
        words %= {"code": str(error), "contact": _contact(provider)}
        return _failure_page(
            request, provider, 403, _("%(name)s did not sign you in") % {"name": provider.name}, [words]
        )
    except code_flow.Untrusted as error:
        logger.warning("sign-in refused: %s", error)
        _note_refusal(request, "", provider, "answer not trusted")
        title = _("The answer of %(name)s cannot be trusted") % {"name": provider.name}
        words = _("Sign in again. If that does not help, ask %(contact)s: the log says what was wrong.")
        return _failure_page(request, provider, 403, title, [words % {"contact": _contact(provider)}])
    return _open_studio(request, provider, identity, pending.next)


@never_cache
def log_out(request: HttpRequest) -> HttpResponseBase:
    """End the session here and, if the provider has opened it and offers that, at the provider.

    A GET, as by a bookmark, ends nothing: any page of another site could send it.
    """
    if request.method == "GET":
        page = "admin:index" if request.user.is_authenticated else "admin:login"
        return HttpResponseRedirect(reverse(page))
    # Read before the logout, which empties the session.
    ended = request.session.get(_PROVIDER_SESSION) if request.method == "POST" else None
    response = admin.site.logout(request)
    provider = configured_provider()
    if not ended or not ended["end_session"] or provider is None:
        return response
    back = request.build_absolute_uri(reverse("admin:login"))
    return _page_leading_to(request, provider, code_flow.end_address(ended, provider, back), is_leaving=True)


def _open_studio(
    request: HttpRequest, provider: Provider, identity: code_flow.SignedIn, target: str
) -> HttpResponseBase:
    """Open a session in the studio for the identified user, and return the redirect to `target`.

    If the user has no group that opens the studio, or an account that is switched off, return a page that
    says so.
    """
    name = accounts.shown_name(identity.claims)
    claimed = claimed_groups(provider, identity.claims)
    user = accounts.find(provider, identity.claims["sub"])
    if not claimed.groups:
        if user is not None:
            # The groups have changed since the last sign-in.
            accounts.shut_out(request, user)
        _note_refusal(request, name, provider, f"no mapped group: {', '.join(claimed.values) or 'none'}")
        return _no_group_page(request, provider, name, claimed)
    if user is not None and not (user.is_active and user.is_staff):
        _note_refusal(request, name, provider, "the account is switched off here")
        words = _("%(name)s signed you in, but your account in this studio is switched off. Ask %(contact)s.")
        words %= {"name": provider.name, "contact": _contact(provider)}
        return _failure_page(request, provider, 403, _("Your account is switched off"), [words])
    user = accounts.bring_up_to_date(request, provider, identity.claims, claimed.groups)
    _open_session(request, provider, user, identity)
    return HttpResponseRedirect(target)


def _open_session(request: HttpRequest, provider: Provider, user: User, identity: code_flow.SignedIn) -> None:
    """Log the user in for as many hours as the provider's settings say."""
    pending_sign_ins.forget(request.session)
    # `login` gives the session a new key: the old one, which somebody else may know, opens nothing.
    auth.login(request, user, backend=accounts.BACKEND)
    request.session[_PROVIDER_SESSION] = {
        "id_token": identity.id_token,
        "end_session": identity.end_session_endpoint,
    }
    request.session.set_expiry(timezone.now() + dt.timedelta(hours=provider.hours))


def _no_group_page(
    request: HttpRequest, provider: Provider, name: str, claimed: ClaimedGroups
) -> HttpResponse:
    """Return the page for a user without a group that opens the studio. It says which groups were claimed."""
    claim, contact = provider.groups_claim, _contact(provider)
    words = [_("%(name)s signed you in as %(who)s.") % {"name": provider.name, "who": name}]
    if claimed.is_overage:
        missing = _(
            "You are in so many groups that %(name)s left the claim “%(claim)s” out. Ask %(contact)s to use "
            "application roles instead of groups."
        )
    elif claimed.values:
        missing = ngettext(
            "Your group %(values)s does not open this studio. Ask %(contact)s for a group that does.",
            "None of your groups opens this studio: %(values)s. Ask %(contact)s for a group that does.",
            len(claimed.values),
        )
    else:
        missing = _(
            "%(name)s did not name any group of yours: the claim “%(claim)s” is missing or empty. Ask "
            "%(contact)s for a group that opens this studio."
        )
    details = {"name": provider.name, "claim": claim, "contact": contact, "values": ", ".join(claimed.values)}
    return _failure_page(
        request, provider, 403, _("You have no group that opens this studio"), [*words, missing % details]
    )


def _provider_away_page(
    request: HttpRequest, provider: Provider, error: code_flow.ProviderAway
) -> HttpResponse:
    """Log that the provider does not answer, and return the page that says so. Status 503."""
    logger.warning("the studio's identity provider does not answer: %s", error)
    words = _("Try again in a few minutes. Accounts with a password can log in without %(name)s.")
    title = _("%(name)s does not answer") % {"name": provider.name}
    return _failure_page(request, provider, 503, title, [words % {"name": provider.name}])


def _contact(provider: Provider) -> str:
    return provider.contact or _("an administrator of this studio")


def _failure_page(
    request: HttpRequest, provider: Provider | None, status: int, title: str, words: list[str]
) -> HttpResponse:
    """Return the page of a sign-in that failed, with a title and sentences (`words`)."""
    context = {**admin.site.each_context(request), "provider": provider, "title": title, "words": words}
    return render(request, "designer/pages/sign_in_failed.html", context, status=status)


def _page_leading_to(
    request: HttpRequest, provider: Provider, address: str, *, is_leaving: bool = False
) -> HttpResponse:
    """Return a page that opens `address` at the provider by itself; `is_leaving`: to end the session there.

    A redirect would not do: this answers a form, and the content policy (`form-action`) lets no form lead to
    another site, not even by a redirect.
    """
    context = {**admin.site.each_context(request), "provider": provider, "address": address}
    context |= {"is_leaving": is_leaving, "title": provider.name}
    return render(request, "designer/pages/hand_over.html", context)


def _note_refusal(request: HttpRequest, name: str, provider: Provider, reason: str) -> None:
    """Note in the audit log that a sign-in was refused. `name` is empty where nobody was identified."""
    action = AuditEntry.Action.LOGIN_FAILED
    note_account(name, action, provider.name, reason, address=address_of(request))


def _safe_target(request: HttpRequest) -> str:
    """Return the address in `next` of the form if it is on this site, else that of the dashboard."""
    next_url: Any = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        next_url, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return next_url if is_ours else reverse("admin:index")


def _redirect_address(request: HttpRequest) -> str:
    """Return the address to which the provider sends the browser back."""
    return request.build_absolute_uri(reverse("studio:signed_in"))

"""The studio account of a provider's subject: by issuer and subject, and by nothing else.

An e-mail address or a name is what the provider lets people write: neither finds an account that is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.http import HttpRequest

from designer.audit import note_account
from designer.audit.audit_entries import address_of
from designer.models import AuditEntry, ProviderAccount
from designer.studio.audited_pages import name_of
from designer.studio.sign_in.provider import Provider, configured_provider

_NOT_IN_NAMES = re.compile(r"[^\w.@+-]+")
_LONGEST_NAME = 140


class ProviderBackend(BaseBackend):
    """Keeps sessions of provider accounts while that provider is configured. It logs nobody in itself."""

    def get_user(self, user_id: int) -> User | None:
        """Return the account of a session; None when its provider is no longer the configured one."""
        provider = configured_provider()
        if provider is None:
            return None
        users = User.objects.filter(pk=user_id, is_active=True, provider_account__issuer=provider.issuer)
        return users.first()


BACKEND = f"{ProviderBackend.__module__}.{ProviderBackend.__name__}"


def is_of_provider(request: HttpRequest) -> bool:
    """Return whether the session was opened by the provider, so that no password or code belongs to it."""
    return request.session.get(BACKEND_SESSION_KEY) == BACKEND


def has_provider(user: AbstractBaseUser) -> bool:
    """Return whether the account is that of a provider, which cannot be opened with a password."""
    return ProviderAccount.objects.filter(user_id=user.pk).exists()


def find(provider: Provider, subject: str) -> User | None:
    """Return the account of a provider's subject; None when the subject has not signed in before."""
    accounts = ProviderAccount.objects.filter(issuer=provider.issuer, subject=subject)
    account = accounts.select_related("user").first()
    return account.user if account else None


def bring_up_to_date(
    request: HttpRequest, provider: Provider, claims: Mapping[str, Any], groups: Iterable[Group]
) -> User:
    """Return the account of the subject of the claims, with exactly `groups`.

    It is created if there is none. The changes are noted in the audit log.
    """
    with transaction.atomic():
        user = find(provider, claims["sub"]) or _create_account(request, provider, claims)
        _store_names(user, claims)
        _set_groups(request, user, groups)
    return user


def shut_out(request: HttpRequest, user: User) -> None:
    """Take all groups from an account whose claims open nothing any more, and end its sessions."""
    with transaction.atomic():
        _set_groups(request, user, ())
        # Sessions hold a digest of the password. An account without one has a random text in its place, and
        # gets another here: that ends its sessions.
        user.set_unusable_password()
        user.save(update_fields=["password"])


def shown_name(claims: Mapping[str, Any]) -> str:
    """Return the name of the subject for a page or a log. It must not be used to identify anybody."""
    texts = (claims.get(name) for name in ("preferred_username", "email", "name", "sub"))
    return next(text for text in texts if isinstance(text, str) and text)[:_LONGEST_NAME]


def _create_account(request: HttpRequest, provider: Provider, claims: Mapping[str, Any]) -> User:
    """Create the account of a person who signs in for the first time."""
    try:
        with transaction.atomic():
            user = User(username=_free_name(shown_name(claims)), is_staff=True)
            user.set_unusable_password()
            user.save()
            ProviderAccount.objects.create(user=user, issuer=provider.issuer, subject=claims["sub"])
    except IntegrityError:
        # Somebody was quicker: the same person in another tab, or another person of that name.
        return find(provider, claims["sub"]) or _create_account(request, provider, claims)
    _note(request, user, AuditEntry.Action.ADD, f"subject {claims['sub']} of {provider.issuer}")
    return user


def _free_name(suggestion: str) -> str:
    """Return an account name like the suggestion that no account has, with a number where that is needed."""
    name = _NOT_IN_NAMES.sub("-", suggestion).strip("-") or "account"
    names_in_use = set(User.objects.filter(username__startswith=name).values_list("username", flat=True))
    # One candidate more than there are names in use: one of them is free.
    numbered = (name if number == 1 else f"{name}-{number}" for number in range(1, len(names_in_use) + 2))
    return next(name for name in numbered if name not in names_in_use)


def _store_names(user: User, claims: Mapping[str, Any]) -> None:
    """Store the names and e-mail address that the provider gives, for other people to read."""
    user.first_name = _text(claims.get("given_name"), 150)
    user.last_name = _text(claims.get("family_name"), 150)
    user.email = _text(claims.get("email"), 254)
    user.save(update_fields=["first_name", "last_name", "email"])


def _text(claim: object, longest: int) -> str:
    """Return a claim as text that the database can store; empty for a claim that is no text."""
    return claim.replace("\0", "")[:longest] if isinstance(claim, str) else ""


def _set_groups(request: HttpRequest, user: User, groups: Iterable[Group]) -> None:
    """Make the account a member of exactly `groups`, and note the change in the audit log."""
    before = {group.name for group in user.groups.all()}
    after = {group.name for group in groups}
    user.groups.set(groups)
    added, removed = sorted(after - before), sorted(before - after)
    changes = [*(f"+{name}" for name in added), *(f"−{name}" for name in removed)]
    if changes:
        _note(request, user, AuditEntry.Action.CHANGE, f"groups: {', '.join(changes)}")


def _note(request: HttpRequest, user: User, action: AuditEntry.Action, detail: str) -> None:
    note_account(user.get_username(), action, name_of(user), detail, address=address_of(request))

"""Callers as the service recognises them, for *What may this caller do?*. Nobody is registered or counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from django.conf import settings

from crmclient import Guid
from crmclient.errors import PlatformFailure
from designer.configuration import Configuration
from designer.platform import get_platform
from designer.ports import CallerSource, KnownCaller
from designer.sentences import Sentence, said
from runtime.callers.api_accounts import ApiAccount
from runtime.callers.caller import Claims
from runtime.callers.issuers import Issuer, issuers_of
from runtime.callers.issuers.records import RecordSearch, RecordSource, shown_columns
from runtime.callers.issuers.role_rules import grants_of
from runtime.callers.keys.api_key import ApiKey
from runtime.callers.keys.hashed_key import is_key
from runtime.callers.keys.key_callers import is_of_a_key, subject_of
from runtime.callers.keys.key_verification import OWN_ISSUER
from runtime.callers.recognition import Recognition
from runtime.callers.refusals import RefusedCaller
from runtime.callers.tokens import identify

_STANDARD: Final = "standard"


def caller_names(kind: CallerSource, most: int) -> Sequence[str]:
    """Return the names of the first `most` API keys or API accounts."""
    if kind == "key":
        return list(ApiKey.objects.values_list("name", flat=True)[:most])
    return list(ApiAccount.objects.values_list("user__username", flat=True)[:most])


def caller_named(kind: CallerSource, name: str, configuration: Configuration) -> KnownCaller | None:
    """Return the API key or API account with this name as a caller; None without one."""
    if kind == "key":
        key = ApiKey.objects.filter(name=name).prefetch_related("roles").first()
        return None if key is None else _caller_of_api_key(key, configuration)
    accounts = ApiAccount.objects.filter(user__username=name)
    account = accounts.select_related("user").prefetch_related("roles").first()
    return None if account is None else _caller_of_account(account, configuration)


def caller_of_key(prefix: str, secret: str, configuration: Configuration) -> KnownCaller | None:
    """Return the caller of an API key; None when there is no such key, and for a wrong secret."""
    key = ApiKey.objects.filter(prefix=prefix).prefetch_related("roles").first()
    return _caller_of_api_key(key, configuration) if is_key(key, prefix, secret) and key is not None else None


def caller_of_own(claims: Claims, configuration: Configuration) -> KnownCaller | None:
    """Return the caller of a verified token of this service, which is for an account or for a key; None when
    that is gone.
    """
    if is_of_a_key(claims):
        # The subject is `key:` and the prefix.
        prefix = claims["sub"].partition(":")[2]
        key = ApiKey.objects.filter(prefix=prefix).prefetch_related("roles").first()
        return None if key is None else _caller_of_api_key(key, configuration)
    accounts = ApiAccount.objects.filter(user_id=claims["sub"])
    account = accounts.select_related("user").prefetch_related("roles").first()
    # The token is judged with its own claims: its login may have ended.
    return None if account is None else _caller_of_account(account, configuration, claims)


def callers_of_record(caller_type: str, record: Guid, configuration: Configuration) -> Iterator[KnownCaller]:
    """Yield every caller that stands for a record: API accounts, API keys, and callers of issuers."""
    accounts = ApiAccount.objects.filter(caller_type__name=caller_type, record=record)
    for account in accounts.select_related("user").prefetch_related("roles"):
        yield _caller_of_account(account, configuration)
    for key in ApiKey.objects.filter(caller_type__name=caller_type, record=record).prefetch_related("roles"):
        yield _caller_of_api_key(key, configuration)
    type = next(
        (definition for definition in configuration.caller_types if definition.name == caller_type), None
    )
    if type is None:
        return
    source = RecordSource(get_platform(), type)
    # An issuer may have several names.
    issuers = {
        issuer.definition.name: issuer for issuer in issuers_of(configuration.issuers).by_name.values()
    }
    for issuer in issuers.values():
        if issuer.definition.record.type == caller_type and issuer.definition.record.claim:
            search = source.find_by_id(record, issuer.record_columns)
            yield _caller_of_issuer(issuer, search, record)


def resolver_note() -> str:
    """Return a note that a custom resolver may identify callers otherwise than issuers' settings say;
    empty without one.
    """
    if settings.PORTICO["USER_RESOLVER"] == _STANDARD:
        return ""
    return said(
        Sentence(
            "The setting USER_RESOLVER decides who callers are. The roles are those by the issuer's settings."
        )
    )


def _caller_of_account(
    row: ApiAccount, configuration: Configuration, claims: Claims | None = None
) -> KnownCaller:
    """Return an API account as a caller. Without `claims`, those of a new token are used."""
    name = said(Sentence("The API account “%(name)s”", name=str(row)))
    return _caller_of_row(row, name, claims or _claims(str(row.user_id)), configuration)


def _caller_of_api_key(row: ApiKey, configuration: Configuration) -> KnownCaller:
    """Return an API key as a caller."""
    name = said(Sentence("The API key “%(name)s”", name=row.name))
    return _caller_of_row(row, name, _claims(subject_of(row)), configuration)


def _claims(subject: str) -> Claims:
    """Return the claims that a token of this service would have."""
    return {"iss": OWN_ISSUER, "sub": subject}


def _caller_of_row(
    row: ApiAccount | ApiKey, name: str, claims: Claims, configuration: Configuration
) -> KnownCaller:
    """Return an account or key as a caller, with the reason if it would be refused."""
    refused = ""
    try:
        # A request with the token is judged in the same way, including whether the record still counts.
        identify(claims, Recognition.of(configuration, get_platform()))
    except RefusedCaller as refusal:
        refused = said(refusal.sentence)
    except PlatformFailure:
        refused = said(Sentence("The platform does not answer, so nobody knows the caller's record."))
    return KnownCaller(
        name=name,
        type=str(row.caller_type_id),
        roles=tuple(sorted(role.name for role in row.roles.all())),
        record=str(row.record or ""),
        refused=refused,
    )


def _caller_of_issuer(issuer: Issuer, search: RecordSearch, record: Guid) -> KnownCaller:
    """Return a caller of the issuer for the record. Roles by claims are missing: only a token has them."""
    definition = issuer.definition
    row = shown_columns(search.rows[0], issuer.record_columns) if search.rows else None
    roles = {role for grant in grants_of(issuer, {}, row) for role in grant.roles}
    refused = ""
    if not search.rows:
        refused = said(Sentence("There is no such record."))
    elif search.is_inactive:
        refused = said(Sentence("The record is not active."))
    note = resolver_note()
    if definition.role_rules or definition.roles_expression.strip():
        note = note or said(
            Sentence("Claims of the token may give more roles. Tick them below, or paste a token instead.")
        )
    return KnownCaller(
        name=said(Sentence("A caller of the issuer “%(name)s”", name=definition.name)),
        type=definition.record.type,
        roles=tuple(sorted(roles)),
        record=record,
        refused=refused,
        note=note,
    )

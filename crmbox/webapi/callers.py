"""For whom a request is made: the token's user, or the one it impersonates."""

from __future__ import annotations

import datetime as dt

from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.errors import WebApiError
from crmbox.webapi.request import Headers
from crmbox.webapi.tokens import BadToken, user_of
from crmclient.errors import RecordNotFound
from crmclient.metadata import PlatformUser
from crmclient.platform import SERVICE_CALL, Call
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from crmclient.query.resolving import Circumstances
from crmclient.values import Guid, parse_guid

IMPERSONATORS = frozenset({"System Administrator", "Delegate"})
"""Security roles whose users may act for others, as the service itself may."""

_CHALLENGE = 'Bearer authorization_uri="{authorize}", resource_id="{resource}"'


def call_of(headers: Headers, platform: EmbeddedPlatform, *, root: str) -> Call:
    """Return a call for the token's user, or for the user whom the headers name instead. `root` is the
    server's address as the caller wrote it, for the challenge of a 401.

    Raises WebApiError: 401 without a good token, 403 for a user who may not do this.
    """
    user = _token_user(headers, root)
    service_user = platform.who()
    if user != service_user:
        _enabled_user(platform, user)
    impersonated = _impersonated_user(headers, platform)
    if impersonated is not None and impersonated != user:
        _check_impersonator(platform, user)
        user = impersonated
    return SERVICE_CALL if user == service_user else Call(caller=user)


def circumstances_of(platform: EmbeddedPlatform, user: Guid) -> Circumstances:
    """Return the present circumstances that queries of a user are resolved with."""
    return Circumstances(
        dt.datetime.now(dt.UTC), user=platform.user(user), reports=lambda: platform.reports(user)
    )


def _token_user(headers: Headers, root: str) -> Guid:
    """Return the user of the bearer token. Raises WebApiError 401."""
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        try:
            return user_of(token.strip())
        except BadToken:
            pass
    challenge = _CHALLENGE.format(authorize=f"{root}/common/oauth2/authorize", resource=f"{root}/")
    raise WebApiError(401, "", "Unauthorized", headers={"WWW-Authenticate": challenge})


def _impersonated_user(headers: Headers, platform: EmbeddedPlatform) -> Guid | None:
    """Return the user that the request is made for; None without one.

    `CallerObjectId` is an Entra object id, `MSCRMCallerID` the id of a system user.
    """
    if object_id := headers.get("CallerObjectId"):
        return _enabled_user(platform, _by_object_id(platform, _guid(object_id))).id
    if caller := headers.get("MSCRMCallerID"):
        return _enabled_user(platform, _guid(caller)).id
    return None


def _by_object_id(platform: EmbeddedPlatform, object_id: Guid) -> Guid:
    """Return the system user with an object id of Entra ID. Raises WebApiError 403 without one."""
    condition = Condition("azureactivedirectoryobjectid", Operator.EQ, (object_id,))
    rows = platform.query(Query("systemuser", (Column("systemuserid"),), Filter((condition,)), top=1)).rows
    if not rows:
        raise _denial(f"There is no user with the object id {object_id}.")
    return str(rows[0]["systemuserid"])


def _enabled_user(platform: EmbeddedPlatform, id: Guid) -> PlatformUser:
    """Return a user. Raises WebApiError 403 for an unknown or disabled one."""
    try:
        user = platform.user(id)
    except RecordNotFound:
        raise _denial(f"systemuser With Id = {id} Does Not Exist") from None
    if user.disabled:
        raise WebApiError(403, "0x80040225", f"The user {id} is disabled.")
    return user


def _check_impersonator(platform: EmbeddedPlatform, user: Guid) -> None:
    """Raise WebApiError 403 unless `user` may act for others."""
    if user == platform.who():
        return
    if not IMPERSONATORS & set(platform.user(user).security_roles):
        raise _denial(f"The user {user} is missing the privilege prvActOnBehalfOfAnotherUser.")


def _guid(text: str) -> Guid:
    """Return the id in a header, in its canonical form. Raises WebApiError 403: no user has another text."""
    try:
        return parse_guid(text.strip())
    except ValueError:
        raise _denial(f"{text!r} is no user's id.") from None


def _denial(message: str) -> WebApiError:
    return WebApiError(403, "0x80040220", message)

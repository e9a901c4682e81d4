"""The grants of OAuth 2 that the token endpoint takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from django.http import HttpRequest
from rest_framework.request import Request

from designer.definitions import InputDefinition
from runtime.callers.keys.key_callers import subject_of
from runtime.callers.login import log_in
from runtime.callers.own_tokens import TokenPair, issue, issue_access_token, rotate
from runtime.http.addresses import client_address
from runtime.http.problems import FieldError, Problem
from runtime.tokens.client_authentication import client_of
from runtime.tokens.token_requests import is_form, token_inputs
from runtime.values.inputs import Inputs, invalid_input

Grant: TypeAlias = Callable[[Request, Mapping[str, Any]], TokenPair]

# What the endpoint knows. What a grant does not need is taken and not looked at: clients send what they have.
_MEMBERS: Mapping[str, dict[str, Any]] = {
    "grant_type": {"max_length": 100},
    "username": {"max_length": 150},
    "password": {"max_length": 1000},
    "refresh_token": {"max_length": 8192},
    # No grant has scopes, but libraries send what they were not given.
    "scope": {"max_length": 1000, "nullable": True},
    "client_id": {"max_length": 1000},
    "client_secret": {"max_length": 1000},
}
_OF_REFRESHING = ("grant_type", "refresh_token", "scope", "client_id", "client_secret")


def _inputs_of_grant(*required: str, members: Iterable[str] = tuple(_MEMBERS)) -> Inputs:
    """Return the inputs of a grant: all `members`, of which those in `required` must be sent."""
    return token_inputs(
        *(
            InputDefinition(name=name, required=name in required, **{"nullable": False, **_MEMBERS[name]})
            for name in members
        )
    )


# What is sent where no grant is named.
LOGIN_INPUTS = _inputs_of_grant("username", "password")
_REFRESH = InputDefinition(name="refresh", max_length=8192, required=True)
REFRESH_INPUTS = token_inputs(_REFRESH, *_inputs_of_grant(members=_OF_REFRESHING).definitions)


def log_in_with(request: Request, sent: Mapping[str, Any]) -> TokenPair:
    """Return tokens for a user name and a password. Raises what `log_in` raises."""
    return issue(log_in(request, sent["username"], sent["password"]))


def renew(request: Request, token: str) -> TokenPair:
    """Return the pair that follows a refresh token. Raises what `rotate` raises."""
    return rotate(token, address=client_address(request._request))


def issue_to_client(request: Request, sent: Mapping[str, Any]) -> TokenPair:
    """Return an access token for a client that authenticates by an API key. Raises what `client_of`
    raises.
    """
    key = client_of(request._request, sent)
    return issue_access_token(subject_of(key))


_GRANTS: Mapping[str, tuple[Inputs, Grant]] = {
    "password": (LOGIN_INPUTS, log_in_with),
    "refresh_token": (
        _inputs_of_grant("refresh_token"),
        lambda request, sent: renew(request, sent["refresh_token"]),
    ),
    "client_credentials": (_inputs_of_grant(), issue_to_client),
}
GRANTS = frozenset(_GRANTS)


def _schema(inputs: Inputs, grants: Iterable[str]) -> dict[str, Any]:
    """Return the JSON Schema of the body. It does not say which members belong together."""
    schema = inputs.schema()
    del schema["required"]
    schema["properties"]["grant_type"] = {"type": "string", "enum": sorted(grants)}
    return schema


TOKEN_FORM = _schema(LOGIN_INPUTS, GRANTS)
REFRESH_FORM = _schema(REFRESH_INPUTS, ["refresh_token"])


def grant_tokens(request: Request, sent: Mapping[str, Any], allowed: frozenset[str] = GRANTS) -> TokenPair:
    """Return the tokens for the members `sent`, among them `grant_type`.

    Raises Problem 400 `unsupported_grant_type`, `invalid_input`, and what the grants raise.
    """
    grant_type = sent["grant_type"]
    if not isinstance(grant_type, str) or not grant_type:
        raise invalid_input([FieldError("required", "Name a grant.", pointer="/grant_type")])
    if grant_type not in allowed:
        choices = " or ".join(sorted(allowed))
        raise Problem(
            400, "unsupported_grant_type", f"The grant_type is none of this address. Use {choices}."
        )
    inputs, issue_tokens = _GRANTS[grant_type]
    # `_request` is Django's request, which REST framework wraps and has no public name for.
    return issue_tokens(request, read_known(request._request, inputs, sent))


def read_known(request: HttpRequest, inputs: Inputs, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of `inputs` in what was `sent`. Raises Problem 400.

    In a form, unknown members and empty ones are ignored (RFC 6749, 3.2). A JSON object is read strictly.
    """
    if is_form(request):
        names = {definition.name for definition in inputs.definitions}
        sent = {name: value for name, value in sent.items() if value and name in names}
    return inputs.read(sent)

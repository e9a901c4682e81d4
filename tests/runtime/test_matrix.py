"""Who may call what: every endpoint of the demo's configuration, by every kind of caller."""

from __future__ import annotations

from itertools import product

import pytest
from django.contrib.auth import get_user_model

from designer.definitions import EndpointDefinition
from designer.documents.document_reader import read
from designer.models import Endpoint, Role
from designer.names import USER_TYPE
from designer.platform import get_platform
from project.demo import CONFIGURATION
from runtime.models import ApiAccount
from tests.callers import PASSWORD, Caller, account
from tests.runtime.accounts import NOBODY

DOCUMENT = read(CONFIGURATION.read_bytes())
ENDPOINTS = {endpoint.key: endpoint for endpoint in DOCUMENT.endpoints}
ROLES = [role.name for role in DOCUMENT.roles]
# Nobody; an account of a user without roles; an account of a user with one. What customers may call:
# tests/runtime/test_portal_matrix.py.
CALLERS = ["anonymous", "none", *ROLES]


def _caller(who: str) -> Caller:
    if who == "anonymous":
        return Caller()
    user = get_user_model().objects.create_user(f"matrix-{who}", password=PASSWORD)
    made = ApiAccount.objects.create(user=user, record=get_platform().who())
    if who != "none":
        made.roles.add(Role.objects.get(name=who))
    return account(user.get_username())


def _refusal(endpoint: EndpointDefinition, who: str) -> int | None:
    """The status that guards the endpoint from the caller; None where they may call."""
    access = endpoint.access
    if not access.authentication_required:
        return None
    if who == "anonymous":
        return 401
    if USER_TYPE not in access.caller_types:
        return 403
    return 403 if access.roles and who not in access.roles else None


@pytest.mark.parametrize(("key", "who"), list(product(ENDPOINTS, CALLERS)))
def test_only_those_configured_may_call(portico: None, key: str, who: str) -> None:
    row = next(row for row in Endpoint.objects.filter(kind=ENDPOINTS[key].kind) if _key(row) == key)
    assert row.operation is not None
    caller, refusal = _caller(who), _refusal(ENDPOINTS[key], who)
    path = row.path.replace("{id}", NOBODY)
    for method in row.operation.methods:
        answer = caller.request(method, path, {} if method in {"POST", "PATCH", "PUT"} else None)
        if refusal is None:
            assert answer.status_code not in {401, 403}, answer.content
            assert answer.status_code < 500, answer.content
        else:
            assert answer.status_code == refusal, answer.content


def _key(row: Endpoint) -> str:
    module = row.module.segment if row.module else ""
    exposure = row.entity.segment if row.entity else ""
    parts = (module, exposure, row.segment, row.kind, row.name)
    return ".".join(part for part in parts if part)


def test_the_demo_is_what_the_matrix_is_made_from(portico: None) -> None:
    assert {_key(row) for row in Endpoint.objects.all()} == set(ENDPOINTS)
    assert len(ROLES) > 1

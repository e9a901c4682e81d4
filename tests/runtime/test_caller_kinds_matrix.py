"""Who may call what: every endpoint of the demo, by every kind of caller that there is, each with all roles.

What people of the demo may call, role by role: test_matrix.py and test_portal_matrix.py.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from pytest_django.fixtures import Settings

from crmbox.demo.people import CLARA_CUSTOMER, GONE_GREGOR, RITA_REP
from designer.definitions import EndpointDefinition
from designer.documents.document_reader import read
from designer.kinds import KINDS
from designer.models import Role
from designer.platform import get_platform
from project.demo import CONFIGURATION
from runtime.callers import tokens
from runtime.models import ApiAccount, ApiKey
from tests.callers import PASSWORD, Caller, account
from tests.runtime import forge
from tests.runtime.accounts import NOBODY
from tests.runtime.issuers import Provider, issuer_row

DOCUMENT = read(CONFIGURATION.read_bytes())
ROLES = [role.name for role in DOCUMENT.roles]
PAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
CALLS = {
    (
        method,
        KINDS[endpoint.kind]
        .path_of(module=endpoint.module, segment=endpoint.segment or endpoint.exposure, name=endpoint.name)
        .replace("{id}", NOBODY),
    ): endpoint
    for endpoint in DOCUMENT.endpoints
    for method in KINDS[endpoint.kind].methods
}


def local(**values: Any) -> Caller:
    """An API account."""
    user = get_user_model().objects.create_user("matrix", password=PASSWORD)
    made = ApiAccount.objects.create(user=user, **values)
    made.roles.set(Role.objects.all())
    return account("matrix")


def key(**values: Any) -> Caller:
    """An API key."""
    made = ApiKey(name="matrix", **values)
    sent = made.make()
    made.save()
    made.roles.set(Role.objects.all())
    return Caller(sent)


def foreign(provider: Provider, type: str, record: str, **changes: Any) -> Caller:
    """A token of another issuer, whose callers are found by their record's id."""
    values = {"caller_type": type, "record_claim": "crm", "roles": ROLES, **changes}
    issuer_row(provider, **values)
    return Caller(provider.token(crm=record))


def closed() -> Caller:
    caller = local(record=RITA_REP)
    get_user_model().objects.filter(username="matrix").update(is_active=False)
    tokens.forget()
    return caller


def gone_inactive() -> Caller:
    caller = local(caller_type_id="contact", record=CLARA_CUSTOMER)
    get_platform().update("contact", CLARA_CUSTOMER, {"statecode": 1})
    return caller


@dataclass(frozen=True)
class Kind:
    """How a caller is made, and what becomes of their calls: those of `type` may call what admits it, and
    `context` is the status of /api/context; or `refused`, status and code, is what everything answers.
    """

    make: Callable[[Provider], Caller]
    type: str = ""
    context: int = 200
    refused: tuple[int, str] | None = None


BAD_TOKEN, NO_RECORD, NO_USER = (401, "invalid_token"), (403, "no_record"), (403, "no_platform_user")
OFFICE = "192.0.2.0/24"
KINDS_OF_CALLERS = {
    "nobody": Kind(lambda provider: Caller(), context=401),
    "no token": Kind(lambda provider: Caller("a.b.c"), refused=BAD_TOKEN),
    "expired token": Kind(lambda provider: Caller(forge.signed(forge.claims(exp=1))), refused=BAD_TOKEN),
    "account of a user": Kind(lambda provider: local(record=RITA_REP), "user"),
    "account of no user": Kind(lambda provider: local(), "user", 403),
    "account of a disabled user": Kind(lambda provider: local(record=GONE_GREGOR), refused=NO_USER),
    "closed account": Kind(lambda provider: closed(), refused=BAD_TOKEN),
    "account of a contact": Kind(
        lambda provider: local(caller_type_id="contact", record=CLARA_CUSTOMER), "contact"
    ),
    "account of no contact": Kind(lambda provider: local(caller_type_id="contact"), "contact", 403),
    "account of an inactive contact": Kind(lambda provider: gone_inactive(), refused=NO_RECORD),
    "account of a contact that is gone": Kind(
        lambda provider: local(caller_type_id="contact", record=NOBODY), refused=NO_RECORD
    ),
    "account of a service": Kind(lambda provider: local(caller_type_id="service"), "service"),
    "key of a service": Kind(lambda provider: key(caller_type_id="service"), "service"),
    "key of a user": Kind(lambda provider: key(caller_type_id="user", record=RITA_REP), "user"),
    "key of a contact": Kind(
        lambda provider: key(caller_type_id="contact", record=CLARA_CUSTOMER), "contact"
    ),
    "revoked key": Kind(lambda provider: key(caller_type_id="service", active=False), refused=BAD_TOKEN),
    "expired key": Kind(lambda provider: key(caller_type_id="service", expires_at=PAST), refused=BAD_TOKEN),
    "key from elsewhere": Kind(
        lambda provider: key(caller_type_id="service", networks=OFFICE), refused=BAD_TOKEN
    ),
    "user of an issuer": Kind(lambda provider: foreign(provider, "user", RITA_REP), "user"),
    "contact of an issuer": Kind(lambda provider: foreign(provider, "contact", CLARA_CUSTOMER), "contact"),
    "service of an issuer": Kind(
        lambda provider: foreign(provider, "service", "", record_claim=""), "service"
    ),
    "contact of an issuer without a record": Kind(
        lambda provider: foreign(provider, "contact", NOBODY), refused=NO_RECORD
    ),
    "contact of an issuer that goes on without one": Kind(
        lambda provider: foreign(provider, "contact", NOBODY, record_missing="continue"), "contact", 403
    ),
    "user of an issuer without a record": Kind(
        lambda provider: foreign(provider, "user", NOBODY), refused=NO_USER
    ),
    "disabled user of an issuer": Kind(
        lambda provider: foreign(provider, "user", GONE_GREGOR), refused=NO_USER
    ),
    "unknown issuer": Kind(lambda provider: Caller(provider.token()), refused=BAD_TOKEN),
    "disabled issuer": Kind(
        lambda provider: foreign(provider, "user", RITA_REP, enabled=False), refused=BAD_TOKEN
    ),
}


@pytest.fixture
def provider(portico: None, settings: Settings) -> Iterator[Provider]:
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["127.0.0.1"]}
    tokens.forget()
    server = Provider()
    yield server
    server.stop()
    tokens.forget()


def refusal(endpoint: EndpointDefinition, kind: Kind) -> tuple[int, str] | None:
    """Status and code that guard the endpoint from callers with all roles; None where they may call."""
    if kind.refused is not None:
        return kind.refused
    access = endpoint.access
    if not access.authentication_required:
        return None
    if not kind.type:
        return 401, "authentication_required"
    return None if kind.type in access.caller_types else (403, "forbidden")


@pytest.mark.parametrize("name", KINDS_OF_CALLERS)
def test_each_kind_of_caller_gets_the_right_status_everywhere(provider: Provider, name: str) -> None:
    kind = KINDS_OF_CALLERS[name]
    caller = kind.make(provider)
    wrong = {}
    for (method, path), endpoint in CALLS.items():
        answer = caller.request(method, path, {} if method in {"POST", "PATCH", "PUT"} else None)
        code = answer.json()["code"] if answer.status_code >= 400 else ""
        expected = refusal(endpoint, kind)
        is_right = (
            answer.status_code not in {401, 403} and answer.status_code < 500
            if expected is None
            else (answer.status_code, code) == expected
        )
        if not is_right:
            wrong[method, path] = (answer.status_code, code)
    assert wrong == {}
    context = caller.get("/api/context")
    assert context.status_code == (kind.refused[0] if kind.refused else kind.context)


def test_the_kinds_are_of_every_caller_type() -> None:
    admitted = {type for endpoint in DOCUMENT.endpoints for type in endpoint.access.caller_types}
    assert admitted <= {kind.type for kind in KINDS_OF_CALLERS.values()}

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse

from bench.applications.counting import Counter
from bench.applications.plain.answers import Refusal, endpoint, json_answer
from bench.applications.plain.callers import Caller, caller_of
from bench.applications.plain.inputs import account_of
from bench.applications.problems import field_error
from bench.world import ROLES

ENGLISH = 1033
SALES = frozenset(ROLES)
OPTIONS = """
    SELECT COALESCE(asked.label, english.label), o.value FROM option o
    JOIN option_label english ON english.option_id = o.id AND english.lcid = 1033
    LEFT JOIN option_label asked ON asked.option_id = o.id AND asked.lcid = %s
    WHERE o.option_set = %s AND NOT o.hidden ORDER BY o.position
"""
INSERT_ACCOUNT = """
    INSERT INTO account (id, name, phone, revenue, industry, primary_contact_id, created_on, modified_on,
                         created_by_id, modified_by_id, owner_id, state, status, version)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 0, 1, 1)
"""
counter = Counter()
memory: dict[tuple[str, int], list[dict[str, Any]]] = {}


@endpoint("GET")
def option_set(request: HttpRequest, name: str) -> HttpResponse:
    """Reads the options and their labels from the database."""
    _count(request, caller_of(request))
    return json_answer(_options(name, _locale(request)))


@endpoint("GET")
def option_set_in_memory(request: HttpRequest, name: str) -> HttpResponse:
    """The same, read once: an option set that never changes."""
    _count(request, caller_of(request))
    lcid = _locale(request)
    options = memory.get((name, lcid))
    if options is None:
        options = memory[name, lcid] = _options(name, lcid)
    return json_answer(options)


@endpoint("POST")
def create_account(request: HttpRequest) -> HttpResponse:
    caller = seller(request)
    if request.content_type != "application/json":
        raise Refusal(415, "unsupported_media_type", "Send application/json.")
    account = account_of(request.body)
    key, now = uuid.uuid4(), datetime.now(UTC)
    adapt = connection.ops.adapt_datetimefield_value
    native = connection.features.has_native_uuid_field
    contact = account.primary_contact
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT_ACCOUNT,
            [
                key if native else key.hex,
                account.name,
                account.phone,
                account.revenue,
                account.industry,
                contact if native or contact is None else contact.hex,
                adapt(now),
                adapt(now),
                caller.account,
                caller.account,
                caller.account,
            ],
        )
    return json_answer({"id": str(key)})


def seller(request: HttpRequest) -> Caller:
    """The caller, who must hold a sales role."""
    caller = caller_of(request)
    if caller is None:
        raise Refusal(401, "not_authenticated", "A token is needed.")
    _count(request, caller)
    if not caller.roles & SALES:
        raise Refusal(403, "forbidden", "None of your roles allows this.")
    return caller


def _count(request: HttpRequest, caller: Caller | None) -> None:
    who = f"account {caller.account}" if caller else request.META["REMOTE_ADDR"]
    if not counter.allows(who):
        raise Refusal(429, "too_many_requests", "Slow down.")


def _locale(request: HttpRequest) -> int:
    parameters = {name.lower(): values for name, values in request.GET.lists()}
    values = parameters.pop("lcid", [str(ENGLISH)])
    if parameters or len(values) > 1 or not values[0].lstrip("-").isdecimal():
        wrong = field_error("lcid", "invalid", "Give only lcid, once, as a whole number.")
        raise Refusal(400, "invalid", "The parameters are not valid.", [wrong])
    return int(values[0])


def _options(name: str, lcid: int) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(OPTIONS, [lcid, name])
        return [{"name": label, "value": value} for label, value in cursor.fetchall()]

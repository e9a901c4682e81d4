"""One account at a time, all of them page by page, and the file of one: SQL by hand."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime
from typing import Any

import orjson
from django.core import signing
from django.db import connection
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from bench.applications.plain.answers import Refusal, endpoint
from bench.applications.plain.inputs import change_of
from bench.applications.plain.views import seller
from bench.applications.problems import field_error
from bench.applications.surroundings import MONEY_PLACES, MONEY_UNITS, WORLD
from bench.world import FILE_NAME

MOST = 500
READ = """
    SELECT a.id, a.name, a.phone, a.revenue, a.industry, a.created_on, a.version, c.id, c.full_name
    FROM account a LEFT JOIN contact c ON c.id = a.primary_contact_id WHERE a.id = %s
"""
LISTED = "SELECT id, name, phone, revenue, industry FROM account {} ORDER BY name, id LIMIT %s"
AFTER = "WHERE (name, id) > (%s, %s)"
COLUMNS = {
    "name": "name",
    "phone": "phone",
    "revenue": "revenue",
    "industry": "industry",
    "primaryContactId": "primary_contact_id",
}


@endpoint("GET", "PATCH")
def account_record(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    caller = seller(request)
    return _read(request, key) if request.method == "GET" else _change(request, key, caller.account)


@endpoint("GET")
def list_accounts(request: HttpRequest) -> HttpResponse:
    seller(request)
    given = _parameters(request, "pageSize", "cursor")
    size = given.get("pageSize", "50")
    if not size.isdecimal() or not 1 <= int(size) <= MOST:
        raise _wrong("pageSize", "Between 1 and 500.")
    count = int(size)
    after = _position(given["cursor"]) if "cursor" in given else []
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM account")
        total = cursor.fetchone()[0]
        cursor.execute(LISTED.format(AFTER if after else ""), [*after, count + 1])
        rows = cursor.fetchall()
    more = len(rows) > count
    data = [_listed(row) for row in rows[:count]]
    mark = signing.dumps([rows[count - 1][1], str(rows[count - 1][0])]) if more else None
    body = {
        "data": data,
        "count": len(data),
        "totalRecordCount": total,
        "hasMoreRecords": more,
        "cursor": mark,
    }
    headers = {"Link": f'<{request.path}?pageSize={count}&cursor={mark}>; rel="next"'} if more else {}
    return HttpResponse(orjson.dumps(body), content_type="application/json", headers=headers)


@endpoint("GET")
def contract(request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
    seller(request)
    if str(key) != WORLD.accounts[0].id:
        raise Refusal(404, "not_found", "There is no file.")
    return FileResponse(
        open(WORLD.document, "rb"),
        as_attachment=True,
        filename=FILE_NAME,
        headers={"ETag": f'"{key}"', "X-Content-Type-Options": "nosniff"},
    )


def _read(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    _parameters(request)
    with connection.cursor() as cursor:
        cursor.execute(READ, [_stored(key)])
        row = cursor.fetchone()
    if row is None:
        raise Refusal(404, "not_found", "There is no such account.")
    *listed, created, version, contact, contact_name = row
    answer = _listed(listed) | {
        "primaryContact": None if contact is None else {"id": _id(contact), "name": contact_name},
        "createdOn": _instant(created),
    }
    content = orjson.dumps(answer)
    tag = f'"{version}.{hashlib.sha256(content).hexdigest()[:20]}"'
    if request.headers.get("If-None-Match") == tag:
        return HttpResponse(status=304, headers={"ETag": tag})
    return HttpResponse(content, content_type="application/json", headers={"ETag": tag})


def _change(request: HttpRequest, key: uuid.UUID, account: int) -> HttpResponse:
    changes = change_of(request.body)
    adapt = connection.ops.adapt_datetimefield_value
    values: dict[str, Any] = {COLUMNS[name]: _stored(value) for name, value in changes.items()}
    values |= {"modified_on": adapt(datetime.now(UTC)), "modified_by_id": account}
    written = ", ".join(f"{column} = %s" for column in values)
    meant = request.headers.get("If-Match", "*").strip('"').partition(".")[0]
    condition, wanted = ("", []) if meant == "*" else (" AND version = %s", [meant])
    sql = f"UPDATE account SET {written}, version = version + 1 WHERE id = %s{condition} RETURNING version"
    with connection.cursor() as cursor:
        cursor.execute(sql, [*values.values(), _stored(key), *wanted])
        row = cursor.fetchone()
        if row is None:
            cursor.execute("SELECT 1 FROM account WHERE id = %s", [_stored(key)])
            if cursor.fetchone() is not None:
                raise Refusal(412, "version_mismatch", "The record has changed.")
            raise Refusal(404, "not_found", "There is no such account.")
    return HttpResponse(status=204, headers={"ETag": f'"{row[0]}"'})


def _listed(row: Any) -> dict[str, Any]:
    key, name, phone, revenue, industry = row
    return {"id": _id(key), "name": name, "phone": phone, "revenue": _money(revenue), "industry": industry}


def _money(units: int | None) -> orjson.Fragment | None:
    if units is None:
        return None
    whole, part = divmod(units, MONEY_UNITS)
    return orjson.Fragment(f"{whole}.{part:0{MONEY_PLACES}d}".encode())


def _id(stored: Any) -> str:
    return str(stored) if isinstance(stored, uuid.UUID) else str(uuid.UUID(stored))


def _stored(value: Any) -> Any:
    """A GUID as the database has it; anything else as it is."""
    if isinstance(value, uuid.UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    return value


def _instant(stored: Any) -> str:
    instant = stored if isinstance(stored, datetime) else datetime.fromisoformat(stored)
    return instant.replace(tzinfo=UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _position(mark: str) -> list[Any]:
    try:
        name, key = signing.loads(mark, max_age=86_400)
    except signing.BadSignature as error:
        raise _wrong("cursor", "This cursor is not valid.") from error
    return [name, _stored(uuid.UUID(hex=str(key).replace("-", "")))]


def _parameters(request: HttpRequest, *known: str) -> dict[str, str]:
    values = {name: given[-1] for name, given in request.GET.lists()}
    if unknown := sorted(values.keys() - set(known)):
        raise _wrong(unknown[0], "There is no such parameter.")
    return values


def _wrong(parameter: str, message: str) -> Refusal:
    wrong = field_error(parameter, "invalid", message)
    return Refusal(400, "invalid", "The parameters are not valid.", [wrong])

"""Notices of the dashboard about API accounts and API keys: keys that expire, and callers without a
record.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import CharField, DateTimeField, F, Q, QuerySet, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from designer.studio.navigation.notices import Notice, announce
from designer.studio.navigation.request_overview import overview_for
from runtime.callers.api_accounts import ApiAccount
from runtime.callers.keys.api_key import ApiKey
from runtime.callers.recordless_callers import types_with_records

# How long before a key expires the dashboard says so.
_ANNOUNCED = dt.timedelta(days=14)
# The most names in one sentence.
_MOST_NAMED = 5
_KEY, _ACCOUNT = "apikey", "apiaccount"


class _Row(NamedTuple):
    """An account or a key.

    `model` is `apikey` or `apiaccount`, `type` the caller type. `lacks`: it has no record, although its type
    has records. `ends` is when a key expires; None for never, and for accounts.
    """

    model: str
    type: str
    name: str
    id: int
    lacks: bool
    ends: dt.datetime | None


@announce
def _notices_of_callers(request: HttpRequest) -> Iterator[Notice]:
    """Yield the notices about accounts and keys that the user may see.

    Everything is read by one query, because the dashboard runs it each time.
    """
    now = timezone.now()
    types = types_with_records(overview_for(request).configuration)
    querysets = [
        rows
        for model, rows in ((_KEY, _keys(now, types)), (_ACCOUNT, _accounts(types)))
        if request.user.has_perm(f"runtime.view_{model}")
    ]
    if not querysets:
        return
    first, *other_querysets = querysets
    rows = [
        _Row(model=model, type=type, name=name, id=id, lacks=type in types and record is None, ends=ends)
        for model, type, name, id, record, ends in first.union(*other_querysets, all=True)
    ]
    yield from _expiring(rows, now)
    lacking = sorted(row for row in rows if row.lacks)
    for (model, type), group in groupby(lacking, key=lambda row: (row.model, row.type)):
        yield _without_record(model, type, list(group))


def _keys(now: dt.datetime, types: Sequence[str]) -> QuerySet[Any, Any]:
    """Return the active keys that expire soon or lack a record, as rows of the same columns as `_accounts`:
    the database joins both by UNION.
    """
    soon = Q(expires_at__gt=now, expires_at__lte=now + _ANNOUNCED)
    keys = ApiKey.objects.filter(soon | _lacking(types), active=True).order_by()
    # `of` is the caller type and `called` the name: an annotation cannot have the name of a field.
    return keys.annotate(
        model=Value(_KEY, CharField()), of=F("caller_type"), called=F("name"), ends=F("expires_at")
    ).values_list("model", "of", "called", "pk", "record", "ends")


def _accounts(types: Sequence[str]) -> QuerySet[Any, Any]:
    """Return the active accounts that lack a record, as rows of the same columns as `_keys`."""
    return (
        ApiAccount.objects.filter(_lacking(types), user__is_active=True)
        .order_by()
        .annotate(
            model=Value(_ACCOUNT, CharField()),
            of=F("caller_type"),
            called=F("user__username"),
            ends=Value(None, DateTimeField(null=True)),
        )
        .values_list("model", "of", "called", "pk", "record", "ends")
    )


def _lacking(types: Sequence[str]) -> Q:
    """Return the filter for rows without a record whose caller type is one of `types`, which have records."""
    return Q(record=None, caller_type__in=types)


def _expiring(rows: Sequence[_Row], now: dt.datetime) -> Iterator[Notice]:
    """Yield a notice for each key that expires soon, the next one first."""
    sentence = _("The API key %(name)s expires on %(day)s. Make a new one, and give it to the machine.")
    ending = [(row.ends, row) for row in rows if row.ends is not None and now < row.ends <= now + _ANNOUNCED]
    for end, row in sorted(ending):
        link = reverse("admin:runtime_apikey_change", args=[row.id])
        yield Notice(sentence % {"name": row.name, "day": f"{end:%Y-%m-%d}"}, link)


def _without_record(model: str, type: str, rows: Sequence[_Row]) -> Notice:
    """Return the notice about API accounts or keys (`model`) of one caller type that have no record."""
    count = len(rows)
    if model == _KEY:
        sentence = ngettext(
            "The API key %(names)s of the type “%(type)s” has no record: it finds no records of its own.",
            "%(count)s API keys of the type “%(type)s” have no record: they find no records of their own "
            "(%(names)s).",
            count,
        )
    else:
        sentence = ngettext(
            "The API account %(names)s of the type “%(type)s” has no record: it finds no records of its own.",
            "%(count)s API accounts of the type “%(type)s” have no record: they find no records of their own "
            "(%(names)s).",
            count,
        )
    names = ", ".join(row.name for row in rows[:_MOST_NAMED]) + (" …" if count > _MOST_NAMED else "")
    link = reverse(f"admin:runtime_{model}_change", args=[rows[0].id])
    if count > 1:
        query = urlencode({"caller_type__exact": type, "record__isnull": "True"})
        link = f"{reverse(f'admin:runtime_{model}_changelist')}?{query}"
    return Notice(sentence % {"names": names, "count": count, "type": type}, link)

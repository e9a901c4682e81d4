"""A call for real is made once, whatever the browser sends again; its answer is a page of its own."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.http import HttpRequest, QueryDict

from designer.models import Endpoint, TriedCall
from designer.ports import Outcome, PlatformCall, Step

# The field of the form that holds its token.
TOKEN = "_call"  # noqa: S105  the name of a field
# Answers may hold records: they are kept no longer than somebody looks at them.
KEPT = dt.timedelta(hours=1)

_signer = signing.TimestampSigner(salt="designer.tried-calls")


@dataclass(frozen=True, slots=True)
class Sent:
    """What a form was sent with, apart from its tokens."""

    text: str
    files: str

    @classmethod
    def of(cls, request: HttpRequest) -> Sent:
        values = request.POST.copy()
        for name in (TOKEN, "csrfmiddlewaretoken"):
            values.pop(name, None)
        files = (
            f"{field}: {file.name}, {file.size}" for field, sent in request.FILES.lists() for file in sent
        )
        return cls(values.urlencode(), "\n".join(files))


def new_token() -> str:
    """The token of a form: good for one call, and no longer than calls are kept to compare it with."""
    return _signer.sign(uuid.uuid4().hex)


def token_of(values: Mapping[str, Any]) -> uuid.UUID | None:
    """The token that a form was sent with; None for none, or one that is too old."""
    try:
        return uuid.UUID(_signer.unsign(str(values.get(TOKEN, "")), max_age=KEPT))
    except signing.BadSignature:
        return None


def asked_for(request: HttpRequest, row: Endpoint) -> TriedCall:
    """The call whose answer the address of `request` asks for. Raises ValueError for one that is not kept."""
    call = find(request, row, uuid.UUID(request.GET[TOKEN]))
    if call is None:
        raise ValueError(TOKEN)
    return call


def place_of(token: uuid.UUID) -> str:
    """The query of the address of a call's answer."""
    return urlencode({TOKEN: token.hex})


def claim(request: HttpRequest, row: Endpoint, token: uuid.UUID) -> TriedCall | None:
    """The call to be made, which no other request makes; None where one has claimed the token before."""
    sent = Sent.of(request)
    TriedCall.objects.filter(made_at__lt=dt.datetime.now(dt.UTC) - KEPT).delete()
    try:
        # In a block of its own: a refused row must not take the request's transaction with it.
        with transaction.atomic():
            return TriedCall.objects.create(
                token=token,
                account=request.user.get_username(),
                endpoint=row.pk,
                sent=sent.text,
                files=sent.files,
            )
    except IntegrityError:
        return None


def find(request: HttpRequest, row: Endpoint, token: uuid.UUID) -> TriedCall | None:
    """The call that the account of `request` has made of `row` with that token, while its answer is kept."""
    own = TriedCall.objects.filter(account=request.user.get_username(), endpoint=row.pk)
    return own.filter(pk=token, made_at__gte=dt.datetime.now(dt.UTC) - KEPT).first()


def is_same(call: TriedCall, request: HttpRequest) -> bool:
    """Whether `request` sends what the call was made with."""
    return Sent.of(request) == Sent(call.sent, call.files)


def finish(call: TriedCall, outcome: Outcome) -> None:
    call.outcome = asdict(outcome)
    call.save(update_fields=["outcome"])


def outcome_of(call: TriedCall) -> Outcome | None:
    """None while the call is under way, or where its process ended before it did."""
    stored = call.outcome
    if stored is None:
        return None
    steps = tuple(Step(**step) for step in stored["steps"])
    calls = tuple(PlatformCall(**asked) for asked in stored["calls"])
    return Outcome(**{**stored, "steps": steps, "calls": calls})


def is_lost(call: TriedCall) -> bool:
    """Whether a call without an outcome can have none any more."""
    longest = dt.timedelta(seconds=2 * settings.PORTICO["REQUEST_DEADLINE"])
    return call.outcome is None and call.made_at < dt.datetime.now(dt.UTC) - longest


def values_of(call: TriedCall) -> QueryDict:
    return QueryDict(call.sent)

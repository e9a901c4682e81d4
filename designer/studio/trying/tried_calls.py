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

# The field of the form that holds its token, and the parameter of an address that names a call by its token.
TOKEN = "_call"  # noqa: S105  the name of a field
# Answers may hold records: they are kept no longer than somebody looks at them.
KEPT_FOR = dt.timedelta(hours=1)

_signer = signing.TimestampSigner(salt="designer.tried-calls")


@dataclass(frozen=True, slots=True)
class SentForm:
    """The fields and files that a form was sent with, without its tokens.

    `text` is a query string. `files` has the field, name and size of each file, one to a line: the files
    themselves are not stored.
    """

    text: str
    files: str

    @classmethod
    def of(cls, request: HttpRequest) -> SentForm:
        """Return what `request` has sent."""
        values = request.POST.copy()
        for name in (TOKEN, "csrfmiddlewaretoken"):
            values.pop(name, None)
        described_files = (
            f"{field}: {file.name}, {file.size}" for field, files in request.FILES.lists() for file in files
        )
        return cls(values.urlencode(), "\n".join(described_files))


def new_token() -> str:
    """Return a token for a form. It is valid for one call, and for as long as calls are kept."""
    return _signer.sign(uuid.uuid4().hex)


def token_of(values: Mapping[str, Any]) -> uuid.UUID | None:
    """Return the token that a form was sent with; None without one, and for one that is wrong or too old."""
    try:
        return uuid.UUID(_signer.unsign(str(values.get(TOKEN, "")), max_age=KEPT_FOR))
    except signing.BadSignature:
        return None


def call_in_address(request: HttpRequest, row: Endpoint) -> TriedCall:
    """Return the call that the address of `request` names.

    Raises ValueError when it is not kept any more, or the token is malformed.
    """
    call = find(request, row, uuid.UUID(request.GET[TOKEN]))
    if call is None:
        raise ValueError(TOKEN)
    return call


def query_string_of(token: uuid.UUID) -> str:
    """Return the query string of the page that shows the answer to a call."""
    return urlencode({TOKEN: token.hex})


def claim(request: HttpRequest, row: Endpoint, token: uuid.UUID) -> TriedCall | None:
    """Store the call that this request is about to make, so that no other request makes it.

    Return None when another request has claimed the token before. Calls that are no longer kept are removed.
    """
    sent = SentForm.of(request)
    TriedCall.objects.filter(made_at__lt=dt.datetime.now(dt.UTC) - KEPT_FOR).delete()
    try:
        # A nested transaction: a refused row must not roll back the transaction of the request.
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
    """Return the call that the user made of the endpoint `row` with `token`; None when it is not kept
    any more.
    """
    calls = TriedCall.objects.filter(account=request.user.get_username(), endpoint=row.pk)
    return calls.filter(pk=token, made_at__gte=dt.datetime.now(dt.UTC) - KEPT_FOR).first()


def has_same_form(call: TriedCall, request: HttpRequest) -> bool:
    """Whether `request` has the same fields and files as the call."""
    return SentForm.of(request) == SentForm(call.sent, call.files)


def finish(call: TriedCall, outcome: Outcome) -> None:
    """Store the outcome of a claimed call."""
    call.outcome = asdict(outcome)
    call.save(update_fields=["outcome"])


def outcome_of(call: TriedCall) -> Outcome | None:
    """Return the outcome; None while the call runs, and when its process ended before the call did."""
    stored = call.outcome
    if stored is None:
        return None
    steps = tuple(Step(**step) for step in stored["steps"])
    calls = tuple(PlatformCall(**stored_call) for stored_call in stored["calls"])
    return Outcome(**{**stored, "steps": steps, "calls": calls})


def is_lost(call: TriedCall) -> bool:
    """Whether a call without an outcome has run for so long that it can no longer get one."""
    # A call ends at the deadline of requests; the double leaves time to store its outcome.
    longest = dt.timedelta(seconds=2 * settings.PORTICO["REQUEST_DEADLINE"])
    return call.outcome is None and call.made_at < dt.datetime.now(dt.UTC) - longest


def values_of(call: TriedCall) -> QueryDict:
    """Return the fields that the form of the call was sent with, without its files."""
    return QueryDict(call.sent)

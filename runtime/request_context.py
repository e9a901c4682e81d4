"""The context of one request, as operations see it."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import cached_property

from crmclient import Call, Guid, Reference, Share, Value, parse_guid
from crmclient.metadata import ENGLISH, UserReports
from crmclient.watchdog import Watch
from designer.platform import get_platform
from runtime.callers.caller import ANONYMOUS, Caller
from runtime.callers.recognition import Recognition
from runtime.callers.refusals import authentication_required
from runtime.http.problems import Problem

_READING = frozenset({"GET", "HEAD"})
# The position of a record's id in `/api/{module}/{segment}/{id}`, split at its slashes; the first part is
# empty.
_RECORD = 4


class UserProperties(Protocol):
    """The configured properties of callers. `runtime.context` implements this, on a higher floor.

    Each method that takes a `call` raises Problem 401, 403 `no_platform_user` or `no_record`.
    """

    def answer(self, caller: Caller, call: Call) -> Mapping[str, Any]:
        """Return the body of `GET /api/context`. Raises also Misconfigured."""

    def values(self, caller: Caller, call: Call) -> Mapping[str, Any]:
        """Return the properties by name."""

    def last_known(self, caller: Caller) -> Mapping[str, Any] | None:
        """Return the properties as they were known last; None where they are not. Raises nothing."""

    def references(self, caller: Caller, call: Call) -> Mapping[str, Reference]:
        """Return the properties that name a record, by name."""

    def reference(self, caller: Caller) -> Reference:
        """Return a reference to the caller's own record. Raises Misconfigured without one."""


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A whole file as it was sent. `size` is in bytes. `digest` differs for another name, type or content."""

    name: str
    content_type: str
    size: int
    digest: str
    content: BinaryIO

    def close(self) -> None:
        self.content.close()


def _no_route(path: str) -> bool:
    return False


@dataclass
class Exchange:
    """The request with what has been found out of it; `now` and `deadline` are fixed when it begins."""

    request: HttpRequest
    user_context: UserProperties
    # Whether something can be read at a path.
    is_readable: Callable[[str], bool] = _no_route
    # What stands in the path for the record: its id, or the value of its key.
    record: str = ""
    # What stands in the path for the id of one of the record's files.
    file: str = ""
    # What stands in the path for the id of a record that the first is related to.
    related: str = ""
    # What tokens are read by; None: by the configuration as it is now.
    recognition: Recognition | None = None
    # The file in the body, once it has been read.
    received: ReceivedFile | None = None
    # What calls of the platform are counted under: the endpoint's key.
    spender: str = ""
    # Set by an Idempotency-Key: the id for a created record.
    chosen_id: Guid | None = None
    # Whether an earlier try may have made the record already.
    taken_over: bool = False
    # The language of what the configuration says to the caller.
    lcid: int = ENGLISH
    # What the caller sent, by input; an input that was not sent is None.
    inputs: Mapping[str, Value] = field(default_factory=dict)
    # What data fetchers have read, by fetcher and column.
    fetched: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    # What has been read of the path's record, by attribute.
    record_values: Mapping[str, Value] = field(default_factory=dict)
    # Calculated columns that had no value for a row of the answer: each is logged once.
    without_value: set[str] = field(default_factory=set)
    caller: Caller = ANONYMOUS
    now: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
    # A second of time.monotonic(). Without one it is the watch's, or that of a request which begins now.
    deadline: float = 0.0
    # The write generations when the request began, as read from the database; None where answers are not
    # cached.
    write_generations: str | None = None
    # What callers who share this answer have in common; None where answers are not cached.
    shared_by: str | None = None
    # Whether nobody waits for the answer: a cached answer is being refreshed before its time is over.
    in_background: bool = False
    # What ends statements of the service's database at the deadline, where the request is watched.
    watch: Watch | None = None

    def __post_init__(self) -> None:
        """Set the deadline: the watch's, the given one, or that of a request which begins now."""
        if self.watch is not None:
            self.deadline = self.watch.deadline
        elif not self.deadline:
            self.deadline = time.monotonic() + settings.PORTICO["REQUEST_DEADLINE"]

    @cached_property
    def record_id(self) -> Guid:
        """The id of the path's record.

        Raises Problem 400 for a wrong id, not before the id is read: token and roles are checked first.
        """
        return _guid_in_path(self.record)

    def check_record_id(self) -> None:
        """Raise Problem 400 if the id of the path's record is wrong, before anything else is done."""
        # The property keeps the id, which is then not read from the path again.
        _ = self.record_id

    @cached_property
    def file_id(self) -> Guid:
        """The id of the path's file. Raises Problem 400 for a wrong id."""
        return _guid_in_path(self.file)

    @cached_property
    def related_id(self) -> Guid:
        """The id of the path's related record. Raises Problem 400 for a wrong id."""
        return _guid_in_path(self.related)

    @property
    def seconds_left(self) -> float:
        """The seconds until the deadline; negative after it."""
        return self.deadline - time.monotonic()

    @contextmanager
    def transfer(self) -> Iterator[None]:
        """Move the deadline by the time that this block takes.

        The block receives a body, and its duration depends on the sender.
        """
        began = time.monotonic()
        yield
        self.deadline += time.monotonic() - began
        if self.watch is not None:
            self.watch.deadline = self.deadline

    def record_path(self, record: Guid) -> str | None:
        """Return the path at which a record of the exposed entity is read; None when no endpoint reads
        it there.
        """
        # Up to the entity's segment: the request may be about another record, or about something below one.
        collection = "/".join(self.request.path_info.split("/")[:_RECORD])
        path = f"{collection}/{record}"
        if not self.is_readable(path):
            return None
        # What precedes `path_info` is the prefix under which a WSGI server mounts the service. Its own server
        # uses none.
        return self.request.path.removesuffix(self.request.path_info) + path

    @property
    def call(self) -> Call:
        """How to make the next call of the platform: deadline, share of the budget and, with impersonation,
        the user to act as.
        """
        env = settings.PORTICO
        acting = self.caller.platform_user if env["CRM_IMPERSONATE"] else None
        # Not cached: the time for one call begins when it is made.
        ends = min(self.deadline, time.monotonic() + env["PLATFORM_TIMEOUT"])
        return Call(caller=acting, deadline=ends, share=self._share, spender=self.spender)

    @property
    def _share(self) -> Share:
        """The part of the platform's budget that the request may use."""
        if self.in_background:
            return Share.BACKGROUND
        if self.caller.is_anonymous:
            return Share.ANONYMOUS
        return Share.READS if self.request.method in _READING else Share.WRITES

    @property
    def identified_caller(self) -> Caller:
        """The caller. Raises Problem 401 for an anonymous caller."""
        if self.caller.is_anonymous:
            raise authentication_required()
        return self.caller

    @cached_property
    def reports(self) -> UserReports:
        """The users who report to the caller's platform user. Empty for a caller without a platform user."""
        profile = self.caller.profile
        return UserReports() if profile is None else get_platform().reports(profile.id, call=self.call)

    @cached_property
    def user(self) -> Mapping[str, Any]:
        """The caller's user properties by name. Raises Problem 401, 403 `no_platform_user` or `no_record`."""
        return self.user_context.values(self.caller, self.call)

    @cached_property
    def user_references(self) -> Mapping[str, Reference]:
        """The user properties that name a record, by name. Raises what `user` raises."""
        return self.user_context.references(self.caller, self.call)


def _guid_in_path(text: str) -> Guid:
    """Return the id in the path in canonical form. Raises Problem 400 for anything but a GUID."""
    try:
        return parse_guid(text)
    except ValueError:
        raise Problem(400, "invalid_id", "The id in the path is not a GUID.") from None

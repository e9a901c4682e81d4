"""Delta links: what of an entity set has changed since an answer that was asked for with
`Prefer: odata.track-changes`.

A link's token is the row version that the answer goes up to, and when that was. The pages of an answer have
it in their cookies, so that what changes while a client turns them is told the next time.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final, NamedTuple

from crmbox.engine.connection import read_unit
from crmbox.records import deletions
from crmbox.webapi.errors import WebApiError, bad_url
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata.options import Options
from crmbox.webapi.odata.page_links import TRACKING, Cookie, cookie_text, page_size, read_cookie, request_link
from crmbox.webapi.odata.record_reader import VERSION, RecordReader
from crmbox.webapi.odata.rows import collection_response
from crmbox.webapi.rendering import context
from crmbox.webapi.request import Request, Response
from crmclient.query.ast import Condition, Filter, Operator, Page
from crmclient.values import Guid

_TIME: Final = "%m/%d/%Y %H:%M:%S"
_BETWEEN: Final = "~"
"""Stands in a cookie between the mark of the answer and the platform's token of the page."""
_EXPIRED: Final = "0x80044352"


class _DeltaMark(NamedTuple):
    """The version up to which changes have been answered, and the time of that."""

    version: int
    at: dt.datetime

    @property
    def text(self) -> str:
        """The mark as a delta token has it."""
        return f"{self.version}!{self.at.strftime(_TIME)}"


def is_asked_for(request: Request, options: Options) -> bool:
    """Whether a request asks for a delta link, or follows one or a page that leads to one."""
    # A link to a next page is followed as it is, without the preference.
    is_next = options.skiptoken is not None and TRACKING in options.skiptoken
    return request.prefer.tracks_changes or options.deltatoken is not None or is_next


def answer(request: Request, type_: EntityType, options: Options) -> Response:
    """Answer with a page of all records or, with a delta token, of those that have changed since.

    The last page has a delta link. Raises WebApiError.
    """
    _check(type_, options)
    since = None if options.deltatoken is None else _read_mark(options.deltatoken)
    cookie = None if options.skiptoken is None else read_cookie(options.skiptoken)
    until, token = _mark_of_new_answer() if cookie is None else _mark_of_page(cookie)
    page = RecordReader(request).rows(
        type_,
        Options(select=options.select),
        within=() if since is None else (_changed_since(since),),
        page=Page(page_size(request), token),
    )
    content: dict[str, Any] = {
        "@odata.context": context(request.base, type_, options.select) + ("" if since is None else "/$delta"),
        "value": [row.content for row in page.rows],
    }
    if page.next is not None and page.rows:
        number = (1 if cookie is None else cookie.page) + 1
        following = Cookie(number, f"{until.text}{_BETWEEN}{page.next}")
        text = cookie_text(
            following, type_.entity.primary_id, page.rows[0].id, page.rows[-1].id, is_tracking=True
        )
        content["@odata.nextLink"] = request_link(request, "$skiptoken", text)
    else:
        content["value"] += [_deleted_item(request, type_, id) for id in _deleted_ids(type_, since)]
        content["@odata.deltaLink"] = request_link(request, "$deltatoken", until.text, without="$skiptoken")
    return collection_response(request, content, tracked=True)


def number_of_changes(request: Request, type_: EntityType, options: Options) -> int:
    """Return how many records have changed since the options' delta token, deleted ones included."""
    _check(type_, options)
    since = _read_mark(options.deltatoken or "")
    changed = RecordReader(request).count(type_, Options(), (_changed_since(since),), ())
    return changed + len(_deleted_ids(type_, since))


def _check(type_: EntityType, options: Options) -> None:
    """Raise WebApiError if changes of the entity are not tracked, or for options beside `$select`."""
    if not type_.entity.tracks_changes:
        raise bad_url(f"Change tracking is not enabled for the entity {type_.name}.")
    if options.filter or options.orderby or options.expand or options.top is not None or options.count:
        raise bad_url("$filter, $orderby, $expand, $top and $count cannot be combined with change tracking.")


def _mark_of_new_answer() -> tuple[_DeltaMark, None]:
    """Return the mark of an answer that begins, and the token of its first page: none."""
    # Read before the records: what is written in between is told twice rather than never.
    with read_unit() as unit:
        return _DeltaMark(deletions.current_version(unit), dt.datetime.now(dt.UTC)), None


def _mark_of_page(cookie: Cookie) -> tuple[_DeltaMark, str]:
    """Return the mark of the answer that a page belongs to, and the token of that page."""
    mark, _, token = cookie.token.partition(_BETWEEN)
    return _read_mark(mark), token


def _read_mark(text: str) -> _DeltaMark:
    """Read a delta token. Raises WebApiError for a malformed token, and for one that is too old."""
    version, _, time = text.partition("!")
    try:
        mark = _DeltaMark(int(version), dt.datetime.strptime(time, _TIME).replace(tzinfo=dt.UTC))
    except ValueError:
        raise bad_url("The delta token is malformed.") from None
    if dt.datetime.now(dt.UTC) - mark.at > deletions.KEPT:
        raise WebApiError(400, _EXPIRED, "The delta token has expired. Ask for all records again.")
    return mark


def _changed_since(since: _DeltaMark) -> Filter:
    """Return the filter for records that have been written after the mark."""
    return Filter((Condition(VERSION, Operator.GT, (since.version,)),))


def _deleted_ids(type_: EntityType, since: _DeltaMark | None) -> list[Guid]:
    """Return the ids of the records deleted since the mark; none without a mark."""
    if since is None:
        return []
    with read_unit() as unit:
        return deletions.deleted_since(unit, type_.name, since.version)


def _deleted_item(request: Request, type_: EntityType, id: Guid) -> dict[str, Any]:
    """Return what a delta answer says of a deleted record."""
    place = f"{request.base}$metadata#{type_.entity.entity_set}/$deletedEntity"
    return {"@odata.context": place, "id": id, "reason": "deleted"}

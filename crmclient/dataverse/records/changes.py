"""Asks whether records of an entity have changed, by Dataverse's delta links. Only their token is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.errors import InvalidQuery, UnexpectedAnswer
from crmclient.metadata import Entity
from crmclient.optional_abilities import RecordChanges
from crmclient.platform import Call
from crmclient.sentences import Sentence

MOST_PAGES: Final = 20
"""Pages of 5,000 records. The first delta link comes after all of them: of more records it costs too much."""

_TRACKED: Final = "odata.track-changes,odata.maxpagesize=5000"
_NEXT, _DELTA = "@odata.nextLink", "@odata.deltaLink"


class Changes:
    """Asks for changes of records. Raises what `TracksChanges.record_changes` raises."""

    def __init__(self, api: Api, catalogue: Catalogue) -> None:
        self._api = api
        self._catalogue = catalogue

    def since(self, name: str, mark: str | None, call: Call) -> RecordChanges | None:
        """Return whether records of the entity `name` have changed since `mark`, as
        `TracksChanges.record_changes` does. A mark is the token of a delta link.
        """
        entity = self._catalogue.entity(name)
        if not entity.tracks_changes:
            raise InvalidQuery(f"The platform does not track changes of {name}.")
        if mark is None:
            return self._walk_pages(entity, None, call)
        try:
            return self._walk_pages(entity, mark, call)
        except InvalidQuery:
            # The platform does not know the mark any more.
            return None

    def _walk_pages(self, entity: Entity, mark: str | None, call: Call) -> RecordChanges | None:
        """Read all pages of changes since `mark`; None if there are more than MOST_PAGES.

        The last page has the link for the next question, which has the next mark.
        """
        since: Mapping[str, str] = {} if mark is None else {"$deltatoken": mark}
        page: Mapping[str, str] = {}
        has_changes = False
        for _ in range(MOST_PAGES):
            answer = self._page(entity, {**since, **page}, call)
            # Without a mark every record is listed, whether it has changed or not.
            has_changes |= mark is not None and bool(answer.get("value"))
            if (link := answer.get(_DELTA)) is not None:
                return RecordChanges(_option(link, "$deltatoken"), has_changes)
            page = {"$skiptoken": _option(answer.get(_NEXT), "$skiptoken")}
        return None

    def _page(self, entity: Entity, options: Mapping[str, str], call: Call) -> Mapping[str, Any]:
        """Return the answer with one page of changed records, of which only the ids are asked for."""
        path = paths.with_query(entity.entity_set, {"$select": entity.primary_id, **options})
        subject = Subject(Kind.QUERY, entity.logical_name)
        return self._api.get(path, subject, call, prefer=_TRACKED)


def _option(link: object, name: str) -> str:
    """Return an option in a link's query string.

    The link itself is not followed: its address may be another one than that of the organisation.
    """
    values = parse_qs(urlsplit(link).query).get(name) if isinstance(link, str) else None
    if not values:
        raise UnexpectedAnswer(Sentence("The platform tells no delta link."))
    return values[0]

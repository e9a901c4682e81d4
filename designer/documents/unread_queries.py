"""The queries and filters of a document that cannot be read whole: names in the rest of them are checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pydantic_core import ErrorDetails

from crmclient.query.designed import DesignedFilter, DesignedQuery
from crmclient.query.fetchxml import read
from crmclient.query.fetchxml_checks import problems_in_filter, problems_in_query
from crmclient.query.problems import Problem, QueryProblems
from designer.calendar import calendar
from designer.documents.keys import ENDPOINTS, Location
from designer.queries.stored_queries import UnreadableFetchXml
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.sentences import at_place


class UnreadQuery(NamedTuple):
    """What could be read of a query, or of a filter on `entity`, which is at `place` in a document."""

    place: str
    rest: DesignedQuery | DesignedFilter
    entity: str

    def unknown_names(self, metadata: Metadata) -> Iterator[str]:
        """Yield a sentence for each thing that is wrong with the rest by the metadata, such as a name that
        they do not have; none while the platform does not give its metadata.
        """
        try:
            problems = self._problems(metadata)
        except MetadataUnavailable:
            return
        for problem in problems:
            yield at_place(self.place, problem.sentence)

    def _problems(self, metadata: Metadata) -> Sequence[Problem]:
        if isinstance(self.rest, DesignedQuery):
            return problems_in_query(self.rest, metadata.known_attributes, calendar())
        return problems_in_filter(self.rest, self.entity, metadata.known_attributes, calendar())


def unread_queries(
    data: dict[str, Any], problems: Iterable[ErrorDetails]
) -> Iterator[tuple[Location, DesignedQuery | DesignedFilter, str]]:
    """Yield the location of each query and filter among the problems of the document `data`, what could be
    read of it, and the entity of a filter.

    Those of drafts are left out, as drafts may name anything.
    """
    for problem in problems:
        error = problem.get("ctx", {}).get("error")
        if not isinstance(error, UnreadableFetchXml) or error.rest is None:
            continue
        match problem["loc"]:
            case (str(field), int(at), *_) if field != ENDPOINTS or data[field][at].get("enabled", True):
                entity = _entity_of_filter(data, field, data[field][at])
                if entity or isinstance(error.rest, DesignedQuery):
                    yield problem["loc"], error.rest, entity


def _entity_of_filter(data: dict[str, Any], field: str, item: dict[str, Any]) -> str:
    """Return the entity that the row rule of an item of the list `field` is about; empty for none."""
    if field != ENDPOINTS:
        return str(item.get("entity", ""))
    settings = item.get("settings")
    query = settings.get("query") if isinstance(settings, dict) else None
    if isinstance(query, str) and query.strip():
        return _entity_of_query(query)
    place = item.get("module"), item.get("exposure")
    return next(
        (
            str(exposed.get("entity", ""))
            for exposed in data.get("entities", ())
            if isinstance(exposed, dict) and (exposed.get("module"), exposed.get("segment")) == place
        ),
        "",
    )


def _entity_of_query(text: str) -> str:
    """Return the entity of a query; empty where the text does not say it."""
    try:
        return read(text)[0].entity
    except QueryProblems:
        return ""

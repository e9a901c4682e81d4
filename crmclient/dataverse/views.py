"""Views of an entity: those of the organisation (savedquery), and those of users (userquery)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.subjects import Kind, Subject
from crmclient.errors import AccessDenied, MissingPrivilege, UnexpectedAnswer
from crmclient.platform import SERVICE_CALL, SavedView

# Views that list records; others serve quick find, lookups and associated records.
_LISTS: Final = "querytype eq 0 and fetchxml ne null"


def saved_views(api: Api, entity: str) -> Iterator[SavedView]:
    """Those that the service's own account may read, by their names; none of a kind that it may not read."""
    quoted = "'" + entity.replace("'", "''") + "'"
    for entity_set, name, is_personal in (
        ("savedqueries", "savedquery", False),
        ("userqueries", "userquery", True),
    ):
        options = {
            "$select": "name,fetchxml",
            "$filter": f"returnedtypecode eq {quoted} and {_LISTS}",
            "$orderby": "name",
        }
        try:
            answer = api.get(paths.with_query(entity_set, options), Subject(Kind.QUERY, name), SERVICE_CALL)
        except (MissingPrivilege, AccessDenied):
            continue
        try:
            for row in answer["value"]:
                yield SavedView(str(row["name"]), str(row["fetchxml"]), is_personal)
        except (KeyError, TypeError) as error:
            raise UnexpectedAnswer(f"The platform's views are not as expected: {error!r}.") from error

"""Views of an entity: those of the organisation (savedquery), and those of users (userquery)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.http.messages import reading
from crmclient.errors import AccessDenied, MissingPrivilege
from crmclient.optional_abilities import SavedView
from crmclient.platform import SERVICE_CALL
from crmclient.sentences import Sentence

# Views that list records; others serve quick find, lookups and associated records.
_LISTS: Final = "querytype eq 0 and fetchxml ne null"


def saved_views(api: Api, entity: str) -> Iterator[SavedView]:
    """Yield the views that the service's account may read, by name.

    Views of users that it may not read are left out. Raises MissingPrivilege where it may not read the
    organisation's, and there are no others.
    """
    denied: MissingPrivilege | None = None
    has_views = False
    quoted = "'" + entity.replace("'", "''") + "'"
    for entity_set, view, is_personal in (
        ("savedqueries", "savedquery", False),
        ("userqueries", "userquery", True),
    ):
        options = {
            "$select": "name,fetchxml",
            "$filter": f"returnedtypecode eq {quoted} and {_LISTS}",
            "$orderby": "name",
        }
        try:
            path = paths.with_query(entity_set, options)
            rows = list(api.rows(path, Subject(Kind.QUERY, view), SERVICE_CALL))
        except AccessDenied:
            continue
        except MissingPrivilege as error:
            denied = denied if is_personal else error
            continue
        with reading(Sentence("the platform's views")):
            texts = [(str(row["name"]), str(row["fetchxml"])) for row in rows]
        for name, fetchxml in texts:
            has_views = True
            yield SavedView(name, fetchxml, is_personal)
    if denied is not None and not has_views:
        raise denied

"""Views of an entity: those of the organisation (savedquery), and those of users (userquery)."""

from __future__ import annotations

from typing import Final

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.http.messages import reading
from crmclient.errors import AccessDenied, MissingPrivilege
from crmclient.optional_abilities import SavedView, SavedViews
from crmclient.platform import SERVICE_CALL
from crmclient.sentences import Sentence

# Views that list records; others serve quick find, lookups and associated records.
_LISTS: Final = "querytype eq 0 and fetchxml ne null"


def saved_views(api: Api, entity: str) -> SavedViews:
    """Return the views that the service's account may read. Views of users that it may not read are left out
    without a word: few accounts may.
    """
    denied: MissingPrivilege | None = None
    views: list[SavedView] = []
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
        views += [SavedView(name, fetchxml, is_personal) for name, fetchxml in texts]
    return SavedViews(tuple(views), denied)

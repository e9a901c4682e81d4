"""What stands around the rows of a collection: counts, and which preferences were followed."""

from __future__ import annotations

from typing import Any, Final

from crmbox.webapi.request import Request, Response, json_response

MOST_COUNTED: Final = 5000

TOTAL: Final = "Microsoft.Dynamics.CRM.totalrecordcount"
LIMIT_EXCEEDED: Final = "Microsoft.Dynamics.CRM.totalrecordcountlimitexceeded"
MORE: Final = "Microsoft.Dynamics.CRM.morerecords"
FETCH_COOKIE: Final = "Microsoft.Dynamics.CRM.fetchxmlpagingcookie"


def counts(request: Request, total: int | None) -> dict[str, Any]:
    """`total` None: it was not asked for. A count is never above 5,000, as on the platform."""
    found: dict[str, Any] = {} if total is None else {"@odata.count": min(total, MOST_COUNTED)}
    return found | totals(request, total)


def totals(request: Request, total: int | None, *, always: bool = False) -> dict[str, Any]:
    """The platform's own annotations on the number of records: those that the caller prefers, or both."""
    wants = request.prefer.annotations.wants
    known = total if total is not None else -1
    found = {TOTAL: min(known, MOST_COUNTED), LIMIT_EXCEEDED: known > MOST_COUNTED}
    return {f"@{name}": value for name, value in found.items() if always or wants(name)}


def collection_response(request: Request, content: dict[str, Any]) -> Response:
    return json_response(content, headers=preference_applied(request))


def preference_applied(request: Request) -> dict[str, str]:
    """The header that repeats which preferences were followed."""
    applied = [
        f'{name}="{value}"' if name == "odata.include-annotations" else f"{name}={value}"
        for name, value in request.prefer.values.items()
        if name in ("odata.include-annotations", "odata.maxpagesize")
    ]
    return {"Preference-Applied": ",".join(applied)} if applied else {}

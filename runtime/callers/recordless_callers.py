"""API accounts and keys without a record, whose type has records: to whom “my records” are none.

Nothing refuses their calls, which may be about nobody's records. So the studio says it before they wonder.
"""

from __future__ import annotations

from typing import Any, Protocol

from django.utils.translation import gettext as _

from designer.configuration import Configuration
from designer.loading import latest


class Callers(Protocol):
    """A row that calls stand for: an API account or an API key."""

    caller_type_id: Any
    record: Any


def finding_of(row: Callers) -> str:
    """Return the finding to show on the page of an account or a key; empty when there is nothing to
    report.
    """
    if row.caller_type_id not in types_with_records(latest()) or row.record is not None:
        return ""
    return _(
        "It is of the type “%(type)s” and has no record: its calls find nothing where a row rule or a query "
        "compares with “@user” values, and /api/context refuses them. Choose a record, or the type service."
    ) % {"type": row.caller_type_id}


def types_with_records(configuration: Configuration) -> list[str]:
    """Return the names of the caller types whose callers have a record: a platform user, or a record of an
    entity.
    """
    return [
        caller_type.name
        for caller_type in configuration.caller_types
        if caller_type.entity or caller_type.is_of_users
    ]

"""The platform's users by name, for people who choose one."""

from __future__ import annotations

from collections.abc import Mapping

from crmclient import Guid, Platform
from crmclient.query.ast import Column, Order, Page, Query

USER = "systemuser"
USER_ID = "systemuserid"

# As many as a list of choices can hold and still be of use.
MOST = 5_000


def platform_users(platform: Platform) -> Mapping[Guid, str]:
    """Every system user's name with its mail address, by id, in the order of names.

    Raises PlatformError when the platform does not answer.
    """
    columns = (USER_ID, "fullname", "internalemailaddress", "isdisabled")
    query = Query(USER, tuple(Column(name) for name in columns), orders=(Order("fullname"),))
    found: dict[Guid, str] = {}
    for row in platform.query(query, Page(size=MOST)).rows:
        mail = f" ({row['internalemailaddress']})" if row["internalemailaddress"] else ""
        found[str(row[USER_ID])] = f"{row['fullname']}{mail}{' – disabled' if row['isdisabled'] else ''}"
    return found

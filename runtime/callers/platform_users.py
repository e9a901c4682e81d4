"""The platform's users by name, for people who choose one."""

from __future__ import annotations

from collections.abc import Mapping

from crmclient import Guid, Platform
from crmclient.query.ast import Column, Order, Page, Query

# As many as a list of choices can hold and still be of use.
MOST = 5_000


def platform_users(platform: Platform) -> Mapping[Guid, str]:
    """Return the name, with the mail address, of the first MOST users by id, in the order of names.

    Empty for a platform without users. Raises PlatformError when the platform does not answer.
    """
    users = platform.conventions.users
    if users is None:
        return {}
    columns = tuple(Column(name) for name in (users.id, users.name, users.mail, users.disabled) if name)
    query = Query(users.entity, columns, orders=(Order(users.name),))
    names_by_id: dict[Guid, str] = {}
    for row in platform.query(query, Page(size=MOST)).rows:
        mail = row[users.mail] if users.mail else None
        is_disabled = users.disabled is not None and row[users.disabled]
        names_by_id[str(row[users.id])] = (
            f"{row[users.name]}{f' ({mail})' if mail else ''}{' – disabled' if is_disabled else ''}"
        )
    return names_by_id

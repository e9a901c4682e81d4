"""Django looks here for a part's pages in the admin. `designer.studio` has them; importing registers them."""

from __future__ import annotations

from designer.studio import (
    endpoint_pages,
    login,
    modules,
    option_sets,
    roles,
    studio_accounts,
    user_properties,
)
from designer.studio.navigation import dashboard

__all__ = [
    "dashboard",
    "endpoint_pages",
    "login",
    "modules",
    "option_sets",
    "roles",
    "studio_accounts",
    "user_properties",
]

"""Django looks here for a part's pages in the admin. `designer.studio` has them; importing registers them."""

from __future__ import annotations

from designer.studio import (
    caller_types,
    endpoint_admin,
    environment_values,
    login,
    modules,
    option_sets,
    roles,
    studio_accounts,
    user_properties,
)
from designer.studio.identity import issuer_pages
from designer.studio.navigation import dashboard

__all__ = [
    "caller_types",
    "dashboard",
    "endpoint_admin",
    "environment_values",
    "issuer_pages",
    "login",
    "modules",
    "option_sets",
    "roles",
    "studio_accounts",
    "user_properties",
]

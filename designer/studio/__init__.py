"""The studio: Django's admin, made for people who design APIs."""

from designer.studio import login, modules, roles, studio_accounts, user_properties
from designer.studio.endpoints import admin, option_sets
from designer.studio.navigation import dashboard

__all__ = [
    "admin",
    "dashboard",
    "login",
    "modules",
    "option_sets",
    "roles",
    "studio_accounts",
    "user_properties",
]

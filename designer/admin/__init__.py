"""The studio: Django's admin, made for people who design APIs."""

from designer.admin import login, modules, roles, studio_accounts, user_properties
from designer.admin.endpoints import admin, option_sets
from designer.admin.navigation import dashboard

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

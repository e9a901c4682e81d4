"""The studio: Django's admin, made for people who design APIs."""

from designer.admin import endpoints, modules, option_sets, roles, studio_accounts, user_properties

__all__ = ["endpoints", "modules", "option_sets", "roles", "studio_accounts", "user_properties"]

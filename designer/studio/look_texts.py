"""Texts of the studio's look, which has no catalogues, and of Django's pages of accounts, which lack some.

Named here, they are in ours.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

TEXTS = (
    _("Add row"),
    _("All applications"),
    _("Apply Filters"),
    _("Cancel"),
    _("Choose file to upload"),
    _("Dark"),
    _("Date from"),
    _("Date to"),
    _("Expand row"),
    _("False"),
    _("Filters"),
    _("From"),
    _("General"),
    _("Go back"),
    _("History"),
    _("Light"),
    _("More actions"),
    _("Next"),
    _("No data"),
    _("No results found"),
    _("No results matching your query"),
    _("Previous"),
    _("Reset filters"),
    _("Return to site"),
    _("Run"),
    _("Save"),
    _("Save and add another"),
    _("Save and continue editing"),
    _("Save and view"),
    _("Search apps and models..."),
    _("Select action"),
    _("Select action to run"),
    _("Select all rows"),
    _("Select record"),
    _("Select value"),
    _("Submit"),
    _("System"),
    _("This item will be deleted."),
    _("This page yielded into no results. Create a new item or reset your filters."),
    _("To"),
    _("Toggle password visibility"),
    _("True"),
    _("Type to search"),
    _("Value"),
    _("You have been successfully logged out from the administration"),
    _(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you can change "
        'the password using <a href="{}" class="text-primary-600 dark:text-primary-500">this form</a>.'
    ),
)
ACCOUNTS = (
    _("%(from)s-%(to)s relationship"),
    _("%(from)s-%(to)s relationships"),
    _("Conflicting form data submitted. Please try again."),
    _("Disable password-based authentication"),
    _("Disabled"),
    _("Enable password-based authentication"),
    _("Enable password-based authentication for this user by setting a password."),
    _("Enabled"),
    _("Password-based authentication"),
    _("Password-based authentication was disabled."),
    _("Raw passwords are not stored, so there is no way to see the user’s password."),
    _("Reset password"),
    _("Set password"),
    _("Set password: %s"),
    _("This action will <strong>enable</strong> password-based authentication for this user."),
    _(
        "Whether the user will be able to authenticate using a password or not. If disabled, they may still "
        "be able to authenticate using other backends, such as Single Sign-On or LDAP."
    ),
    _("hash"),
    _("salt"),
)

"""The links in the menu under the account's name."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from designer.studio.sign_in.accounts import is_of_provider


def account_links(request: HttpRequest) -> list[dict[str, Any]]:
    """Return title and address of each page on which people change their own login."""
    if is_of_provider(request):
        # The identity provider keeps the password and the second factor of who signs in there.
        return []
    return [
        {"title": _("Two-factor login"), "link": reverse("studio:two_factor")},
        {"title": _("Change password"), "link": reverse("admin:password_change")},
    ]

"""What is under an account's own name."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


def account_links(request: HttpRequest) -> list[dict[str, Any]]:
    return [
        {"title": _("Two-factor login"), "link": reverse("studio:two_factor")},
        {"title": _("Change password"), "link": reverse("admin:password_change")},
    ]

"""The API's part of the URL space: one door, since what lies behind it is configuration."""

from __future__ import annotations

from django.urls import re_path

from runtime.dispatch import dispatch

urlpatterns = [
    re_path(r"^api(?:/|$)", dispatch),
    re_path(r"^optionsets(?:/|$)", dispatch),
    re_path(r"^(?!admin/|static/)[^/]+/[^/]+/optionsets(?:/|$)", dispatch),
]

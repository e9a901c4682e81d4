"""Where the API is, for settings and middleware alike: what lies under these paths is configuration."""

from __future__ import annotations

API_PATHS = r"/(api|optionsets)(/|$)|/(?!admin/|static/)[^/]+/[^/]+/optionsets(/|$)"
"""A regular expression that their beginnings match."""

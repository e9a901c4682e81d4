"""The product's settings, as on a developer's machine, with what would only make tests slow taken out."""

from __future__ import annotations

import os

os.environ.setdefault("PORTICO_MODE", "development")

from project.settings import *  # noqa: F403  the mode must be known before they are read

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True

# One address and three accounts make all of a suite's requests.
PORTICO = {**PORTICO, "CALLER_RATE": 1_000_000, "ADDRESS_RATE": 1_000_000}  # noqa: F405

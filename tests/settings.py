"""The product's settings, as on a developer's machine, with what would only make tests slow taken out."""

from __future__ import annotations

import os
import tempfile
from urllib.parse import urlsplit

os.environ.setdefault("PORTICO_MODE", "development")
# What is off by default, and whether it is on is read once.
os.environ.setdefault("PROPOSALS_API", "1")

# Processes that share the work share no limits and nothing kept: each has a database of Redis to itself.
if os.environ.get("CACHE_URL") and (worker := os.environ.get("PYTEST_XDIST_WORKER")):
    shared = urlsplit(os.environ["CACHE_URL"])
    number = int(shared.path.strip("/") or 0) + int(worker.removeprefix("gw"))
    os.environ["CACHE_URL"] = shared._replace(path=f"/{number}").geturl()

from project.settings import *  # noqa: F403  the mode must be known before they are read

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True

# One address and three accounts make all of a suite's requests.
PORTICO = {**PORTICO, "CALLER_RATE": 1_000_000, "ADDRESS_RATE": 1_000_000, "LOGIN_RATE": 1_000_000}  # noqa: F405

# A file, as in production: a database in memory knows no waiting, so two connections would fail there.
if DATABASES["default"]["ENGINE"] == "project.sqlite":  # noqa: F405
    DATABASES["default"]["TEST"] = {  # noqa: F405
        "NAME": os.path.join(tempfile.gettempdir(), f"portico-tests-{os.getpid()}.sqlite3")
    }

"""The Django settings that the stock and the plain application share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import environ

from bench.applications.surroundings import DATABASE_URL
from bench.world import AUDIENCE, ISSUER, SIGNING_KEY

SECRET_KEY = SIGNING_KEY
ALLOWED_HOSTS = ["127.0.0.1"]
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "bench.applications.stock"]


def _database(url: str) -> dict[str, Any]:
    database: dict[str, Any] = environ.Env.db_url_config(url)
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        }
    database["CONN_MAX_AGE"] = None
    return database


DATABASES = {"default": _database(DATABASE_URL)}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

SIMPLE_JWT = {
    "ALGORITHM": "HS256",
    "SIGNING_KEY": SIGNING_KEY,
    "ISSUER": ISSUER,
    "AUDIENCE": AUDIENCE,
    "ACCESS_TOKEN_LIFETIME": timedelta(minutes=5),
    "USER_ID_CLAIM": "sub",
}

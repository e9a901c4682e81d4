from __future__ import annotations

from bench.applications.stock.settings import *  # noqa: F403 - Django reads a settings module by its names

ROOT_URLCONF = "bench.applications.facade.urls"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        # Three hundred, as it comes, would be gone through in a second.
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

from __future__ import annotations

from bench.applications.stock.settings import *  # noqa: F403 - Django reads a settings module by its names

ROOT_URLCONF = "bench.applications.facade.urls"

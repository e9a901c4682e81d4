from __future__ import annotations

from bench.applications.django_base import *  # noqa: F403 - Django reads a settings module by its names

ROOT_URLCONF = "bench.applications.plain.urls"
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware"]

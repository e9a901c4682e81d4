from __future__ import annotations

from bench.applications.django_base import *  # noqa: F403 - Django reads a settings module by its names

ROOT_URLCONF = "bench.applications.stock.urls"
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["bench.applications.stock.parsers.ExactJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["bench.applications.stock.throttles.CallerThrottle"],
    "EXCEPTION_HANDLER": "bench.applications.stock.failures.exception_handler",
}

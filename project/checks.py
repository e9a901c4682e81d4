"""What must be right before the service starts, as Django system checks.

They run with every management command and, since a server program imports no command, in `project.wsgi` too.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from crmclient.errors import PlatformError
from crmclient.extensions import UnusableExtension
from designer.platform import PLATFORMS, get_platform, not_made
from project import extensions
from project import platform as own_platforms
from runtime.callers.issuers.environment import read_issuers
from runtime.callers.tokens import RESOLVERS

TAG = "portico"
SHORTEST_KEY = 32
# As browsers send it: no path, not `null`, which every page without an origin of its own sends.
_ORIGIN = re.compile(r"https?://[^\s/?#@*]+")


def refuse_a_wrong_start() -> None:
    """Raise SystemExit, with every error and what to do about it, unless the service may start."""
    errors = [message for message in run_checks(tags=[TAG]) if message.is_serious()]
    # No system check: those run with every command, and commands such as `migrate` need no platform. Where
    # settings are wrong, the platform is not made.
    errors = errors or [*_platform_errors()]
    if errors:
        raise SystemExit("Portico does not start:\n" + "\n".join(f"  {message}" for message in errors))


@register(TAG)
def settings_make_sense(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return what is wrong with settings in every mode, for Django's system checks."""
    about_settings = (_setting_choices, _time_zone, _upload_folder, _workers, _origins, _issuers, _telemetry)
    return [*_extensions(), *(message for check in about_settings for message in check())]


@register(TAG)
def production_is_safe(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return what is wrong with settings in production, for Django's system checks."""
    if settings.DEVELOPMENT:
        return []
    return [*_keys(), *_hosts(), *_debug(), *_demo_accounts()]


def _telemetry() -> Iterator[CheckMessage]:
    """Find that OpenTelemetry is wanted, but not installed."""
    if settings.PORTICO["OPENTELEMETRY"] and importlib.util.find_spec("opentelemetry") is None:
        yield Error(
            "OPENTELEMETRY=1, but the packages of OpenTelemetry are not installed.",
            hint="Run `pip install --require-hashes -r requirements-otel.lock`, or set OPENTELEMETRY=0.",
            id="portico.E022",
        )


def _extensions() -> Iterator[CheckMessage]:
    """Find what packages offer and cannot be added."""
    for problem in extensions.load():
        yield Error(problem.text, hint=problem.remedy, id="portico.E014")


def _setting_choices() -> Iterator[CheckMessage]:
    """Find a PLATFORM or USER_RESOLVER that cannot be used, and one that is written as a dotted path."""
    for setting, choice in (("PLATFORM", PLATFORMS), ("USER_RESOLVER", RESOLVERS)):
        value = settings.PORTICO[setting]
        try:
            choice.find(value)
        except UnusableExtension as error:
            yield Error(f"{setting}={value!r}: {error}", hint=error.remedy, id="portico.E007")
            continue
        if choice.is_deprecated(value):
            name = choice.built_in_name(value)
            hint_for_own_functions = (
                f"Give the function a name with an entry point of {choice.group}: docs/extending.md."
            )
            yield Warning(
                f"{setting}={value!r} is a dotted path, which is deprecated.",
                hint=f"Write {setting}={name}." if name else hint_for_own_functions,
                id="portico.W002",
            )


def _platform_errors() -> Iterator[CheckMessage]:
    """Make the platform, and yield an error if that fails.

    What `project.platform` makes is left out: checks of its settings have said what could be wrong.
    """
    name = settings.PORTICO["PLATFORM"]
    try:
        if PLATFORMS.find(name).__module__ != own_platforms.__name__:
            get_platform()
    except (UnusableExtension, PlatformError) as error:
        unusable = error if isinstance(error, UnusableExtension) else not_made(error)
        yield Error(f"PLATFORM={name!r}: {unusable}", hint=unusable.remedy, id="portico.E021")


def _time_zone() -> Iterator[CheckMessage]:
    """Find an unknown time zone."""
    name = settings.PORTICO["CRM_TIME_ZONE"]
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        yield Error(
            f"CRM_TIME_ZONE={name!r} is not a known time zone.",
            hint="Write a name such as Europe/Berlin.",
            id="portico.E008",
        )


def _upload_folder() -> Iterator[CheckMessage]:
    """Find a folder for uploads that cannot be written to."""
    folder = settings.PORTICO["UPLOAD_FOLDER"]
    if folder and not (os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)):
        yield Error(
            f"UPLOAD_FOLDER={folder!r} is no folder that can be written to.",
            hint="Make it, or leave UPLOAD_FOLDER unset for the system's temporary folder.",
            id="portico.E009",
        )


def _issuers() -> Iterator[CheckMessage]:
    """Find a wrong `ISSUERS`, with which the service would refuse every token."""
    try:
        read_issuers(settings.PORTICO["ISSUERS"])
    except ImproperlyConfigured as error:
        yield Error(str(error), hint="docs/settings.md describes ISSUERS.", id="portico.E020")


def _workers() -> Iterator[CheckMessage]:
    """Warn of several workers that count by themselves."""
    if settings.PORTICO["WORKERS"] > 1 and not settings.PORTICO["CACHE_URL"]:
        yield Warning(
            "Several workers without CACHE_URL: each counts rate limits and failed logins on its own.",
            hint="Set CACHE_URL to a Redis, or WORKERS=1.",
            id="portico.W001",
        )


def _origins() -> Iterator[CheckMessage]:
    """Check the setting of origins, in every mode.

    `*` would be taken for the name of an origin, so that no browser could call the API.
    """
    wrong_origins = [origin for origin in settings.CORS_ALLOWED_ORIGINS if not _ORIGIN.fullmatch(origin)]
    if wrong_origins:
        yield Error(
            f"CORS_ORIGINS lists what is no origin: {', '.join(wrong_origins)}.",
            hint="List each origin that may call the API from a browser, such as https://portal.example.org: "
            "scheme and host, without a path. There is no `*`: every page of the web could then call.",
            id="portico.E019",
        )


def _keys() -> Iterator[CheckMessage]:
    """Find keys that are missing, too short, or the same."""
    for number, name in enumerate(("SECRET_KEY", "TOKEN_SIGNING_KEY"), start=1):
        value = getattr(settings, name)
        if settings.DEVELOPMENT_KEY in value:
            problem = f"{name} is not set, so the published development key would be used."
        elif len(value) < SHORTEST_KEY:
            problem = f"{name} has {len(value)} characters; at least {SHORTEST_KEY} are needed."
        else:
            continue
        yield Error(
            problem,
            hint=f"Set {name} or {name}_FILE to random text. On your own machine, PORTICO_MODE=development.",
            id=f"portico.E00{number}",
        )
    if settings.SECRET_KEY == settings.TOKEN_SIGNING_KEY:
        yield Error(
            "SECRET_KEY and TOKEN_SIGNING_KEY are the same.",
            hint="Give tokens a key of their own, so that either can be changed alone.",
            id="portico.E003",
        )


def _hosts() -> Iterator[CheckMessage]:
    """Find that hosts are missing, or that any host is allowed."""
    hosts = settings.ALLOWED_HOSTS
    if not hosts or "*" in hosts:
        yield Error(
            "ALLOWED_HOSTS is empty." if not hosts else "ALLOWED_HOSTS contains `*`.",
            hint="List the host names that the service answers to, such as api.example.org.",
            id="portico.E004",
        )


def _debug() -> Iterator[CheckMessage]:
    """Find that Django shows code on error pages."""
    if settings.DEBUG:
        yield Error(
            "DEBUG is on.", hint="Set DEBUG to False: error pages would show code.", id="portico.E005"
        )


def _demo_accounts() -> Iterator[CheckMessage]:
    """Find accounts that still have the demo's password."""
    from project.demo import accounts_with_the_demo_password

    try:
        names = accounts_with_the_demo_password()
    except DatabaseError:
        # Not migrated yet, or not reachable: /health/ready says so, and neither is a reason not to start.
        return
    if names:
        yield Error(
            f"Accounts have the password of the demo: {', '.join(names)}.",
            hint="Delete them, or give each a password of its own with `manage.py changepassword`.",
            id="portico.E006",
        )

"""Django's settings, from the environment. `project.environment` lists what an operator may set."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from django.utils.translation import gettext_lazy as _

from project.environment import load
from runtime.serving.paths import API_PATHS

BASE_DIR = Path(__file__).resolve().parent.parent
env = load()

MODE = env["PORTICO_MODE"]
DEVELOPMENT = MODE == "development"
DEBUG = False

# Known to everyone who has read this file: `project.checks` keeps production from starting with it.
DEVELOPMENT_KEY = "development-only-key-never-use-this-in-production-0123456789"
SECRET_KEY = env["SECRET_KEY"] or DEVELOPMENT_KEY
SECRET_KEY_FALLBACKS = env["SECRET_KEY_FALLBACKS"]
TOKEN_SIGNING_KEY = env["TOKEN_SIGNING_KEY"] or f"tokens-{DEVELOPMENT_KEY}"
ALLOWED_HOSTS = env["ALLOWED_HOSTS"] or (["*"] if DEVELOPMENT else [])
CSRF_TRUSTED_ORIGINS = env["CSRF_ORIGINS"]

DATA_DIR = BASE_DIR / env["DATA_DIR"]

INSTALLED_APPS = [
    "designer.apps.StudioLook",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "csp",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "rest_framework",
    "rest_framework_simplejwt.token_blacklist",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "crmbox.apps.EmbeddedPlatform",
    "designer.apps.Designer",
    "runtime.apps.Runtime",
    "project.apps.Project",
]

MIDDLEWARE = [
    "project.observability.middleware.RequestRecords",
    "project.middleware.ApiHeaders",
    *(["corsheaders.middleware.CorsMiddleware"] if env["CORS_ORIGINS"] else []),
    # What comes after it never sees a request of the API.
    "runtime.serving.dispatch.ApiMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "project.middleware.ContentPolicy",
    "project.middleware.StudioMetadata",
    "project.middleware.StudioDeadline",
    "project.middleware.StudioSessions",
    "project.middleware.StudioLanguage",
    "project.middleware.StudioCommon",
    "project.middleware.StudioCsrf",
    "project.middleware.StudioAuthentication",
    "project.middleware.StudioMessages",
    "project.middleware.StudioFrames",
    "project.middleware.StudioLockout",
]

SILENCED_SYSTEM_CHECKS = [
    # These look for middleware by name; project.middleware has subclasses of theirs.
    *("axes.W002", "security.W002", "security.W003"),
    # project.checks says it of CORS_ORIGINS, which is what an operator knows.
    *("corsheaders.E013", "corsheaders.E014"),
    # The redirect to https is the proxy's, which alone knows the address: a probe or a scrape needs none.
    "security.W008",
    # Neither other hosts of the domain nor the lists of browsers are for one host to decide.
    *("security.W005", "security.W021"),
]

ROOT_URLCONF = "project.urls"
WSGI_APPLICATION = "project.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # Templates of the studio's look that are ours: they come before its own.
        "DIRS": [BASE_DIR / "designer" / "overrides"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


# Options of libpq in seconds, except `tcp_user_timeout`, which is in milliseconds.
_NOTICED_AFTER = {
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


def _database(url: str) -> dict[str, Any]:
    """Return Django's setting for the database at `url`; for a SQLite file in DATA_DIR if it is empty."""
    if not url:
        try:
            DATA_DIR.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ImproperlyConfigured(f"DATA_DIR: cannot make {DATA_DIR}: {error.strerror}.") from error
        url = f"sqlite:///{DATA_DIR / 'portico.sqlite3'}"
    database: dict[str, Any] = environ.Env.db_url_config(url)
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["ENGINE"] = "project.sqlite"
        # A write transaction takes its lock at the start, so that it waits instead of failing half-way.
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # 8 MB of pages a connection: in its own 2 MB, indexes of some ten thousand rows have no room.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; "
            "PRAGMA cache_size=-8192;",
        }
    else:
        database["ENGINE"] = "project.postgresql"
        # Django leaves this off, for poolers that lend a connection for one transaction only: whoever has
        # such a one adds `?prepare_threshold=None` to the URL.
        options = database.setdefault("OPTIONS", {})
        threshold = str(options.get("prepare_threshold", 5))
        if threshold != "None" and not (threshold.isascii() and threshold.isdecimal()):
            raise ImproperlyConfigured(
                "DATABASE_URL: write prepare_threshold as None, or as a whole number of 0 or more."
            )
        options["prepare_threshold"] = None if threshold == "None" else int(threshold)
        # A server that is gone without a word is noticed: when connecting, while idle, and when written to.
        for name, value in _NOTICED_AFTER.items():
            options.setdefault(name, value)
    database["CONN_MAX_AGE"] = None
    # Whoever uses a connection first in a request finds out whether it still lives. The API's requests do so
    # by the revision's read, which they need anyway. What ends later is noticed by project.postgresql.
    database["CONN_HEALTH_CHECKS"] = True
    return database


DATABASES = {"default": _database(env["DATABASE_URL"])}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": (
        {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": env["CACHE_URL"]}
        if env["CACHE_URL"]
        else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    ),
}

# Accounts, studio and tokens
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "designer.studio.sign_in.accounts.ProviderBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AXES_HANDLER = "runtime.callers.login_guard.LoginGuard"
AXES_FAILURE_LIMIT = env["LOGIN_FAILURES"]
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_CLIENT_IP_CALLABLE = "runtime.http.addresses.client_address"
# Its pages show its own tables, which are empty here: runtime.callers.failed_logins has ours.
AXES_ENABLE_ADMIN = False
AXES_LOCKOUT_CALLABLE = "designer.studio.pages.failures.locked_out"

OTP_TOTP_ISSUER = "Portico"

SIMPLE_JWT = {
    "ALGORITHM": "HS256",
    "SIGNING_KEY": TOKEN_SIGNING_KEY,
    "ISSUER": "portico",
    "AUDIENCE": "portico-api",
    "ACCESS_TOKEN_LIFETIME": timedelta(minutes=5),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=1),
    "ROTATE_REFRESH_TOKENS": True,
    "BLACKLIST_AFTER_ROTATION": True,
    "USER_ID_CLAIM": "sub",
    "LEEWAY": 0,
}

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "EXCEPTION_HANDLER": "runtime.http.failures.exception_handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Portico",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    # Its own would rewrite enums that definitions have named already.
    "POSTPROCESSING_HOOKS": [],
    "GET_MOCK_REQUEST": "runtime.describe.openapi_operations.no_request",
}

# Pages
LANGUAGE_CODE = "en"
# The languages of the studio. The API always answers in English.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("ar", "العربية")]
LANGUAGE_COOKIE_PATH = "/admin/"
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = not DEVELOPMENT
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_AGE = 365 * 24 * 60 * 60
USE_I18N = True
LOCALE_PATHS = [BASE_DIR / "designer" / "locale"]
FORMAT_MODULE_PATH = "project.dates"
# Arabic has no format of its own. Between slashes, digits keep their order in a text from right to left.
DATETIME_FORMAT = "Y/m/d H:i"
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
LOGIN_URL = "/admin/login/"
LOGIN_REDIRECT_URL = "/admin/"

UNFOLD = {
    "SITE_TITLE": _("Portico studio"),
    "SITE_HEADER": "Portico",
    "SITE_SUBHEADER": _("Studio"),
    "SITE_URL": "/",
    "SITE_SYMBOL": "account_balance",
    "SHOW_LANGUAGES": True,
    "SHOW_BACK_BUTTON": True,
    "LANGUAGES": {"action": "/admin/language/"},
    "SIDEBAR": {"navigation": "designer.studio.navigation.sidebar.navigation"},
    "ACCOUNT": {"navigation": "designer.studio.navigation.account_links.account_links"},
    "DASHBOARD_CALLBACK": "designer.studio.navigation.dashboard.dashboard",
    "STYLES": [
        lambda request: static("designer/shell.css"),
        lambda request: static("designer/pages.css"),
        lambda request: static("designer/rtl.css"),
    ],
    "SCRIPTS": [
        lambda request: static("designer/palette.js"),
        lambda request: static("designer/shell.js"),
        lambda request: static("designer/kept_form.js"),
    ],
}

# Security headers
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = env["HSTS_SECONDS"]
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = "/admin/"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEVELOPMENT
SESSION_COOKIE_HTTPONLY = True
# Bodies of the API are bounded by BODY_LIMIT (runtime/http/bodies.py), which may be more than this.
DATA_UPLOAD_MAX_MEMORY_SIZE = max(env["BODY_LIMIT"], 2_621_440)
# An endpoint's page sends a dozen fields for each of its inputs, of which it may have hundreds.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
CSRF_FAILURE_VIEW = "designer.studio.pages.failures.csrf_failure"
CORS_ALLOWED_ORIGINS = env["CORS_ORIGINS"]
CORS_EXPOSE_HEADERS = [
    *("ETag", "Link", "Location", "Retry-After", "Idempotency-Replayed", "X-Request-Id"),
    *("Accept-Ranges", "Content-Disposition", "Content-Range"),
    *("Age", "Cache-Status", "RateLimit", "RateLimit-Policy"),
]
CORS_ALLOW_HEADERS = [
    *("Accept", "Authorization", "Content-Type", "Content-Disposition", "Idempotency-Key", "X-Request-Id"),
    *("If-Match", "If-None-Match", "If-Range", "Range", "Cache-Control", "Portico-Proposal"),
]
CORS_URLS_REGEX = API_PATHS
if env["TRUSTED_PROXIES"]:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Swagger UI and the API need no script but their own; unfold's widgets evaluate expressions in the studio.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "style-src": ["'self'", "'unsafe-inline'"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'"],
    },
}
STUDIO_SCRIPT_SOURCES = ["'self'", "'unsafe-eval'"]

# The product's own
PORTICO = env

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "project.logs.JsonFormatter"}},
    "filters": {"has_exception": {"()": "project.logs.WithException"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": env["LOG_LEVEL"]},
    # A refused request is the caller's business: only failures are logged.
    "loggers": {
        "django.request": {"level": "ERROR", "filters": ["has_exception"]},
        "axes": {"level": "WARNING"},
    },
}

# Makes the platform that `importmetadata --organization` copies: the CRM in the box knows no other part.
CRM_ORGANIZATION = "project.platform.dataverse"

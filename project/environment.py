"""The settings that an operator may give, as data: name, default, help. `docs/settings.md` lists the same.

Each comes from the environment variable of its name or, for a secret, from the file that NAME_FILE points at.
A value that cannot be read stops the start with a sentence that says what to write.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from project.setting_values import (
    between,
    count,
    flag,
    group_table,
    month_and_day,
    numbers,
    objects,
    one_of,
    percentages,
    port,
    text,
    url,
    whole,
    words,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting that an operator may give.

    `read` turns its text into a value, and raises ValueError with what to write instead. `default` is the
    text that an unset variable stands for. `help` is a sentence for operators. A `secret` may come from a
    file, and its value is never shown.
    """

    name: str
    read: Callable[[str], Any]
    default: str
    help: str
    secret: bool = False


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "PORTICO_MODE",
        one_of("production", "development"),
        "production",
        "`development` allows development keys and demo accounts; anything public is `production`.",
    ),
    Setting("SECRET_KEY", text, "", "Signs sessions and cursors. Required in production.", secret=True),
    Setting(
        "SECRET_KEY_FALLBACKS",
        words,
        "",
        "Earlier keys, comma-separated: what they signed stays good for as long as they are here.",
        secret=True,
    ),
    Setting(
        "TOKEN_SIGNING_KEY",
        text,
        "",
        "Signs the tokens of local accounts, at least 32 characters. Required in production.",
        secret=True,
    ),
    Setting(
        "ALLOWED_HOSTS",
        words,
        "",
        "Host names that the studio answers to, comma-separated; the API goes by no name. Required in "
        "production; `*` is refused there.",
    ),
    Setting(
        "DATABASE_URL",
        url("postgres", "postgresql", "sqlite"),
        "",
        "Where configuration (and the embedded platform) is kept. Empty: SQLite in `var/`.",
        secret=True,
    ),
    Setting(
        "CACHE_URL",
        url("redis", "rediss"),
        "",
        "Redis, for rate limits, cached answers and the budget of Dataverse, which then hold across "
        "processes. Empty: per process.",
        secret=True,
    ),
    Setting(
        "CACHE_ENCRYPT",
        flag,
        "1",
        "Whether cached answers are encrypted in Redis. Without it they are signed, and can be read there.",
    ),
    Setting(
        "ANSWER_CACHE_MEGABYTES",
        count,
        "64",
        "Memory of each server process for cached answers, in megabytes. The answers that nobody asked for "
        "the longest go first.",
    ),
    Setting("DATA_DIR", text, "var", "The folder of the SQLite database and of files."),
    Setting("HOST", text, "127.0.0.1", "The address `manage.py serve` listens on."),
    Setting("PORT", port, "8000", "The port `manage.py serve` listens on."),
    Setting("WORKERS", count, "1", "Server processes; with more than one, set CACHE_URL too."),
    Setting("THREADS", count, "4", "Requests that each server process works on at once."),
    Setting(
        "WORKER_PATIENCE",
        whole,
        "60",
        "Seconds that a server process may answer nothing before it is replaced, at least REQUEST_DEADLINE "
        "and five; 0 waits for ever.",
    ),
    Setting(
        "CLIENT_PATIENCE",
        between(1, 600),
        "20",
        "Seconds for a request's headers, and for which a client may be slower than CLIENT_RATE.",
    ),
    Setting(
        "CLIENT_RATE",
        whole,
        "4096",
        "Bytes a second that a client must send of a body, or read of an answer, on average over "
        "CLIENT_PATIENCE seconds.",
    ),
    Setting("TRANSFER_DEADLINE", count, "1800", "Seconds that one body may take, in or out."),
    Setting(
        "ADDRESS_CONNECTIONS",
        whole,
        "256",
        "Open connections of one address in each process; the idlest are closed. 0 switches the limit off. "
        "With TRUSTED_PROXIES there is none: all connections are the proxy's.",
    ),
    Setting(
        "TRUSTED_PROXIES",
        whole,
        "0",
        "How many proxies in front add to `X-Forwarded-For`; the one source of a client's address.",
    ),
    Setting(
        "HSTS_SECONDS",
        whole,
        "0",
        "Seconds for which browsers call this host by https alone (`Strict-Transport-Security`), such as "
        "31536000; 0 says nothing to them. Needs TRUSTED_PROXIES.",
    ),
    Setting("CORS_ORIGINS", words, "", "Origins that browsers may call the API from, comma-separated."),
    Setting("CSRF_ORIGINS", words, "", "Origins the studio is served from behind a proxy, comma-separated."),
    Setting(
        "USER_RESOLVER",
        text,
        "standard",
        "The function that turns a token's claims into a caller: `standard`, or the name that a package "
        "gives its own. A dotted path is deprecated.",
    ),
    Setting(
        "ISSUERS",
        json.loads,
        "{}",
        "Issuers whose tokens are taken besides the service's own: a JSON object by `iss`, each with "
        "`audience`, `jwks_url` or `public_key`, `algorithms`, `roles_claim`, `role_map`, "
        "`platform_user_claim`, `leeway`.",
    ),
    Setting(
        "ISSUER_PRIVATE_HOSTS",
        words,
        "",
        "Hosts in the own network that keys of issuers may be fetched from, comma-separated: those of an "
        "identity provider of your own. All other addresses have to be public.",
    ),
    Setting(
        "TOKEN_LEEWAY",
        between(0, 600),
        "60",
        "Seconds by which the clock of an issuer may differ from this machine's, where the issuer's entry in "
        "`ISSUERS` says nothing else.",
    ),
    Setting(
        "PLATFORM",
        text,
        "configured",
        "The CRM platform: `configured` (Dataverse where CRM_URL is set, else `embedded`), `dataverse`, "
        "`embedded`, or the name that a package gives its own. A dotted path is deprecated.",
    ),
    Setting(
        "CRM_URL",
        url("https", "http"),
        "",
        "The Dataverse organisation, such as `https://contoso.crm.dynamics.com`. Empty: the embedded one.",
    ),
    Setting("CRM_TENANT_ID", text, "", "The Entra ID tenant that the service's application belongs to."),
    Setting("CRM_CLIENT_ID", text, "", "The service's application: it is an application user of Dataverse."),
    Setting("CRM_CLIENT_SECRET", text, "", "The secret of that application.", secret=True),
    Setting(
        "CRM_CERTIFICATE",
        text,
        "",
        "Instead of a secret: a file with the application's certificate and key, PFX or PEM.",
    ),
    Setting("CRM_CERTIFICATE_PASSWORD", text, "", "The password of that file.", secret=True),
    Setting(
        "CRM_FEDERATED_TOKEN_FILE",
        text,
        "",
        "Instead of a secret: a file with a token that the platform below the service writes there, such as "
        "Kubernetes (workload identity federation). It is read for each token that is fetched.",
    ),
    Setting(
        "CRM_MANAGED_IDENTITY",
        flag,
        "0",
        "Whether applications that have no secret, certificate or federated token are managed identities of "
        "Azure. Without CRM_CLIENT_ID it is the system-assigned one.",
    ),
    Setting(
        "CRM_AUTHORITY",
        url("https"),
        "",
        "The Entra ID that gives the tokens, such as `https://login.microsoftonline.us`. Empty: that of the "
        "cloud which CRM_URL is in, worldwide, US government or China.",
    ),
    Setting(
        "CRM_TOKEN_URL",
        url("https", "http"),
        "",
        "Another token endpoint than Entra ID's, for client credentials; `manage.py crmserver` has one.",
    ),
    Setting(
        "CRM_PRIVATE_ADDRESS",
        flag,
        "0",
        "Whether CRM_URL and CRM_TOKEN_URL may lead into a private network, as on-premises ones do.",
    ),
    Setting(
        "CRM_CLIENTS",
        objects(
            ("client_id",), ("client_secret", "certificate", "certificate_password", "federated_token_file")
        ),
        "[]",
        "More applications beside CRM_CLIENT_ID, each an application user of Dataverse with a budget of its "
        "own: a JSON array of objects with `client_id` and `client_secret`, or `certificate` and, where it "
        "has one, `certificate_password`, or `federated_token_file`.",
        secret=True,
    ),
    Setting(
        "CRM_CONCURRENCY",
        count,
        "40",
        "Requests to Dataverse under way at once, of one application user in all processes. Without "
        "CACHE_URL each process may use its part of it, by WORKERS.",
    ),
    Setting(
        "CRM_BUDGET",
        numbers("requests", "seconds of work"),
        "6000,1200",
        "What Dataverse grants one application user in five minutes: requests, and seconds of work. 0 is no "
        "limit.",
    ),
    Setting(
        "CRM_BUDGET_SECONDS",
        count,
        "300",
        "The seconds that CRM_BUDGET is for. Those of Dataverse are five minutes; tests have shorter ones.",
    ),
    Setting(
        "CRM_SHARES",
        percentages("writes", "reads", "anonymous reads", "background"),
        "40,35,15,10",
        "How the budget is shared out, in percent: writes of known callers, their reads, whatever anonymous "
        "callers ask for, and what the service does by itself.",
    ),
    Setting("CRM_IMPERSONATE", flag, "0", "Act on the platform as the caller's user, not as the service."),
    Setting(
        "CRM_IMPERSONATE_BY",
        one_of("user", "object"),
        "user",
        "How Dataverse is told that user: by its id there, or by its object id in Entra ID.",
    ),
    Setting("CRM_TIME_ZONE", text, "UTC", "The time zone of whole days and relative dates in queries."),
    Setting(
        "CRM_FISCAL_YEAR_START", month_and_day, "01-01", "The day that fiscal years begin on: month-day."
    ),
    Setting(
        "CRM_FISCAL_PERIODS",
        one_of("annually", "semiannually", "quarterly", "monthly", "four-weeks"),
        "quarterly",
        "What fiscal years are divided into, as the organisation's settings have it.",
    ),
    Setting(
        "CRM_FISCAL_YEAR_NAME",
        one_of("", "start", "end"),
        "",
        "Which day of a fiscal year gives it its name: `start` or `end`. Queries that name one need it, "
        "unless fiscal years begin on 1 January.",
    ),
    Setting("CRM_FILES", one_of("database", "disk"), "database", "Where the embedded platform keeps files."),
    Setting("CRM_SERVER_CLIENT_ID", text, "", "The client that `manage.py crmserver` gives tokens to."),
    Setting("CRM_SERVER_CLIENT_SECRET", text, "", "The secret of that client.", secret=True),
    Setting(
        "CRM_SERVER_CLIENTS",
        objects(
            ("client_id", "user"),
            (
                "client_secret",
                "certificate",
                "federated_issuer",
                "federated_subject",
                "federated_keys",
                "federated_audience",
            ),
        ),
        "[]",
        "More clients that `manage.py crmserver` gives tokens to, each as a system user: a JSON array of "
        "objects with `client_id`, `user`, the id of that user, and `client_secret`, `certificate` (a PEM "
        "file), or `federated_issuer`, `federated_subject` and `federated_keys` (a file with the issuer's "
        "JWKS).",
        secret=True,
    ),
    Setting(
        "CRM_SERVER_TOKEN_SECONDS",
        count,
        "3600",
        "How long tokens of `manage.py crmserver` are good for. Those of Entra ID last about an hour.",
    ),
    Setting(
        "CRM_SERVER_LIMITS",
        words,
        "",
        "What `manage.py crmserver` lets one user do in five minutes: requests, seconds of work, "
        "requests at once. Dataverse's are `6000,1200,52`; empty for no limits.",
    ),
    Setting(
        "CRM_SERVER_DENIED",
        words,
        "",
        "Privileges that `manage.py crmserver` refuses, comma-separated, such as `prvReadEntity`: to try the "
        "service with an account that may do less.",
    ),
    Setting(
        "CRM_SERVER_FAULTS",
        flag,
        "0",
        "Whether `manage.py crmserver` fails on request, to test its clients. Development only.",
    ),
    Setting("BODY_LIMIT", whole, str(1024 * 1024), "Largest JSON body, in bytes."),
    Setting(
        "UPLOAD_LIMIT",
        whole,
        str(128 * 1024 * 1024),
        "Largest file of any upload, in bytes. Where it is raised, raise PLATFORM_TIMEOUT and "
        "REQUEST_DEADLINE to the time that the platform takes to store such a file.",
    ),
    Setting(
        "UPLOAD_FOLDER",
        text,
        "",
        "Where uploads wait on disk until they are complete. Empty: the system's temporary folder.",
    ),
    Setting("QUERY_STRING_LIMIT", whole, str(8 * 1024), "Longest query string, in bytes."),
    Setting(
        "REQUEST_DEADLINE",
        whole,
        "30",
        "Seconds a request may take from when it was received, waiting and platform calls included.",
    ),
    Setting("PLATFORM_TIMEOUT", whole, "20", "Seconds a single platform call may take."),
    Setting("METADATA_TIMEOUT", whole, "120", "Seconds one request for Dataverse's metadata may take."),
    Setting(
        "METADATA_REFRESH",
        whole,
        "15",
        "Minutes from one look for changes of Dataverse's metadata to the next; 0: only *Refresh* looks.",
    ),
    Setting(
        "CRM_CHANGES",
        whole,
        "30",
        "Seconds from one look for changes of what cached answers are read from to the next; 0: never.",
    ),
    Setting("CALLER_RATE", whole, "600", "Requests a minute for one caller; 0 switches the limit off."),
    Setting("ADDRESS_RATE", whole, "60", "Requests a minute for one anonymous address; 0 switches it off."),
    Setting(
        "LOGIN_RATE",
        whole,
        "60",
        "Logins and refreshes a minute for one address, of the API and of the studio; 0 switches it off.",
    ),
    Setting(
        "LOGIN_FAILURES",
        whole,
        "10",
        "Failed logins of one account from one network before a lock-out. Twice as many of one account from "
        "anywhere slow it down, three times as many from one network lock that out. 0 switches it off.",
    ),
    Setting(
        "STUDIO_OIDC_ISSUER",
        url("https", "http"),
        "",
        "The OpenID provider that people sign in to the studio at: exactly the `issuer` of its discovery "
        "document. Empty: accounts of the studio alone.",
    ),
    Setting("STUDIO_OIDC_CLIENT_ID", text, "", "The studio's client id at that provider."),
    Setting(
        "STUDIO_OIDC_CLIENT_SECRET",
        text,
        "",
        "The secret of that client. Empty for a public client.",
        secret=True,
    ),
    Setting(
        "STUDIO_OIDC_NAME",
        text,
        "OpenID Connect",
        "What the login page calls the provider: *Sign in with …*.",
    ),
    Setting(
        "STUDIO_OIDC_SCOPES", text, "openid profile email", "Scopes asked for, with spaces between them."
    ),
    Setting(
        "STUDIO_OIDC_GROUPS_CLAIM",
        text,
        "groups",
        "The claim with a person's groups or roles: its name, or a path with dots such as "
        "`realm_access.roles`.",
    ),
    Setting(
        "STUDIO_OIDC_GROUPS",
        group_table,
        "{}",
        "Groups of the studio by a value of that claim, as a JSON object: "
        '`{"crm-admins": "Administrator", "crm-team": ["Designer", "Publisher"]}`. Nobody else gets in.',
    ),
    Setting(
        "STUDIO_OIDC_CONTACT",
        text,
        "",
        "Whom people ask who are signed in and may not enter, such as `it-help@example.com`.",
    ),
    Setting(
        "STUDIO_OIDC_HOURS",
        between(1, 720),
        "10",
        "Hours after which the provider is asked again: its claims hold for so long.",
    ),
    Setting(
        "STUDIO_OIDC_PRIVATE_ADDRESS",
        flag,
        "0",
        "Whether STUDIO_OIDC_ISSUER may lead into a private network.",
    ),
    Setting(
        "STUDIO_LOCAL_LOGIN",
        words,
        "",
        "The only accounts that may log in to the studio with name and password, comma-separated: one for "
        "emergencies. Empty: all that have a password.",
    ),
    Setting(
        "AUDIT_DAYS",
        # Calendars of databases and of Python begin with the year 1.
        between(0, 365_000),
        "400",
        "Days that entries of the audit log are kept; 0 keeps them for ever. Run `manage.py prepare` after a "
        "change: the database itself refuses to delete an entry before.",
    ),
    Setting(
        "PRIVATE_DESCRIPTIONS",
        flag,
        "0",
        "Show OpenAPI documents and `/api/schema` only to callers with a token.",
    ),
    Setting(
        "PROPOSALS_API",
        flag,
        "0",
        "Whether proposals can be opened and read at `/api/admin/proposals`, with keys that are made in the "
        "studio under Proposal keys.",
    ),
    Setting(
        "DESCRIPTION_WAIT",
        whole,
        "12",
        "Seconds that a reader waits for what is being described, before 503 `not_described_yet`.",
    ),
    Setting(
        "METRICS_TOKEN",
        text,
        "",
        "The bearer token that `/metrics` asks of other machines. Empty: it answers this machine only.",
        secret=True,
    ),
    Setting(
        "ACCESS_LOG",
        flag,
        "1",
        "A log line for each request, where LOG_LEVEL is `INFO` or `DEBUG`; 0 for none.",
    ),
    Setting(
        "OPENTELEMETRY",
        flag,
        "0",
        "Send traces and metrics by OTLP over HTTP, as the variables of OpenTelemetry (`OTEL_…`) say. Needs "
        "the packages of requirements-otel.lock.",
    ),
    Setting("LOG_LEVEL", one_of("DEBUG", "INFO", "WARNING", "ERROR"), "INFO", "How much is logged."),
)


def load(environ: dict[str, str] | None = None) -> dict[str, Any]:
    """Return every setting's value by name. Raises ImproperlyConfigured naming the variable and what to
    write.
    """
    source = os.environ if environ is None else environ
    return {setting.name: _value_of_setting(setting, source) for setting in SETTINGS}


def _value_of_setting(setting: Setting, source: Any) -> Any:
    """Return the value of a setting, from its variable, from the file that `NAME_FILE` names, or its default.
    Raises ImproperlyConfigured.
    """
    # Pipelines and Compose files set variables that they have no value for to nothing.
    raw = source.get(setting.name) or None
    if raw is None and setting.secret and (path := source.get(f"{setting.name}_FILE")):
        try:
            raw = Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{setting.name}_FILE: cannot read {path}: {error.strerror}."
            ) from error
        except UnicodeDecodeError as error:
            raise ImproperlyConfigured(
                f"{setting.name}_FILE: {path} is no text in UTF-8. Write the secret as text, such as base64."
            ) from error
    if raw is None:
        raw = setting.default
    try:
        return setting.read(raw)
    except ValueError as error:
        shown_setting = setting.name if setting.secret else f"{setting.name}={raw!r}"
        raise ImproperlyConfigured(f"{shown_setting}: {error}. {setting.help}") from error

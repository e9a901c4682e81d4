"""The API's own routes as the document describes them: tokens, the user context, descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from designer.definitions import AccessDefinition
from runtime.describe.documentation import Documentation
from runtime.describe.openapi_operations import Route
from runtime.describe.schema_parts import LIST_NAMES
from runtime.describe.schema_shapes import components, reference
from runtime.http.query_string import LCID
from runtime.http.rendering import JSON
from runtime.operations.base import Description
from runtime.serving.served import Served
from runtime.tokens.grants import REFRESH_FORM, TOKEN_FORM
from runtime.tokens.token_views import REVOCATION_INPUTS

# Stand among the endpoints' ids, which begin with 1, for the API's own routes: those open to all, and those
# that want a token.
OPEN_ROUTES, GUARDED_ROUTES = 0, -1
OWN_ROUTES = frozenset({OPEN_ROUTES, GUARDED_ROUTES})

YAML = "application/yaml"
SCHEMA_JSON = "application/schema+json"

_MODULE = {
    "name": "module",
    "in": "query",
    "description": "Only this module, by its segment, with what belongs to no module.",
    "schema": {"type": "string"},
}
_VERSION = {
    "name": "version",
    "in": "query",
    "description": "The version of OpenAPI; 3.0 for generators that read no newer one.",
    "schema": {"type": "string", "enum": ["3.1", "3.0"], "default": "3.1"},
}
_FORM = {
    "name": "form",
    "in": "query",
    "description": "One operation of it as a form: a JSON Schema, with hints for widgets.",
    "schema": {"type": "string"},
}
_NAME = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "Its name in the list, or the platform's name while only one has it.",
    "schema": {"type": "string", "minLength": 1},
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page at an address of the API that does not come from the configuration."""

    path: str
    operation_id: str
    summary: str
    description: str
    parameters: tuple[Mapping[str, Any], ...]
    answer: Mapping[str, Any]
    media: str = JSON

    @property
    def parameter_names(self) -> frozenset[str]:
        """The names of the page's query-string parameters."""
        return frozenset(parameter["name"] for parameter in self.parameters if parameter["in"] == "query")

    @property
    def names_its_type(self) -> bool:
        """Whether the path ends in an extension. It says what is wanted more exactly than `Accept`, which is
        not checked then.
        """
        return "." in self.path.rpartition("/")[2]

    @property
    def is_named(self) -> bool:
        """Whether the path ends in the name of an entry."""
        return _NAME in self.parameters

    @property
    def access(self) -> AccessDefinition:
        """The access to the page: everybody, unless PRIVATE_DESCRIPTIONS asks for a token."""
        return AccessDefinition(authentication_required=settings.PORTICO["PRIVATE_DESCRIPTIONS"])


def _page_of_list(list_name: str, title: str) -> Page:
    """Return the page of one list of /api/schema."""
    return Page(
        path=f"/api/schema/{list_name}", operation_id=f"schema.{list_name}", summary=title,
        description=f"The {list_name} of /api/schema alone.",
        parameters=(LCID, _MODULE), answer=reference("schema"),
    )  # fmt: skip


def _page_of_entry(list_name: str, title: str) -> Page:
    """Return the page of one entry of a list of /api/schema."""
    return Page(
        path=f"/api/schema/{list_name}/{{name}}", operation_id=f"schema.{list_name}.one", summary=title,
        description=f"One of the {list_name} of /api/schema, or the form of one of its operations.",
        parameters=(_NAME, LCID, _FORM), answer={"anyOf": [reference(list_name), reference("form")]},
    )  # fmt: skip


_TITLES = {
    "entities": ("Entities", "One entity"),
    "queries": ("Queries", "One query"),
    "processes": ("Processes", "One process"),
    "optionsets": ("Option sets", "One option set"),
}
PAGES: tuple[Page, ...] = (
    Page(
        path="/api/openapi.json", operation_id="openapi.json", summary="OpenAPI",
        description="This document: what its reader may call.",
        parameters=(LCID, _MODULE, _VERSION), answer={"type": "object"},
    ),
    Page(
        path="/api/openapi.yaml", operation_id="openapi.yaml", summary="OpenAPI as YAML",
        description="This document: what its reader may call.",
        parameters=(LCID, _MODULE, _VERSION), answer={"type": "object"}, media=YAML,
    ),
    Page(
        path="/api/schema", operation_id="schema", summary="Everything",
        description="What its reader may call, for those who build forms and clients.",
        parameters=(LCID, _MODULE), answer=reference("schema"),
    ),
    Page(
        path="/api/schema/modules", operation_id="schema.modules", summary="Modules",
        description="The modules of what its reader may call, with the number of their endpoints.",
        parameters=(LCID,), answer=reference("modules"),
    ),
    Page(
        path="/api/schema/format", operation_id="schema.format", summary="The form of /api/schema",
        description="The JSON Schema of what /api/schema answers.",
        parameters=(), answer={"type": "object"}, media=SCHEMA_JSON,
    ),
    *(_page_of_list(list_name, _TITLES[list_name][0]) for list_name in LIST_NAMES),
    *(_page_of_entry(list_name, _TITLES[list_name][1]) for list_name in LIST_NAMES),
)  # fmt: skip


def own_routes(served: Served, which: int) -> list[Route]:
    """Return the routes that are served with every configuration, without the page of Swagger UI.

    `which` is OPEN_ROUTES or GUARDED_ROUTES.
    """
    return list(_open_routes() if which == OPEN_ROUTES else _guarded_routes(served))


def _open_routes() -> Iterator[Route]:
    """Yield the routes that are open to all: tokens and descriptions."""
    public = AccessDefinition(authentication_required=False)
    for operation_id, path, summary, words, described in _TOKEN_ROUTES:
        documentation = Documentation(
            operation_id=operation_id, summary=summary, description=words, tag="Tokens", access=public
        )
        yield Route(path, "POST", documentation, described)
    yield from map(_route_of_page, PAGES)


def _guarded_routes(served: Served) -> Iterator[Route]:
    """Yield the routes that need a token: the user context."""
    documentation = Documentation(
        operation_id="context",
        summary="User context",
        description="What the configuration says of the caller, under the names it gives.",
        tag="Context",
        access=AccessDefinition(),
    )
    description = Description(
        success=(200, served.user_context.schema(), "The caller's properties."),
        headers={"ETag": "A digest of this answer."},
        problems={400: ("invalid_parameter",), 422: ("too_many_rows",)},
    )
    yield Route("/api/context", "GET", documentation, description)


_TOKENS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "access": {"type": "string"},
        "refresh": {"type": "string"},
        "access_token": {"type": "string", "description": "The same as `access`, by OAuth's name."},
        "refresh_token": {"type": "string", "description": "The same as `refresh`, by OAuth's name."},
        "token_type": {"type": "string", "const": "Bearer"},
        "expires_in": {"type": "integer", "description": "Seconds."},
    },
    "required": ["access", "refresh", "access_token", "refresh_token", "token_type", "expires_in"],
}
_NOT_STORED = {
    "Cache-Control": "`no-store`: tokens are for the caller alone.",
    "Pragma": "`no-cache`, which says the same to older caches.",
}


def _description_of_token_route(
    form: dict[str, Any], success: tuple[int, dict[str, Any] | None, str], **problems: str
) -> Description:
    """Return the description of a route for tokens, whose body is `form` as JSON or URL-encoded.

    `problems` are the codes of this route alone, by status, as in `s401="invalid_token"`.
    """
    own_codes = {int(status[1:]): tuple(codes.split()) for status, codes in problems.items()}
    return Description(
        success=success,
        # The same members URL-encoded are accepted, too, but not documented: generators of clients cannot
        # deal with two media types for one request.
        body=form,
        headers=_NOT_STORED if success[1] else {},
        problems={
            **own_codes,
            400: ("malformed_body", "invalid_input", "invalid_parameter", *own_codes.get(400, ())),
            415: ("unsupported_media_type",),
        },
        speaks_oauth=True,
    )


_PAIR = (200, _TOKENS, "A pair of tokens.")
_OPTIONAL = frozenset({"refresh", "refresh_token"})
_GRANTED = (
    200,
    {**_TOKENS, "required": [name for name in _TOKENS["required"] if name not in _OPTIONAL]},
    "An access token and, but for `client_credentials`, a refresh token.",
)
_WAITS = "locked_out slowed_down"
_FORM_TOO = (
    "Send JSON, or the same members URL-encoded. With a `grant_type` refusals are those of OAuth 2: "
    "`application/json` with `error` and `error_description`, and a grant that is not good is 400."
)
# Operation id, path, summary, description, and the rest.
_TOKEN_ROUTES = (
    (
        "token", "/api/token", "Get tokens",
        "A user name and a password for an access and a refresh token. As OAuth 2 has it, `grant_type` "
        "names the grant: `password`; `refresh_token` with a `refresh_token`; `client_credentials` with an "
        "API key, whose prefix is the `client_id` and whose rest is the `client_secret`, in the body or by "
        f"HTTP Basic. {_FORM_TOO}",
        _description_of_token_route(
            TOKEN_FORM, _GRANTED, s400="unsupported_grant_type invalid_credentials invalid_token",
            s401="invalid_credentials invalid_client", s429=_WAITS,
        ),
    ),
    (
        "token_refresh", "/api/token/refresh", "Renew tokens",
        "A refresh token for its successor and a new access token. For 30 seconds it leads to the same "
        f"successor again; sent later, it ends the login that it belongs to. {_FORM_TOO}",
        _description_of_token_route(
            REFRESH_FORM, _PAIR, s400="unsupported_grant_type invalid_token", s401="invalid_token",
        ),
    ),
    (
        "token_revoke", "/api/token/revoke", "Revoke tokens",
        "Ends the login that a refresh token belongs to (RFC 7009). A token that is not known is revoked "
        "already.",
        _description_of_token_route(
            REVOCATION_INPUTS.schema(), (200, None, "The token is good no longer."),
            s400="unsupported_token_type",
        ),
    ),
)  # fmt: skip


def _route_of_page(page: Page) -> Route:
    """Return the route of a page, with its description."""
    documentation = Documentation(
        operation_id=page.operation_id,
        summary=page.summary,
        description=page.description,
        tag="Introspection",
        access=page.access,
    )
    description = Description(
        success=(200, dict(page.answer), page.summary),
        media=page.media,
        parameters=tuple(dict(parameter) for parameter in page.parameters),
        headers={"ETag": "Stands for this answer."},
        problems={400: ("invalid_parameter",), 503: ("not_described_yet",)},
        components=components(),
    )
    return Route(page.path, "GET", documentation, description)

"""Operations in OpenAPI's words. drf-spectacular asks; definitions answer.

It asks views, and looks for them in the URL configuration. Ours are made here, of routes: what serves a
request knows nothing of documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from rest_framework.viewsets import ViewSet

from designer.kinds.operation_kind import Meaning
from designer.platform import get_platform
from runtime.describe.documentation import LIMIT_HEADERS, PROBLEM, Documentation, refusals, response_name
from runtime.describe.examples import NoExample, example, without_optional_ids
from runtime.describe.oauth_responses import OAUTH_ERROR, oauth_name, oauth_response
from runtime.describe.option_components import OptionComponents
from runtime.http.rendering import JSON
from runtime.operations.base import Description

Paths: TypeAlias = dict[str, dict[str, Any]]

_SECURITY: list[dict[str, list[str]]] = [{"account": []}, {"bearer": []}]
# A pattern for the values of a header that are printable, with no blank at either end.
_PRINTABLE = "^[!-~¡-¬®-ÿ]([ -~¡-¬®-ÿ]*[!-~¡-¬®-ÿ])?$"
ANY, BYTES = "*/*", "application/octet-stream"
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of an answer that the caller has: 304 when it still holds.",
    "schema": {"type": "string"},
}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": (
        "The same key and body within a day get the first answer again; nothing is done twice. Without a "
        "token, send a key that nobody can guess, such as a UUID."
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": _PRINTABLE},
}
_NOT_MODIFIED = {"description": "What the caller has still holds."}


class Route(NamedTuple):
    """A path and a method, in upper case, with all that is said of what they do."""

    path: str
    method: str
    documentation: Documentation
    description: Description


class Components:
    """Components by kind and name. It replaces drf-spectacular's registry, which compares classes."""

    def __init__(self) -> None:
        self.by_kind: Paths = {}
        # Statuses with the codes that they may carry: what responses to them say follows from that.
        self.problems: dict[int, dict[tuple[str, ...], None]] = {}

    def refer_to_problem(self, status: int, codes: tuple[str, ...]) -> dict[str, Any]:
        """Return a reference to the response for a status with these codes, and note that it is needed."""
        self.problems.setdefault(status, {})[codes] = None
        return {"$ref": f"#/components/responses/{response_name(status, codes)}"}

    def refer(self, kind: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
        """Return a reference to a component, and add the component unless the name is there already."""
        self.by_kind.setdefault(kind, {}).setdefault(name, content)
        return {"$ref": f"#/components/{kind}/{name}"}


class OperationSchema(AutoSchema):
    """Describes a `RouteView`."""

    @property
    def documentation(self) -> Documentation:
        return cast(RouteView, self.view).documentation

    @property
    def described(self) -> Description:
        return cast(RouteView, self.view).described

    @property
    def meaning(self) -> Meaning | None:
        """Return what this method does, if the methods of the view do different things."""
        return self.documentation.meanings.get(self.method)

    def get_operation_id(self) -> str:
        extra = f".{self.method.lower()}" if self.method in self.documentation.spellings else ""
        return self.documentation.operation_id + extra

    def get_tags(self) -> list[str]:
        return [self.documentation.tag]

    def get_summary(self) -> str:
        return self.documentation.summary if self.meaning is None else self.meaning.label

    def get_description(self) -> str:  # type: ignore[override]
        return self.documentation.description if self.meaning is None else self.meaning.summary

    def get_auth(self) -> list[dict[str, list[str]]]:
        return _SECURITY if self.documentation.access.authentication_required else [{}]

    def get_extensions(self) -> dict[str, Any]:
        roles = self.documentation.access.roles
        return {"x-roles": list(roles)} if roles else {}

    def _get_parameters(self) -> list[dict[str, Any]]:
        """Return the parameters: ids in the path, those that the operation describes, and headers of HTTP."""
        described = self.described
        guid = {"type": "string", "format": "uuid"}
        parameters: list[dict[str, Any]] = [
            {"name": name[1:-1], "in": "path", "required": True, "schema": guid}
            for name in self.path.split("/")
            if name.startswith("{")
            and name[1:-1] not in {parameter["name"] for parameter in described.parameters}
        ]
        parameters += described.parameters
        if self._is_conditional(described):
            parameters.append(self._refer("parameters", "IfNoneMatch", _IF_NONE_MATCH))
        if self.documentation.repeatable:
            parameters.append(self._refer("parameters", "IdempotencyKey", _IDEMPOTENCY_KEY))
        return parameters

    def _get_request_body(self, direction: str = "request") -> dict[str, Any] | None:
        """Return the request body as drf-spectacular asks for it; None for an operation without one."""
        described = self.described
        content: dict[str, Any] = {}
        if described.body is not None:
            options = OptionComponents(get_platform())
            schema = options.in_input(described.body, described.fields)
            content[JSON] = self._content("input", schema, options)
        content |= {media: {"schema": schema} for media, schema in described.bodies.items()}
        return {"required": _must_be_sent(described), "content": content} if content else None

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        """Return the responses by status, as drf-spectacular asks for them: success, others, and problems."""
        described = self.described
        status, schema, meaning = described.success
        success: dict[str, Any] = {"description": meaning if self.meaning is None else self.meaning.done}
        if described.headers:
            success["headers"] = {name: _header(text) for name, text in described.headers.items()}
        if self.documentation.is_limited:
            success.setdefault("headers", {}).update(LIMIT_HEADERS)
        if schema is not None:
            answer = self._answer_content(schema, described)
            # Whatever type a file is of, generated clients take it as bytes.
            media = (BYTES, described.media) if described.media == ANY else (described.media,)
            success["content"] = dict.fromkeys(media, answer)
        responses = {str(status): success}
        responses |= {
            str(other): {**success, "description": text} for other, text in described.others.items()
        }
        if described.empty:
            responses["204"] = {"description": described.empty}
        if self._is_conditional(described):
            responses["304"] = self._refer("responses", "NotModified", _NOT_MODIFIED)
        for refused, codes in refusals(self.documentation, described).items():
            responses[str(refused)] = self._problem_response(refused, codes)
        return responses

    def _answer_content(self, schema: dict[str, Any], described: Description) -> dict[str, Any]:
        """Return the media type object of a successful answer."""
        if described.media != JSON:
            return {"schema": schema}
        options = OptionComponents(get_platform())
        answer = self._content("output", options.in_output(schema, described.columns), options)
        return answer if described.example is None else {**answer, "example": described.example}

    def _content(self, direction: str, schema: dict[str, Any], options: OptionComponents) -> dict[str, Any]:
        """Add the schema as a component. Return the media type object, with an example if one can be made.

        `direction` is the last part of the component's name, such as `output`.
        """
        components = {**self.described.components, **options.components}
        for name, component in components.items():
            self._refer("schemas", name, component)
        if "$ref" in schema:
            return {"schema": schema}
        name = f"{self.documentation.operation_id}.{direction}"
        content: dict[str, Any] = {"schema": self._refer("schemas", name, schema)}
        try:
            shown_schema = schema if direction == "output" else without_optional_ids(schema)
            content["example"] = example(shown_schema, components)
        except NoExample:
            return content
        return content

    def _problem_response(self, status: int, codes: tuple[str, ...]) -> dict[str, Any]:
        """Return a reference to the response for a status with these problem codes."""
        if self.described.speaks_oauth:
            self._refer("schemas", "Problem", PROBLEM)
            self._refer("schemas", "OAuthError", OAUTH_ERROR)
            return self._refer("responses", oauth_name(status, codes), oauth_response(status, codes))
        return cast(Components, self.registry).refer_to_problem(status, codes)

    def _is_conditional(self, described: Description) -> bool:
        """Whether the answer has an ETag that a reader can send back to ask for changes."""
        return self.method == "GET" and "ETag" in described.headers

    def _refer(self, kind: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
        return cast(Components, self.registry).refer(kind, name, content)


class RouteView(ViewSet):
    """A view for drf-spectacular to read, in place of the view that serves a route."""

    schema = OperationSchema()
    documentation: Documentation = None  # type: ignore[assignment]
    described: Description = None  # type: ignore[assignment]

    def answer(self) -> None:
        """Do nothing. Only drf-spectacular looks at this view; nobody calls it."""


class RouteSchemaGenerator(SchemaGenerator):
    """Makes the document of `routes`. Not thread-safe, as its parent is not."""

    def __init__(self, routes: Sequence[Route], **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self.routes = routes
        self.registry: Any = Components()

    def _initialise_endpoints(self) -> None:
        """Set what the parent would read from the URL configuration: path, pattern, method and view of each
        route.
        """
        self.endpoints: Any = [
            (
                route.path,
                route.path,
                route.method,
                RouteView.as_view(
                    {route.method.lower(): "answer"},
                    documentation=route.documentation,
                    described=route.description,
                ),
            )
            for route in self.routes
        ]

    def operations(self) -> Paths:
        """Return the operations of the routes, by path and by method in lower case."""
        paths: Paths = self.parse(None, True)  # type: ignore[no-untyped-call]
        return paths

    def components(self) -> Paths:
        """Return the components that `operations` refer to, by kind and name."""
        by_kind: Paths = self.registry.by_kind
        return by_kind

    def problems(self) -> list[tuple[int, tuple[str, ...]]]:
        """Return the problems that `operations` refer to, as pairs of a status and its codes."""
        registry: Components = self.registry
        return [(status, codes) for status, code_lists in registry.problems.items() for codes in code_lists]


def no_request(*_: Any) -> None:
    """Stand in for drf-spectacular's mock request, which views here do not need and which is slow to make."""


def _must_be_sent(described: Description) -> bool:
    """Whether a call needs a body: also an optional body must be sent when one of its members is required."""
    return not described.body_optional or bool(described.body and described.body.get("required"))


def _header(description: str) -> dict[str, Any]:
    """Return the description of a response header, which holds a text."""
    return {"description": description, "schema": {"type": "string"}}

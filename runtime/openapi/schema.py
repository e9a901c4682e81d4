"""A view's part of the document. drf-spectacular asks; definitions answer."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, cast

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.types import OpenApiTypes

from runtime.openapi.documentation import Documented
from runtime.openapi.problem_schema import PROBLEM
from runtime.problems import CONTENT_TYPE
from runtime.rendering import JSON

# What any request may be refused with, whatever it asks for.
_ALWAYS = {
    404: ("not_found",),
    406: ("not_acceptable",),
    429: ("too_many_requests",),
    500: ("internal_error",),
    502: ("platform_error",),
    503: ("platform_unavailable", "endpoint_misconfigured"),
    504: ("platform_timeout",),
}
_GUARDED = {401: ("authentication_required", "invalid_token"), 403: ("forbidden",)}
_OPEN = {401: ("invalid_token",)}
_SECURITY: list[dict[str, list[str]]] = [{"account": []}, {"bearer": []}]


class EndpointSchema(AutoSchema):
    """Describes a `Documented` view."""

    @property
    def documented(self) -> Documented:
        return cast(Documented, self.view)

    def get_operation_id(self) -> str:
        documented = self.documented.document()
        extra = f"_{self.method.lower()}" if self.method in documented.spellings else ""
        return documented.operation_id + extra

    def get_tags(self) -> list[str]:
        return [self.documented.document().tag]

    def get_summary(self) -> str:
        return self.documented.document().summary

    def get_description(self) -> str:  # type: ignore[override]
        return self.documented.document().description

    def get_auth(self) -> list[dict[str, list[str]]]:
        return _SECURITY if self.documented.document().access.authentication_required else [{}]

    def get_extensions(self) -> dict[str, Any]:
        roles = self.documented.document().access.roles
        return {"x-roles": list(roles)} if roles else {}

    def _get_parameters(self) -> list[dict[str, Any]]:
        described = list(self.documented.describe().parameters)
        guid = {"type": "string", "format": "uuid"}
        ids = [name[1:-1] for name in self.path.split("/") if name.startswith("{")]
        return [{"name": id, "in": "path", "required": True, "schema": guid} for id in ids] + described

    def _get_request_body(self, direction: str = "request") -> dict[str, Any] | None:
        described = self.documented.describe()
        bodies = described.bodies if described.body is None else {JSON: described.body}
        if not bodies:
            return None
        content = {media: {"schema": schema} for media, schema in bodies.items()}
        return {"required": not described.body_optional, "content": content}

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        described = self.documented.describe()
        status, schema, meaning = described.success
        success: dict[str, Any] = {"description": meaning}
        if described.headers:
            success["headers"] = {name: _header(text) for name, text in described.headers.items()}
        if schema is not None:
            success["content"] = {described.media: {"schema": schema}}
            if described.example is not None:
                success["content"][described.media]["example"] = described.example
        guarded = self.documented.document().access.authentication_required
        problems = {**_ALWAYS, **(_GUARDED if guarded else _OPEN), **described.problems}
        others = {str(other): {**success, "description": text} for other, text in described.others.items()}
        return {str(status): success, **others} | {
            str(refused): self._problem(refused, codes) for refused, codes in sorted(problems.items())
        }

    def _problem(self, status: int, codes: tuple[str, ...]) -> dict[str, Any]:
        known = ", ".join(f"`{code}`" for code in codes)
        component = ResolvedComponent(  # type: ignore[no-untyped-call]
            name="Problem", type=ResolvedComponent.SCHEMA, schema=PROBLEM, object=OpenApiTypes.OBJECT
        )
        self.registry.register_on_missing(component)
        return {
            "description": f"{HTTPStatus(status).phrase}: {known}",
            "content": {CONTENT_TYPE: {"schema": component.ref}},
        }


def _header(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string"}}

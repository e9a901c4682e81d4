"""drf-spectacular's generator, handed views instead of looking for them in the URL configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.generators import SchemaGenerator

# Path, method in upper case, and the view as `as_view` made it.
Route = tuple[str, str, Any]

SECURITY_SCHEMES = {
    "account": {
        "type": "oauth2",
        "description": "An API account of this service.",
        "flows": {"password": {"tokenUrl": "/api/token", "refreshUrl": "/api/token/refresh", "scopes": {}}},
    },
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
}


class DefinitionSchemaGenerator(SchemaGenerator):
    """Makes the document of `routes`. Not thread-safe, as its parent is not."""

    def __init__(self, routes: Sequence[Route], **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self.routes = routes

    def _initialise_endpoints(self) -> None:
        self.endpoints: Any = [(path, path, method, view) for path, method, view in self.routes]

    def document(self) -> dict[str, Any]:
        """The whole OpenAPI document, with the security schemes that operations refer to."""
        document: dict[str, Any] = self.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
        document.setdefault("components", {})["securitySchemes"] = SECURITY_SCHEMES
        return document

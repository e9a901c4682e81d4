"""Delete: removes a record."""

from __future__ import annotations

from designer.kinds.base import OperationKind, Scope
from designer.kinds.versions import VersionSettings

DELETE = OperationKind(
    name="delete",
    label="Delete",
    summary="Deletes a record.",
    scope=Scope.ENTITY,
    methods=("DELETE",),
    path="/api/{module}/{segment}/{id}",
    settings=VersionSettings,
)

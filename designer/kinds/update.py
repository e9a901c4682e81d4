"""Update: changes what the caller sends of a record, and leaves the rest alone."""

from __future__ import annotations

from designer.kinds.base import OperationKind, Scope, Section
from designer.kinds.versions import VersionSettings

UPDATE = OperationKind(
    name="update",
    label="Update",
    summary="Changes a record. What a call leaves out stays as it is.",
    scope=Scope.ENTITY,
    methods=("PATCH", "PUT"),
    path="/api/{module}/{segment}/{id}",
    settings=VersionSettings,
    sections=frozenset({Section.INPUTS, Section.BINDINGS}),
    partial=True,
)

"""Create: a new record of the exposed entity from the caller's inputs."""

from __future__ import annotations

from designer.kinds.base import OperationKind, Scope, Section

CREATE = OperationKind(
    name="create",
    label="Create",
    summary="Creates a record and answers its id.",
    scope=Scope.ENTITY,
    methods=("POST",),
    path="/api/{module}/{segment}",
    sections=frozenset({Section.INPUTS, Section.BINDINGS}),
    binds_all_required=True,
)

"""Create: a new record of the exposed entity from the caller's inputs."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from designer.kinds.base import STEPS, OperationKind, Scope, Section

CREATE = OperationKind(
    name="create",
    label=_("Create"),
    summary=_("Creates a record and answers its id."),
    scope=Scope.ENTITY,
    methods=("POST",),
    path="/api/{module}/{segment}",
    sections=frozenset({Section.INPUTS, Section.BINDINGS}) | STEPS,
    binds_all_required=True,
)

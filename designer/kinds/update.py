"""Update: changes what the caller sends of a record, and leaves the rest alone."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from designer.kinds.operation_kind import STEPS, OperationKind, Scope, Section
from designer.kinds.versions import VersionSettings

UPDATE = OperationKind(
    name="update",
    label=_("Update"),
    summary=_("Changes a record. What a call leaves out stays as it is."),
    scope=Scope.ENTITY,
    methods=("PATCH", "PUT"),
    path="/api/{module}/{segment}/{id}",
    settings=VersionSettings,
    sections=frozenset({Section.INPUTS, Section.BINDINGS}) | STEPS,
    partial=True,
)

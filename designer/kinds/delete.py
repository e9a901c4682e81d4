"""Delete: removes a record."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from designer.kinds.operation_kind import STEPS, OperationKind, Scope
from designer.kinds.versions import VersionSettings

DELETE = OperationKind(
    name="delete",
    label=_("Delete"),
    summary=_("Deletes a record."),
    scope=Scope.ENTITY,
    methods=("DELETE",),
    path="/api/{module}/{segment}/{id}",
    settings=VersionSettings,
    sections=STEPS,
    removes_records=True,
)

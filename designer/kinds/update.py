"""Update: changes what the caller sends of a record, and leaves the rest alone."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_noop as _

from designer.kinds.duplicates import DuplicateSettings
from designer.kinds.operation_kind import STEPS, OperationKind, Scope, Section
from designer.kinds.record_groups import RecordGroup, groups_of_entity
from designer.kinds.versions import VersionSettings
from designer.kinds.vocabulary import MetadataSource


class UpdateSettings(VersionSettings, DuplicateSettings):
    """The settings of an update. Its lists hold changes to the records of a relationship."""

    def record_groups(self, entity: str, metadata: MetadataSource) -> Mapping[str, RecordGroup]:
        """Return the relationships whose records can be changed with the record, by name; none without an
        entity.
        """
        return groups_of_entity(entity, metadata.relationships(entity)) if entity else {}


UPDATE = OperationKind(
    name="update",
    label=_("Update"),
    summary=_("Changes a record. Attributes that a call leaves out stay as they are."),
    scope=Scope.ENTITY,
    methods=("PATCH", "PUT"),
    path="/api/{module}/{segment}/{id}",
    settings=UpdateSettings,
    sections=frozenset({Section.INPUTS, Section.BINDINGS}) | STEPS,
    partial=True,
    takes_lists=True,
)

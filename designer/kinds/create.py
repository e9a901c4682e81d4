"""Create: a new record of the exposed entity from the caller's inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.kinds.duplicates import DuplicateSettings
from designer.kinds.effects import Effect, Switch
from designer.kinds.operation_kind import STEPS, OperationKind, Scope, Section
from designer.kinds.record_groups import RecordGroup, groups_of_entity
from designer.kinds.vocabulary import MetadataSource


class CreateSettings(DuplicateSettings):
    """`may_create_outside_rule`: a record may be made that no reader under the row rule reaches."""

    creates_records: ClassVar[bool] = True

    may_create_outside_rule: Annotated[
        bool,
        Switch(
            _("records may be created outside the row rule"),
            Effect.BEHAVIOUR,
            _("records are created within the row rule only: other calls are refused"),
            Effect.BREAKING,
        ),
    ] = Field(
        False,
        title=_("May create outside its rule"),
        description=_(
            "Callers may create records that the row rule does not let them read afterwards. "
            "Otherwise such a call is refused with 403."
        ),
    )

    @property
    def creates_outside_row_rule(self) -> bool:
        return self.may_create_outside_rule

    def record_groups(self, entity: str, metadata: MetadataSource) -> Mapping[str, RecordGroup]:
        """Return the relationships whose records can be created with the record, by name; none without an
        entity.
        """
        return groups_of_entity(entity, metadata.relationships(entity)) if entity else {}


CREATE = OperationKind(
    name="create",
    label=_("Create"),
    summary=_("Creates a record and returns its id."),
    scope=Scope.ENTITY,
    methods=("POST",),
    path="/api/{module}/{segment}",
    settings=CreateSettings,
    sections=frozenset({Section.INPUTS, Section.BINDINGS}) | STEPS,
    binds_all_required=True,
    takes_lists=True,
)

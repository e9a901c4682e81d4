"""Actions: a process of the platform, run on a record or by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.definition import SetOf
from designer.kinds.effects import Effect, Told
from designer.kinds.operation_kind import STEPS, OperationKind, Place, Scope, Section
from designer.kinds.pickers import PROCESS
from designer.kinds.process_parameters import inputs_of, outputs_of
from designer.kinds.record_groups import RecordGroup, groups_of_process
from designer.kinds.settings import EndpointSettings
from designer.kinds.vocabulary import MetadataSource, Vocabulary


class ActionSettings(EndpointSettings):
    """`process` is the process's name. Its inputs are what bindings set, its outputs the columns."""

    process: Annotated[str, PROCESS, Told(_("process"), Effect.BREAKING)] = Field(
        "",
        title=_("Process"),
        description=_(
            "The process that a call runs. Save the endpoint, then choose the process's "
            "inputs and outputs below."
        ),
    )
    show_process_message: bool = Field(
        False,
        title=_("Show the process's message"),
        description=_("When the process refuses a call, callers read the message of the process."),
    )

    changes: Annotated[SetOf[str], Told(_("entities that it changes"), Effect.ADDITIVE)] = Field(
        (),
        title=_("Entities that it changes"),
        description=_(
            "The logical names of these entities, separated by commas. A call removes the cached "
            "answers that were read from them and from the record's own entity. If you name no "
            "entity, a call removes all cached answers."
        ),
    )

    @property
    def changed_entities(self) -> tuple[str, ...]:
        """The entities that the process may change; empty: any entity."""
        return self.changes

    @property
    def platform_name(self) -> str:
        """The name of the process; empty while none is chosen."""
        return self.process

    @property
    def process_name(self) -> str:
        return self.process

    def vocabulary(self, entity: str, metadata: MetadataSource) -> Vocabulary | None:
        """Return the inputs and outputs of the process; None while it is not chosen, or not known to the
        platform.
        """
        process = metadata.process(self.process)
        if process is None:
            return None
        return Vocabulary(process.name, inputs_of(process), outputs_of(process))

    def record_groups(self, entity: str, metadata: MetadataSource) -> Mapping[str, RecordGroup]:
        """Return the parameters of the process that take records, by name; none for an unknown process."""
        process = metadata.process(self.process)
        return groups_of_process(process) if process else {}


_SECTIONS = frozenset({Section.INPUTS, Section.BINDINGS, Section.COLUMNS}) | STEPS

LOCAL_ACTION = OperationKind(
    name="action",
    label=_("Action"),
    summary=_("Runs a process on a record."),
    scope=Scope.ENTITY,
    methods=("POST",),
    path="/api/{module}/{segment}/{id}/actions/{name}",
    settings=ActionSettings,
    sections=_SECTIONS,
    binds_all_required=True,
    takes_lists=True,
    place=Place.ACTIONS,
)

GLOBAL_ACTION = OperationKind(
    name="global-action",
    label=_("Global action"),
    summary=_("Runs a process that belongs to no record."),
    scope=Scope.MODULE,
    methods=("POST",),
    path="/api/{module}/actions/{name}",
    settings=ActionSettings,
    sections=_SECTIONS,
    binds_all_required=True,
    takes_lists=True,
    place=Place.ACTIONS,
)

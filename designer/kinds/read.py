"""Read: one record's configured columns."""

from __future__ import annotations

from pydantic import Field

from designer.definitions.endpoints import EndpointSettings
from designer.kinds.base import OperationKind, Scope, Section


class ReadSettings(EndpointSettings):
    """`labels`: each option's value is followed by its label, in the language that the caller asks for."""

    labels: bool = Field(
        False,
        title="Labels of options",
        description="An option set “industry” is followed by “industryLabel”, in the caller's lcid.",
    )


READ = OperationKind(
    name="read",
    label="Read",
    summary="Answers one record.",
    scope=Scope.ENTITY,
    methods=("GET",),
    path="/api/{module}/{segment}/{id}",
    settings=ReadSettings,
    sections=frozenset({Section.COLUMNS}),
)

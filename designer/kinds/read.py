"""Read: one record's configured columns."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.kinds.operation_kind import LABELS, STEPS, OperationKind, Scope, Section
from designer.kinds.settings import CachedSettings


class ReadSettings(CachedSettings):
    """`labels`: each option's value is followed by its label, in the language that the caller asks for."""

    labels: Annotated[bool, LABELS] = Field(
        False,
        title=_("Labels of options"),
        description=_(
            "The answer has “industryLabel” after an option set “industry”, in the language "
            "of the caller's lcid."
        ),
    )

    @property
    def has_labels(self) -> bool:
        return self.labels


READ = OperationKind(
    name="read",
    label=_("Read"),
    summary=_("Returns one record."),
    scope=Scope.ENTITY,
    methods=("GET",),
    path="/api/{module}/{segment}/{id}",
    settings=ReadSettings,
    sections=frozenset({Section.COLUMNS}) | STEPS,
)

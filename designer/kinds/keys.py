"""Kinds that find a record by an alternate key: read by key, and upsert."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from django.utils.translation import gettext_noop as _
from pydantic import Field

from crmclient.metadata import AlternateKey
from designer.kinds.create import CreateSettings
from designer.kinds.effects import Effect, Told
from designer.kinds.operation_kind import STEPS, OperationKind, Scope, Section
from designer.kinds.pickers import ALTERNATE_KEY
from designer.kinds.read import ReadSettings
from designer.kinds.settings import EndpointSettings


class KeySettings(EndpointSettings):
    """`key` is the name of the alternate key whose value stands in the path."""

    key: Annotated[str, ALTERNATE_KEY, Told(_("alternate key"), Effect.BREAKING)] = Field(
        "",
        title=_("Alternate key"),
        description=_("The alternate key of the entity. Its value is part of the path."),
    )

    @property
    def key_name(self) -> str:
        return self.key

    def key_among(self, keys: Iterable[AlternateKey]) -> AlternateKey | None:
        """Return the alternate key that `key` names; None when it is not among `keys`."""
        return next((key for key in keys if key.name == self.key), None)


class ReadByKeySettings(ReadSettings, KeySettings):
    """The settings of a read, and the key."""


class UpsertSettings(CreateSettings, KeySettings):
    """The settings of a create, and the key."""


_PATH = "/api/{module}/{segment}/keys/{name}/{value}"

READ_BY_KEY = OperationKind(
    name="read-by-key",
    label=_("Read by key"),
    summary=_("Returns one record, found by an alternate key."),
    scope=Scope.ENTITY,
    methods=("GET",),
    path=_PATH,
    settings=ReadByKeySettings,
    sections=frozenset({Section.COLUMNS}) | STEPS,
)

UPSERT = OperationKind(
    name="upsert",
    label=_("Upsert"),
    summary=_(
        "Changes the record with an alternate key, or creates it. Attributes that a call leaves "
        "out stay as they are."
    ),
    scope=Scope.ENTITY,
    methods=("PUT",),
    path=_PATH,
    settings=UpsertSettings,
    sections=frozenset({Section.INPUTS, Section.BINDINGS}) | STEPS,
    binds_all_required=True,
    partial=True,
)

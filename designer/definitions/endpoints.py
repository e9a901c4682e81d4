"""An endpoint: one operation with its path, inputs, bindings and access."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from crmclient.query.designed import DesignedQuery
from designer.definitions.access import AccessDefinition
from designer.definitions.base import Definition
from designer.definitions.bindings import BindingDefinition
from designer.definitions.columns import ColumnDefinition
from designer.definitions.inputs import InputDefinition
from designer.definitions.queries import FilterValue
from designer.definitions.steps import FetcherDefinition, PreconditionDefinition
from designer.definitions.vocabulary import MetadataSource, Vocabulary
from designer.sentences import Sentence


class EndpointSettings(Definition):
    """What only one kind of operation needs. Each kind declares its own subclass.

    The members below are what others ask of any kind. A kind overrides those that its endpoints answer
    differently, so that nobody has to know which kind an endpoint is of.
    """

    # Whether endpoints of the kind ask a query of their own, designed or not yet.
    asks_query: ClassVar[bool] = False
    # Whether endpoints of the kind make records of the exposed entity.
    creates_records: ClassVar[bool] = False
    # Whether an answer lists the records of that query, with paths or pages of them to be found.
    lists_records: ClassVar[bool] = False
    # Whether answers hold what is in records, which not everybody may see.
    answers_records: ClassVar[bool] = True

    def methods(self, of_kind: tuple[str, ...]) -> tuple[str, ...]:
        """The HTTP methods that the endpoint takes, among those of its kind."""
        return of_kind

    @property
    def item(self) -> str:
        """The path parameter of one item of the list answered; empty where items have no paths."""
        return ""

    @property
    def platform_name(self) -> str:
        """What the platform calls the process or option set that is served; empty where it is neither."""
        return ""

    @property
    def related_segment(self) -> str:
        """The segment of another exposed entity of the module, whose records calls reach too; empty where
        there is none.
        """
        return ""

    @property
    def designed_query(self) -> DesignedQuery | None:
        """The endpoint's own query, where its kind asks one and it is designed."""
        return None

    @property
    def creates_outside_row_rule(self) -> bool:
        """Whether calls may make records that the row rule keeps from their callers."""
        return False

    @property
    def has_labels(self) -> bool:
        """Whether answers hold the label of an option beside its value."""
        return False

    def vocabulary(self, entity: str, metadata: MetadataSource) -> Vocabulary | None:
        """What bindings may set and columns may answer, for an endpoint of the exposed `entity`.

        None while what it would come from is not chosen, or not known to the platform.
        """
        attributes = metadata.attributes(entity) if entity else {}
        return Vocabulary(entity, attributes, attributes) if attributes else None

    def first_rows(self, most: int) -> EndpointSettings:
        """The same, for an answer of at most `most` rows where it would list more and refuse to."""
        return self


class EndpointDefinition(Definition):
    """One configured operation.

    `module` and `exposure` (the segment of the exposed entity in that module) are empty where the kind has
    none. `segment` is the endpoint's own path segment, empty for the entity's; `name` is the last segment of
    kinds that are named (queries, files, actions, option sets). `settings` are of the type the kind declares.
    `row_rule` narrows that of the exposed entity. `fetchers` run in their order, then all `preconditions`
    must hold.
    """

    kind: str
    module: str = ""
    exposure: str = ""
    segment: str = ""
    name: str = ""
    title: str = ""
    description: str = ""
    enabled: bool = True
    access: AccessDefinition = AccessDefinition()
    inputs: tuple[InputDefinition, ...] = ()
    bindings: tuple[BindingDefinition, ...] = ()
    columns: tuple[ColumnDefinition, ...] = ()
    row_rule: FilterValue = None
    fetchers: tuple[FetcherDefinition, ...] = ()
    preconditions: tuple[PreconditionDefinition, ...] = ()
    settings: EndpointSettings = Field(default_factory=EndpointSettings)

    @cached_property
    def key(self) -> str:
        """Unique and stable over exports: `sales.accounts.create`, `sales.accounts.upload.contract`."""
        return ".".join(
            part for part in (self.module, self.exposure, self.segment, self.kind, self.name) if part
        )

    @model_validator(mode="before")
    @classmethod
    def _settings_of_kind(cls, data: Any) -> Any:
        if isinstance(data, dict) and not isinstance(data.get("settings"), EndpointSettings):
            from designer.kinds import KINDS  # the registry's modules declare their settings from this one

            kind = KINDS.get(data.get("kind", ""))
            if kind is not None:
                given = data.get("settings")
                return {**data, "settings": kind.settings.model_validate({} if given is None else given)}
        return data

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        from designer.kinds import KINDS

        if kind not in KINDS:
            raise ValueError(
                Sentence(
                    "unknown kind %(kind)s; one of %(known)s",
                    kind=repr(kind),
                    known=", ".join(sorted(KINDS)),
                )
            )
        return kind

    @field_serializer("settings")
    def _settings_to_json(self, settings: EndpointSettings) -> dict[str, Any]:
        return settings.to_json()

    @model_serializer(mode="wrap")
    def _without_empty_settings(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if not data.get("settings"):
            data.pop("settings", None)
        return data

"""An endpoint: one operation with its path, inputs, bindings and access."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from designer.definition import Definition
from designer.definitions.access import AccessDefinition
from designer.definitions.bindings import BindingDefinition
from designer.definitions.columns import ColumnDefinition
from designer.definitions.example_calls import ExampleCalls
from designer.definitions.inputs import InputDefinition
from designer.definitions.row_rules import Acknowledgements
from designer.definitions.steps import FetcherDefinition, PreconditionDefinition
from designer.definitions.translations import LONGEST_LINE, Translated, Translations
from designer.kinds import KINDS
from designer.kinds.settings import EndpointSettings
from designer.sentences import Sentence
from designer.stored_queries import FilterValue


class EndpointDefinition(Translated):
    """One configured operation.

    `module` and `exposure` (the segment of the exposed entity in that module) are empty where the kind has
    none. `segment` is the endpoint's own path segment, empty for the entity's; `name` is the last segment of
    kinds that are named (queries, files, actions, option sets). `settings` are of the type the kind declares.
    `row_rule` narrows that of the exposed entity. `fetchers` run in their order, then all `preconditions`
    must hold. `acknowledgements` are of what it reaches past row rules on purpose. `example_calls` say what
    it should answer; nobody is served otherwise for them.
    """

    longest: ClassVar[Mapping[str, int | None]] = {"title": LONGEST_LINE, "description": None}

    kind: str
    module: str = ""
    exposure: str = ""
    segment: str = ""
    name: str = ""
    title: str = ""
    description: str = ""
    translations: Translations = Field(default_factory=dict)
    enabled: bool = True
    access: AccessDefinition = AccessDefinition()
    inputs: tuple[InputDefinition, ...] = ()
    bindings: tuple[BindingDefinition, ...] = ()
    columns: tuple[ColumnDefinition, ...] = ()
    row_rule: FilterValue = None
    fetchers: tuple[FetcherDefinition, ...] = ()
    preconditions: tuple[PreconditionDefinition, ...] = ()
    acknowledgements: Acknowledgements = ()
    example_calls: ExampleCalls = ()
    settings: EndpointSettings = Field(default_factory=EndpointSettings)

    @cached_property
    def key(self) -> str:
        """Unique and stable over exports: `sales.accounts.create`, `sales.accounts.upload.contract`."""
        return ".".join(
            part for part in (self.module, self.exposure, self.segment, self.kind, self.name) if part
        )

    @property
    def _with_texts(self) -> tuple[Translated, ...]:
        return (*self.inputs, *self.preconditions)

    def in_language(self, lcid: int) -> Self:
        found = super().in_language(lcid)
        if not any(part.languages() for part in self._with_texts):
            return found
        return found.model_copy(
            update={
                "inputs": tuple(known.in_language(lcid) for known in self.inputs),
                "preconditions": tuple(known.in_language(lcid) for known in self.preconditions),
            }
        )

    def languages(self) -> frozenset[int]:
        return super().languages().union(*(part.languages() for part in self._with_texts))

    @model_validator(mode="before")
    @classmethod
    def _settings_of_kind(cls, data: Any) -> Any:
        if isinstance(data, dict) and not isinstance(data.get("settings"), Definition):
            kind = KINDS.get(data.get("kind", ""))
            if kind is not None:
                given = data.get("settings")
                return {**data, "settings": kind.settings.model_validate({} if given is None else given)}
        return data

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
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

"""An endpoint: one operation with its path, access, inputs, bindings, columns and steps."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from designer.definition import Definition, JsonValue, SetOf
from designer.definitions.example_calls import ExampleCalls
from designer.definitions.row_rules import Acknowledgements
from designer.definitions.translations import LONGEST_LINE, LONGEST_MESSAGE, Translated, Translations
from designer.kinds import KINDS
from designer.kinds.settings import EndpointSettings
from designer.names import SERVICE_TYPE, USER_TYPE
from designer.queries.stored_queries import FilterValue, QueryValue
from designer.sentences import Sentence

BindingSource: TypeAlias = Literal["input", "constant", "user", "fetch", "expression"]

# HTTP statuses that say why a caller's request cannot be done.
PreconditionStatus: TypeAlias = Literal[400, 403, 404, 409, 422]


class AccessDefinition(Definition):
    """Who may call an endpoint: callers of one of `caller_types` who have one of `roles`.

    Without roles, every caller of these types may, if it has a token. Without `authentication_required`
    anyone may, and there are no roles. The default of `caller_types` is what documents mean that are older
    than caller types.
    """

    authentication_required: bool = True
    roles: SetOf[str] = ()
    caller_types: SetOf[str] = (SERVICE_TYPE, USER_TYPE)


class ColumnDefinition(Definition):
    """A column of an endpoint's answer.

    `attribute` is an attribute's name, the key of a query's column, or the name of a process's output; `name`
    is what the answer calls it (empty: the same). A calculated column has `expression`, in CEL, and `name`,
    but no `attribute`.
    """

    attribute: str = ""
    name: str = ""
    expression: str = ""

    @property
    def shown_as(self) -> str:
        """The name of the column in answers: its own, else that of its attribute."""
        return self.name or self.attribute


class BindingDefinition(Definition):
    """The value that an endpoint writes to `attribute`. `source` says what `value` is:

    `input`: an input's name. `constant`: the value itself, in JSON form. `user`: the name of a user property,
    which the studio shows as `@user.name`. `fetch`: a fetcher's name and column with a dot between them,
    which the studio shows as `@fetch.name.column`. `expression`: a CEL expression.
    """

    attribute: str
    source: BindingSource = "input"
    value: JsonValue

    @model_validator(mode="after")
    def _refuse_values_that_are_no_text(self) -> Self:
        """Refuse a value that is not text, unless it is a constant: all other values name something.

        A draft may have no value yet (None).
        """
        if self.source != "constant" and not isinstance(self.value, str | None):
            raise ValueError(
                Sentence(
                    "%(attribute)s: from %(source)s, its value is written as text",
                    attribute=self.attribute,
                    source=self.source,
                )
            )
        return self


class InputDefinition(Translated):
    """An input of an endpoint. `type` is the name of an input type (`designer.types`).

    `minimum` and `maximum` are inclusive. `min_length` and `max_length` count characters, or items of a list.
    `pattern` is a regular expression; empty: any text. `allowed` has the only values accepted, in JSON form;
    empty: all values. `default` is used when the input is absent; None: no default. A `required` input must
    have a value: a call may leave it out only if it has a default, and never send null. `nullable` lets null
    clear an attribute on update. `label` is what forms call the input; empty: what the platform calls its
    attribute, in each of the platform's languages.

    An input of the type `List` holds records that are created together with the endpoint's own record.
    `relationship` is the schema name of the one-to-many relationship from that record to them; `inputs` and
    `bindings` are those of each item.
    """

    longest: ClassVar[Mapping[str, int | None]] = {"label": LONGEST_LINE, "description": None}

    name: str
    type: str = "String"
    required: bool = False
    nullable: bool = True
    default: JsonValue = None
    label: str = ""
    description: str = ""
    translations: Translations = Field(default_factory=dict)
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    min_length: int | None = Field(default=None, ge=0)
    max_length: int | None = Field(default=None, ge=0)
    pattern: str = ""
    allowed: tuple[JsonValue, ...] = ()
    relationship: str = ""
    inputs: tuple[InputDefinition, ...] = ()
    bindings: tuple[BindingDefinition, ...] = ()

    @property
    def must_be_sent(self) -> bool:
        """Whether a call without this input is refused: it is required and has no default."""
        return self.required and self.default is None

    def in_language(self, lcid: int) -> Self:
        """Return the input with its texts, and those of its own inputs, in the language `lcid`."""
        translated = super().in_language(lcid)
        inputs = tuple(nested.in_language(lcid) for nested in self.inputs)
        return translated if inputs == self.inputs else translated.model_copy(update={"inputs": inputs})

    def languages(self) -> frozenset[int]:
        return super().languages().union(*(nested.languages() for nested in self.inputs))


class FetcherDefinition(Definition):
    """A data fetcher: a query for one row, whose columns expressions and queries read as
    `@fetch.name.column`.

    If it finds several rows, the first is taken with `first`; else the request is refused. The row rule
    of the query's entity applies to it only with `apply_row_rules`.
    """

    name: str
    query: QueryValue = None
    first: bool = False
    apply_row_rules: bool = False


class PreconditionDefinition(Translated):
    """A CEL expression that must be true. If it is not, the answer is the problem `status` with `message`."""

    longest: ClassVar[Mapping[str, int | None]] = {"message": LONGEST_MESSAGE}

    expression: str
    status: PreconditionStatus = 422
    message: str = ""
    translations: Translations = Field(default_factory=dict)


class EndpointDefinition(Translated):
    """An endpoint: an operation of the API, with everything that is configured for it.

    `module` is a module's segment, `exposure` the segment of the exposed entity in it; both are empty where
    the kind has none. `segment` is the endpoint's own path segment; empty: the exposed entity's. `name` is
    the last path segment of kinds that have one (queries, files, actions, option sets). `settings` are of
    the type that the kind declares. `row_rule` narrows the row rule of the exposed entity. `fetchers` run in
    their order, before all `preconditions`. `acknowledgements` are for entities that it reaches past row
    rules on purpose. `example_calls` say what it should answer, and change nothing in what is served.
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
    settings: EndpointSettings = Field(default=None, validate_default=True)

    @cached_property
    def key(self) -> str:
        """The key of the endpoint in documents, such as `sales.accounts.create` or
        `sales.accounts.upload.contract`. No two endpoints share one.
        """
        return ".".join(
            part for part in (self.module, self.exposure, self.segment, self.kind, self.name) if part
        )

    @property
    def _translated_parts(self) -> tuple[Translated, ...]:
        """The parts of the endpoint that have texts of their own."""
        return (*self.inputs, *self.preconditions)

    def in_language(self, lcid: int) -> Self:
        """Return the endpoint with its texts, and those of its parts, in the language `lcid`."""
        translated = super().in_language(lcid)
        # Without translated parts, the copy below would only cost time.
        if not any(part.languages() for part in self._translated_parts):
            return translated
        return translated.model_copy(
            update={
                "inputs": tuple(nested.in_language(lcid) for nested in self.inputs),
                "preconditions": tuple(nested.in_language(lcid) for nested in self.preconditions),
            }
        )

    def languages(self) -> frozenset[int]:
        return super().languages().union(*(part.languages() for part in self._translated_parts))

    @field_validator("kind")
    @classmethod
    def _refuse_unknown_kinds(cls, kind: str) -> str:
        """Return the kind. Raises ValueError for a kind that is not registered."""
        if kind not in KINDS:
            raise ValueError(
                Sentence(
                    "unknown kind %(kind)s; one of %(known)s",
                    kind=repr(kind),
                    known=", ".join(sorted(KINDS)),
                )
            )
        return kind

    @field_validator("settings", mode="before")
    @classmethod
    def _settings_of_kind(cls, settings: Any, info: ValidationInfo) -> Any:
        """Return the settings as the class that the kind declares. None stands for the defaults."""
        kind = KINDS.get(info.data.get("kind", ""))
        if kind is None:
            # `_refuse_unknown_kinds` has refused the kind. Its settings have no class to be checked by.
            return EndpointSettings()
        if isinstance(settings, Definition):
            return settings
        return kind.settings.model_validate({} if settings is None else settings)

    @field_serializer("settings")
    def _settings_to_json(self, settings: EndpointSettings) -> dict[str, Any]:
        return settings.to_json()

    @model_serializer(mode="wrap")
    def _without_empty_settings(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the JSON of the endpoint, without the member `settings` when all settings are defaults."""
        data: dict[str, Any] = handler(self)
        if not data.get("settings"):
            data.pop("settings", None)
        return data

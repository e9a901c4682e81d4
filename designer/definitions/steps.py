"""What an endpoint does between its inputs and its call of the platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias

from pydantic import Field

from designer.definition import Definition
from designer.definitions.translations import LONGEST_MESSAGE, Translated, Translations
from designer.stored_queries import QueryValue

# HTTP statuses that say why a caller's request cannot be done.
PreconditionStatus: TypeAlias = Literal[400, 403, 404, 409, 422]


class FetcherDefinition(Definition):
    """A query for one row, whose columns are then `@fetch.name.column`.

    Several rows are a conflict unless the `first` is meant. The exposed entity's row rules apply to it only
    with `apply_row_rules`.
    """

    name: str
    query: QueryValue = None
    first: bool = False
    apply_row_rules: bool = False


class PreconditionDefinition(Translated):
    """A CEL expression that must be true; else the answer is `status` with `message`."""

    longest: ClassVar[Mapping[str, int | None]] = {"message": LONGEST_MESSAGE}

    expression: str
    status: PreconditionStatus = 422
    message: str = ""
    translations: Translations = Field(default_factory=dict)

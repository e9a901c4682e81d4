"""What an endpoint does between its inputs and its call of the platform."""

from __future__ import annotations

from typing import Literal, TypeAlias

from designer.definition import Definition
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


class PreconditionDefinition(Definition):
    """A CEL expression that must be true; else the answer is `status` with `message`."""

    expression: str
    status: PreconditionStatus = 422
    message: str = ""

"""Write generations: what ends cached answers in every process as soon as a write of ours is done.

A request reads the generations of all entities along with the configuration's revision, in one query, and
looks for answers of just these. A write gives its entities new ones before it begins, so that nothing is
found that was read before it, and again when it is over, so that nothing is found that was read while it was
under way. An answer whose reading began under older generations is kept where nobody looks any more.

Nobody reads or raises them while no endpoint caches its answers.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from functools import lru_cache

import orjson
from django.db import DEFAULT_DB_ALIAS, connections

# What stands for every entity.
ANY = "*"

_TABLE = "runtime_writegeneration"
_SQL_BY_VENDOR = {
    "sqlite": f"(SELECT json_group_object(entity, token) FROM {_TABLE})",  # noqa: S608  names of ours
    "postgresql": f"(SELECT json_object_agg(entity, token)::text FROM {_TABLE})",  # noqa: S608
}


class Generations:
    """The generations that one request has read."""

    def __init__(self, text: str | None) -> None:
        self.text = text or "{}"
        self._by_entity: Mapping[str, str] = orjson.loads(self.text)

    def of(self, entities: Collection[str] | None) -> str:
        """Return a text that changes with the records of `entities` (None: of any entity)."""
        if entities is None:
            return self.text
        by_entity = self._by_entity
        return ",".join([by_entity.get(ANY, ""), *(by_entity.get(entity, "") for entity in sorted(entities))])


@lru_cache(maxsize=4)
def generations_of(text: str | None) -> Generations:
    """Return the generations in `text`, the result of the expression that `generations_sql` returns.

    Between two writes the text is the same for every request, so the parsed object is shared.
    """
    return Generations(text)


def generations_sql() -> str:
    """Return a scalar SQL expression that reads the generations of all entities."""
    return _SQL_BY_VENDOR[connections[DEFAULT_DB_ALIAS].vendor]


def raise_generations(entities: Collection[str]) -> None:
    """Invalidate all cached answers that were read from `entities` before now."""
    # In one order, so that two writes never wait for each other's rows.
    names = sorted(set(entities))
    # The parameters of the statement: for each entity its name and a new token, one after the other.
    parameters = [parameter for name in names for parameter in (name, secrets.token_hex(12))]
    values = ", ".join(["(%s, %s)"] * len(names))
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {_TABLE} (entity, token) VALUES {values} "  # noqa: S608  names of ours
            "ON CONFLICT (entity) DO UPDATE SET token = excluded.token",
            parameters,
        )

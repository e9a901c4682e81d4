"""Finds the record with the key in a path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crmclient import Platform, Value
from crmclient.errors import UnfitValue
from crmclient.query.ast import Column, Page, Query
from runtime.request_context import Exchange
from runtime.steps.rules import RowRule, both
from runtime.values.key_values import same_key


class KeyedRecords:
    """Finds records of `entity` by an alternate key. It reads `columns`, the id and the version.

    `version` is the attribute that holds the version; None for records without versions.
    """

    def __init__(self, entity: str, columns: Iterable[str], version: str | None, platform: Platform) -> None:
        self._entity = entity
        self._platform = platform
        self.primary_id = platform.entities()[entity].primary_id
        column_names = (*columns, self.primary_id, *([version] if version else ()))
        self._columns = tuple(Column(name) for name in dict.fromkeys(column_names))

    def find(
        self, key: Mapping[str, Value], exchange: Exchange, rule: RowRule | None
    ) -> Mapping[str, Value] | None:
        """Return the record with this key; None without one, and for a key that the platform cannot be asked
        for.

        With a `rule`, return None also for a record that the caller does not reach.
        """
        rule_filter = None if rule is None else rule.filter(exchange)
        query = Query(self._entity, self._columns, both(same_key(key), rule_filter))
        try:
            rows = self._platform.query(query, Page(size=1), call=exchange.call).rows
        except UnfitValue:
            return None
        return rows[0] if rows else None

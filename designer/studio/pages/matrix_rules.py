"""Row rules in the permission matrix: beside who may call an endpoint, which records these callers reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from designer.access_control.access_matrix import Row
from designer.access_control.caller_rights import (
    CallerFacts,
    EndpointRights,
    RuleReach,
    in_words,
    reach_of,
    rule_reach,
)
from designer.definitions import ExposedEntityDefinition, RowRuleEntry
from designer.overview import Overview
from designer.sentences import said
from designer.studio.row_rule_entries import entity_pages, entry_in_words
from designer.studio.rule_columns import column_addresses


@dataclass(frozen=True, slots=True)
class RuleCell:
    """What callers of a column reach, in words, an item for each entry.

    `link` leads to where that is changed; empty: the account may not change it.
    """

    label: str
    texts: Sequence[str]
    link: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """The row rule of an exposed entity: a cell for each column. `link` leads to where all of it is changed.

    `is_none`: no row rule keeps anything from anybody.
    """

    name: str
    link: str
    cells: Sequence[RuleCell]
    is_none: bool


class MatrixRules:
    """What the matrix says of the row rules in `columns`."""

    def __init__(
        self, overview: Overview, columns: Sequence[tuple[str, str]], *, may_change: bool = False
    ) -> None:
        configuration = overview.configuration
        self._configuration, self._metadata = configuration, overview.metadata
        self._exposed = {exposed.key: exposed for exposed in configuration.entities}
        self._columns = columns
        self._pages = entity_pages(configuration)
        self._address = column_addresses() if may_change else None
        ids = configuration.ids.entities if configuration.ids else {}
        self._ids = {exposed.key: id for id, exposed in ids.items()}
        self._words: dict[tuple[str, int], str] = {}

    def of(self, exposure: str) -> RuleRow | None:
        """Return the row of an exposed entity; None for an unknown key."""
        exposed = self._exposed.get(exposure)
        if exposed is None:
            return None
        cells = [self._cell(exposed, column, label) for column, label in self._columns]
        name = f"{exposed.module}/{exposed.segment}"
        return RuleRow(name, self._pages.get(exposed.key, ""), cells, not exposed.row_rule)

    def _cell(self, exposed: ExposedEntityDefinition, column: str, label: str) -> RuleCell:
        texts = self._reached_by(rule_reach(CallerFacts.of_column(column), exposed))
        id = self._ids.get(exposed.key)
        link = "" if self._address is None or id is None else self._address(id, column)
        return RuleCell(label, texts, link)

    def _reached_by(self, reach: RuleReach) -> list[str]:
        if not reach.is_open and not reach.entries:
            return [_("no record")]
        return [said(text) for text in in_words(reach, self._say)]

    def by_endpoint(self, rows: Iterable[Row], column: str) -> dict[int, list[str]]:
        """Return what callers of a column reach by each endpoint, by row id."""
        return {row.id: self.reached(row.id, CallerFacts.of_column(column)) for row in rows}

    def reached(self, id: int, caller: CallerFacts) -> list[str]:
        endpoint = self._configuration.endpoints[id]
        narrowed = endpoint.definition.row_rule is not None
        return self.records(EndpointRights(id, endpoint, "", tuple(reach_of(caller, endpoint)), narrowed))

    def records(self, rights: EndpointRights) -> list[str]:
        """Return what the caller reaches by the endpoint, one text for each entry of a row rule."""
        several = len(rights.reach) > 1
        texts = []
        for reach in rights.reach:
            place = f"{reach.exposed.module}/{reach.exposed.segment}: " if several else ""
            texts += [f"{place}{said(text)}" for text in in_words(reach, self._say)]
        if rights.is_narrowed:
            texts.append(_("narrowed by the row rule of the endpoint"))
        return texts

    def _say(self, exposed: ExposedEntityDefinition, entry: RowRuleEntry) -> str:
        # Many endpoints are of one entity.
        key = exposed.key, id(entry)
        if key not in self._words:
            self._words[key] = entry_in_words(exposed, entry, self._metadata)
        return self._words[key]

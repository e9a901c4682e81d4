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
    """The records that callers of a column reach: a text for each entry of the row rule.

    `label` names the column. `link` leads to the page that changes these entries; empty where the account may
    not change them.
    """

    label: str
    texts: Sequence[str]
    link: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """The row rule of an exposed entity as a row of the matrix, with a cell for each column.

    `name` is the exposed entity, such as `sales/accounts`. `link` leads to the page that changes the whole
    rule. `is_absent`: there is no rule, so that every caller reaches all records.
    """

    name: str
    link: str
    cells: Sequence[RuleCell]
    is_absent: bool


class MatrixRules:
    """The words of the matrix about row rules. `columns` are pairs of name and label: of a role, or of those
    who need none.

    With `may_change`, each cell has a link to the page that changes its entries.
    """

    def __init__(
        self, overview: Overview, columns: Sequence[tuple[str, str]], *, may_change: bool = False
    ) -> None:
        configuration = overview.configuration
        self._configuration, self._metadata = configuration, overview.metadata
        self._columns = columns
        self._exposed_by_key = {exposed.key: exposed for exposed in configuration.entities}
        self._pages_by_key = entity_pages(configuration)
        entities_by_row_id = configuration.ids.entities if configuration.ids else {}
        self._ids_by_key = {exposed.key: id for id, exposed in entities_by_row_id.items()}
        self._cell_address = column_addresses() if may_change else None
        # The texts of entries of row rules, by the exposed entity's key and the `id()` of the entry. Many
        # endpoints are of one entity, and each entry is worded once. The configuration keeps the entries
        # alive, so that no `id()` is used twice.
        self._entry_texts: dict[tuple[str, int], str] = {}

    def row_of(self, exposure: str) -> RuleRow | None:
        """Return the row of the exposed entity with the key `exposure`; None for an unknown key."""
        exposed = self._exposed_by_key.get(exposure)
        if exposed is None:
            return None
        return RuleRow(
            name=f"{exposed.module}/{exposed.segment}",
            link=self._pages_by_key.get(exposed.key, ""),
            cells=[self._cell_of(exposed, column, label) for column, label in self._columns],
            is_absent=not exposed.row_rule,
        )

    def _cell_of(self, exposed: ExposedEntityDefinition, column: str, label: str) -> RuleCell:
        """Return the cell of an exposed entity in a column, which has a name and a label."""
        texts = self._reach_texts(rule_reach(CallerFacts.of_column(column), exposed))
        id = self._ids_by_key.get(exposed.key)
        link = "" if self._cell_address is None or id is None else self._cell_address(id, column)
        return RuleCell(label, texts, link)

    def _reach_texts(self, reach: RuleReach) -> list[str]:
        """Return a text for each entry. A cell is narrow: where there is none, the text is a short one."""
        if not reach.is_open and not reach.entries:
            return [_("no record")]
        return [said(text) for text in in_words(reach, self._entry_text)]

    def records_by_endpoint(self, rows: Iterable[Row], column: str) -> dict[int, list[str]]:
        """Return the records that callers of a column reach by each endpoint, as texts by its row id."""
        return {row.id: self._records_at(row.id, CallerFacts.of_column(column)) for row in rows}

    def _records_at(self, id: int, caller: CallerFacts) -> list[str]:
        """Return the records that the caller reaches by the endpoint with the row id `id`, as texts."""
        endpoint = self._configuration.endpoints[id]
        narrowed = endpoint.definition.row_rule is not None
        # Whether the caller may call is said elsewhere on the page: no reason against it is given here.
        rights = EndpointRights(
            id=id,
            endpoint=endpoint,
            why_not="",
            reach=tuple(reach_of(caller, endpoint)),
            is_narrowed=narrowed,
        )
        return self.records_reached(rights)

    def records_reached(self, rights: EndpointRights) -> list[str]:
        """Return the records that the caller reaches by the endpoint: a text for each entry of a row rule.

        Where several exposed entities rule the endpoint, each text begins with the name of its own.
        """
        several = len(rights.reach) > 1
        texts = []
        for reach in rights.reach:
            place = f"{reach.exposed.module}/{reach.exposed.segment}: " if several else ""
            texts += [f"{place}{said(text)}" for text in in_words(reach, self._entry_text)]
        if rights.is_narrowed:
            texts.append(_("narrowed by the row rule of the endpoint"))
        return texts

    def _entry_text(self, exposed: ExposedEntityDefinition, entry: RowRuleEntry) -> str:
        """Return the entry of a row rule in words, made once."""
        key = exposed.key, id(entry)
        if key not in self._entry_texts:
            self._entry_texts[key] = entry_in_words(exposed, entry, self._metadata)
        return self._entry_texts[key]

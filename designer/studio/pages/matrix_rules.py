"""Row rules in the permission matrix: beside who may call an endpoint, which records these callers reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from designer.access_matrix import Row
from designer.caller_rights import EndpointRights, RuleReach, Standing, in_words, reach_of, rule_reach
from designer.definitions import ExposedEntityDefinition, RowRuleEntry
from designer.overview import Overview
from designer.sentences import said
from designer.studio.row_rule_entries import entity_pages, entry_in_words


@dataclass(frozen=True, slots=True)
class RuleRow:
    """The row rule of an exposed entity. `cells` has for each column what its callers reach, in words; none
    where no row rule keeps anything from anybody. `link` leads to where it is changed.
    """

    name: str
    link: str
    cells: Sequence[Sequence[str]]


class MatrixRules:
    """What the matrix says of the row rules in `columns`."""

    def __init__(self, seen: Overview, columns: Sequence[str]) -> None:
        configuration = seen.configuration
        self._configuration, self._metadata = configuration, seen.metadata
        self._exposed = {exposed.key: exposed for exposed in configuration.entities}
        self._standings = [Standing.of_column(column) for column in columns]
        self._pages = entity_pages(configuration)
        self._words: dict[tuple[str, int], str] = {}

    def of(self, exposure: str) -> RuleRow | None:
        """None where `exposure` is not the key of an exposed entity."""
        exposed = self._exposed.get(exposure)
        if exposed is None:
            return None
        cells = [self._cell(rule_reach(one, exposed)) for one in self._standings] if exposed.row_rule else []
        name = f"{exposed.module}/{exposed.segment}"
        return RuleRow(name, self._pages.get(exposed.key, ""), cells)

    def _cell(self, reach: RuleReach) -> list[str]:
        if not reach.is_open and not reach.entries:
            return [_("no record")]
        return [said(text) for text in in_words(reach, self._say)]

    def by_endpoint(self, rows: Iterable[Row], column: str) -> dict[int, list[str]]:
        """What callers of a column reach by each endpoint, by row id."""
        return {row.id: self.reached(row.id, Standing.of_column(column)) for row in rows}

    def reached(self, id: int, standing: Standing) -> list[str]:
        endpoint = self._configuration.endpoints[id]
        narrowed = endpoint.definition.row_rule is not None
        return self.records(EndpointRights(id, endpoint, "", tuple(reach_of(standing, endpoint)), narrowed))

    def records(self, rights: EndpointRights) -> list[str]:
        """What the caller reaches by the endpoint, an item for each entry of a row rule."""
        several = len(rights.reach) > 1
        found = []
        for reach in rights.reach:
            place = f"{reach.exposed.module}/{reach.exposed.segment}: " if several else ""
            found += [f"{place}{said(text)}" for text in in_words(reach, self._say)]
        if rights.is_narrowed:
            found.append(_("narrowed by the row rule of the endpoint"))
        return found

    def _say(self, exposed: ExposedEntityDefinition, entry: RowRuleEntry) -> str:
        # Many endpoints are of one entity.
        key = exposed.key, id(entry)
        if key not in self._words:
            self._words[key] = entry_in_words(exposed, entry, self._metadata)
        return self._words[key]

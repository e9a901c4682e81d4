"""Multi-select choices that equal a set of options: FetchXML can only ask which options they contain."""

from __future__ import annotations

from dataclasses import replace

from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.queries.sources import Sources, source_named
from crmclient.metadata import Attribute, AttributeType, OptionSet
from crmclient.query.ast import Condition, Filter, FilterItem, Link, Operator


class Choices:
    """Rewrites filters: `eq 1,2` is *contains 1 and contains 2 and none of the others*."""

    def __init__(self, sources: Sources, catalogue: Catalogue) -> None:
        self._sources = sources
        self._catalogue = catalogue

    def rewrite_filter(self, group: Filter, holder: str | None) -> Filter:
        """Return the filter of the link with the alias `holder` (None: of the entity) as Dataverse can
        compare it.
        """
        return Filter(tuple(self._rewrite_item(item, holder) for item in group.items), group.any)

    def rewrite_link(self, link: Link) -> Link:
        """Return a link with its own filter, and those of the links in it, rewritten."""
        return replace(
            link,
            filter=None if link.filter is None else self.rewrite_filter(link.filter, link.alias),
            links=tuple(self.rewrite_link(nested) for nested in link.links),
        )

    def _rewrite_item(self, item: FilterItem, holder: str | None) -> FilterItem:
        """Return a condition, filter or link in which conditions on several choices are as Dataverse can
        compare them.
        """
        if isinstance(item, Filter):
            return self.rewrite_filter(item, holder)
        if isinstance(item, Link):
            return self.rewrite_link(item)
        if item.operator not in (Operator.EQ, Operator.NE) or not item.values:
            return item
        construct = f"condition {item.attribute} {item.operator.value}"
        attribute = source_named(self._sources, item.link, holder, construct).attribute(item.attribute)
        if attribute is None or attribute.type is not AttributeType.MULTISELECT:
            return item
        return (
            self._equal_filter(item, attribute)
            if item.operator is Operator.EQ
            else self._unequal_filter(item, attribute)
        )

    def _equal_filter(self, item: Condition, attribute: Attribute) -> Filter:
        """Return the filter that `eq` stands for: all of these options, and none of the others."""
        options, other_options = self._split(item, attribute)
        conditions = [_with_operator(item, Operator.CONTAIN_VALUES, (value,)) for value in options]
        if other_options:
            conditions.append(_with_operator(item, Operator.NOT_CONTAIN_VALUES, other_options))
        return Filter(tuple(conditions))

    def _unequal_filter(self, item: Condition, attribute: Attribute) -> Filter:
        """Return the filter that `ne` stands for: one of these options is missing, or there is another."""
        options, other_options = self._split(item, attribute)
        conditions = [_with_operator(item, Operator.NOT_CONTAIN_VALUES, (value,)) for value in options]
        if other_options:
            conditions.append(_with_operator(item, Operator.CONTAIN_VALUES, other_options))
        return Filter(tuple(conditions), any=True)

    def _split(self, item: Condition, attribute: Attribute) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the options that a condition names, and all other options of the attribute."""
        value = item.values[0]
        options = value if isinstance(value, tuple) else (value,)
        chosen = sorted({option for option in options if isinstance(option, int)})
        other_options = [
            option.value for option in self._options(attribute).options if option.value not in chosen
        ]
        return tuple(chosen), tuple(other_options)

    def _options(self, attribute: Attribute) -> OptionSet:
        """Return the options of a choice: its own, or those of the global option set that it names."""
        return attribute.options or self._catalogue.option_sets()[attribute.option_set or ""]


def _with_operator(item: Condition, operator: Operator, values: tuple[int, ...]) -> Condition:
    return Condition(item.attribute, operator, values, item.link)

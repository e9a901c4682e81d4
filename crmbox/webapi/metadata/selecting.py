"""`$select`, `$filter` and `$expand` on metadata, nested ones too. Metadata is never paged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.metadata.conditions import no_property, read_condition
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.odata.expansions import check_nesting
from crmbox.webapi.odata.options import Options, aliases, read_nested, read_options
from crmbox.webapi.odata.splitting import call, split

_TYPED: Final = frozenset({"AttributeMetadata", "RelationshipMetadataBase", "OptionSetMetadataBase"})


@dataclass(frozen=True, slots=True)
class Selection:
    """What of items is wanted. `select` None: all properties."""

    select: tuple[str, ...] | None
    filter: str | None
    expansions: Mapping[str, Selection]
    aliases: Mapping[str, str]

    def kept(self, items: Iterable[Item]) -> list[Item]:
        """Those that the filter holds for."""
        if self.filter is None:
            return list(items)
        holds = read_condition(self.filter, self.aliases)
        return [item for item in items if holds(item)]

    def content(self, item: Item, *, base: str | None = None) -> dict[str, Any]:
        """An item as JSON; its type stands with it unless it is the declared one, `base`."""
        content: dict[str, Any] = {}
        if base != item.type:
            content["@odata.type"] = f"#Microsoft.Dynamics.CRM.{item.type}"
        content.update(self._properties(item))
        for name, selection in self.expansions.items():
            if name not in item.navigations:
                raise no_property(item, name)
            found = item.navigations[name]()
            content[name] = selection.contents(found, name)
        return content

    def contents(self, found: Item | list[Item] | None, name: str) -> Any:
        """What a navigation property leads to, as JSON."""
        base = _DECLARED.get(name)
        if isinstance(found, list):
            return [self.content(item, base=base) for item in self.kept(found)]
        return None if found is None else self.content(found, base=base)

    def _properties(self, item: Item) -> Mapping[str, Any]:
        if self.select is None:
            return item.properties
        unknown = [name for name in self.select if name not in item.properties and not _may_lack(item, name)]
        if unknown:
            raise no_property(item, unknown[0])
        wanted = dict.fromkeys((*self.select, item.key))
        return {name: item.properties[name] for name in wanted if name in item.properties}


_DECLARED: Final = {
    "Keys": "EntityKeyMetadata",
    "ManyToOneRelationships": "OneToManyRelationshipMetadata",
    "OneToManyRelationships": "OneToManyRelationshipMetadata",
    "ManyToManyRelationships": "ManyToManyRelationshipMetadata",
    "sdkmessageid": "sdkmessage",
}
"""The type that the items of a navigation property have, where there is but one."""


def read_selection(query: Mapping[str, str]) -> Selection:
    """What a URL asks for. Raises WebApiError."""
    return _selection(read_options(query), aliases(query))


def _selection(options: Options, aliases: Mapping[str, str]) -> Selection:
    for given, name in ((options.orderby, "$orderby"), (options.top, "$top"), (options.apply, "$apply")):
        if given is not None:
            raise unsupported(f"the query option {name} on metadata")
    select = None if not options.select else tuple(split(options.select, ","))
    expansions = {}
    check_nesting(options.expand or "")
    for part in split(options.expand, ",") if options.expand else ():
        name, inside = call(part)
        if name in expansions:
            raise bad_url(f"'{name}' is expanded twice.")
        expansions[name] = _selection(read_nested(inside or ""), aliases)
    return Selection(select, options.filter, expansions, aliases)


def _may_lack(item: Item, name: str) -> bool:
    """Of attributes of several types, `$select` may name what only some have."""
    return item.type.endswith("AttributeMetadata") and name[:1].isupper() and name in _OF_SOME_ATTRIBUTES


_OF_SOME_ATTRIBUTES: Final = frozenset(
    {
        *("MaxLength", "MinValue", "MaxValue", "Precision", "PrecisionSource", "Format", "FormatName"),
        *("Targets", "DateTimeBehavior", "MaxSizeInKB", "DefaultValue", "DefaultFormValue", "ImeMode"),
    }
)

"""Queries and filters in words, for people who would rather read a sentence than FetchXML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from crmclient.metadata import Attribute, AttributeType, Entity
from crmclient.query.ast import LinkType
from crmclient.query.designed import (
    ClaimValue,
    DesignedCondition,
    DesignedFilter,
    DesignedItem,
    DesignedLink,
    DesignedQuery,
    DesignedValue,
    FetchValue,
    Literal,
    Parameter,
    RecordValue,
    UserValue,
)
from designer.sentences import isolated

Attributes: TypeAlias = Callable[[str], Mapping[str, Attribute]]
Entities: TypeAlias = Mapping[str, Entity]

# An “x” stands for the number that the condition has.
OPERATOR_WORDS: Mapping[str, str | Promise] = {
    "eq": gettext_lazy("is"),
    "ne": gettext_lazy("is not"),
    "gt": gettext_lazy("is greater than"),
    "ge": gettext_lazy("is at least"),
    "lt": gettext_lazy("is less than"),
    "le": gettext_lazy("is at most"),
    "like": gettext_lazy("is like"),
    "not-like": gettext_lazy("is not like"),
    "begins-with": gettext_lazy("begins with"),
    "not-begin-with": gettext_lazy("does not begin with"),
    "ends-with": gettext_lazy("ends with"),
    "not-end-with": gettext_lazy("does not end with"),
    "contains": gettext_lazy("contains"),
    "in": gettext_lazy("is one of"),
    "not-in": gettext_lazy("is none of"),
    "between": gettext_lazy("is between"),
    "not-between": gettext_lazy("is not between"),
    "null": gettext_lazy("is empty"),
    "not-null": gettext_lazy("is not empty"),
    "contain-values": gettext_lazy("contains any of"),
    "not-contain-values": gettext_lazy("contains none of"),
    "on": gettext_lazy("is on"),
    "on-or-after": gettext_lazy("is on or after"),
    "on-or-before": gettext_lazy("is on or before"),
    "eq-userid": gettext_lazy("is the caller"),
    "ne-userid": gettext_lazy("is not the caller"),
    "eq-businessid": gettext_lazy("is the caller's business unit"),
    "ne-businessid": gettext_lazy("is not the caller's business unit"),
    "eq-userteams": gettext_lazy("is one of the caller's teams"),
    "eq-useroruserteams": gettext_lazy("is the caller or one of the caller's teams"),
    "eq-useroruserhierarchy": gettext_lazy("is the caller or reports to the caller"),
    "eq-useroruserhierarchyandteams": gettext_lazy(
        "is the caller, reports to the caller, or is a team of one of them"
    ),
    "under": gettext_lazy("is under"),
    "eq-or-under": gettext_lazy("is or is under"),
    "not-under": gettext_lazy("is not under"),
    "above": gettext_lazy("is above"),
    "eq-or-above": gettext_lazy("is or is above"),
    "in-fiscal-period": gettext_lazy("is in fiscal period"),
    "in-fiscal-period-and-year": gettext_lazy("is in fiscal period and year"),
    "in-or-before-fiscal-period-and-year": gettext_lazy("is in or before fiscal period and year"),
    "in-or-after-fiscal-period-and-year": gettext_lazy("is in or after fiscal period and year"),
    "today": gettext_lazy("is today"),
    "yesterday": gettext_lazy("is yesterday"),
    "tomorrow": gettext_lazy("is tomorrow"),
    "this-week": gettext_lazy("is in this week"),
    "last-week": gettext_lazy("is in the last week"),
    "next-week": gettext_lazy("is in the next week"),
    "this-month": gettext_lazy("is in this month"),
    "last-month": gettext_lazy("is in the last month"),
    "next-month": gettext_lazy("is in the next month"),
    "this-year": gettext_lazy("is in this year"),
    "last-year": gettext_lazy("is in the last year"),
    "next-year": gettext_lazy("is in the next year"),
    "this-fiscal-year": gettext_lazy("is in this fiscal year"),
    "last-fiscal-year": gettext_lazy("is in the last fiscal year"),
    "next-fiscal-year": gettext_lazy("is in the next fiscal year"),
    "this-fiscal-period": gettext_lazy("is in this fiscal period"),
    "last-fiscal-period": gettext_lazy("is in the last fiscal period"),
    "next-fiscal-period": gettext_lazy("is in the next fiscal period"),
    "in-fiscal-year": gettext_lazy("is in fiscal year"),
    "last-seven-days": gettext_lazy("is in the last 7 days"),
    "next-seven-days": gettext_lazy("is in the next 7 days"),
    "last-x-hours": gettext_lazy("is in the last x hours"),
    "next-x-hours": gettext_lazy("is in the next x hours"),
    "last-x-days": gettext_lazy("is in the last x days"),
    "next-x-days": gettext_lazy("is in the next x days"),
    "last-x-weeks": gettext_lazy("is in the last x weeks"),
    "next-x-weeks": gettext_lazy("is in the next x weeks"),
    "last-x-months": gettext_lazy("is in the last x months"),
    "next-x-months": gettext_lazy("is in the next x months"),
    "last-x-years": gettext_lazy("is in the last x years"),
    "next-x-years": gettext_lazy("is in the next x years"),
    "last-x-fiscal-years": gettext_lazy("is in the last x fiscal years"),
    "next-x-fiscal-years": gettext_lazy("is in the next x fiscal years"),
    "last-x-fiscal-periods": gettext_lazy("is in the last x fiscal periods"),
    "next-x-fiscal-periods": gettext_lazy("is in the next x fiscal periods"),
    "olderthan-x-minutes": gettext_lazy("is older than x minutes"),
    "olderthan-x-hours": gettext_lazy("is older than x hours"),
    "olderthan-x-days": gettext_lazy("is older than x days"),
    "olderthan-x-weeks": gettext_lazy("is older than x weeks"),
    "olderthan-x-months": gettext_lazy("is older than x months"),
    "olderthan-x-years": gettext_lazy("is older than x years"),
}

LINK_WORDS: Mapping[LinkType, str | Promise] = {
    LinkType.INNER: gettext_lazy("that have a %(name)s"),
    LinkType.OUTER: gettext_lazy("with their %(name)s, if any"),
    LinkType.FIRST: gettext_lazy("with one %(name)s of theirs"),
    LinkType.EXISTS: gettext_lazy("that have any %(name)s"),
    LinkType.IN: gettext_lazy("that have any %(name)s"),
    LinkType.ANY: gettext_lazy("there is a %(name)s"),
    LinkType.NOT_ANY: gettext_lazy("there is no %(name)s"),
    LinkType.ALL: gettext_lazy("there is a %(name)s, but none"),
    LinkType.NOT_ALL: gettext_lazy("there is a %(name)s"),
}


def operator_words(name: str) -> str:
    """Return the words for an operator of FetchXML. Raises KeyError for an unknown one."""
    return str(OPERATOR_WORDS[name])


def filter_in_words(filter: DesignedFilter, entity: str, attributes: Attributes) -> str:
    """Return a filter in words, such as “Status is Active and Owner is @user.id”."""
    return _group_in_words(filter, entity, attributes)


def query_in_words(query: DesignedQuery, entities: Entities, attributes: Attributes) -> str:
    """Return a sentence that says which rows the query finds, their order, linked records and number of
    columns.
    """
    entity = entities.get(query.entity)
    rows_named = (entity.plural_label.text() if entity else "") or query.entity
    parts = [_("Counts and sums over %(what)s") % {"what": rows_named} if query.is_aggregate else rows_named]
    if query.top is not None:
        parts.append(_("at most %(count)d") % {"count": query.top})
    if query.filter is not None and query.filter.items:
        parts.append(
            _("where %(filter)s") % {"filter": _group_in_words(query.filter, query.entity, attributes)}
        )
    parts += _links_in_words(query.links, entities, attributes)
    orders = [
        f"{_label_of_attribute(order.attribute or order.alias or '', query.entity, attributes)}"
        + (f" {_('descending')}" if order.descending else "")
        for order in query.orders
    ]
    if orders:
        parts.append(_("by %(orders)s") % {"orders": _(", ").join(orders)})
    return f"{_(', ').join([*parts, _columns_in_words(query)])}."


def _columns_in_words(query: DesignedQuery) -> str:
    """Return how many columns of its own entity the query chooses."""
    if query.all_columns:
        return _("with all columns")
    columns = len(query.columns)
    if not columns:
        return _("with no columns chosen")
    return ngettext("with %(count)d column", "with %(count)d columns", columns) % {"count": columns}


def _links_in_words(
    links: tuple[DesignedLink, ...], entities: Entities, attributes: Attributes
) -> Iterator[str]:
    """Yield each link in words, with the links inside it behind it."""
    for link in links:
        entity = entities.get(link.entity)
        yield _link_in_words(link, (entity.label.text() if entity else "") or link.entity, attributes)
        yield from _links_in_words(link.links, entities, attributes)


def _link_in_words(link: DesignedLink, name: str, attributes: Attributes) -> str:
    """Return a link in words, with its conditions. `name`: the linked entity as people read it."""
    text = str(LINK_WORDS[link.type]) % {"name": name}
    if link.filter is not None and link.filter.items:
        # The words of an outer link end in “if any”.
        text += _(", ") if link.type is LinkType.OUTER else " "
        text += _("where %(filter)s") % {"filter": _group_in_words(link.filter, link.entity, attributes)}
    return text


def _group_in_words(group: DesignedFilter, entity: str, attributes: Attributes) -> str:
    """Return the items of a filter in words, joined by “and” or “or”; “anything” for an empty one."""
    joint = _(" or ") if group.any else _(" and ")
    return joint.join(_item_in_words(item, entity, attributes) for item in group.items) or _("anything")


def _item_in_words(item: DesignedItem, entity: str, attributes: Attributes) -> str:
    """Return a condition, a link or an inner filter in words, the last two in brackets."""
    match item:
        case DesignedCondition():
            return _condition_in_words(item, entity, attributes)
        case DesignedLink():
            own_link = _link_in_words(item, item.entity, attributes)
            return f"({'; '.join([own_link, *_nested_links_in_words(item, attributes)])})"
    return f"({_group_in_words(item, entity, attributes)})"


def _nested_links_in_words(link: DesignedLink, attributes: Attributes) -> Iterator[str]:
    """Yield the links inside a link in words, at any depth."""
    for nested in link.links:
        yield _link_in_words(nested, nested.entity, attributes)
        yield from _nested_links_in_words(nested, attributes)


def _condition_in_words(condition: DesignedCondition, entity: str, attributes: Attributes) -> str:
    """Return a condition in words: attribute, operator and values."""
    compared_attribute = attributes(entity).get(condition.attribute) if condition.link is None else None
    name = (compared_attribute.label.text() if compared_attribute else "") or condition.attribute
    place = f"{condition.link}.{name}" if condition.link else name
    words = operator_words(condition.operator.value)
    if condition.value_of is not None:
        link, attribute = condition.value_of
        label = _label_of_attribute(attribute, entity, attributes)
        return f"{place} {words} {f'{link}.' if link else ''}{label}"
    separator = _(" and ") if "between" in condition.operator.value else _(", ")
    shown = separator.join(_value_in_words(value, compared_attribute) for value in condition.values)
    # The words of operators such as `last-x-days` have the number in their middle.
    if "-x-" in condition.operator.value:
        return f"{place} {words.replace(' x ', f' {shown} ')}"
    return f"{place} {words} {shown}".rstrip()


def _value_in_words(value: DesignedValue, attribute: Attribute | None) -> str:
    """Return a condition's value in words: a reference such as `@user.name`, an option's label, or
    the text.
    """
    match value:
        case Parameter(name):
            return isolated(f"@{name}")
        case UserValue(name):
            return isolated(f"@user.{name}")
        case ClaimValue(path):
            return isolated(f"@user.claims.{path}")
        case FetchValue():
            return isolated(f"@fetch.{value.fetcher}.{value.key}")
        case RecordValue(name):
            return isolated(f"@record.{name}")
        case Literal(text):
            options = attribute.options.options if attribute and attribute.options else ()
            label = next((option.label.text() for option in options if str(option.value) == text), "")
            if not label and attribute and attribute.type is AttributeType.BOOLEAN:
                label = {"0": _("No"), "1": _("Yes")}.get(text, "")
            return label or (f"“{text}”" if not text.lstrip("-").isdecimal() else text)


def _label_of_attribute(name: str, entity: str, attributes: Attributes) -> str:
    """Return the label of an attribute; its name where the platform has no label for it."""
    attribute = attributes(entity).get(name)
    return (attribute.label.text() if attribute else "") or name

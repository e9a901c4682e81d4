"""The elements filter and condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crmclient.query.ast import Operator
from crmclient.query.designed import (
    OPERATORS,
    DesignedCondition,
    DesignedFilter,
    DesignedItem,
    DesignedLink,
    DesignedOperator,
    DesignedValue,
    Literal,
    values_taken,
)
from crmclient.query.fetchxml import document
from crmclient.query.fetchxml.aliases import Aliases
from crmclient.query.fetchxml.elements import ElementReader
from crmclient.query.fetchxml.placeholders import read_value
from crmclient.query.problems import Problem
from crmclient.sentences import Sentence

_SYNONYMS: Final = {"neq": Operator.NE}
_COMPARABLE: Final = frozenset({Operator.EQ, Operator.NE, Operator.GT, Operator.GE, Operator.LT, Operator.LE})

UNSUPPORTED_OPERATORS: Final = {
    "eq-userlanguage": Sentence("the caller's language is not known here"),
    "eq-roleid": Sentence("security roles are not compared"),
}
"""Operators of FetchXML that are not supported, and why."""


class FilterReader:
    """Reads the filters of the entity, or of a link, whose alias is `holder` then; it is None for the entity.

    `read_link` reads a `link-entity` in a filter. What is wrong in the XML is added to `problems`.
    """

    def __init__(
        self,
        aliases: Aliases,
        holder: str | None,
        problems: list[Problem],
        read_link: Callable[[document.Element], DesignedLink],
    ) -> None:
        self._aliases = aliases
        self._holder = holder
        self._problems = problems
        self._read_link = read_link

    def read(self, element: document.Element) -> DesignedFilter:
        """Read a filter element, with the groups and links in it. Mistakes are noted as problems."""
        group = ElementReader(element, "filter", self._problems)
        # What these say is how the database should look for the rows, not which.
        group.ignore(
            "isquickfindfields",
            "overridequickfindrecordlimitenabled",
            "overridequickfindrecordlimitdisabled",
            "hint",
        )
        kind = group.text("type") or "and"
        if kind not in ("and", "or"):
            group.add_problem(Sentence("the type %(kind)s is neither and nor or", kind=repr(kind)))
        group.finish()
        items: list[DesignedItem] = []
        for child in group.children({"condition", "filter", "link-entity"}):
            if child.tag == "filter":
                items.append(self.read(child))
            elif child.tag == "condition":
                items.extend(self._condition(child))
            else:
                items.append(self._link_in_filter(child))
        return DesignedFilter(tuple(items), kind == "or")

    def _link_in_filter(self, element: document.Element) -> DesignedLink:
        """Read a link inside a filter. A type that only links beside filters have is a problem."""
        link = self._read_link(element)
        if not link.type.stands_in_filter:
            ElementReader(element, f"link-entity {element.get('name', '')}", self._problems).add_problem(
                Sentence(
                    "a link-entity inside a filter has the link-type any, not any, all or not all, not "
                    "%(kind)s",
                    kind=repr(link.type.value),
                )
            )
        return link

    def _condition(self, element: document.Element) -> list[DesignedCondition]:
        """Read a condition. Return one condition, or none.

        For a wrong condition, return one on the same attribute, so that the attribute's name is still
        checked.
        """
        name = f"condition {element.get('attribute', '')} {element.get('operator', '')}"
        condition = ElementReader(element, name.strip(), self._problems)
        condition.ignore("uiname", "uitype", "uihidden")
        condition.refuse("aggregate", Sentence("conditions on aggregates do not exist here"))
        condition.refuse("alias", Sentence("conditions on aggregates do not exist here"))
        condition.refuse("rowaggregate", Sentence("hierarchies are not counted"))
        attribute = condition.required_name("attribute")
        operator = _operator(condition)
        link = self._link(condition)
        text, other = condition.text("value"), condition.text("valueof")
        condition.finish()
        texts = _value_texts(condition)
        # Any operator does: the query is not run once there is a problem.
        for_name_check = [DesignedCondition(attribute, Operator.NOT_NULL, (), link)] if attribute else []
        if operator is None:
            return for_name_check
        if other:
            if text or texts or operator not in _COMPARABLE:
                condition.add_problem(
                    Sentence("valueof is compared by eq, ne, gt, ge, lt and le, and excludes values")
                )
            value_of = self._value_of(condition, other, link)
            return [
                DesignedCondition(
                    attribute=attribute, operator=operator, values=(), link=link, value_of=value_of
                )
            ]
        values = _values(condition, operator, text, texts)
        return for_name_check if values is None else [DesignedCondition(attribute, operator, values, link)]

    def _link(self, condition: ElementReader) -> str | None:
        """Return the alias that `entityname` means; None without it, and for a wrong one, which is a
        problem.
        """
        entity_name = condition.text("entityname")
        if not entity_name:
            return None
        try:
            return self._aliases.resolve(entity_name, self._holder)
        except ValueError as error:
            condition.add_problem(str(error))
            return None

    def _value_of(self, condition: ElementReader, other: str, link: str | None) -> tuple[str | None, str]:
        """Return the alias and the name of the attribute that `valueof` compares with. Mistakes are noted as
        problems.
        """
        alias, dot, name = other.rpartition(".")
        if not dot:
            if link is not None:
                condition.add_problem(
                    Sentence(
                        "valueof %(name)s: of which entity is not defined; write alias.attribute",
                        name=repr(other),
                    )
                )
            return None, other
        try:
            return self._aliases.resolve(alias, self._holder), name
        except ValueError as error:
            condition.add_problem(
                Sentence("valueof %(name)s: %(reason)s", name=repr(other), reason=str(error))
            )
            return None, name


def _operator(condition: ElementReader) -> DesignedOperator | None:
    """Return the operator of a condition; None for a missing or unknown one, which is a problem."""
    text = condition.text("operator")
    operator = OPERATORS.get(text or "") or _SYNONYMS.get(text or "")
    if operator is None:
        condition.add_problem(_operator_problem(text or ""))
    return operator


def _operator_problem(text: str) -> Sentence:
    """Return what is wrong with an operator: it is missing (empty), unknown, or not supported."""
    if not text:
        return Sentence("the attribute %(name)s is missing", name="operator")
    if text not in UNSUPPORTED_OPERATORS:
        return Sentence("there is no operator %(name)s", name=repr(text))
    return Sentence(
        "the operator %(name)s is not supported: %(reason)s", name=text, reason=UNSUPPORTED_OPERATORS[text]
    )


def _value_texts(condition: ElementReader) -> list[str]:
    """Return the texts of the value elements of a condition. What else is in these is noted as a problem."""
    texts = []
    for element in condition.children({"value"}):
        value = ElementReader(element, f"{condition.construct} value", condition.problems)
        # Names of records, which designers of queries add for their readers.
        value.ignore("uiname", "uitype")
        value.finish()
        for child in element:
            value.problems.append(
                Problem(
                    value.construct,
                    Sentence("the element %(name)s does not belong here", name=child.tag),
                    document.line_of(child),
                )
            )
        texts.append(element.text or "")
    return texts


def _values(
    condition: ElementReader, operator: DesignedOperator, text: str | None, texts: list[str]
) -> tuple[DesignedValue, ...] | None:
    """Return the values of a condition; None when they are wrong, which is noted as a problem.

    `text` is its XML attribute `value`, `texts` are its value elements. `value=""` beside value elements is
    left over from a designer.
    """
    number_taken = values_taken(operator)
    if texts and text:
        condition.add_problem(Sentence("it has both a value and value elements"))
        return None
    raw_values = texts or ([] if text is None else [text])
    # Designers leave empty values on operators that take none.
    if number_taken == 0:
        raw_values = [item for item in raw_values if item]
    if not raw_values and number_taken != 0:
        condition.add_problem(Sentence("the attribute value or valueof, or value elements, must be given"))
        return None
    if number_taken is not None and len(raw_values) != number_taken:
        condition.add_problem(_wrong_number_of_values(operator.value, number_taken))
        return None
    try:
        values = tuple(read_value(item, operator) for item in raw_values)
    except ValueError as error:
        condition.add_problem(str(error))
        return None
    # Other dialects separate several values by commas. A placeholder may have a comma in a claim's name.
    if number_taken is None and text and "," in text and isinstance(values[0], Literal):
        condition.add_problem(Sentence("several values stand in value elements, one in each"))
        return None
    return values


def _wrong_number_of_values(operator: str, values: int) -> Sentence:
    """Return the message for a condition with another number of values than the operator takes."""
    if values == 0:
        return Sentence("%(operator)s takes no value", operator=operator)
    if values == 1:
        return Sentence("%(operator)s takes one value", operator=operator)
    return Sentence("%(operator)s takes two values", operator=operator)

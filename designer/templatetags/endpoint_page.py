"""What the templates of an endpoint's page ask for.

Of the studio, only what needs no admin is imported here: Django loads tags before there is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template

from designer.studio.located_findings import Located, findings_at

register = template.Library()
register.simple_tag(findings_at)


@register.simple_tag
def rows_of(inline: Any) -> dict[str, list[Any]]:
    """The rows that are `there`, and the `blank` one that scripts copy where rows may be added: made once."""
    rows = list(inline)
    blank = [row for row in rows if str(row.form.prefix).endswith("__prefix__")]
    return {"there": [row for row in rows if row not in blank], "blank": blank[-1:]}


@register.simple_tag
def sections_of_items(items: Iterable[Any]) -> Any:
    """The rows inside the row of a list, as sections."""
    from designer.studio.endpoint_form.sections import item_sections

    return item_sections(items)


@register.simple_tag
def errors_beside(field: Any, located: Iterable[Located]) -> list[str]:
    """A field's errors, without those that its findings say already."""
    said = {item.finding.said for item in located or () if item.place == field.html_name}
    return [error for error in field.errors if error not in said]

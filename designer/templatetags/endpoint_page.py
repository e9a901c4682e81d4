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
def grid_of(inline: Any, bound: Any) -> Any:
    """The rows of inputs, each with the entity properties that it fills, if there are any on the page."""
    from designer.studio.endpoint_form.input_grid import grid

    return grid(inline, bound)


@register.simple_tag
def cells_of(row: Any) -> dict[str, Any]:
    """The fields of a row by their names."""
    return {
        cell.field["name"] if cell.is_readonly else cell.field.name: cell
        for fieldset in row
        for line in fieldset
        for cell in line
    }


@register.simple_tag
def section_of_items(items: Iterable[Any]) -> Any:
    """The rows inside the row of a list, as a section."""
    from designer.studio.endpoint_form.sections import item_section

    return item_section(items)


@register.simple_tag
def described(field: Any, *, has_help: bool = False) -> str:
    """A field's widget, described by the place where what is wrong with it is said.

    `has_help`: the page shows the field's help, which describes it as well.
    """
    named = [field.field.widget.attrs.get("aria-describedby"), f"{field.auto_id}_error"]
    if has_help and field.help_text:
        named.append(f"{field.auto_id}_helptext")
    return str(field.as_widget(attrs={"aria-describedby": " ".join(filter(None, named))}))


@register.simple_tag
def errors_beside(field: Any, located: Iterable[Located]) -> list[str]:
    """A field's errors, without those that its findings say already."""
    said = {item.finding.said for item in located or () if item.place == field.html_name}
    return [error for error in field.errors if error not in said]

"""What the templates of an endpoint's page ask for.

Nothing of the studio is imported here: Django loads tags before there is an admin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from designer.studio.checking.findings import Located

register = template.Library()


@register.simple_tag
def findings_at(located: Iterable[Located], place: str) -> SafeString:
    """The findings at a place, as HTML."""
    found = [item for item in located or () if item.place == place]
    html = render_to_string("designer/endpoint/findings.html", {"located": found}) if found else ""
    return mark_safe(html)  # noqa: S308  a template's output


@register.simple_tag
def rows_of(inline: Any) -> dict[str, list[Any]]:
    """The rows that are `there`, and the `blank` one that scripts copy where rows may be added: made once."""
    rows = list(inline)
    blank = [row for row in rows if str(row.form.prefix).endswith("__prefix__")]
    return {"there": [row for row in rows if row not in blank], "blank": blank[-1:]}


@register.simple_tag
def sections_of_items(items: Iterable[Any]) -> Any:
    """The rows inside the row of a list, as sections."""
    from designer.studio.endpoints.sections import item_sections

    return item_sections(items)


@register.simple_tag
def errors_beside(field: Any, located: Iterable[Located]) -> list[str]:
    """A field's errors, without those that its findings say already."""
    said = {item.finding.said for item in located or () if item.place == field.html_name}
    return [error for error in field.errors if error not in said]

"""Tags for the templates of an endpoint's page.

Only parts of the studio that need no admin are imported at the top: Django loads tags before the admin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.forms import BoundField
from django.utils.safestring import SafeString, mark_safe

from designer.studio.located_findings import Located, findings_at

register = template.Library()
register.simple_tag(findings_at)


@register.simple_tag
def rows_of(inline: Any) -> dict[str, list[Any]]:
    """Return the existing rows (`there`), and the `blank` row that scripts copy where rows may be added."""
    rows = list(inline)
    blank = [row for row in rows if str(row.form.prefix).endswith("__prefix__")]
    return {"there": [row for row in rows if row not in blank], "blank": blank[-1:]}


@register.simple_tag
def grid_of(inline: Any, bound: Any) -> Any:
    """Return the rows of inputs, each with the entity properties that it fills, if the page has any."""
    from designer.studio.endpoint_form.input_grid import grid

    return grid(inline, bound)


@register.simple_tag
def cells_of(row: Any) -> dict[str, Any]:
    """Return the fields of a row by their names."""
    return {
        cell.field["name"] if cell.is_readonly else cell.field.name: cell
        for fieldset in row
        for line in fieldset
        for cell in line
    }


class _RenderedFields:
    """What `of_row` has rendered for the rows of a grid, each with the prefix of its row.

    `places` are the names of the fields that have findings.
    """

    def __init__(self, located: Iterable[Located]) -> None:
        self.fields: dict[Any, tuple[str, SafeString]] = {}
        self.places = frozenset(item.place for item in located)


@register.simple_tag(takes_context=True)
def rendered_fields(context: template.Context) -> _RenderedFields:
    """Return where `of_row` keeps what it has rendered for the rows of a grid."""
    return _RenderedFields(context["located"] or ())


@register.simple_tag(takes_context=True)
def of_row(context: template.Context, template_name: str, bound: Any, *, column: str = "") -> SafeString:
    """Return a field of a row as a template shows it.

    Rows of a grid differ in their prefixes and values alone, and most values are empty: what a row before has
    shown of an equal field is repeated under the prefix of this row. `bound` is a field of a form, or a
    read-only one; `column` is the column of the grid for the template; empty where it is in none.
    """
    field = getattr(bound, "field", None)
    rendered: _RenderedFields = context["rendered"]
    # A field at which the page shows an error or a finding is like no other.
    if not isinstance(field, BoundField) or field.errors or field.html_name in rendered.places:
        return _rendered(context, template_name, bound, column)
    prefix = f"{field.form.prefix}-"
    value = repr(field.value())
    # Replacing the prefix would change the value, too.
    if prefix in value:
        return _rendered(context, template_name, bound, column)
    offered = tuple(value for value, _label in getattr(field.field, "choices", ()))
    key = (template_name, column, type(field.form), field.name, value, offered)
    if key not in rendered.fields:
        rendered.fields[key] = prefix, _rendered(context, template_name, bound, column)
    rendered_for, html = rendered.fields[key]
    return mark_safe(html.replace(rendered_for, prefix))  # noqa: S308  a template's output


def _rendered(context: template.Context, template_name: str, bound: Any, column: str) -> SafeString:
    """Return what a template shows for `bound`, in the context of the page."""
    engine = context.template.engine  # type: ignore[union-attr]  # it is being rendered
    with context.push(bound=bound, column=column):
        return engine.get_template(template_name).render(context)


@register.simple_tag
def section_of_items(items: Iterable[Any]) -> Any:
    """Return the rows inside the row of a list, as a section."""
    from designer.studio.endpoint_form.sections import item_section

    return item_section(items)


@register.simple_tag
def described(field: Any, *, has_help: bool = False) -> str:
    """Return the widget of a field, described by the element that shows the field's errors.

    `has_help`: the page shows the field's help, which describes the widget as well.
    """
    describing_ids = [field.field.widget.attrs.get("aria-describedby"), f"{field.auto_id}_error"]
    if has_help and field.help_text:
        describing_ids.append(f"{field.auto_id}_helptext")
    return str(field.as_widget(attrs={"aria-describedby": " ".join(filter(None, describing_ids))}))


@register.simple_tag
def errors_beside(field: Any, located: Iterable[Located]) -> list[str]:
    """Return the errors of a field, without those that its findings repeat."""
    messages = {item.finding.said for item in located or () if item.place == field.html_name}
    return [error for error in field.errors if error not in messages]

"""Tags for the templates of an endpoint's page.

Only parts of the studio that need no admin are imported at the top: Django loads tags before the admin.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django import template
from django.forms import BoundField, Textarea, TextInput
from django.utils.html import conditional_escape, format_html_join
from django.utils.safestring import SafeString, mark_safe

from designer.studio.endpoint_form.input_grid import InputGrid, existing_and_blank, grid
from designer.studio.located_findings import Located, findings_at

if TYPE_CHECKING:
    from django.contrib.admin.helpers import InlineAdminForm, InlineAdminFormSet

register = template.Library()
register.simple_tag(findings_at)

# The fields of an input that stand in its line, or that nobody sees. The row unfolds all others.
_IN_LINE = frozenset({"name", "type", "required", "position"})
# The templates of `of_row` that show the same with findings.
_WITHOUT_FINDINGS = frozenset(
    {"designer/endpoint/cell.html", "designer/endpoint/bare.html", "designer/endpoint/line_tools.html"}
)


@register.simple_tag
def rows_of(inline: InlineAdminFormSet) -> dict[str, tuple[InlineAdminForm, ...]]:
    """Return the existing rows (`there`), and the `blank` row that scripts copy where rows may be added."""
    there, blank = existing_and_blank(inline)
    return {"there": there, "blank": blank}


@register.simple_tag
def input_grid_of(inputs: InlineAdminFormSet, bindings: InlineAdminFormSet | None) -> InputGrid:
    """Return the rows of inputs, each with the entity properties that it fills.

    `bindings` is None for a kind of endpoint that writes nothing.
    """
    return grid(inputs, bindings)


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
    """What `of_row` has rendered for the rows of a grid.

    By what is equal in rows: the prefix that a field was rendered for, and its HTML before and after its
    text; all of it is before where it does not depend on the text. `places` are the names of the fields that
    have findings.
    """

    def __init__(self, located: Iterable[Located]) -> None:
        self.fields: dict[Any, tuple[str, str, str | None]] = {}
        self.places = frozenset(item.place for item in located)


@register.simple_tag(takes_context=True)
def rendered_fields(context: template.Context) -> _RenderedFields:
    """Return where `of_row` keeps what it has rendered for the rows of a grid."""
    return _RenderedFields(context["located"] or ())


@register.simple_tag(takes_context=True)
def of_row(context: template.Context, template_name: str, bound: Any, *, column: str = "") -> SafeString:
    """Return a field of a row as a template shows it.

    Rows of a grid differ in their prefixes and values alone: what a row before has shown of an equal field,
    or of a field that holds another text, is repeated under the prefix of this row. `bound` is a field of a
    form, or a read-only one; `column` is the column of the grid for the template; empty where it is in none.
    """
    field = getattr(bound, "field", None)
    rendered: _RenderedFields = context["rendered"]
    if not isinstance(field, BoundField):
        return _rendered(context, template_name, bound, column)
    has_finding = template_name not in _WITHOUT_FINDINGS and field.html_name in rendered.places
    # A field at which the page shows an error or a finding is like no other.
    if has_finding or field.errors:
        return _rendered(context, template_name, bound, column)
    prefix = f"{field.form.prefix}-"
    value = field.value()
    is_text = bool(value) and isinstance(value, str) and isinstance(field.field.widget, TextInput | Textarea)
    text = conditional_escape(value) if is_text else ""
    choices = getattr(field.field, "choices", ())
    offered = choices if isinstance(choices, Hashable) else tuple(value for value, _label in choices)
    key = (template_name, column, type(field.form), field.name, is_text or repr(value), offered)
    if key not in rendered.fields:
        html = _rendered(context, template_name, bound, column)
        parts = html.split(text) if text else [html]
        # Only where the text stands once, it is certain to be the value: another one may stand there instead.
        # And replacing the prefix would change a value that has it.
        if len(parts) <= 2 and not (prefix in text or prefix in repr(value)):
            rendered.fields[key] = prefix, parts[0], parts[1] if len(parts) == 2 else None
        return html
    rendered_for, before, after = rendered.fields[key]
    rest = "" if after is None else text + after.replace(rendered_for, prefix)
    return mark_safe(before.replace(rendered_for, prefix) + rest)  # noqa: S308  a template's output


@register.simple_tag(takes_context=True)
def line_tools(context: template.Context, row: Any, inline: Any) -> SafeString:
    """Return the buttons of a row of a grid, with its field for removing it where rows may be removed."""
    removes = inline.has_delete_permission and inline.formset.can_delete
    return of_row(context, "designer/endpoint/line_tools.html", row.deletion_field() if removes else None)


def _rendered(context: template.Context, template_name: str, bound: Any, column: str) -> SafeString:
    """Return what a template shows for `bound`, in the context of the page."""
    engine = context.template.engine  # type: ignore[union-attr]  # it is being rendered
    with context.push(bound=bound, column=column):
        return engine.get_template(template_name).render(context)


@register.simple_tag
def hidden_fields(row: Any, cells: Mapping[str, Any]) -> SafeString:
    """Return the fields of a row that nobody sees: its position, its key and that of what it belongs to.

    `cells` are the fields of `row`. One without a position is read-only.
    """
    key = row.pk_field().field.name if row.needs_explicit_pk_field() else ""
    parent = row.formset.fk.name
    position = "" if cells["position"].is_readonly else "position"
    return _hidden(row.form, filter(None, (position, key, parent)))


@register.simple_tag(takes_context=True)
def folded_fields(
    context: template.Context, row: Any, cells: Mapping[str, Any], blank: Sequence[Any]
) -> SafeString:
    """Return the fields that an input's row unfolds as hidden ones. `rows.js` makes the fields themselves
    when they are needed: those of hundreds of inputs would be tens of thousands of elements.

    `cells` are the fields of `row`, and `blank` is the line that scripts copy; empty where rows cannot be
    added. Return nothing where the page has to have the fields themselves: in the blank line and in rows with
    records, with an error or a finding at such a field, or with a value that needs another widget than in
    the blank line. The same goes for `?unfolded`, which browsers without scripts ask for.
    """
    form = row.form
    is_blank = str(form.prefix).endswith("__prefix__")
    if not blank or is_blank or "unfolded" in context["request"].GET:
        return SafeString()
    names = [name for name in cells if name not in _IN_LINE]
    if any(_is_special(cells[name], blank[0].row.form, context["rendered"].places) for name in names):
        return SafeString()
    return _hidden(form, names)


def _is_special(cell: Any, blank: Any, places: Collection[str]) -> bool:
    """Whether a field of a row, as `cells_of` returns it, shows more than a value in the widget that the
    `blank` form has for it. `places` are the names of the fields that have findings.
    """
    if cell.is_readonly:
        return True
    field = cell.field
    return (
        type(field.field.widget) is not type(blank.fields[field.name].widget)
        or bool(field.errors)
        or field.html_name in places
        # Records have rows of their own.
        or (field.name == "relationship" and bool(field.value()))
    )


def _hidden(form: Any, names: Iterable[str]) -> SafeString:
    """Return hidden fields for those called `names`, with the values that a browser would send of these.

    Each has one value or, if it is a box that is not ticked, none: its hidden field is disabled.
    """
    from designer.studio.saving.form_contents import shown_value

    values = ((form.add_prefix(name), shown_value(form, name)) for name in names)
    fields = ((name, sent[0] if sent else "", "" if sent else " disabled") for name, sent in values)
    return format_html_join("", '<input type="hidden" name="{}" value="{}"{}>', fields)


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

"""One cell of the permission matrix. There are thousands on a page, so it is no template of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from designer.access_control.access_matrix import Row, digest_of_access

if TYPE_CHECKING:
    from designer.studio.pages.matrix_rules import RuleCell

register = template.Library()


@register.simple_tag
def cell(row: Row, name: str, label: str, may_change: bool) -> SafeString:
    """Return a cell of the matrix: a button where access may be changed, else a sign.

    `name` and `label` are those of the column: of a role, or of those who need none. The button's value is
    `row id:name#digest of the access that the page shows`.
    """
    if row.is_chosen(name):
        sign, word = "✔", _("may call")
    elif row.allows(name):
        sign, word = "○", _("may call too")
    else:
        sign, word = "–", _("may not call")
    description = f"{label}: {word}, {row.methods} {row.path}"
    if not may_change:
        return format_html('<span role="img" aria-label="{}">{}</span>', description, sign)
    return format_html(
        '<button class="studio-cell" name="cell" value="{}:{}#{}" aria-pressed="{}" aria-label="{}">{}'
        "</button>",
        *(
            row.id,
            name,
            digest_of_access(row.access),
            "true" if row.is_chosen(name) else "false",
            description,
            sign,
        ),
    )


@register.simple_tag
def rule_cell(cell: RuleCell, entity: str, query: str) -> SafeString:
    """Return what callers of a column reach of an exposed entity, as a link where it can be changed.

    `entity` is the exposed entity's name, such as `sales/accounts`. `query` is the query string of the
    matrix, which the page of the change leads back to.
    """
    texts = format_html_join(mark_safe("<br>"), "{}", ((text,) for text in cell.texts))
    if not cell.link:
        return texts
    address = f"{cell.link}?{query}" if query else cell.link
    description = _("Change which records %(callers)s reach of %(entity)s") % {
        "callers": cell.label,
        "entity": entity,
    }
    return format_html('<a class="studio-cell-rule" href="{}" title="{}">{}</a>', address, description, texts)


@register.simple_tag
def reached(row: Row, name: str, records: Mapping[int, Sequence[str]]) -> str:
    """Return the records that callers of the column `name` reach by the endpoint; a dash for those who may
    not call it.

    `records` are texts about them, by the row id of the endpoint.
    """
    if not row.allows(name):
        return "–"
    texts = records.get(row.id, ())
    return format_html_join(mark_safe("<br>"), "{}", ((text,) for text in texts)) or "–"

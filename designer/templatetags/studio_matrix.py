"""One cell of the permission matrix. There are thousands on a page, so it is no template of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from designer.access_matrix import Row, mark_of

register = template.Library()


@register.simple_tag
def cell(row: Row, name: str, label: str, may_change: bool) -> SafeString:
    if row.chosen(name):
        sign, word = "✔", _("may call")
    elif row.allows(name):
        sign, word = "○", _("may call too")
    else:
        sign, word = "–", _("may not call")
    what = f"{label}: {word}, {row.methods} {row.path}"
    if not may_change:
        return format_html('<span role="img" aria-label="{}">{}</span>', what, sign)
    return format_html(
        '<button class="studio-cell" name="cell" value="{}:{}#{}" aria-pressed="{}" aria-label="{}">{}'
        "</button>",
        *(row.id, name, mark_of(row.access), "true" if row.chosen(name) else "false", what, sign),
    )


@register.simple_tag
def reached(row: Row, name: str, records: Mapping[int, Sequence[str]]) -> str:
    """What callers who may call the endpoint reach by it; a dash for those who may not."""
    if not row.allows(name):
        return "–"
    texts = records.get(row.id, ())
    return format_html_join(mark_safe("<br>"), "{}", ((text,) for text in texts)) or "–"

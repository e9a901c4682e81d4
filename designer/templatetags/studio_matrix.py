"""One cell of the permission matrix. There are thousands on a page, so it is no template of its own."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
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

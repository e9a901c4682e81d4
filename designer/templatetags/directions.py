"""Texts that mix directions, in templates: `{{ line.text|directed }}`."""

from __future__ import annotations

import re

from django import template
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language_bidi

register = template.Library()
_QUOTED = re.compile("(“[^”]*”)")


@register.filter
def directed(text: str) -> SafeString:
    """From right to left: what is quoted keeps its direction, “old → new” points where reading goes on."""
    if not get_language_bidi():
        return conditional_escape(text)
    # Of what is split by a group, every other part is that group.
    parts = enumerate(_QUOTED.split(str(text)))
    shown = (format_html("<bdi>{}</bdi>", part) if at % 2 else part.replace("→", "←") for at, part in parts)
    return format_html_join("", "{}", ((part,) for part in shown))

"""Texts that mix directions, in templates: `{{ line.text|directed }}`."""

from __future__ import annotations

import re

from django import template
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language_bidi

register = template.Library()
_QUOTED = re.compile("(“[^”]*”)")
# What `designer.sentences.isolated` returns.
_ISOLATED = re.compile("\N{FIRST STRONG ISOLATE}([^\N{POP DIRECTIONAL ISOLATE}]*)\N{POP DIRECTIONAL ISOLATE}")


@register.filter
def directed(text: str) -> SafeString:
    """Return a text for right-to-left languages: quoted parts keep their direction, and arrows are turned
    round.
    """
    if not get_language_bidi():
        return conditional_escape(text)
    # Split by a group, every second part is a match of the group.
    parts = enumerate(_QUOTED.split(str(text)))
    shown = (
        format_html("<bdi>{}</bdi>", part) if position % 2 else part.replace("→", "←")
        for position, part in parts
    )
    return format_html_join("", "{}", ((part,) for part in shown))


@register.filter
def names_apart(text: str) -> SafeString:
    """Return a text with its isolated names as elements of their own. Styles can cut off the end of each;
    what cuts off a text from right to left would take the beginning of a Latin name.
    """
    parts = enumerate(_ISOLATED.split(str(text)))
    shown = (format_html("<bdi>{}</bdi>", part) if position % 2 else part for position, part in parts)
    return format_html_join("", "{}", ((part,) for part in shown))

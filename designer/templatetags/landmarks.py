"""Landmarks, by which a screen reader finds its way around a page."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def main_landmark(page: SafeString) -> SafeString:
    """Return the page with its main part marked as a landmark, which the admin theme does not do."""
    # A copy of the theme's template would have to follow each of its releases.
    marked = page.replace('id="main"', 'id="main" role="main"', 1)
    # “Skip to the page” leads to the content: without a tab index, the focus would fall to the whole page.
    return SafeString(marked.replace('id="content"', 'id="content" tabindex="-1"', 1))

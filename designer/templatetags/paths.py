"""Paths of endpoints in templates: `{{ endpoint.path|breakable }}`."""

from __future__ import annotations

from django import template

from designer.studio.breakable_paths import breakable

register = template.Library()
register.filter(breakable)

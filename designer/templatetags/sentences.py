"""Sentences in templates: `{{ problem|said }}`."""

from __future__ import annotations

from django import template

from designer.sentences import said

register = template.Library()
register.filter("said", said)

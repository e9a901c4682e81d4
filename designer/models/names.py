"""Validators of names. Their rules are those of the HTTP contract."""

from __future__ import annotations

import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from designer.names import CALLER_TYPE_PATTERN, INPUT_PATTERN, RESERVED_SEGMENTS, ROLE_PATTERN, is_segment


def segment(text: str) -> None:
    """Raise ValidationError unless `text` can be a part of a path."""
    if text in RESERVED_SEGMENTS:
        raise ValidationError(_("“%(text)s” is reserved for the service itself."), params={"text": text})
    if not is_segment(text):
        raise ValidationError(
            _("Use lower-case letters, digits and hyphens (at most 63 characters), and start with a letter.")
        )


def input_name(text: str) -> None:
    """Raise ValidationError unless `text` can name an input or a data fetcher."""
    if not re.match(INPUT_PATTERN, text):
        raise ValidationError(
            _("Use letters, digits and _ (at most 63 characters), and do not start with a digit.")
        )


def role_name(text: str) -> None:
    """Raise ValidationError unless `text` can name a role."""
    if not re.match(ROLE_PATTERN, text):
        raise ValidationError(
            _("Use letters, digits and . _ : - (at most 100 characters), and start with a letter or digit.")
        )


def caller_type_name(text: str) -> None:
    """Raise ValidationError unless `text` can name a caller type."""
    if not re.match(CALLER_TYPE_PATTERN, text):
        raise ValidationError(
            _("Use lower-case letters, digits, - and _ (at most 63 characters), and start with a letter.")
        )

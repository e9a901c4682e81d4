"""Whole numbers in addresses and forms: rows, counts, positions.

`int` raises ValueError for a text of thousands of digits, and databases raise errors for numbers of twenty.
"""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ValidationError
from django.forms import ModelMultipleChoiceField

_MOST_DIGITS: Final = 18


def sent_number(text: str) -> int | None:
    """Return the number that a text is; None for any other text, and for one with more than 18 digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None


class RowsField(ModelMultipleChoiceField):  # type: ignore[type-arg]  # no generic at run time
    """Rows that are chosen by their numbers. Django's field lets the database fail for a number of twenty
    digits.
    """

    def clean(self, value: Any) -> Any:
        """Return the rows. Raises ValidationError for what is no row's number."""
        for text in value if isinstance(value, list | tuple) else ():
            if sent_number(str(text)) is None:
                raise ValidationError(
                    self.error_messages["invalid_choice"], code="invalid_choice", params={"value": text}
                )
        return super().clean(value)

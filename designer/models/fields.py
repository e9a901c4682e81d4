"""Columns that keep numbers exactly, on databases whose own numbers do not."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _

from designer.definition import exact_number

# The length of the column, in characters.
MOST_DIGITS = 64


class ExactDecimalField(models.Field):  # type: ignore[type-arg]
    """A Decimal kept as text: SQLite would make a float of 922337203685477.5807."""

    description = "Exact decimal number"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"max_length": MOST_DIGITS, **kwargs})

    def get_internal_type(self) -> str:
        """Return the type of the column: text, of any database."""
        return "CharField"

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Decimal | None:
        return self.to_python(value)

    def to_python(self, value: Any) -> Decimal | None:
        """Return a Decimal from a number or a text of digits; None for none and for an empty text.

        Raises ValidationError for any other text, and for more than MOST_DIGITS digits.
        """
        if value is None or value == "":
            return None
        try:
            number = Decimal(str(value))
        except InvalidOperation as error:
            raise ValidationError(_("Write a number, such as 12.50.")) from error
        # Checked before the number is written out: 1e999999 would be a million characters.
        has_too_many_digits = not number.is_finite() or abs(number.adjusted()) >= MOST_DIGITS
        if has_too_many_digits or len(format(number, "f")) > MOST_DIGITS:
            raise ValidationError(_("Write a number of at most %(count)s digits.") % {"count": MOST_DIGITS})
        return number

    def get_prep_value(self, value: Any) -> str | None:
        """Return the text to store, without an exponent; None for none."""
        number = self.to_python(super().get_prep_value(value))
        return None if number is None else format(number, "f")

    def value_to_string(self, obj: models.Model) -> str:
        """Return the text for a fixture; empty for none."""
        return self.get_prep_value(self.value_from_object(obj)) or ""

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": forms.DecimalField, **kwargs})


class ExactJSONEncoder(json.JSONEncoder):
    """Writes a Decimal as a number where that keeps its value, and refuses where it would not."""

    def default(self, o: Any) -> Any:
        """Return a JSON number for a Decimal. Raises ValueError where JSON would lose digits."""
        return exact_number(o) if isinstance(o, Decimal) else super().default(o)


_EXACT = json.JSONDecoder(parse_float=Decimal)


class ExactJSONDecoder(json.JSONDecoder):
    """Reads numbers exactly.

    Django makes a decoder for every value, so this one is always the same object.
    """

    def __new__(cls) -> json.JSONDecoder:  # type: ignore[misc]  # one that has been made
        return _EXACT

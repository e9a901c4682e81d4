"""The column of a limit by the minute, which a role, an account or a key can have of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models.expressions import Combinable
from django.utils.translation import gettext_lazy as _

from designer.kinds.call_limits import MOST

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


def rate_column(
    help_text: str | _StrPromise,
) -> models.PositiveIntegerField[float | int | str | Combinable, int]:
    """Return a column for requests a minute; 0: no limit of its own.

    The column has a database default, because the release before writes rows without it.
    """
    return models.PositiveIntegerField(
        _("requests a minute"),
        blank=True,
        default=0,
        db_default=0,
        validators=[MaxValueValidator(MOST)],
        help_text=help_text,
    )

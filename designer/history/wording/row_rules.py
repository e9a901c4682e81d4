"""Row rules: which records callers reach."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from designer.history.effects import Effect
from designer.history.wording.fields import FieldWords


def _row_rule(old: Any, new: Any) -> tuple[str, Effect]:
    if not old:
        return _("row rule added: callers may reach fewer records"), Effect.BEHAVIOUR
    if not new:
        return _("row rule removed: callers reach every record"), Effect.BEHAVIOUR
    return _("row rule changed"), Effect.BEHAVIOUR


ROW_RULE: FieldWords = _row_rule

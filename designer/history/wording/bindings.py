"""Entity properties: what is written, which callers do not see."""

from __future__ import annotations

from django.utils.translation import gettext as _

from designer.history.effects import Effect
from designer.history.wording.fields import Listed, Words

BINDINGS = Listed(
    noun=lambda name: _("attribute “%(name)s”") % {"name": name},
    name=lambda item: item.get("attribute", ""),
    words=Words(),
    added=lambda item: Effect.BEHAVIOUR,
    removed=Effect.BEHAVIOUR,
)

"""The setting that kinds share which create or update records: whether possible duplicates are refused."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.kinds.effects import Effect, Switch
from designer.kinds.settings import EndpointSettings


class DuplicateSettings(EndpointSettings):
    """`refuse_duplicates`: the platform's duplicate detection rules hold for what calls write."""

    refuse_duplicates: Annotated[
        bool,
        Switch(
            _("possible duplicates became refused"),
            Effect.BREAKING,
            _("possible duplicates are no longer refused"),
            Effect.BEHAVIOUR,
        ),
    ] = Field(
        False,
        title=_("Refuse duplicates"),
        description=_(
            "A call is refused with 409 if the platform's published duplicate detection rules "
            "find a record like the one that the call writes. If this is switched off, the rules "
            "are not applied."
        ),
    )

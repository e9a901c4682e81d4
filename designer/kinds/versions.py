"""The setting that update and delete share: whether calls must say which version of the record they mean."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.kinds.effects import Effect, Switch
from designer.kinds.settings import EndpointSettings


class VersionSettings(EndpointSettings):
    """`require_if_match`: a call that does not say which version it means is refused with 428."""

    require_if_match: Annotated[
        bool,
        Switch(
            _("If-Match became required"),
            Effect.BREAKING,
            _("If-Match is no longer required"),
            Effect.ADDITIVE,
        ),
    ] = Field(
        False,
        title=_("Require If-Match"),
        description=_(
            "Callers must send the ETag that they have read, so that nobody overwrites "
            "somebody else's change."
        ),
    )

"""The setting that writes of a known record share."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.definitions.endpoints import EndpointSettings


class VersionSettings(EndpointSettings):
    """`require_if_match`: a call that does not say which version it means is refused with 428."""

    require_if_match: bool = Field(
        False,
        title=_("Require If-Match"),
        description=_("Callers must send the ETag they have read, so that none overwrites another's change."),
    )

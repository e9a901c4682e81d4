"""Makes the platform that `PLATFORM` names."""

from __future__ import annotations

from crmclient import Platform
from crmclient.embedded.platform import EmbeddedPlatform


def embedded() -> Platform:
    """The CRM in the box, in the configuration's own database."""
    return EmbeddedPlatform()

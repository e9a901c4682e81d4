"""Microsoft's clouds: each has its organisations, and an Entra ID that gives tokens for them."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

WORLDWIDE: Final = "https://login.microsoftonline.com"
US_GOVERNMENT: Final = "https://login.microsoftonline.us"
CHINA: Final = "https://login.partner.microsoftonline.cn"

_BY_HOST_SUFFIX: Final = {
    ".crm.microsoftdynamics.us": US_GOVERNMENT,  # GCC High; GCC itself is crm9.dynamics.com, and worldwide
    ".crm.appsplatform.us": US_GOVERNMENT,  # DoD
    ".crm.dynamics.cn": CHINA,
}


def authority_of(url: str) -> str:
    """Return the address of Entra ID in the cloud of the organisation at `url`."""
    host = (urlsplit(url).hostname or "").lower()
    for suffix, authority in _BY_HOST_SUFFIX.items():
        if host.endswith(suffix):
            return authority
    return WORLDWIDE

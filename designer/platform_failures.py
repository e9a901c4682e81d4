"""What people are told of a failure of the platform: what happened, and what to do."""

from __future__ import annotations

from crmclient import KeepsMetadata
from crmclient.dataverse.advice import advice_on
from crmclient.errors import PlatformError
from designer.platform import get_platform
from designer.sentences import said


def failure_words(error: PlatformError) -> str:
    """Return the reason of a failure and the advice on it, in the language of the reader.

    There is advice for a platform that is reached over a network. The CRM in the box keeps no metadata apart,
    and its failures are those of this service's database.
    """
    reason = said(str(error))
    advice = said(advice_on(error)) if isinstance(get_platform(), KeepsMetadata) else ""
    return f"{reason} {advice}".strip()

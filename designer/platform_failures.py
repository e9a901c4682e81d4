"""What people are told of a failure of the platform: what happened, and what to do."""

from __future__ import annotations

from crmclient import KeepsMetadata
from crmclient.dataverse.advice import advice_on
from crmclient.errors import PlatformError
from designer.platform import get_platform
from designer.sentences import said


def failure_words(error: PlatformError) -> str:
    """Return the reason of a failure and the advice on it, in the language of the reader."""
    return f"{said(str(error))} {said(failure_advice(error))}".strip()


def failure_advice(error: PlatformError) -> str:
    """Return what to do about a failure of a platform that is reached over a network; else an empty text.

    The CRM in the box keeps no metadata apart, and its failures are those of this service's database.
    """
    return advice_on(error) if isinstance(get_platform(), KeepsMetadata) else ""

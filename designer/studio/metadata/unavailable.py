"""What pages and scripts are told where the platform does not give what they need: why, and what to do."""

from __future__ import annotations

from django.http import JsonResponse
from django.utils.translation import gettext as _

from crmclient.errors import MissingPrivilege, PlatformError, PlatformFailure
from crmclient.sentences import Sentence
from designer.platform_failures import failure_words
from designer.readiness.metadata import MetadataUnavailable
from designer.sentences import said


def unavailable_words(unavailable: MetadataUnavailable) -> str:
    """Return why the metadata is not known, and what to do about it, in the language of the reader."""
    if unavailable.is_pending:
        return _("The platform's metadata is being fetched. Try again in a moment.")
    words = failure_words(unavailable.error)
    if isinstance(unavailable.error, MissingPrivilege):
        return said(Sentence("%(advice)s Then refresh the metadata.", advice=words))
    if isinstance(unavailable.error, PlatformFailure):
        return _("The platform does not return its metadata at the moment.") + " " + words
    return words


def unavailable_answer(error: PlatformError | MetadataUnavailable) -> JsonResponse:
    """Return the answer for a script, with status 503. The script shows the words in `away`."""
    words = unavailable_words(error) if isinstance(error, MetadataUnavailable) else failure_words(error)
    return JsonResponse({"away": words}, status=503)

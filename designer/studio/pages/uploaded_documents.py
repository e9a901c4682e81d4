"""Documents that are uploaded on pages of the studio."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from designer.documents.document_reader import LARGEST_DOCUMENT
from designer.documents.problems import DocumentError
from designer.kinds.file_sizes import size_in_words


def uploaded_bytes(document: UploadedFile[Any]) -> bytes:
    """Return the content of an uploaded document. Raises DocumentError for one that is too large."""
    if (document.size or 0) > LARGEST_DOCUMENT:
        most = size_in_words(LARGEST_DOCUMENT)
        raise DocumentError([_("The document is larger than %(most)s.") % {"most": most}])
    raw: bytes = document.read()
    return raw

"""What a request says of the file it sends: its name and type."""

from __future__ import annotations

import mimetypes
from urllib.parse import unquote

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.request import Request
from crmclient.metadata import Attribute, AttributeType

HEADER = "x-ms-file-name"
ANY_TYPE = "application/octet-stream"


def file_name(request: Request, attribute: Attribute) -> str:
    """Return the name of a file from the header, or else from the query.

    The query may have any letters. An image without a name is named `image`; raises WebApiError for another
    file without one.
    """
    name = unquote(request.headers.get(HEADER, "")) or request.query.get(HEADER, "")
    if not name and attribute.type is AttributeType.IMAGE:
        return "image"
    if not name:
        raise bad_payload(
            f"A file needs a name: send the header {HEADER}, or the query parameter of its name."
        )
    return name


def content_type(request: Request, name: str) -> str:
    """Return the type that the client sends, or else the one that the extension of the name stands for."""
    sent = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if sent and sent != ANY_TYPE and not sent.startswith("application/json"):
        return sent
    return mimetypes.guess_type(name)[0] or ANY_TYPE

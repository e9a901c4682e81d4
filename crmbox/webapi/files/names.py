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
    """The header's name, else the query's, which may hold any letters. Raises WebApiError without one."""
    name = unquote(request.headers.get(HEADER, "")) or request.query.get(HEADER, "")
    if not name and attribute.type is AttributeType.IMAGE:
        return "image"
    if not name:
        raise bad_payload(
            f"A file needs a name: send the header {HEADER}, or the query parameter of its name."
        )
    return name


def content_type(request: Request, name: str) -> str:
    """The type that the client sends, or that the name's ending stands for."""
    sent = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if sent and sent != ANY_TYPE and not sent.startswith("application/json"):
        return sent
    return mimetypes.guess_type(name)[0] or ANY_TYPE

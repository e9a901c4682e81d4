"""URLs of records in bodies and query strings, as references.

Relative (`contacts(…)`, `/contacts(…)`), absolute, by alternate key, or `$1` for what a change set has made.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.keys import locate
from crmbox.webapi.paths import API, parse_path
from crmbox.webapi.request import Request, parse_query
from crmclient.values import Reference

_API = re.compile(rf"^.*?{API}/")
_CONTENT_ID = re.compile(r"\$[^/()?]+")


def read_reference(request: Request, url: Any) -> Reference:
    """Return the record that a URL refers to.

    A record given by its id need not exist. Raises WebApiError.
    """
    if not isinstance(url, str) or not url.strip():
        raise bad_payload(f"{url!r} is no URL of a record: write /contacts(00000000-…).")
    text = resolved_reference(request, url.strip())
    address, _, query_text = text.partition("?")
    path = parse_path(unquote(_API.sub("", address)).lstrip("/"))
    if len(path) != 1 or not path[0].arguments:
        raise bad_payload(f"'{url}' is no URL of a record: write /contacts(00000000-…).")
    type_ = request.model.entity_type_of_set(path[0].name)
    query = {**request.query, **parse_query(query_text)}
    return Reference(type_.name, locate(replace(request, query=query), type_, path[0].arguments))


def resolved_reference(request: Request, url: str) -> str:
    """Return `url` with a leading `$n` replaced by the URL it refers to.

    Raises WebApiError if no part has that content id.
    """
    match = _CONTENT_ID.match(url.removeprefix("/"))
    if match is None:
        return url
    content_url = request.content_urls.get(match[0][1:])
    if content_url is None:
        raise bad_payload(f"Content-ID Reference: '{match[0]}' does not exist in the batch context.")
    return content_url + url.removeprefix("/")[match.end() :]

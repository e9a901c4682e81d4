"""Requests to the identity provider: to where they may go, never redirected, bounded in time and size."""

from __future__ import annotations

import time
from typing import Any

import requests
from django.conf import settings
from requests.adapters import HTTPAdapter

from crmclient.outbound import check_url, is_public

# Seconds to connect, and to wait for each piece of the answer.
TIMEOUT = (3.05, 5.0)
# The size of an answer in bytes, and the seconds that reading it may take in all.
LARGEST = 1024 * 1024
LONGEST = 10.0


class GuardedAdapter(HTTPAdapter):
    """Sends requests to allowed addresses only. Raises `requests.RequestException` for any other."""

    def __init__(self, *, allow_private_addresses: bool) -> None:
        super().__init__()
        self._allow_private = allow_private_addresses

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        """Send a request, and return the answer with its body read. A redirect is refused."""
        check_address(request.url or "", allow_private=self._allow_private)
        # What requests gives by position may be less strict: nothing but proxies and certificates is kept.
        tls_options = {name: options[name] for name in ("verify", "cert", "proxies") if name in options}
        response = super().send(request, stream=True, timeout=TIMEOUT, **tls_options)
        if response.is_redirect:
            response.close()
            raise requests.TooManyRedirects("the provider redirects")
        # So that `response.content` is what was read within the limits.
        response._content = _read_body(response)
        return response


def check_address(url: str, *, allow_private: bool) -> None:
    """Raise `requests.RequestException` unless requests to `url` are allowed."""
    try:
        check_url(url, insecure=settings.DEVELOPMENT)
        is_allowed = allow_private or is_public(url)
    except ValueError as error:
        raise requests.exceptions.InvalidURL(str(error)) from error
    except OSError as error:
        raise requests.ConnectionError(str(error)) from error
    if not is_allowed:
        raise requests.exceptions.InvalidURL(
            "the address is in a private network; STUDIO_OIDC_PRIVATE_ADDRESS=1 allows it"
        )


def _read_body(response: requests.Response) -> bytes:
    """Return the body of an answer. Raises `requests.RequestException` for one too large or too slow."""
    started = time.monotonic()
    body = b""
    with response:
        for block in response.iter_content(64 * 1024):
            body += block
            if len(body) > LARGEST or time.monotonic() - started > LONGEST:
                raise requests.exceptions.ContentDecodingError("the answer is too large or too slow")
    return body

"""Documents of issuers, from addresses that somebody has typed: guarded, bounded, never redirected."""

from __future__ import annotations

import socket
import time
from typing import Any
from urllib.parse import urlsplit

import orjson
import requests
from django.conf import settings

from crmclient.outbound import check_url, is_public
from crmclient.sentences import Sentence

# Seconds to connect, and from one piece of the body to the next.
TIMEOUT = (3.05, 5.0)
# Bytes of a document, and seconds for its body.
LARGEST = 512 * 1024
LONGEST = 10.0


class NotFetched(Exception):
    """A document could not be fetched. The sentence says why, for the person who typed the address."""


def fetch_json(url: str, *, allow_private: bool = False) -> Any:
    """Return the JSON document at `url`, of at most 512 KiB and within 10 s. Redirects are not followed.

    A host of the own network is asked only with `allow_private`, or if the setting ISSUER_PRIVATE_HOSTS names
    it. Raises NotFetched.
    """
    try:
        check_url(url, insecure=settings.DEVELOPMENT)
        allowed = allow_private or urlsplit(url).hostname in settings.PORTICO["ISSUER_PRIVATE_HOSTS"]
        if not allowed and not is_public(url):
            raise NotFetched(
                Sentence(
                    "The host of %(address)s is in a private network. Whoever runs Portico can allow it with "
                    "the setting ISSUER_PRIVATE_HOSTS.",
                    address=url,
                )
            )
        return orjson.loads(_read(url))
    except OSError as error:
        raise NotFetched(
            Sentence("%(address)s does not answer: %(reason)s.", address=url, reason=_why(error))
        ) from error
    except ValueError as error:
        # orjson's own words quote the document.
        reason = str(error) if isinstance(str(error), Sentence) else Sentence("the answer is not JSON")
        raise NotFetched(
            Sentence("%(address)s cannot be read: %(reason)s.", address=url, reason=reason)
        ) from error


def _why(error: OSError) -> Sentence:
    """Return why an address cannot be reached, for the person who typed it."""
    if isinstance(error, socket.gaierror):
        return Sentence("there is no host of that name")
    if isinstance(error, requests.exceptions.SSLError):
        return Sentence("its certificate is not valid")
    if isinstance(error, requests.Timeout):
        return Sentence("it takes too long")
    return Sentence("there is no connection to it")


def _read(url: str) -> bytes:
    """Return the body at `url`. Raises OSError when there is no answer, and ValueError for another status
    than 200 and for a body that is too long or takes too long.
    """
    with requests.get(url, timeout=TIMEOUT, allow_redirects=False, stream=True) as response:
        if response.status_code != requests.codes.ok:
            raise ValueError(Sentence("it answers with the status %(status)s", status=response.status_code))
        started = time.monotonic()
        text = b""
        for block in response.iter_content(64 * 1024):
            text += block
            if len(text) > LARGEST or time.monotonic() - started > LONGEST:
                raise ValueError(
                    Sentence(
                        "it has more than %(bytes)s bytes, or takes more than %(seconds)s seconds",
                        bytes=LARGEST,
                        seconds=LONGEST,
                    )
                )
        return text

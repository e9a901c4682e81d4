"""Documents of issuers, from addresses that somebody has typed: guarded, bounded, never redirected."""

from __future__ import annotations

import errno
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import orjson
import requests
from django.conf import settings
from urllib3.exceptions import NewConnectionError, ReadTimeoutError

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
    except ValueError:
        # Not in the words for an answer: nothing is asked.
        raise NotFetched(
            Sentence(
                "%(address)s is not asked. Write an absolute https address without a user name or password.",
                address=url,
            )
        ) from None
    try:
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
        # What this module raises has a Sentence as its message. The message of orjson would quote the
        # document.
        message = str(error)
        reason = message if isinstance(message, Sentence) else Sentence("the answer is not JSON")
        raise NotFetched(
            Sentence("%(address)s cannot be read: %(reason)s.", address=url, reason=reason)
        ) from error


def _why(error: OSError) -> Sentence:
    """Return why an address cannot be reached, for the person who typed it."""
    if isinstance(error, socket.gaierror):
        return Sentence("there is no host of that name")
    if isinstance(error, requests.exceptions.SSLError):
        return Sentence("its certificate is not valid")
    if isinstance(error, requests.Timeout) or isinstance(_cause(error), ReadTimeoutError):
        return Sentence("it takes too long")
    if _is_broken_off(error):
        return Sentence("it breaks the connection off")
    failure = _failure_to_connect(error)
    if isinstance(failure, ConnectionRefusedError):
        return Sentence("it refuses the connection")
    # An error without a number, as libraries make them, has no name.
    if isinstance(failure, OSError) and failure.errno is not None and failure.errno in errno.errorcode:
        return Sentence("there is no connection to it (%(error)s)", error=errno.errorcode[failure.errno])
    return Sentence("there is no connection to it")


def _is_broken_off(error: OSError) -> bool:
    """Whether a connection was made, and ended before the answer did."""
    if isinstance(error, requests.Timeout | requests.exceptions.SSLError):
        return False
    if not isinstance(error, requests.ConnectionError | requests.exceptions.ChunkedEncodingError):
        return False
    # Of a time-out within the body, `requests` says that the connection failed.
    return not isinstance(_cause(error), ReadTimeoutError) and _failure_to_connect(error) is None


def _failure_to_connect(error: OSError) -> BaseException | None:
    """Return the system's error where no connection was made; None where one was made.

    For an address that urllib3 looked up in vain, that is the error of the look-up.
    """
    failed = getattr(_cause(error), "reason", None)
    if not isinstance(failed, NewConnectionError):
        return None
    return failed.__cause__ or failed


def _cause(error: OSError) -> Any:
    """Return the error of urllib3 that `requests` has wrapped; None where there is none."""
    return error.args[0] if error.args else None


def _read(url: str) -> bytes:
    """Return the body at `url`, asked for once more if the first connection breaks.

    Raises OSError when there is no answer, and ValueError for another status than 200 and for a body that is
    too long or takes too long.
    """
    started = time.monotonic()
    try:
        return _read_once(url, started)
    except OSError as error:
        if not _is_broken_off(error):
            raise
        # One broken connection would otherwise turn away every caller of the issuer for a minute.
        return _read_once(url, started)


def _read_once(url: str, started: float) -> bytes:
    """Return the body at `url`, with the time since `started` counted as its own. Raises OSError and
    ValueError as `_read` does.
    """
    with requests.get(url, timeout=TIMEOUT, allow_redirects=False, stream=True) as response:
        if response.status_code != requests.codes.ok:
            raise ValueError(Sentence("it answers with the status %(status)s", status=response.status_code))
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

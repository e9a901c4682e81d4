"""The addresses that this service may send requests to: https, and not in the own network unless allowed."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit


def check_url(url: str, *, insecure: bool) -> None:
    """Raise ValueError unless `url` is an absolute https address without credentials. With `insecure`, http
    will do.
    """
    parts = urlsplit(url)
    schemes = {"https", "http"} if insecure else {"https"}
    if parts.scheme not in schemes or not parts.hostname:
        raise ValueError("write an absolute https address")
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address may hold no credentials")


def is_public(url: str) -> bool:
    """Whether every address that the host of `url` resolves to now is one of the public internet.

    Raises OSError when it does not resolve.
    """
    parts = urlsplit(url)
    addresses = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    return all(ipaddress.ip_address(address[4][0]).is_global for address in addresses)

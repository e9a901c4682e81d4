"""A client's address, and which of them may be believed."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest

# The peer of a Unix socket has no address: it is this machine.
_LOCAL = "127.0.0.1"
_WRAPPED = "::ffff:"


def client_address(request: HttpRequest) -> str:
    """The address of the client of `request`, in its canonical form.

    With n trusted proxies it is the nth entry from the right of `X-Forwarded-For`, which the outermost of
    them wrote; everything further left is the client's own claim. Without one, or where that entry is
    missing or is no address, it is the connection's peer.
    """
    proxies: int = settings.PORTICO["TRUSTED_PROXIES"]
    peer = peer_address(request)
    if not proxies:
        return peer
    entries = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if len(entries) < proxies:
        return peer
    return _canonical(entries[-proxies].strip()) or peer


def peer_address(request: HttpRequest) -> str:
    """The address that the connection of `request` comes from: a client's, or a proxy's."""
    return unwrapped(request.META.get("REMOTE_ADDR") or _LOCAL)


def unwrapped(address: str) -> str:
    """The IPv4 address that a socket of IPv6 (`HOST=::`) gives wrapped in IPv6; others stay as they are.

    Still wrapped, all of IPv4 would be one network.
    """
    if not address.startswith(_WRAPPED):
        return address
    wrapped = ipaddress.IPv6Address(address).ipv4_mapped
    return address if wrapped is None else str(wrapped)


def network(address: str) -> str:
    """What one client holds: an IPv4 address, or the /64 that an IPv6 one is of."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))


def _canonical(text: str) -> str | None:
    """`text` as an address; some proxies add the port, and IPv4 may come wrapped in IPv6."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return None
    return unwrapped(str(address))

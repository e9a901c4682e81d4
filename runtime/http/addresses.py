"""The address of a client, from the connection or from the headers of trusted proxies."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest

# The peer of a Unix socket has no address: it is this machine.
_LOCAL = "127.0.0.1"
_WRAPPED = "::ffff:"


def client_address(request: HttpRequest) -> str:
    """Return the address of the client of `request`, in its canonical form.

    Behind n trusted proxies, it is the nth entry from the right of `X-Forwarded-For`: the outermost proxy has
    written this entry, and the client may have written those to the left of it. The address is that of the
    connection if there are no proxies, or if this entry is missing or is no address.
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
    """Return the address that the connection of `request` comes from: the client's, or a proxy's."""
    return unwrapped(request.META.get("REMOTE_ADDR") or _LOCAL)


def unwrapped(address: str) -> str:
    """Return the IPv4 address that an IPv6 socket (`HOST=::`) writes as `::ffff:192.0.2.1`; others as they
    are.

    Without this, `network` would put all of IPv4 into one network.
    """
    if not address.startswith(_WRAPPED):
        return address
    wrapped = ipaddress.IPv6Address(address).ipv4_mapped
    return address if wrapped is None else str(wrapped)


def network(address: str) -> str:
    """Return the network that counts as one client: an IPv4 address, or the /64 network of an IPv6
    address.
    """
    if ":" not in address:
        return address
    # A percent sign separates the name of an interface (RFC 4007).
    return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))


def _canonical(text: str) -> str | None:
    """Return `text` as an address; None for any other text. A port, as some proxies add it, is cut off."""
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

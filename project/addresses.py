"""The address the server listens on: whether it belongs to this machine, whether it is free, and its URL."""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address

_REASONS = {
    errno.EADDRINUSE: "Port {port} on {host} is taken by another program. Stop it, or set PORT={other}.",
    errno.EACCES: "Port {port} needs rights this user has not. Choose one from 1024 on: PORT=8000",
    errno.EADDRNOTAVAIL: "{host} is no address of this machine. Use HOST=127.0.0.1, or 0.0.0.0 for all.",
}


class CannotListen(Exception):
    """The service cannot listen at its address. The text says why, and what to do."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host: a name or an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_to_listen_on(host: str, port: int) -> str:
    """Return the numeric address of `host`. Raises CannotListen when nothing can listen on it at `port`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise CannotListen(f"HOST={host} cannot be resolved: {error.strerror}.") from error
    with socket.socket(family, kind, protocol) as probe:
        # Servers set it, too. A port that was just left is free then, but not one that another program
        # listens on.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            template = _REASONS.get(error.errno or 0, "Cannot listen on {host}, port {port}: {error}.")
            raise CannotListen(
                template.format(
                    host=host, port=port, other=port + 1 if port < 65535 else 8000, error=error.strerror
                )
            ) from error
    return str(address[0])


def url_of(host: str, port: int) -> str:
    """Return the address of the service for a browser on this machine."""
    shown_host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  read, not bound
    return f"http://[{shown_host}]:{port}" if ":" in shown_host else f"http://{shown_host}:{port}"

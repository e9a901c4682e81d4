"""Serve the CRM in the box as Dataverse's Web API."""

from __future__ import annotations

import os
import socket
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from crmbox.webapi.credentials import DEMO_CLIENT, check_clients, credentials
from crmbox.webapi.paths import ROOT_VARIABLE
from crmbox.webapi.service_protection import configured_limits

API = "api/data/v9.2/"


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="The address to listen on.")
        parser.add_argument("--port", type=int, default=8010, help="The port to listen on.")
        parser.add_argument("--root", default="", help="A path before everything else, such as /contoso.")
        parser.add_argument("--threads", type=int, default=64, help="Requests worked on at once.")
        parser.add_argument(
            "--certificate", type=Path, help="A PEM file: serve HTTPS, as some clients insist."
        )
        parser.add_argument("--key", type=Path, help="The PEM file of the certificate's private key.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the settings and the address, and serve until the process is stopped."""
        host, port, root = options["host"], options["port"], options["root"].strip("/")
        _refuse_wrong_settings()
        if not _is_prepared():
            self.stderr.write("The database lacks migrations of this release. Run `manage.py prepare`.")
        if credentials() is None and not settings.PORTICO["CRM_SERVER_CLIENTS"]:
            self.stderr.write(
                "CRM_SERVER_CLIENT_ID and CRM_SERVER_CLIENT_SECRET are not set: no client gets tokens."
            )
        address = _address_to_listen_on(host, port)
        certificate, key = _tls_files(options["certificate"], options["key"])
        # The processes that the server forks read the prefix from the environment.
        prefix = os.environ[ROOT_VARIABLE] = f"/{root}" if root else ""
        # The server forks: no process may inherit another's connection.
        connections.close_all()
        server = Granian(
            "crmbox.webapi.wsgi:application",
            address=address,
            port=port,
            interface=Interfaces.WSGI,
            blocking_threads=options["threads"],
            websockets=False,
            ssl_cert=certificate,
            ssl_key=key,
            respawn_failed_workers=True,
            log_level=LogLevels.warning,
        )
        scheme = "https" if certificate else "http"
        url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{prefix}"
        server.on_startup(lambda: self._announce(url))
        server.serve()

    def _announce(self, url: str) -> None:
        """Write the addresses of the server, and the client of the demo where it is in use."""
        lines = [
            f"The CRM listens on {url} (stop it with Ctrl-C)",
            "",
            f"  Web API   {url}/{API}",
            f"  Tokens    {url}/{{tenant}}/oauth2/v2.0/token",
        ]
        if credentials() == DEMO_CLIENT:
            lines += ["", "  Client {}, secret {}, for development only".format(*DEMO_CLIENT)]
        self.stdout.write("\n".join(["", *lines, ""]))
        self.stdout.flush()


def _refuse_wrong_settings() -> None:
    """Raise CommandError for settings that the server cannot work with."""
    if settings.PORTICO["CRM_SERVER_FAULTS"] and not settings.DEVELOPMENT:
        raise CommandError("CRM_SERVER_FAULTS is for development: unset it, or set PORTICO_MODE=development.")
    try:
        configured_limits()
        check_clients()
    except ValueError as error:
        raise CommandError(str(error)) from None


def _is_prepared() -> bool:
    """Whether no migration is missing. Of a database that does not answer yet, nothing is known."""
    try:
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return True


def _tls_files(certificate: Path | None, key: Path | None) -> tuple[Path | None, Path | None]:
    """Return the files of certificate and key; None for both without HTTPS.

    Raises CommandError for one without the other, and for an unreadable file.
    """
    if (certificate is None) != (key is None):
        raise CommandError("--certificate and --key belong together.")
    for path in (certificate, key):
        if path is not None and not os.access(path, os.R_OK):
            raise CommandError(f"{path} cannot be read.")
    return certificate, key


def _address_to_listen_on(host: str, port: int) -> str:
    """Return the numeric address of `host`. Raises CommandError when nothing can listen there at `port`.

    A socket is bound to it for a moment, because the server itself would fail without a clear message.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError) as error:
        raise CommandError(
            f"Cannot listen on {host}, port {port}: {error}. Choose another --port."
        ) from error
    return str(address[0])

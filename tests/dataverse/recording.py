"""Something between the service and a CRM server that notes what passes, and can be taken away."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

from tests.dataverse.reaching import settings_for
from tests.servers import Server


class Recorder:
    """Listens at `url`. `headers` are those of each request to the Web API, in lower case."""

    def __init__(self, crm: Server) -> None:
        self.headers: list[dict[str, str]] = []
        self._crm = crm
        # The CRM server says its own address in what it answers.
        root = crm.url
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass_on(self) -> None:
                own = {name.lower(): value for name, value in self.headers.items()}
                if "/api/data/" in self.path:
                    recorder.headers.append(own)
                body = self.rfile.read(int(own.get("content-length", 0)))
                kept = {name: value for name, value in own.items() if name not in {"host", "connection"}}
                answer = requests.request(
                    self.command,
                    root.rsplit("/", 1)[0] + self.path,
                    data=body,
                    headers=kept | {"accept-encoding": "identity"},
                    timeout=60,
                )
                self.send_response(answer.status_code)
                for name, value in answer.headers.items():
                    if name.lower() not in {"transfer-encoding", "connection", "content-length"}:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _pass_on  # noqa: N815  http.server's names

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/{root.rsplit('/', 1)[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def settings(self) -> dict[str, str]:
        """What tells the service to use the CRM server as its platform, by way of this."""
        return {**settings_for(self._crm), "CRM_URL": self.url}

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

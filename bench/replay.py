"""`python -m bench.replay <platform's port> <milliseconds> <port>`: a platform that takes its time.

What is asked for the first time goes to the platform behind it; the same again gets the same answer. So the
services in front are measured, and not how fast the platform's own process is on this machine. `GET /asked`
gives the last question, as JSON of path and headers.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

_OWN = frozenset({"date", "server", "connection", "transfer-encoding", "content-length", "keep-alive"})


class Replay:
    def __init__(self, platform: int, delay: float) -> None:
        self._platform = platform
        self._delay = delay
        self._known: dict[tuple[str, str], bytes] = {}
        self._last: dict[str, Any] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, path, headers = _parsed(head)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                writer.write(await self._answer(method, path, headers, body))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
        if path == "/asked":
            return _written(200, {"Content-Type": "application/json"}, json.dumps(self._last).encode())
        # Creates differ in what they hold, and are answered alike.
        answer = self._known.get((method, path))
        if answer is None:
            answer = await self._asked(method, path, headers, body)
            self._known[method, path] = answer
        if "oauth2" not in path:
            self._last = {"path": path, "headers": headers}
            await asyncio.sleep(self._delay)
        return answer

    async def _asked(self, method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._platform)
        kept = {name: value for name, value in headers.items() if name not in ("connection", "host")}
        lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", "connection: close"]
        lines += [f"{name}: {value}" for name, value in kept.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        head, _, content = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        first, *fields = head.decode().split("\r\n")
        found = dict(field.split(": ", 1) for field in fields)
        return _written(
            int(first.split(" ")[1]),
            {name: value for name, value in found.items() if name.lower() not in _OWN},
            content,
        )


def _parsed(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *fields = head.decode("latin-1").split("\r\n")[:-2]
    method, path, _ = first.split(" ")
    headers = (field.split(":", 1) for field in fields)
    return method, path, {name.lower(): value.strip() for name, value in headers}


def _written(status: int, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} As recorded", *(f"{name}: {value}" for name, value in headers.items())]
    if status != 204:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


async def main() -> None:
    platform, milliseconds, port = (int(argument) for argument in sys.argv[1:4])
    replay = Replay(platform, milliseconds / 1000)
    server = await asyncio.start_server(replay.serve, "127.0.0.1", port, backlog=512)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

"""`python -m bench.replay <platform's port> <milliseconds> <port>`: a platform that takes its time.

What is asked for the first time goes to the platform behind it; the same again gets the same answer. So the
services in front are measured, and not how fast the platform's own process is on this machine.

A portal's platform has records that change, and limits. `POST /bench/begin` with the JSON object `requests`,
`window`, `places` begins that: changes of single records go to the platform behind, and what was remembered
of their entity is forgotten; `at 0000000000000` in an answer becomes the time of the answer, in
milliseconds; what is too much is refused as Dataverse does. `POST /bench/away` with `seconds` closes every
connection for so long. `GET /bench/counted` gives what was taken in and refused since it began, by
entity, and what was taken in by kind of call. `GET /asked` the last question, as JSON of path and headers.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections import Counter
from typing import Any
from urllib.parse import unquote, unquote_plus

from bench.limits import SlidingLimits

_OWN = frozenset({"date", "server", "connection", "transfer-encoding", "content-length", "keep-alive"})
_DATA = "/api/data/"
_RECORD = re.compile(r"/api/data/v9\.2/([a-z_]+)s(?:\(|$)")
_FETCHED = re.compile(r"entity(?:%20|\+)name(?:%3D|=)(?:%22|%27)([a-z_]+)", re.IGNORECASE)
_VALUES = re.compile(r"\([^()]*\)")
_LINKED = re.compile(r"<link-entity[^>]* name=[\"']([a-z_]+)")
_STAMP = b"at 0000000000000"
_JSON = {"Content-Type": "application/json"}


class Replay:
    def __init__(self, platform: int, delay: float) -> None:
        self._platform = platform
        self._delay = delay
        self._known: dict[tuple[str, str], bytes] = {}
        self._last: dict[str, Any] = {}
        self._limits: SlidingLimits | None = None
        self._counted: dict[str, Counter[str]] = {}
        # Changes begun and done: what was read across one is not remembered.
        self._changes = 0
        self._away_until = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, path, headers = _parsed(head)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if path.startswith("/bench/"):
                    writer.write(self._told(path, body))
                    continue
                if time.monotonic() < self._away_until:
                    break
                writer.write(await self._answer(method, path, headers, body))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _told(self, path: str, body: bytes) -> bytes:
        if path == "/bench/begin":
            self._limits = SlidingLimits(**json.loads(body))
            self._counted = {name: Counter() for name in ("admitted", "refused", "kinds")}
        elif path == "/bench/away":
            self._away_until = time.monotonic() + json.loads(body)["seconds"]
        return _written(200, _JSON, json.dumps(self._counted).encode())

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
        if path == "/asked":
            return _written(200, _JSON, json.dumps(self._last).encode())
        if self._limits is None or not path.startswith(_DATA):
            return await self._remembered(method, path, headers, body)
        limits, subject = self._limits, _subject(path)
        refused = limits.begin()
        if refused is not None:
            self._counted["refused"][refused.code] += 1
            error = {"error": {"code": refused.code, "message": refused.message}}
            return _written(429, {**_JSON, "Retry-After": str(refused.seconds)}, json.dumps(error).encode())
        self._counted["admitted"][subject] += 1
        self._counted["kinds"][_kind(method, path)] += 1
        left = f"x-ms-ratelimit-burst-remaining-xrm-requests: {limits.left}\r\n".encode()
        try:
            if method == "GET":
                answer = await self._remembered(method, path, headers, body)
            else:
                answer = await self._changed(method, path, headers, body)
        finally:
            limits.end()
        first, _, rest = answer.partition(b"\r\n")
        return b"%s\r\n%s%s" % (first, left, rest.replace(_STAMP, b"at %013d" % (time.time() * 1000)))

    async def _remembered(self, method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
        # Creates differ in what they hold, and are answered alike.
        answer = self._known.get((method, path))
        if answer is None:
            changes = self._changes
            answer = await self._asked(method, path, headers, body)
            if changes == self._changes:
                self._known[method, path] = answer
        if "oauth2" not in path:
            self._last = {"path": path, "headers": headers}
            await asyncio.sleep(self._delay)
        return answer

    async def _changed(self, method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
        self._changes += 1
        answer = await self._asked(method, path, headers, body)
        self._changes += 1
        subject = _subject(path)
        for key in [key for key in self._known if _subject(key[1]) == subject]:
            del self._known[key]
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
        answer_headers = dict(field.split(": ", 1) for field in fields)
        return _written(
            int(first.split(" ")[1]),
            {name: value for name, value in answer_headers.items() if name.lower() not in _OWN},
            content,
        )


def _subject(path: str) -> str:
    """The entity that a path is about; of FetchXML, the one that it begins with."""
    match = _FETCHED.search(path) or _RECORD.match(path.partition("?")[0])
    return match[1] if match else ""


def _kind(method: str, path: str) -> str:
    """What a call does, with the names of entities and properties and without values."""
    place, _, options = path.removeprefix("/api/data/v9.2/").partition("?")
    place = _VALUES.sub("(…)", unquote(place))
    if "fetchXml=" in options:
        linked = [name for name in _LINKED.findall(unquote_plus(options)) if name]
        place += f" by FetchXML{''.join(f', with {name}' for name in linked)}"
    return f"{method} {place}"


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

"""Batches as clients write them, and their answers taken apart."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import requests

from tests.webapi.crm import Crm


@dataclass(frozen=True)
class Part:
    """One answer: status with its reason, Content-ID, and the JSON of the body (None without one)."""

    status: int
    reason: str
    content_id: str | None
    headers: dict[str, str]
    body: Any


def request(
    method: str, url: str, body: Any = None, *, id: str | None = None, line: str = "\r\n", **headers: str
) -> str:
    """One part of a batch, without its boundary."""
    head = ["Content-Type: application/http", "Content-Transfer-Encoding: binary"]
    head += [f"Content-ID: {id}"] if id else []
    inner = [f"{method} {url} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    inner += ["Content-Type: application/json", "", json.dumps(body)] if body is not None else ["", ""]
    return line.join([*head, "", *inner])


def change_set(*parts: str, boundary: str = "changeset_1", line: str = "\r\n") -> str:
    return line.join(
        [f'Content-Type: multipart/mixed; boundary="{boundary}"', "", joined(boundary, parts, line)]
    )


def joined(boundary: str, parts: tuple[str, ...], line: str) -> str:
    return line.join([*(f"--{boundary}{line}{part}" for part in parts), f"--{boundary}--", ""])


def send(
    crm: Crm,
    *parts: str,
    line: str = "\r\n",
    content_type: str = "multipart/mixed; boundary=batch_1",
    **headers: str,
) -> requests.Response:
    body = joined("batch_1", parts, line).encode()
    return crm.send("POST", "$batch", data=body, headers={"Content-Type": content_type, **headers})


def answers(response: requests.Response) -> list[Part]:
    """Every answer, those of change sets in their place."""
    boundary = re.fullmatch(
        r'multipart/mixed; boundary="(batchresponse_\S+)"', response.headers["Content-Type"]
    )
    assert boundary is not None
    assert response.text.startswith(f"--{boundary[1]}\r\n")
    assert response.text.endswith(f"--{boundary[1]}--\r\n")
    return _parts(response.text, boundary[1])


def _parts(text: str, boundary: str) -> list[Part]:
    parts: list[Part] = []
    for raw in text.split(f"--{boundary}")[1:-1]:
        head, _, rest = raw.lstrip("\r\n").partition("\r\n\r\n")
        nested = re.search(r'boundary="(changesetresponse_[^"]+)"', head)
        if nested is not None:
            parts += _parts(rest, nested[1])
            continue
        content_id = re.search(r"Content-ID: (\S+)", head)
        inner, _, body = rest.partition("\r\n\r\n")
        line, *headers = inner.split("\r\n")
        status = re.fullmatch(r"HTTP/1.1 (\d+) (.+)", line)
        assert status is not None
        parts.append(
            Part(
                int(status[1]),
                status[2],
                content_id[1] if content_id else None,
                dict(header.split(": ", 1) for header in headers),
                json.loads(body) if body.strip() else None,
            )
        )
    return parts

"""The portal's paths, and the demo's cases: of Clara and Conny, who work together, and of Cosmo."""

from __future__ import annotations

from typing import Any

from crmbox.demo.people import stable_id
from tests.callers import Caller

PORTAL = "/api/portal"
CASES = f"{PORTAL}/cases"
MY_CASES = f"{PORTAL}/queries/my-cases"
COMPANY_CASES = f"{PORTAL}/queries/company-cases"
PROFILE = f"{PORTAL}/profile"

CLARAS, CONNYS, COSMOS = (
    stable_id("incident", f"portal/{name}") for name in ("clara-1", "conny-1", "cosmo-1")
)
CLARAS_FILE, COSMOS_FILE = (stable_id("annotation", f"portal/{name}") for name in ("clara-1", "cosmo-1"))
CLOSED = stable_id("incident", "portal/clara-4")


def files(case: str) -> str:
    return f"{CASES}/{case}/files/attachments"


def attach(caller: Caller, case: str, name: str = "photo.txt", content: bytes = b"What I see.") -> Any:
    disposition = f'attachment; filename="{name}"'
    return caller.post(files(case), content, content_type="text/plain", content_disposition=disposition)


def report(caller: Caller, title: str = "It does not start", **more: object) -> str:
    """The id of a new case."""
    answer = caller.post(CASES, {"title": title, **more})
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])


def titles(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    body = answer.json()
    return [row["title"] for row in (body if isinstance(body, list) else body["data"])]

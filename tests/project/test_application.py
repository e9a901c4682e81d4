"""What is settled before Django reads a request."""

from __future__ import annotations

import pytest

from tests.servers import Site

KEYED = """
from tests.row_rules import only_rule
from tests.runtime.keys import upserts
only_rule("", segment="accounts")
upserts()
"""


@pytest.mark.processes
def test_a_path_that_is_no_text_is_not_that_of_its_escapes(site: Site) -> None:
    site.manage("shell", "-v", "0", "-c", KEYED)
    server = site.start()
    headers = {"Authorization": f"Bearer {server.token('rep')}"}

    def put(value: str) -> tuple[int, object]:
        path = f"/api/sales/accounts/keys/number/{value}"
        answer = server.request("PUT", path, json={"name": "First"}, headers=headers)
        return answer.status_code, answer.json().get("code", answer.json().get("created"))

    assert put("A%ff") == (404, "not_found")
    assert put("A%25FF") == (200, True)
    assert put("A%25FF") == (200, False)
    assert put("A%C3%84") == (200, True)

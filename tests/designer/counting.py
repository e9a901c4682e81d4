"""How many queries a page costs."""

from __future__ import annotations

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.designer.studio import page


def queries(client: Client, url: str) -> int:
    """Of a page that has been opened before."""
    page(client, url)
    with CaptureQueriesContext(connection) as captured:
        page(client, url)
    return len(captured)

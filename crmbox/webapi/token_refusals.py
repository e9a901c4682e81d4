"""An answer of the token endpoint that says no, in the shape of OAuth 2 with what Entra ID adds.

{"error": "invalid_client", "error_description": "AADSTS7000215: …", "error_codes": [7000215], …}
"""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any


class TokenRefusal(Exception):
    """`error` is OAuth's, `number` that of Entra ID's table AADSTS."""

    def __init__(self, status: int, error: str, number: int, description: str) -> None:
        super().__init__(description)
        self.status = status
        self.error = error
        self.number = number
        self.description = description

    @property
    def body(self) -> dict[str, Any]:
        """The body of the answer, as Entra ID writes it."""
        return {
            "error": self.error,
            "error_description": f"AADSTS{self.number}: {self.description}",
            "error_codes": [self.number],
            "timestamp": f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M:%SZ}",
            "trace_id": str(uuid.uuid4()),
            "correlation_id": str(uuid.uuid4()),
        }

"""Read by key: `GET /api/{module}/{endpoint}/keys/{name}/{value}` → what a read of the record answers."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from crmclient import Platform
from designer.configuration import Endpoint
from runtime.operations.base import Description
from runtime.operations.read import ReadOperation
from runtime.values.key_values import INVALID_KEY, KeyInPath


class ReadByKeyOperation(ReadOperation):
    kind: ClassVar[str] = "read-by-key"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self._key = KeyInPath(endpoint, self.entity, platform)

    def describe(self) -> Description:
        described = super().describe()
        bad = tuple(code for code in described.problems[400] if code != "invalid_id")
        return replace(
            described,
            parameters=(self._key.parameter(), *described.parameters),
            problems={**described.problems, 400: (INVALID_KEY, *bad)},
        )

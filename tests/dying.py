"""A platform whose process dies right after it has created a record: between platform call and answer."""

from __future__ import annotations

import os
import signal
from typing import Any

from crmbox.platform import EmbeddedPlatform
from crmclient import Stored

LAST_WORDS = "The last one"


class DyingPlatform(EmbeddedPlatform):
    def create(self, entity: str, values: Any, **options: Any) -> Stored:
        stored = super().create(entity, values, **options)
        if values.get("name") == LAST_WORDS:
            os.kill(os.getpid(), signal.SIGKILL)
        return stored


def platform() -> DyingPlatform:
    return DyingPlatform()

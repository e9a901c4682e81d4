"""The record that files are sent to."""

from __future__ import annotations

import pytest

from designer.platform import get_platform


@pytest.fixture
def account(portico: None) -> str:
    return get_platform().create("account", {"name": "Files Ltd"}).id

"""dynamics-web-api, a client for JavaScript, at its ordinary work: the scenarios of dynamics_web_api.js."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.servers import Server

pytestmark = pytest.mark.processes

SCRIPT = Path(__file__).with_name("dynamics_web_api.js")
SCENARIOS = re.findall(r"^  async (\w+)\(\)", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_goes_well(plain: Server, packages: Path, scenario: str) -> None:
    done = subprocess.run(
        ["node", SCRIPT.name, plain.url, scenario],
        cwd=packages,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) >= 10

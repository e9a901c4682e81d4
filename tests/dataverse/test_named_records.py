"""Records that a document names by their keys, in front of Dataverse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crmbox.demo.people import FIRST_ACCOUNT
from designer.models import Version
from tests.chosen_platform import serving_with
from tests.dataverse.conftest import Failing
from tests.designer.commands import refused, run
from tests.designer.test_environment_values import written
from tests.designer.test_named_records import ACCOUNT, bound, constant, ruled

pytestmark = pytest.mark.processes


@pytest.fixture
def remote(portico: None, failing: Failing, settings: Any) -> Iterator[Failing]:
    """The demo's configuration in front of Dataverse."""
    with serving_with(failing.platform(retries=0), settings):
        yield failing


def test_a_key_means_the_record_that_dataverse_finds(remote: Failing, tmp_path: Path) -> None:
    named = written(tmp_path, bound(ACCOUNT))
    run("importconfig", named, "--allow-failing-calls")
    assert constant() == FIRST_ACCOUNT
    assert '"accountnumber": "A-00001"' in run("exportconfig")
    assert run("importconfig", named).endswith("Nothing to change.\n")


def test_what_dataverse_does_not_find_or_say_is_told(remote: Failing, tmp_path: Path) -> None:
    versions = Version.objects.count()
    unknown = written(tmp_path, ruled("{record:team(name='Nobody')}"))
    assert "has no record team(name='Nobody')" in refused("importconfig", unknown)
    several = written(tmp_path, bound({"entity": "account", "key": {"industrycode": 1}}))
    assert "has several records account(industrycode=1)" in refused("importconfig", several)
    remote.arm({"path": "/api/", "times": None, "status": 503})
    assert "could not be asked for account" in refused("importconfig", several)
    assert Version.objects.count() == versions

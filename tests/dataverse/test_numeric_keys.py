"""Alternate keys of numbers, in front of Dataverse."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crmclient.errors import InvalidRecord, TooLong
from tests.dataverse.reaching import platform_at
from tests.servers import Site

pytestmark = pytest.mark.processes

_MAKE_KEY = """
from crmbox.metadata import change
from crmclient.metadata import AlternateKey, Attribute, AttributeType, RequiredLevel
rate = Attribute("new_rate", AttributeType.DECIMAL, precision=10, required=RequiredLevel.APPLICATION)
with change() as metadata:
    metadata.create_attributes("account", [rate])
with change() as metadata:
    metadata.create_key("account", AlternateKey("new_rate", ("new_rate",)))
"""


def test_a_key_has_a_small_number_without_an_exponent(site: Site) -> None:
    site.manage("shell", "--command", _MAKE_KEY)
    platform = platform_at(site.start_crm())
    for number in (Decimal("0.0000001"), Decimal("1E+2")):
        made = platform.upsert("account", {"new_rate": number}, {"name": "First"})
        changed = platform.upsert("account", {"new_rate": number}, {"name": "Second"})
        assert (made.created, changed.created, changed.id) == (True, False, made.id)
        assert platform.retrieve("account", made.id, ["new_rate"]).values["new_rate"] == number
    # What the key says is not missing.
    with pytest.raises(InvalidRecord) as raised:
        platform.upsert("account", {"new_rate": Decimal(1)}, {"name": "x" * 161})
    assert [type(problem) for problem in raised.value.problems] == [TooLong]

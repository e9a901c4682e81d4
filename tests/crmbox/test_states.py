"""State and status settle each other."""

from __future__ import annotations

from typing import Any

import pytest

from crmclient import Guid, Platform
from crmclient.errors import InvalidRecord
from tests.crmbox.shop import CHECKED, DRAFT, GONE, LIVE, NEW, OFFERED, SCRAPPED, SOLD, add_product


def states(platform: Platform, id: Guid) -> tuple[Any, Any]:
    values = platform.retrieve("shop_product", id, ["statecode", "statuscode"]).values
    return values["statecode"], values["statuscode"]


def test_a_new_record_is_in_the_first_state(platform: Platform) -> None:
    assert states(platform, add_product(platform)) == (DRAFT, NEW)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"statuscode": CHECKED}, (DRAFT, CHECKED)),
        ({"statuscode": SOLD}, (LIVE, SOLD)),
        ({"statecode": LIVE}, (LIVE, OFFERED)),
        ({"statecode": GONE}, (GONE, SCRAPPED)),
        ({"statecode": LIVE, "statuscode": SOLD}, (LIVE, SOLD)),
    ],
)
def test_either_implies_the_other(
    platform: Platform, given: dict[str, int], expected: tuple[int, int]
) -> None:
    created, updated = add_product(platform, **given), add_product(platform, statecode=DRAFT)
    platform.update("shop_product", updated, given)

    assert states(platform, created) == states(platform, updated) == expected


def test_a_status_of_another_state_is_refused(platform: Platform) -> None:
    wrong = {"statecode": DRAFT, "statuscode": SOLD}
    id = add_product(platform)

    with pytest.raises(InvalidRecord) as created:
        platform.create("shop_product", {"name": "Lamp", **wrong})
    with pytest.raises(InvalidRecord) as updated:
        platform.update("shop_product", id, wrong)

    for raised in (created, updated):
        assert [problem.code for problem in raised.value.problems] == ["unknown_option"]
    assert states(platform, id) == (DRAFT, NEW)


def test_other_updates_leave_the_state_alone(platform: Platform) -> None:
    id = add_product(platform, statuscode=SOLD)

    platform.update("shop_product", id, {"quantity": 1})

    assert states(platform, id) == (LIVE, SOLD)


def test_a_status_option_of_an_inactive_state_is_inactive(platform: Platform) -> None:
    statuses = platform.option_set("statuscode", entity="shop_product")

    inactive = [option.value for option in statuses.options if statuses.is_inactive(option)]

    assert inactive == [SCRAPPED]

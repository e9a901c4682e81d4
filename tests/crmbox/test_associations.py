"""Pairs of a many-to-many relationship in the store's own tables."""

from __future__ import annotations

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Guid, Platform
from crmclient.errors import RecordNotFound
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.crmbox.shop import add_product
from tests.crmbox.test_delete import NOBODY
from tests.crmbox.test_together import workers

PEOPLE = "shop_product_people"


def person(platform: Platform) -> Guid:
    return platform.create("shop_person", {"lastname": "Lovelace"}).id


def pairs(platform: Platform, product: Guid) -> list[Guid]:
    query = Query(
        "shop_productperson",
        (Column("shop_personid"), Column("versionnumber")),
        Filter((Condition("shop_productid", Operator.EQ, (product,)),)),
    )
    rows = platform.query(query).rows
    assert all(isinstance(row["versionnumber"], int) for row in rows)
    return [str(row["shop_personid"]) for row in rows]


def test_only_the_pair_that_is_named_is_made_and_goes(platform: Platform) -> None:
    lamp, shade = add_product(platform), add_product(platform)
    ada, bea = person(platform), person(platform)
    for product, buyer in ((lamp, ada), (lamp, bea), (shade, ada)):
        platform.associate("shop_product", product, PEOPLE, buyer)
    assert set(pairs(platform, lamp)) == {ada, bea}

    platform.disassociate("shop_person", ada, PEOPLE, lamp)
    assert (pairs(platform, lamp), pairs(platform, shade)) == ([bea], [ada])


def test_nothing_is_tied_to_what_is_not_there(platform: Platform) -> None:
    lamp = add_product(platform)
    with pytest.raises(RecordNotFound):
        platform.associate("shop_product", lamp, PEOPLE, NOBODY)
    assert pairs(platform, lamp) == []


def test_a_record_that_was_tied_can_be_untied_after_the_other_was_deleted(platform: Platform) -> None:
    lamp, ada = add_product(platform), person(platform)
    platform.associate("shop_product", lamp, PEOPLE, ada)
    platform.delete("shop_person", ada)
    assert pairs(platform, lamp) == []
    with pytest.raises(RecordNotFound) as raised:
        platform.disassociate("shop_product", lamp, PEOPLE, ada)
    assert raised.value.entity == "shop_person"


def test_of_many_at_once_one_makes_the_pair(apart: EmbeddedPlatform) -> None:
    lamp, ada = add_product(apart), person(apart)

    def tie(_: int) -> None:
        apart.associate("shop_product", lamp, PEOPLE, ada)

    with workers(4) as pool:
        list(pool.map(tie, range(20)))
    assert pairs(apart, lamp) == [ada]

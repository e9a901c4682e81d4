"""Duplicate detection by the platform's own rules: applied to the calls that ask for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from crmclient import Call, Guid, Platform
from crmclient.conventions import Ability
from crmclient.errors import PossibleDuplicate
from crmclient.platform import Create, Operation, Update
from tests.contract.making import account, read, unique
from tests.duplicate_rules import FIRST, LAST, WHOLE, published, removed

pytestmark = pytest.mark.needs(Ability.DUPLICATES)

ASKED = Call(refuses_duplicates=True)

Rule = Callable[..., Guid]


@pytest.fixture
def rule(platform: Platform) -> Iterator[Rule]:
    made: list[Guid] = []

    def make(*conditions: tuple[str, int, int | None], **values: object) -> Guid:
        made.append(published(platform, *conditions, **values))  # type: ignore[arg-type]
        return made[-1]

    yield make
    removed(platform, made)


def test_a_rule_refuses_a_record_that_looks_like_another(platform: Platform, rule: Rule) -> None:
    rule(("fax", WHOLE, None))
    fax = unique("F")
    account(platform, fax=fax)
    with pytest.raises(PossibleDuplicate):
        platform.create("account", {"name": "Twice", "fax": fax.upper()}, call=ASKED)
    assert platform.create("account", {"name": "Once", "fax": unique("F")}, call=ASKED).id


def test_nobody_is_refused_who_does_not_ask_for_it(platform: Platform, rule: Rule) -> None:
    rule(("fax", WHOLE, None))
    fax = unique("F")
    account(platform, fax=fax)
    assert account(platform, fax=fax)


def test_a_rule_that_is_not_published_is_not_applied(platform: Platform, rule: Rule) -> None:
    platform.update("duplicaterule", rule(("fax", WHOLE, None)), {"statuscode": 0})
    fax = unique("F")
    account(platform, fax=fax)
    assert platform.create("account", {"name": "Twice", "fax": fax}, call=ASKED).id


@pytest.mark.parametrize(
    ("sameness", "there", "sent", "is_refused"),
    [
        (FIRST, "{0}-abc", "{0}-xyz", True),
        (FIRST, "a-{0}", "b-{0}", False),
        (LAST, "abc-{0}", "xyz-{0}", True),
        (LAST, "{0}-a", "{0}-b", False),
        (FIRST, "{0}%", "{0}_", True),
    ],
)
def test_some_characters_may_be_enough(
    platform: Platform, rule: Rule, sameness: int, there: str, sent: str, is_refused: bool
) -> None:
    fax = unique("F")
    rule(("fax", sameness, len(fax)))
    account(platform, fax=there.format(fax))
    values = {"name": "Twice", "fax": sent.format(fax)}
    if not is_refused:
        assert platform.create("account", values, call=ASKED).id
        return
    with pytest.raises(PossibleDuplicate):
        platform.create("account", values, call=ASKED)


def test_all_conditions_of_a_rule_have_to_be_fulfilled(platform: Platform, rule: Rule) -> None:
    rule(("fax", WHOLE, None), ("sic", WHOLE, None))
    fax, sic = unique("F"), unique("S")[:20]
    account(platform, fax=fax, sic=sic)
    assert platform.create("account", {"name": "Half", "fax": fax, "sic": "other"}, call=ASKED).id
    with pytest.raises(PossibleDuplicate):
        platform.create("account", {"name": "Both", "fax": fax, "sic": sic}, call=ASKED)


def test_what_is_blank_is_not_the_same(platform: Platform, rule: Rule) -> None:
    rule(("fax", WHOLE, None))
    account(platform)
    assert platform.create("account", {"name": "Blank as well"}, call=ASKED).id


def test_an_update_is_refused_that_makes_a_record_look_like_another(platform: Platform, rule: Rule) -> None:
    rule(("fax", WHOLE, None))
    fax = unique("F")
    account(platform, fax=fax)
    id = account(platform, fax=unique("F"))
    before = read(platform, "account", id, "fax")
    with pytest.raises(PossibleDuplicate):
        platform.update("account", id, {"fax": fax}, call=ASKED)
    assert read(platform, "account", id, "fax") == before


def test_an_update_of_something_else_is_not(platform: Platform, rule: Rule) -> None:
    fax = unique("F")
    account(platform, fax=fax)
    id = account(platform, fax=fax)
    rule(("fax", WHOLE, None))
    platform.update("account", id, {"name": "Renamed"}, call=ASKED)
    assert read(platform, "account", id, "name") == "Renamed"


def test_an_upsert_is_refused_either_way(platform: Platform, rule: Rule) -> None:
    rule(("fax", WHOLE, None))
    fax, number = unique("F"), unique("K")[:20]
    account(platform, fax=fax)
    with pytest.raises(PossibleDuplicate):
        platform.upsert("account", {"accountnumber": number}, {"name": "New", "fax": fax}, call=ASKED)
    made = platform.upsert("account", {"accountnumber": number}, {"name": "New"}, call=ASKED)
    assert made.created
    with pytest.raises(PossibleDuplicate):
        platform.upsert("account", {"accountnumber": number}, {"fax": fax}, call=ASKED)


def test_a_batch_names_the_item_and_writes_nothing(platform: Platform, rule: Rule) -> None:
    rule(("fax", WHOLE, None))
    fax = unique("F")
    account(platform, fax=fax)
    id = account(platform, name="Before")
    operations: list[Operation] = [
        Update("account", id, {"name": "After"}),
        Create("account", {"name": "Twice", "fax": fax}),
    ]
    with pytest.raises(PossibleDuplicate) as raised:
        platform.batch(operations, call=ASKED)
    assert raised.value.item == 1
    assert read(platform, "account", id, "name") == "Before"


def test_records_that_are_not_active_can_be_left_out(platform: Platform, rule: Rule) -> None:
    rule(("fax", WHOLE, None), excludeinactiverecords=True)
    fax = unique("F")
    account(platform, fax=fax, statecode=1)
    assert platform.create("account", {"name": "Anew", "fax": fax}, call=ASKED).id


def test_a_rule_may_compare_with_another_entity(platform: Platform, rule: Rule) -> None:
    rule(("telephone1", WHOLE, None), matching="contact")
    fax = unique("F")
    platform.create("contact", {"lastname": "Lovelace", "telephone1": fax})
    with pytest.raises(PossibleDuplicate):
        platform.create("account", {"name": "Hers", "telephone1": fax}, call=ASKED)

"""Party lists: who takes part in an e-mail, an appointment, a phone call."""

from __future__ import annotations

import pytest

from crmclient import Party, Platform, Reference
from crmclient.errors import InvalidQuery, InvalidRecord, VersionMismatch
from crmclient.metadata import AttributeType
from crmclient.platform import Create, Update
from crmclient.query.ast import Aggregate, Column, Condition, Filter, Link, Operator, Order, Query
from tests.contract.making import NOBODY, account, contact, unique

pytestmark = pytest.mark.needs("party lists")

OUTSIDER = Party(address="someone@elsewhere.example")


def firm(platform: Platform) -> Party:
    name = unique("Firm")
    return Party(Reference("account", account(platform, name=name), name))


def person(platform: Platform) -> Party:
    return Party(Reference("contact", contact(platform).id, "Ada Lovelace"))


def mail(platform: Platform, **lists: object) -> str:
    return platform.create("email", {"subject": "Offer", **lists}).id  # type: ignore[dict-item]


def lists_of(platform: Platform, id: str, *names: str) -> dict[str, object]:
    return dict(platform.retrieve("email", id, names).values)


def test_the_metadata_say_which_attributes_are_party_lists(platform: Platform) -> None:
    attributes = platform.attributes("email")
    assert {name for name, one in attributes.items() if one.type.holds_parties} == {"from", "to", "cc", "bcc"}
    assert attributes["to"].type is AttributeType.PARTYLIST
    assert attributes["to"].takes_addresses
    assert set(attributes["to"].targets) == {"account", "contact", "lead", "systemuser"}
    attendees = platform.attributes("appointment")["requiredattendees"]
    assert attendees.type.holds_parties
    assert not attendees.takes_addresses


def test_parties_of_several_entities_and_addresses_come_back_as_they_were(platform: Platform) -> None:
    sender, ada, works = Party(Reference("systemuser", platform.who())), person(platform), firm(platform)
    id = mail(platform, **{"from": (sender,), "to": (ada, works, OUTSIDER), "cc": ()})

    values = lists_of(platform, id, "subject", "to", "from", "cc", "bcc")

    assert values["subject"] == "Offer"
    assert values["to"] == (ada, works, OUTSIDER)
    assert [party.reference.id for party in values["from"]] == [platform.who()]  # type: ignore[attr-defined]
    assert values["cc"] == values["bcc"] == ()


def test_a_record_may_be_reached_by_an_address_of_its_own(platform: Platform) -> None:
    ada = person(platform)
    written = Party(ada.reference, "ada@home.example")
    id = mail(platform, to=(written,))

    assert lists_of(platform, id, "to") == {"to": (written,)}


def test_an_update_replaces_the_lists_that_it_says_and_leaves_the_others(platform: Platform) -> None:
    ada, works = person(platform), firm(platform)
    id = mail(platform, **{"from": (works,), "to": (ada, OUTSIDER), "cc": (works,)})

    platform.update("email", id, {"to": (works,), "cc": None})

    assert lists_of(platform, id, "from", "to", "cc") == {"from": (works,), "to": (works,), "cc": ()}
    platform.update("email", id, {"subject": "Another"})
    assert lists_of(platform, id, "from", "to") == {"from": (works,), "to": (works,)}


def test_a_version_that_is_meant_holds_for_parties(platform: Platform) -> None:
    ada = person(platform)
    id = mail(platform, to=(ada,))
    version = platform.retrieve("email", id, ()).version
    changed = platform.update("email", id, {"to": ()}, if_version=version)
    assert changed.version != version

    with pytest.raises(VersionMismatch):
        platform.update("email", id, {"to": (ada,)}, if_version=version)

    assert lists_of(platform, id, "to") == {"to": ()}


def test_what_is_wrong_is_said_of_the_list(platform: Platform) -> None:
    nobody = Party(Reference("contact", NOBODY))
    with pytest.raises(InvalidRecord) as unknown:
        mail(platform, to=(nobody,))
    team = Party(Reference("team", NOBODY))
    with pytest.raises(InvalidRecord) as wrong:
        platform.create("appointment", {"requiredattendees": (team,), "optionalattendees": (OUTSIDER,)})
    with pytest.raises(InvalidRecord) as empty:
        mail(platform, to=(Party(),))

    assert [problem.attribute for problem in unknown.value.problems] == ["to"]
    assert {problem.attribute for problem in wrong.value.problems} == {
        "requiredattendees",
        "optionalattendees",
    }
    assert [problem.attribute for problem in empty.value.problems] == ["to"]


def test_parties_are_written_in_batches_with_their_activities(platform: Platform) -> None:
    ada, works = person(platform), firm(platform)
    first = mail(platform, to=(ada,), cc=(works,))

    [_, made] = platform.batch([Update("email", first, {"to": (works,)}), Create("email", {"to": (ada,)})])

    assert lists_of(platform, first, "to", "cc") == {"to": (works,), "cc": (works,)}
    assert made is not None
    assert lists_of(platform, made.id, "to") == {"to": (ada,)}


def test_rows_of_a_query_have_party_lists(platform: Platform) -> None:
    subject, ada, works = unique("Mail"), person(platform), firm(platform)
    mail(platform, subject=subject, to=(ada, OUTSIDER))
    mail(platform, subject=f"{subject} 2", to=(), cc=(works,))
    query = Query(
        "email",
        (Column("subject"), Column("to"), Column("cc", "copies")),
        Filter((Condition("subject", Operator.BEGINS_WITH, (subject,)),)),
        orders=(Order("subject"),),
    )

    assert platform.query(query).rows == [
        {"subject": subject, "to": (ada, OUTSIDER), "copies": ()},
        {"subject": f"{subject} 2", "to": (), "copies": (works,)},
    ]


def test_distinct_rows_have_party_lists_beside_the_id(platform: Platform) -> None:
    subject, ada, works = unique("Mail"), person(platform), firm(platform)
    id = mail(platform, subject=subject, to=(ada, OUTSIDER), cc=(ada, works))
    query = Query(
        "email",
        (Column("activityid"), Column("to")),
        Filter((Condition("subject", Operator.EQ, (subject,)),)),
        links=(Link("activityparty", "activityid", "activityid", "party"),),
        distinct=True,
    )

    assert platform.query(query).rows == [{"activityid": id, "to": (ada, OUTSIDER)}]


def test_activities_are_found_by_who_takes_part(platform: Platform) -> None:
    subject, ada = unique("Mail"), person(platform)
    id = mail(platform, subject=subject, to=(ada,))
    mail(platform, subject=subject, cc=(ada,))
    assert ada.reference is not None
    to = Filter(
        (
            Condition("partyid", Operator.EQ, (ada.reference.id,)),
            Condition("participationtypemask", Operator.EQ, (2,)),
        )
    )
    query = Query(
        "email",
        (Column("activityid"),),
        links=(Link("activityparty", "activityid", "activityid", "party", filter=to),),
    )

    assert platform.query(query).rows == [{"activityid": id}]


def test_parties_are_no_condition_no_order_and_no_group(platform: Platform) -> None:
    for query in (
        Query("email", (Column("subject"),), Filter((Condition("to", Operator.NULL),))),
        Query("email", (Column("subject"),), orders=(Order("to"),)),
        Query("email", (Column("to"),), distinct=True),
        Query("email", (Column("to", "t", group_by=True),)),
        Query("email", (Column("to", "t", Aggregate.COUNT),)),
    ):
        with pytest.raises(InvalidQuery):
            platform.query(query)


def test_parties_go_with_their_activity_and_with_who_they_are(platform: Platform) -> None:
    ada = person(platform)
    id, other = mail(platform, to=(ada, OUTSIDER)), mail(platform, to=(ada,))
    assert ada.reference is not None
    platform.delete("email", other)

    platform.delete("contact", ada.reference.id)

    assert lists_of(platform, id, "to") == {"to": (OUTSIDER,)}


def test_parties_are_written_with_their_activity_alone(platform: Platform) -> None:
    attributes = platform.attributes("activityparty")
    assert not any(
        attributes[name].creatable or attributes[name].updatable for name in ("partyid", "activityid")
    )
    with pytest.raises(InvalidRecord):
        platform.create("activityparty", {"addressused": "a@b.example"})

"""Inputs of type List of an update: contacts added, changed and removed along with their account."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

import jsonschema
import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Reference, Value
from crmclient.errors import RecordNotFound
from crmclient.query.ast import Column, Condition, Filter, Operator, Order, Query
from crmclient.stand_in import Effect, MemberCall, StandIn
from designer.loading import load
from designer.models import Binding, Input
from designer.platform import get_platform
from designer.ports import Attempt
from runtime.studio import StudioRuntime
from tests.callers import Caller
from tests.row_rules import only_rule
from tests.runtime.accounts import NOBODY, an_account, endpoint, stored

R = TypeVar("R")
TO_CONTACTS = "contact_customer_accounts"


@pytest.fixture
def contacts(portico: None) -> Input:
    """The list `contacts` of the demo's update: first and last name, mail, and who is asked for them."""
    only_rule("", segment="accounts")
    only_rule("", segment="contacts")
    return a_list()


def a_list(relationship: str = TO_CONTACTS) -> Input:
    row = endpoint("update")
    made: Input = Input.objects.create(
        endpoint=row, position=90, name="contacts", type="List", relationship=relationship
    )
    inputs: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("first", "firstname", {"max_length": 10, "nullable": True}),
        ("last", "lastname", {"required": True}),
        ("mail", "emailaddress1", {"pattern": "[^@]+@[^@]+"}),
        ("agent", "preferredsystemuserid", {"type": "EntityReference"}),
    )
    for at, (name, attribute, limits) in enumerate(inputs):
        Input.objects.create(endpoint=row, parent=made, position=at, name=name, **limits)
        Binding.objects.create(endpoint=row, parent=made, position=at, attribute=attribute, value=name)
    return made


def a_contact(account: str, last: str, **values: Value) -> str:
    """The id of a new contact of the account at that path."""
    parent = Reference("account", account.rpartition("/")[2])
    values = {"lastname": last, "parentcustomerid": parent, **values}
    return get_platform().create("contact", values).id


def people(account: str) -> list[tuple[Value, Value, Value]]:
    """Last name, first name and mail of the contacts of the account at that path."""
    names = ("lastname", "firstname", "emailaddress1")
    mine = Filter((Condition("parentcustomerid", Operator.EQ, (account.rpartition("/")[2],)),))
    rows = (
        get_platform()
        .query(Query("contact", tuple(map(Column, names)), mine, orders=(Order("lastname"),)))
        .rows
    )
    return [(row["lastname"], row["firstname"], row["emailaddress1"]) for row in rows]


def errors(answer: Any) -> dict[str, str]:
    return {error["pointer"]: error["code"] for error in answer.json()["errors"]}


def test_records_are_added_changed_and_removed_at_once(contacts: Input, rita: Caller) -> None:
    account = an_account()
    ada, bo, _ = (a_contact(account, last, firstname="Old") for last in ("Ada", "Bo", "Cy"))
    sent = {
        "add": [{"last": "Di", "mail": "di@example.com"}],
        "change": [{"id": ada.upper(), "first": "New", "mail": "ada@example.com"}],
        "remove": [bo],
    }
    answer = rita.patch(account, {"phone": "7", "contacts": sent})
    assert (answer.status_code, answer.content) == (204, b""), answer.content
    assert people(account) == [
        ("Ada", "New", "ada@example.com"),
        # What stands in no part of the list is left alone.
        ("Cy", "Old", None),
        ("Di", None, "di@example.com"),
    ]
    assert stored(account, "telephone1") == "7"
    assert rita.get(account)["ETag"].partition(".")[0] == answer["ETag"].rstrip('"')


@pytest.mark.parametrize(
    "sent", [{}, {"contacts": {}}, {"contacts": {"add": [], "change": [], "remove": []}}]
)
def test_nothing_that_is_sent_changes_nothing(contacts: Input, rita: Caller, sent: Any) -> None:
    account = an_account()
    a_contact(account, "Ada")
    before = rita.get(account)["ETag"]
    assert rita.patch(account, sent).status_code == 204
    assert people(account) == [("Ada", None, None)]
    assert rita.get(account)["ETag"] == before


def test_what_an_item_leaves_out_stays_and_null_empties(contacts: Input, rita: Caller) -> None:
    account = an_account()
    ada = a_contact(account, "Ada", firstname="Ann", emailaddress1="ann@example.com")
    assert rita.patch(account, {"contacts": {"change": [{"id": ada}]}}).status_code == 204
    assert people(account) == [("Ada", "Ann", "ann@example.com")]
    assert rita.patch(account, {"contacts": {"change": [{"id": ada, "first": None}]}}).status_code == 204
    assert people(account) == [("Ada", None, "ann@example.com")]


def test_everything_wrong_is_named_at_once(contacts: Input, rita: Caller) -> None:
    account = an_account()
    ada = a_contact(account, "Ada")
    sent = {
        "add": [{"first": "x" * 11}, "Bo"],
        "change": [{"id": ada, "last": None, "nope": 1}, {"first": "x"}, {"id": "x"}, {"id": ada}, 5],
        "remove": [ada, 7],
    }
    answer = rita.patch(account, {"phone": 1, "contacts": sent})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    assert errors(answer) == {
        "/phone": "wrong_type",
        "/contacts/add/0/first": "too_long",
        "/contacts/add/0/last": "required",
        "/contacts/add/1": "wrong_type",
        "/contacts/change/0/last": "required",
        "/contacts/change/0/nope": "unknown_key",
        "/contacts/change/1/id": "required",
        "/contacts/change/2/id": "wrong_type",
        "/contacts/change/3/id": "repeated",
        "/contacts/change/4": "wrong_type",
        "/contacts/remove/0": "repeated",
        "/contacts/remove/1": "wrong_type",
    }
    assert people(account) == [("Ada", None, None)]


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ([], "wrong_type"),
        ("x", "wrong_type"),
        ({"add": {}}, "wrong_type"),
        ({"delete": []}, "wrong_type"),
        ({"remove": [NOBODY] * 101}, "wrong_length"),
        ({"remove": [NOBODY] * 51, "add": [{"last": "x"}] * 50}, "wrong_length"),
    ],
)
def test_what_is_no_change_of_a_list(contacts: Input, rita: Caller, sent: Any, code: str) -> None:
    answer = rita.patch(an_account(), {"contacts": sent})
    assert (answer.status_code, errors(answer)) == (400, {"/contacts": code})


def test_records_that_are_not_there_are_all_named_and_nothing_is_written(
    contacts: Input, rita: Caller
) -> None:
    account, other = an_account(), an_account()
    ada, elsewhere = a_contact(account, "Ada"), a_contact(other, "Elsewhere")
    sent = {
        "add": [{"last": "Bo", "agent": NOBODY}],
        "change": [{"id": ada, "first": "New"}, {"id": elsewhere, "first": "x"}, {"id": NOBODY}],
        "remove": [str(uuid.uuid4())],
    }
    answer = rita.patch(account, {"name": "Never", "contacts": sent})
    assert answer.status_code == 400
    assert {place: code for place, code in errors(answer).items() if "agent" not in place} == {
        "/contacts/change/1/id": "unknown_target",
        "/contacts/change/2/id": "unknown_target",
        "/contacts/remove/0": "unknown_target",
    }
    assert stored(account, "name") == "Contoso"
    assert people(account) == [("Ada", None, None)]
    assert people(other) == [("Elsewhere", None, None)]


def test_a_platform_that_refuses_one_item_writes_none(contacts: Input, rita: Caller) -> None:
    account = an_account()
    ada = a_contact(account, "Ada")
    sent = {"add": [{"last": "Bo"}, {"last": "Cy", "agent": NOBODY}], "remove": [ada]}
    answer = rita.patch(account, {"name": "Never", "contacts": sent})
    assert (answer.status_code, errors(answer)) == (400, {"/contacts/add/1/agent": "unknown_target"})
    assert (stored(account, "name"), people(account)) == ("Contoso", [("Ada", None, None)])


# Row rules


def only_contacts(condition: str) -> None:
    from designer.models import ExposedEntity, Module

    ExposedEntity.objects.get_or_create(
        module=Module.objects.get(segment="sales"), segment="contacts", defaults={"entity": "contact"}
    )
    only_rule(f"<filter><condition {condition}/></filter>", segment="contacts", module="sales")


def test_records_out_of_reach_are_as_if_they_were_not_there(contacts: Input, rita: Caller) -> None:
    account = an_account()
    hidden, shown = a_contact(account, "Hidden"), a_contact(account, "Shown")
    only_contacts('attribute="lastname" operator="ne" value="Hidden"')
    answers = [
        rita.patch(account, {"contacts": {"change": [{"id": id, "first": "x"}], "remove": [other]}})
        for id, other in ((hidden, NOBODY), (NOBODY, hidden))
    ]
    texts = [answer.content.decode().replace(hidden, "…").replace(NOBODY, "…") for answer in answers]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert len({text.partition('"requestId"')[0] for text in texts}) == 1
    assert rita.patch(account, {"contacts": {"change": [{"id": shown, "first": "x"}]}}).status_code == 204
    assert people(account) == [("Hidden", None, None), ("Shown", "x", None)]


def test_no_record_is_made_or_moved_out_of_reach(contacts: Input, rita: Caller) -> None:
    account = an_account()
    shown = a_contact(account, "Shown")
    only_contacts('attribute="lastname" operator="ne" value="Hidden"')
    sent = {"add": [{"last": "Fine"}, {"last": "Hidden"}], "change": [{"id": shown, "last": "Hidden"}]}
    answer = rita.patch(account, {"name": "Never", "contacts": sent})
    assert (answer.status_code, answer.json()["code"]) == (403, "outside_row_rule")
    assert errors(answer) == dict.fromkeys(("/contacts/change/0", "/contacts/add/1"), "outside_row_rule")
    assert (stored(account, "name"), people(account)) == ("Contoso", [("Shown", None, None)])


def test_the_rule_of_the_record_itself_holds(contacts: Input, rita: Caller) -> None:
    account = an_account(name="Hidden")
    only_rule('<filter><condition attribute="name" operator="ne" value="Hidden"/></filter>')
    answer = rita.patch(account, {"contacts": {"add": [{"last": "x"}]}})
    assert (answer.status_code, people(account)) == (404, [])


def test_a_version_that_is_meant_is_the_records(contacts: Input, rita: Caller) -> None:
    account = an_account()
    sent = {"contacts": {"add": [{"last": "Ada"}]}}
    assert rita.patch(account, sent, if_match='"1"').status_code == 412
    assert people(account) == []
    assert rita.patch(account, sent, if_match=rita.get(account)["ETag"]).status_code == 204
    assert rita.patch(account.rpartition("/")[0] + f"/{NOBODY}", sent).status_code == 404
    assert people(account) == [("Ada", None, None)]


# How


@pytest.mark.parametrize("deletes", [True, False])
def test_what_is_removed_goes_as_the_relationship_says(portico: None, rita: Caller, deletes: bool) -> None:
    only_rule("", segment="accounts")
    a_list()
    relationships = {one.name: one for one in get_platform().relationships("account")}
    account = an_account()
    ada = a_contact(account, "Ada")
    _cascade(TO_CONTACTS, deletes=deletes)
    assert relationships[TO_CONTACTS].referencing_attribute == "parentcustomerid"
    assert rita.patch(account, {"contacts": {"remove": [ada]}}).status_code == 204
    assert people(account) == []
    try:
        left = get_platform().retrieve("contact", ada, ["parentcustomerid"]).values
    except RecordNotFound:
        assert deletes
    else:
        assert (deletes, left) == (False, {"parentcustomerid": None})


def _cascade(relationship: str, *, deletes: bool) -> None:
    from dataclasses import replace

    from crmbox.metadata import change
    from crmclient.metadata import Cascade

    [before] = [one for one in get_platform().relationships("account") if one.name == relationship]
    with change() as metadata:
        metadata.alter_relationship(
            replace(before, on_delete=Cascade.DELETE if deletes else Cascade.REMOVE_LINK)
        )


class _Hurried(StandIn):
    """The platform, with a note of what it is asked for, where somebody else is quicker than the write."""

    asked: ClassVar[list[str]] = []
    before: ClassVar[list[Callable[[], object]]] = []

    def __init__(self) -> None:
        super().__init__(EmbeddedPlatform())

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        if member_call.effect is not Effect.METADATA:
            self.asked.append(member_call.member)
        if member_call.member == "batch" and self.before:
            self.before.pop()()
        return ask()


@pytest.fixture
def hurried(portico: None, settings: Any) -> Iterator[type[_Hurried]]:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}._Hurried"}
    get_platform.cache_clear()
    only_rule("", segment="accounts")
    a_list()
    yield _Hurried
    _Hurried.before.clear()
    get_platform.cache_clear()


def test_an_update_with_lists_is_two_calls(hurried: type[_Hurried], rita: Caller) -> None:
    account = an_account()
    ids = [a_contact(account, last) for last in ("Ada", "Bo", "Cy")]
    hurried.asked.clear()
    sent = {"add": [{"last": "Di"}] * 3, "change": [{"id": id, "first": "x"} for id in ids]}
    assert rita.patch(account, {"name": "New", "contacts": sent}).status_code == 204
    # Who the caller is may be known already.
    assert [member for member in hurried.asked if member != "user"] == ["query", "batch"]


def test_a_record_that_changes_in_between_is_read_again(hurried: type[_Hurried], rita: Caller) -> None:
    account = an_account()
    ada = a_contact(account, "Ada")
    platform = get_platform()
    hurried.before.append(lambda: platform.update("contact", ada, {"emailaddress1": "a@example.com"}))
    assert rita.patch(account, {"contacts": {"change": [{"id": ada, "first": "x"}]}}).status_code == 204
    assert people(account) == [("Ada", "x", "a@example.com")]


def test_a_record_that_goes_in_between_is_unknown(hurried: type[_Hurried], rita: Caller) -> None:
    account = an_account()
    ada = a_contact(account, "Ada")
    platform = get_platform()
    hurried.before.append(lambda: platform.delete("contact", ada))
    answer = rita.patch(account, {"contacts": {"change": [{"id": ada, "first": "x"}]}})
    assert (answer.status_code, errors(answer)) == (400, {"/contacts/change/0/id": "unknown_target"})


def test_a_dry_run_writes_nothing(contacts: Input, rita: Caller) -> None:
    account, configuration = an_account(), load()
    ada = a_contact(account, "Ada")
    body = f'{{"contacts": {{"remove": ["{ada}"], "add": [{{"last": "Bo"}}]}}}}'.encode()
    attempt = Attempt(roles=("sales-rep", "sales-manager"), record=account.rpartition("/")[2], content=body)
    outcome = StudioRuntime().attempt(configuration.endpoints[endpoint("update").pk], configuration, attempt)
    sent = [(call.operation, call.sent) for call in outcome.calls if call.operation == "batch"]
    assert (outcome.status, sent) == (0, [("batch", False)])
    assert people(account) == [("Ada", None, None)]


def test_a_list_whose_items_have_an_input_id_is_not_served(contacts: Input, rita: Caller) -> None:
    Input.objects.create(endpoint=contacts.endpoint, parent=contacts, name="id", position=9)
    assert rita.patch(an_account(), {"name": "x"}).status_code == 503


def test_it_is_described_for_documents_and_for_forms(contacts: Input, rita: Caller) -> None:
    document = rita.get("/api/openapi.json").json()
    name = "update.sales.accounts.input"
    whole = document["components"]["schemas"][name]
    described = {**whole["properties"]["contacts"], "components": document["components"]}
    parts = described["properties"]
    assert parts.keys() == {"add", "change", "remove"}
    assert parts["add"]["items"]["required"] == ["last"]
    assert parts["change"]["items"]["required"] == ["id"]
    jsonschema.validate({"add": [{"last": "x"}], "change": [{"id": NOBODY}], "remove": [NOBODY]}, described)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"change": [{"first": "x"}]}, described)
    call = rita.get("/api/schema/entities/sales.accounts").json()["operations"]["update"]
    [field] = [one for one in call["fields"] if one["name"] == "contacts"]
    assert (field["type"], field["changes"]) == ("List", True)
    assert [item["name"] for item in field["items"]] == ["first", "last", "mail", "agent"]
    form = rita.get(call["form"]).json()
    titled = form["schema"]["properties"]["contacts"]["properties"]["change"]["items"]["properties"]
    assert titled["last"]["title"] == "Last Name"

"""Read by key: what a read answers of the record that a key finds."""

from __future__ import annotations

import pytest

from crmclient import Reference
from designer.models import Column, Endpoint
from tests.callers import Caller
from tests.row_rules import only_rule
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account
from tests.runtime.associations import MAX, RITA
from tests.runtime.keys import a_number, path, reads
from tests.runtime.test_row_rules import MINE, only, same


@pytest.fixture
def served(portico: None) -> Endpoint:
    only_rule("", segment="accounts")
    return reads()


@pytest.mark.parametrize("text", ["", "/1", ",b\\", "%41", " x"])
def test_a_record_is_found_by_its_key(served: Endpoint, rita: Caller, text: str) -> None:
    number = f"{a_number()}{text}"
    id = an_account(accountnumber=number).rpartition("/")[2]
    answer = rita.get(path(number))
    assert (answer.status_code, answer.json()) == (200, {"id": id, "name": "Contoso", "number": number})
    assert rita.get(path(number.swapcase())).json()["id"] == id


def test_an_answer_has_a_tag_and_head_has_no_body(served: Endpoint, rita: Caller) -> None:
    number = a_number()
    an_account(accountnumber=number)
    answer = rita.get(path(number))
    held = rita.get(path(number), if_none_match=answer["ETag"])
    assert (held.status_code, held.content) == (304, b"")
    head = rita.request("HEAD", path(number))
    assert (head.status_code, head.content, head["ETag"]) == (200, b"", answer["ETag"])


def test_what_is_not_there_and_what_is_out_of_reach_are_the_same(served: Endpoint, rita: Caller) -> None:
    only(MINE)
    hidden, mine = a_number(), a_number()
    an_account(accountnumber=hidden, ownerid=Reference("systemuser", MAX))
    an_account(accountnumber=mine, ownerid=Reference("systemuser", RITA))
    assert rita.get(path(mine)).status_code == 200
    for number in (hidden, a_number()):
        assert same(rita.get(path(number)), rita.get(f"{ACCOUNTS}/{NOBODY}"))


def test_a_calculated_column_sees_the_record(served: Endpoint, rita: Caller) -> None:
    Column.objects.create(endpoint=served, name="shout", expression="record.name + '!'", position=9)
    number = a_number()
    an_account(accountnumber=number)
    assert rita.get(path(number)).json()["shout"] == "Contoso!"


def test_labels_are_in_the_callers_language(served: Endpoint, rita: Caller) -> None:
    Endpoint.objects.filter(pk=served.pk).update(settings={**served.settings, "labels": True})
    Column.objects.create(endpoint=served, attribute="customertypecode", name="type", position=9)
    number = a_number()
    an_account(accountnumber=number, customertypecode=3)
    assert rita.get(f"{path(number)}?lcid=1031").json()["typeLabel"] == "Kunde"
    assert rita.get(f"{path(number)}?nope=1").json()["code"] == "invalid_parameter"


@pytest.mark.parametrize("number", ["x" * 21, "a\0b", "a\x1fb", "\ufffe"])
def test_what_no_key_can_be_is_refused(served: Endpoint, rita: Caller, number: str) -> None:
    answer = rita.get(path(number))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_key")

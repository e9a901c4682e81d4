"""Data fetchers: what is read first can be written, tested and compared with."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crmbox.demo import people
from crmclient import Reference
from designer.models import Binding, Column, Endpoint, Fetcher, Precondition, UserProperty
from designer.platform import get_platform
from tests.callers import Caller
from tests.row_rules import only_rule
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account, endpoint, stored

CONTACT = """<fetch><entity name="contact">
  <attribute name="fullname"/><attribute name="emailaddress1"/><attribute name="ownerid"/>
  <filter><condition attribute="contactid" operator="eq" value="{}"/></filter>
  <link-entity name="systemuser" from="systemuserid" to="ownerid" alias="o" link-type="outer">
    <attribute name="fullname"/></link-entity>
</entity></fetch>"""


def fetch(kind: str, name: str, query: str, **options: Any) -> Endpoint:
    row = endpoint(kind)
    Fetcher.objects.create(endpoint=row, name=name, query=query, **options)
    return row


def bind(to: Endpoint, attribute: str, source: str, value: str) -> None:
    Binding.objects.filter(endpoint=to, attribute=attribute).delete()
    Binding.objects.create(endpoint=to, attribute=attribute, source=source, value=value, position=50)


def require(of: Endpoint, expression: str, status: int = 422, message: str = "No.") -> None:
    Precondition.objects.create(endpoint=of, expression=expression, status=status, message=message)


def test_what_was_fetched_is_written_and_used_in_expressions(rita: Caller) -> None:
    create = fetch("create", "contact", CONTACT.format("@primaryContactId"))
    bind(create, "ownerid", "fetch", "contact.ownerid")
    bind(create, "telephone1", "expression", "coalesce(fetch.contact.fullname, 'nobody')")
    made = rita.post(ACCOUNTS, {"name": "Fetched", "primaryContactId": people.FIRST_CONTACT})
    path = f"{ACCOUNTS}/{made.json()['id']}"
    contact = rita.get(path).json()["primaryContact"]
    assert stored(path, "telephone1") == contact["name"]
    assert isinstance(stored(path, "ownerid"), Reference)


def test_no_row_gives_nulls(rita: Caller) -> None:
    create = fetch("create", "contact", CONTACT.format(NOBODY))
    bind(create, "telephone1", "expression", "coalesce(fetch.contact.fullname, 'nobody')")
    bind(create, "revenue", "constant", "1")
    path = f"{ACCOUNTS}/{rita.post(ACCOUNTS, {'name': 'Fetched'}).json()['id']}"
    assert stored(path, "telephone1") == "nobody"


def test_several_rows_are_a_conflict_unless_the_first_is_meant(rita: Caller) -> None:
    anyone = """<fetch><entity name="contact"><attribute name="fullname"/><order attribute="fullname"/>
      </entity></fetch>"""
    create = fetch("create", "someone", anyone)
    bind(create, "telephone1", "expression", "fetch.someone.fullname.substring(0, 3)")
    bind(create, "telephone1", "fetch", "someone.fullname")
    refused = rita.post(ACCOUNTS, {"name": "Fetched"})
    assert (refused.status_code, refused.json()["code"]) == (409, "several_records")
    Fetcher.objects.update(first=True)
    assert rita.post(ACCOUNTS, {"name": "Fetched"}).status_code == 200


def test_a_later_fetcher_uses_an_earlier_one_and_none_runs_that_nothing_reads(rita: Caller) -> None:
    path = an_account(primarycontactid=Reference("contact", people.FIRST_CONTACT))
    read = fetch("read", "contact", CONTACT.format("@record.primarycontactid"), position=0)
    user = """<fetch><entity name="systemuser"><attribute name="domainname"/><filter>
      <condition attribute="systemuserid" operator="eq" value="@fetch.contact.ownerid"/></filter>
      </entity></fetch>"""
    Fetcher.objects.create(endpoint=read, name="owner", query=user, position=1)
    never = '<fetch><entity name="lead"><attribute name="subject"/></entity></fetch>'
    Fetcher.objects.create(endpoint=read, name="never", query=never, position=2)
    Column.objects.create(endpoint=read, name="caretaker", position=90, expression="fetch.owner.domainname")
    Column.objects.create(endpoint=read, name="ownerName", position=91, expression="fetch.contact.o.fullname")
    rita.get(path)
    with CaptureQueriesContext(connection) as queries:
        answer = rita.get(path)
    assert answer.status_code == 200
    assert answer.json()["caretaker"]
    assert answer.json()["ownerName"]
    assert not any("crm_lead" in query["sql"] for query in queries)


def test_a_fetcher_reads_with_the_services_rights_unless_row_rules_are_ticked(rita: Caller) -> None:
    only_rule('<filter><condition attribute="ownerid" operator="eq-userid"/></filter>')
    other = an_account(ownerid=Reference("systemuser", people.AYA_AGENT), accountnumber="X-1")
    query = """<fetch><entity name="account"><attribute name="name"/><filter>
      <condition attribute="accountnumber" operator="eq" value="X-1"/></filter></entity></fetch>"""
    create = fetch("create", "other", query)
    bind(create, "telephone1", "expression", "coalesce(fetch.other.name, 'hidden')")
    # New accounts belong to the service, which the row rule would refuse.
    Endpoint.objects.filter(pk=create.pk).update(settings={"may_create_outside_rule": True})
    number = rita.post(ACCOUNTS, {"name": "New"}).json()["id"]
    assert stored(f"{ACCOUNTS}/{number}", "telephone1") == stored(other, "name")
    Fetcher.objects.update(apply_row_rules=True)
    number = rita.post(ACCOUNTS, {"name": "New"}).json()["id"]
    assert stored(f"{ACCOUNTS}/{number}", "telephone1") == "hidden"


def test_a_row_rule_compares_with_what_was_fetched(rita: Caller) -> None:
    UserProperty.objects.create(name="me", kind="field", attribute="systemuserid")
    mine = an_account(ownerid=Reference("systemuser", people.RITA_REP))
    other = an_account(ownerid=Reference("systemuser", people.AYA_AGENT))
    me = """<fetch><entity name="systemuser"><attribute name="systemuserid"/><filter>
      <condition attribute="systemuserid" operator="eq" value="@user.me"/></filter></entity></fetch>"""
    read = fetch("read", "me", me)
    rule = '<filter><condition attribute="ownerid" operator="{}" value="@fetch.me.systemuserid"/></filter>'
    Endpoint.objects.filter(pk=read.pk).update(row_rule=rule.format("eq"))
    assert (rita.get(mine).status_code, rita.get(other).status_code) == (200, 404)
    Fetcher.objects.update(query=me.replace("@user.me", NOBODY))
    Endpoint.objects.filter(pk=read.pk).update(row_rule=rule.format("ne"))
    assert (rita.get(mine).status_code, rita.get(other).status_code) == (404, 404)


@pytest.mark.parametrize("status", [400, 403, 404, 409, 422])
def test_a_pre_condition_answers_as_the_consultant_says(rita: Caller, status: int) -> None:
    require(
        endpoint("create"), "input.revenue == null || double(input.revenue) < 1000.0", status, "Too rich."
    )
    assert rita.post(ACCOUNTS, {"name": "Poor", "revenue": 1}).status_code == 200
    assert rita.post(ACCOUNTS, {"name": "Unknown"}).status_code == 200
    refused = rita.post(ACCOUNTS, {"name": "Rich", "revenue": 5000})
    assert refused.status_code == status
    assert (refused.json()["code"], refused.json()["detail"]) == ("precondition_failed", "Too rich.")


def test_all_pre_conditions_must_hold_and_the_first_that_does_not_answers(rita: Caller) -> None:
    create = endpoint("create")
    require(create, "input.name != 'a'", 409, "First.")
    require(create, "input.name != 'a' && input.name != 'b'", 403, "Second.")
    assert rita.post(ACCOUNTS, {"name": "a"}).json()["detail"] == "First."
    assert rita.post(ACCOUNTS, {"name": "b"}).json()["detail"] == "Second."
    assert rita.post(ACCOUNTS, {"name": "c"}).status_code == 200


def test_a_condition_that_has_no_value_does_not_hold(rita: Caller) -> None:
    require(endpoint("create"), "input.phone.startsWith('+')", 422, "A number, please.")
    assert rita.post(ACCOUNTS, {"name": "No phone"}).json()["detail"] == "A number, please."
    assert rita.post(ACCOUNTS, {"name": "Phone", "phone": "+1"}).status_code == 200


def test_writes_look_at_the_record_as_it_is(rita: Caller, max: Caller) -> None:
    for kind in ("update", "delete", "action"):
        require(endpoint(kind), "record.telephone1 != '13'", 409, "Unlucky.")
    path = an_account(telephone1="13")
    for answer in (
        rita.patch(path, {"phone": "1"}),
        max.delete(path, if_match="*"),
        max.post(f"{path}/actions/approve", {"comment": "x"}),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (409, "Unlucky.")
    lucky = an_account(telephone1="7")
    assert max.post(f"{lucky}/actions/approve", {"comment": "x"}).status_code == 200
    assert rita.patch(lucky, {"phone": "8"}).status_code == 204
    assert max.delete(lucky, if_match="*").status_code == 204


def test_a_refusal_by_a_pre_condition_is_replayed_for_its_key(rita: Caller) -> None:
    require(endpoint("create"), "input.name == 'right'", 422, "Wrong.")
    first = rita.post(ACCOUNTS, {"name": "wrong"}, idempotency_key="k")
    again = rita.post(ACCOUNTS, {"name": "wrong"}, idempotency_key="k")
    assert (first.status_code, again.status_code) == (422, 422)
    assert again.headers["Idempotency-Replayed"] == "true"


def test_a_missing_fetcher_is_the_configurations_mistake(rita: Caller) -> None:
    bind(endpoint("create"), "telephone1", "fetch", "nothing.fullname")
    answer = rita.post(ACCOUNTS, {"name": "New"})
    assert (answer.status_code, answer.json()["code"]) == (503, "endpoint_misconfigured")


def test_what_depends_on_the_record_is_fetched_again_when_others_change_it_meanwhile(
    rita: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = get_platform()
    ada, bea = (platform.create("contact", {"lastname": name}).id for name in ("Ada", "Bea"))
    path = an_account(primarycontactid=Reference("contact", ada))
    update = fetch("update", "contact", CONTACT.format("@record.primarycontactid"))
    require(update, "fetch.contact.fullname == 'Ada'")
    write = platform.update
    others = [{"primarycontactid": Reference("contact", bea)}]

    def between_reading_and_writing(entity: str, id: str, *values: Any, **options: Any) -> Any:
        if others:
            write(entity, id, others.pop())
        return write(entity, id, *values, **options)

    monkeypatch.setattr(platform, "update", between_reading_and_writing)
    assert rita.patch(path, {"phone": "1"}).status_code == 422
    assert stored(path, "telephone1") is None

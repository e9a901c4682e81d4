"""Row rules: what is outside of one does not exist, for reads, writes, files, actions and lookups alike."""

from __future__ import annotations

from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest

from crmbox.demo import people
from crmclient import Reference
from crmclient.errors import UnknownEntity
from crmclient.query import ast
from crmclient.query.ast import Condition, Filter, Operator, Page, Query
from designer.models import Binding, Column, Endpoint, ExposedEntity, Input, UserProperty
from designer.platform import get_platform
from runtime.steps import RowRule
from tests.callers import Caller
from tests.row_rules import only_rule, ruled
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account, endpoint, stored

CASES = "/api/service/cases"
APPROVAL = {"comment": "Fine"}
MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'


def only(rule: str, *, segment: str = "accounts") -> None:
    only_rule(rule, segment=segment)


def a_case(operator: Operator) -> str:
    """The id of an open case whose business unit is (or is not) that of Service."""
    query = Query(
        "incident",
        columns=(ast.Column("incidentid"),),
        filter=Filter(
            (
                Condition("owningbusinessunit", operator, (people.SERVICE,)),
                Condition("statecode", Operator.EQ, (0,)),
            )
        ),
    )
    return str(get_platform().query(query, Page(size=1)).rows[0]["incidentid"])


def same(first: Any, second: Any) -> bool:
    """Whether two refusals tell the same, but for where and which request."""
    bodies = [answer.json() for answer in (first, second)]
    for body in bodies:
        del body["instance"], body["requestId"]
    return bool(first.status_code == second.status_code == 404 and bodies[0] == bodies[1])


def test_an_agent_reads_the_cases_of_the_own_business_unit_only(aya: Caller) -> None:
    assert aya.get(f"{CASES}/{a_case(Operator.EQ)}").status_code == 200
    other = aya.get(f"{CASES}/{a_case(Operator.NE)}")
    assert same(other, aya.get(f"{CASES}/{NOBODY}"))


def test_nothing_outside_is_written_deleted_run_or_attached(rita: Caller, max: Caller) -> None:
    path = an_account(ownerid=Reference("systemuser", people.AYA_AGENT))
    only(MINE)
    unknown = f"{ACCOUNTS}/{NOBODY}"
    assert same(rita.patch(path, {"phone": "1"}), rita.patch(unknown, {"phone": "1"}))
    assert same(rita.request("PUT", path, {"phone": "1"}), rita.request("PUT", unknown, {"phone": "1"}))
    assert same(max.delete(path, if_match="*"), max.delete(unknown, if_match="*"))
    approved = [max.post(f"{place}/actions/approve", APPROVAL) for place in (path, unknown)]
    assert same(*approved)
    for name in ("contract", "notes"):
        sent = {"content_type": "application/pdf", "content_disposition": 'attachment; filename="a.pdf"'}
        files = [rita.post(f"{place}/files/{name}", b"%PDF-1.4 x", **sent) for place in (path, unknown)]
        assert same(*files)
        assert same(rita.get(f"{path}/files/{name}"), rita.get(f"{unknown}/files/{name}"))
    assert stored(path, "telephone1") is None


def test_a_note_of_a_record_outside_cannot_be_fetched(rita: Caller) -> None:
    path = an_account(ownerid=Reference("systemuser", people.RITA_REP))
    sent = {"content_type": "application/pdf", "content_disposition": 'attachment; filename="a.pdf"'}
    note = rita.post(f"{path}/files/notes", b"%PDF-1.4 x", **sent).json()["id"]
    only(MINE)
    assert rita.get(f"{path}/files/notes/{note}").status_code == 200
    only('<filter><condition attribute="ownerid" operator="ne-userid"/></filter>')
    assert rita.get(f"{path}/files/notes/{note}").status_code == 404


def test_inside_everything_works_as_without_a_rule(rita: Caller, max: Caller) -> None:
    path = an_account(ownerid=Reference("systemuser", people.RITA_REP))
    only(MINE)
    before = rita.get(path)
    assert before.status_code == 200
    assert rita.patch(path, {"phone": "1"}).status_code == 204
    assert rita.patch(path, {"phone": "2"}, if_match=before.headers["ETag"]).status_code == 412
    fresh = rita.get(path).headers["ETag"]
    assert rita.get(path, if_none_match=fresh).status_code == 304
    assert rita.patch(path, {"phone": "2"}, if_match=fresh).status_code == 204
    pdf = {"content_type": "application/pdf", "content_disposition": 'attachment; filename="a.pdf"'}
    assert rita.post(f"{path}/files/contract", b"%PDF-1.4 x", **pdf).status_code == 200
    assert b"".join(rita.get(f"{path}/files/contract").streaming_content) == b"%PDF-1.4 x"
    Column.objects.create(endpoint=endpoint("read"), attribute="new_contract", name="contract", position=90)
    assert rita.get(path).json()["contract"]["fileName"] == "a.pdf"
    ours = an_account(ownerid=Reference("systemuser", people.MAX_MANAGER))
    assert max.delete(ours, if_match="*").status_code == 204


def test_an_etag_never_tells_those_outside_that_nothing_has_changed(rita: Caller) -> None:
    path = an_account(ownerid=Reference("systemuser", people.AYA_AGENT))
    tag = rita.get(path).headers["ETag"]
    only(MINE)
    assert rita.get(path, if_none_match=tag).status_code == 404
    assert rita.get(path, if_none_match="*").status_code == 404
    assert rita.patch(path, {"phone": "1"}, if_match='"0"').status_code == 404


def test_an_endpoint_narrows_the_rule_and_never_widens_it(rita: Caller) -> None:
    mine = an_account(ownerid=Reference("systemuser", people.RITA_REP), telephone1="1")
    other = an_account(ownerid=Reference("systemuser", people.AYA_AGENT), telephone1="1")
    only(MINE)
    narrow = '<filter><condition attribute="telephone1" operator="eq" value="{}"/></filter>'
    Endpoint.objects.filter(pk=endpoint("read").pk).update(row_rule=narrow.format("1"))
    assert (rita.get(mine).status_code, rita.get(other).status_code) == (200, 404)
    Endpoint.objects.filter(pk=endpoint("read").pk).update(row_rule=narrow.format("2"))
    assert (rita.get(mine).status_code, rita.get(other).status_code) == (404, 404)
    assert rita.patch(mine, {"phone": "1"}).status_code == 204


@pytest.mark.parametrize("operator", ["eq", "ne", "not-in", "not-like"])
def test_a_value_the_caller_lacks_matches_nothing_whatever_the_operator(rita: Caller, operator: str) -> None:
    UserProperty.objects.create(name="fax", kind="field", attribute="address1_fax")
    path = an_account(ownerid=Reference("systemuser", people.RITA_REP))
    for group in ("and", "or"):
        only(
            f'<filter type="{group}"><condition attribute="telephone1" operator="{operator}">'
            '<value>@user.fax</value></condition><condition attribute="name" operator="not-null"/></filter>'
            if operator == "not-in"
            else f'<filter type="{group}"><condition attribute="telephone1" operator="{operator}" '
            'value="@user.fax"/><condition attribute="name" operator="not-null"/></filter>'
        )
        assert rita.get(path).status_code == 404


def test_a_caller_without_a_platform_user_reaches_nothing_under_a_rule_about_users(
    anonymous: Caller, rita: Caller
) -> None:
    Endpoint.objects.filter(pk=endpoint("read").pk).update(authentication_required=False)
    endpoint("read").roles.clear()
    path = an_account(ownerid=Reference("systemuser", people.RITA_REP))
    assert anonymous.get(path).status_code == 200
    for rule in (MINE, MINE.replace("eq-userid", "ne-userid")):
        only(rule)
        assert anonymous.get(path).status_code == 404
    only(MINE)
    assert rita.get(path).status_code == 200


def test_a_write_may_not_move_a_record_out_of_the_rule(aya: Caller) -> None:
    case = f"{CASES}/{a_case(Operator.EQ)}"
    rita = {"type": "systemuser", "id": people.RITA_REP}
    moved = aya.patch(case, {"ownerId": rita, "title": "Moved"})
    assert (moved.status_code, moved.json()["code"]) == (403, "outside_row_rule")
    assert aya.get(case).json()["title"] != "Moved"
    own = aya.patch(case, {"ownerId": {"type": "systemuser", "id": people.AYA_AGENT}, "title": "Kept"})
    assert own.status_code == 204
    assert aya.get(case).json()["title"] == "Kept"
    nobody = aya.patch(case, {"ownerId": {"type": "systemuser", "id": NOBODY}})
    assert (nobody.status_code, nobody.json()["errors"][0]["pointer"]) == (400, "/ownerId")


@pytest.mark.parametrize(
    ("condition", "body", "status"),
    [
        ('attribute="telephone1" operator="begins-with" value="+49"', {"phone": "+49 7"}, 204),
        ('attribute="telephone1" operator="begins-with" value="+49"', {"phone": "+44 7"}, 403),
        ('attribute="telephone1" operator="not-null"', {"phone": None}, 403),
        ('attribute="revenue" operator="lt" value="100"', {"revenue": 100}, 403),
        ('attribute="revenue" operator="lt" value="100"', {"revenue": 99.99}, 204),
        ('attribute="name" operator="eq" value="CÖNTOSO"', {"name": "contoso"}, 204),
        ('attribute="name" operator="eq" value="Contoso"', {"name": "Fabrikam"}, 403),
        ('attribute="telephone1" operator="like" value="+4%"', {"phone": "+49 8"}, 403),
        ('attribute="telephone1" operator="like" value="+4%"', {"revenue": 5}, 204),
    ],
)
def test_what_a_write_makes_of_a_record_is_measured_by_the_rule(
    rita: Caller, condition: str, body: dict[str, Any], status: int
) -> None:
    path = an_account(telephone1="+49 1", revenue=Decimal("1.00"))
    only(f"<filter><condition {condition}/></filter>")
    assert rita.patch(path, body).status_code == status


def test_a_name_that_the_platform_joins_may_not_be_changed_under_a_rule_about_it(rita: Caller) -> None:
    contact = get_platform().create("contact", {"firstname": "Ada", "lastname": "Bell"}).id
    people = ExposedEntity.objects.create(
        module=ExposedEntity.objects.get(segment="accounts").module,
        segment="people",
        entity="contact",
    )
    ruled(people, '<filter><condition attribute="fullname" operator="begins-with" value="Ada"/></filter>')
    update = Endpoint.objects.create(kind="update", entity=people)
    for name in ("firstname", "jobtitle"):
        Input.objects.create(endpoint=update, name=name)
        Binding.objects.create(endpoint=update, attribute=name, value=name)
    assert rita.patch(f"/api/sales/people/{contact}", {"jobtitle": "Chair"}).status_code == 204
    moved = rita.patch(f"/api/sales/people/{contact}", {"firstname": "Bea"})
    assert (moved.status_code, moved.json()["code"]) == (403, "outside_row_rule")
    assert get_platform().retrieve("contact", contact, ("firstname",)).values["firstname"] == "Ada"


def test_a_lookup_must_point_at_what_its_own_exposure_lets_callers_reach(rita: Caller) -> None:
    path = an_account()
    body = {"primaryContactId": people.FIRST_CONTACT}
    assert rita.patch(path, body).status_code == 204
    module = ExposedEntity.objects.get(segment="accounts").module
    rule = '<filter><condition attribute="contactid" operator="ne" value="{}"/></filter>'
    contacts = ExposedEntity.objects.create(module=module, segment="people", entity="contact")
    ruled(contacts, rule.format(people.FIRST_CONTACT))
    hidden = rita.patch(path, body)
    unknown = rita.patch(path, {"primaryContactId": NOBODY})
    assert hidden.status_code == unknown.status_code == 400
    assert hidden.json()["errors"][0]["pointer"] == "/primaryContactId"
    assert [answer.json()["errors"][0]["code"] for answer in (hidden, unknown)] == ["unknown_target"] * 2
    told = [answer.json()["errors"][0]["message"] for answer in (hidden, unknown)]
    assert told[0].replace(people.FIRST_CONTACT, NOBODY) == told[1]
    created = rita.post(ACCOUNTS, {"name": "New", **body})
    assert (created.status_code, created.json()["errors"][0]["pointer"]) == (400, "/primaryContactId")


def test_a_closed_case_stays_as_it_is(aya: Caller) -> None:
    query = Query(
        "incident",
        columns=(ast.Column("incidentid"),),
        filter=Filter(
            (
                Condition("owningbusinessunit", Operator.EQ, (people.SERVICE,)),
                Condition("statecode", Operator.NE, (0,)),
            )
        ),
    )
    closed = get_platform().query(query, Page(size=1)).rows[0]["incidentid"]
    refused = aya.patch(f"{CASES}/{closed}", {"title": "Again"})
    assert (refused.status_code, refused.json()["code"]) == (409, "precondition_failed")
    assert refused.json()["detail"] == "This case is closed."


def test_an_upload_in_its_turn_is_under_the_rule(aya: Caller) -> None:
    case = f"{CASES}/{a_case(Operator.EQ)}/files/notes"
    sent = {"content_type": "text/plain", "content_disposition": 'attachment; filename="a.txt"'}
    assert aya.post(case, BytesIO(b"x").getvalue(), **sent).status_code == 200
    assert [note["fileName"] for note in aya.get(case).json()] == ["a.txt"]


def test_an_entity_that_the_platform_lacks_is_named(portico: None) -> None:
    with pytest.raises(UnknownEntity, match="There is no entity 'gone'"):
        RowRule("gone", (), get_platform())

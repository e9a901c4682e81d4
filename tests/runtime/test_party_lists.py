"""Inputs and columns of type PartyList: the recipients of an e-mail, and who attends an appointment."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from crmclient import Party, Reference
from designer.definitions import ConfigurationDocument
from designer.definitions.entities import ExposedEntityDefinition
from designer.documents.applied_plan import apply
from designer.documents.plan import plan
from designer.entity_exposure import USUAL, Exposure, endpoints
from designer.loading import load
from designer.models import Binding, Column, Endpoint, ExposedEntity, Input
from designer.platform import get_platform
from designer.readiness import Metadata, Severity, check
from tests.callers import Caller
from tests.row_rules import only_rule
from tests.runtime.accounts import NOBODY, an_account
from tests.runtime.associations import MAX, RITA
from tests.runtime.test_row_rules import MINE

MAILS = "/api/sales/emails"
LISTS = ("from", "to", "cc", "bcc")


@pytest.fixture
def mails(portico: None) -> ExposedEntity:
    """E-mails of the module sales: their subject, body and parties, in all usual operations."""
    only_rule("", segment="accounts")
    only_rule("", segment="contacts")
    return exposed("email", "emails", "subject", "description", *LISTS)


def exposed(entity: str, segment: str, *attributes: str) -> ExposedEntity:
    platform = get_platform()
    wanted = Exposure("sales", segment, [kind.name for kind in USUAL], attributes)
    made = tuple(endpoints(wanted, platform.entities()[entity], platform.attributes(entity)))
    row = ExposedEntityDefinition(module="sales", segment=segment, entity=entity)
    document = ConfigurationDocument(format=2, entities=(row,), endpoints=made)
    apply(plan(ConfigurationDocument(format=2), document), document)
    exposed_entity: ExposedEntity = ExposedEntity.objects.get(segment=segment)
    return exposed_entity


def a_contact(**values: Any) -> str:
    return get_platform().create("contact", {"firstname": "Ada", "lastname": "Lovelace", **values}).id


def a_mail(**lists: Any) -> str:
    """The path of a new e-mail."""
    return f"{MAILS}/{get_platform().create('email', {'subject': 'Offer', **lists}).id}"


def shown(type: str | None, id: str | None, name: str | None, address: str | None = None) -> dict[str, Any]:
    return {"type": type, "id": id, "name": name, "address": address}


def test_an_email_is_created_with_its_parties_and_read_with_them(mails: ExposedEntity, rita: Caller) -> None:
    ada, works = a_contact(), an_account().rpartition("/")[2]
    body = {
        "subject": "Offer",
        "from": [{"type": "systemuser", "id": RITA}],
        "to": [{"type": "contact", "id": ada}, {"address": "someone@elsewhere.example"}],
        "cc": [{"type": "account", "id": works.upper(), "address": "office@contoso.example"}],
    }

    answer = rita.post(MAILS, body)

    assert answer.status_code == 200, answer.content
    email = rita.get(f"{MAILS}/{answer.json()['id']}").json()
    assert email["to"] == [
        shown("contact", ada, "Ada Lovelace"),
        shown(None, None, None, "someone@elsewhere.example"),
    ]
    assert email["cc"] == [shown("account", works, "Contoso", "office@contoso.example")]
    assert [party["id"] for party in email["from"]] == [RITA]
    assert email["bcc"] == []


def test_an_update_changes_the_lists_that_are_sent_alone(mails: ExposedEntity, rita: Caller) -> None:
    ada, bo = (Party(Reference("contact", a_contact())) for _ in range(2))
    path = a_mail(to=(ada, bo), cc=(bo,))
    assert ada.reference is not None
    before = rita.get(path)

    changed = rita.patch(path, {"to": [{"type": "contact", "id": ada.reference.id}]})

    assert changed.status_code == 204
    after = rita.get(path).json()
    assert [party["id"] for party in after["to"]] == [ada.reference.id]
    assert after["cc"] == before.json()["cc"]
    assert rita.patch(path, {"to": None}, if_match=before["ETag"]).status_code == 412
    assert rita.patch(path, {"to": None}).status_code == 204
    assert rita.get(path).json()["to"] == []


@pytest.mark.parametrize(
    ("parties", "code"),
    [
        ("x", "wrong_type"),
        ({}, "wrong_type"),
        ([NOBODY], "wrong_type"),
        ([{"type": "contact"}], "wrong_type"),
        ([{"type": "team", "id": NOBODY}], "unknown_target"),
        ([{"type": "contact", "id": "x"}], "wrong_type"),
        ([{"type": "contact", "id": NOBODY}], "unknown_target"),
        ([{"address": ""}], "wrong_address"),
        ([{"address": "a@b.example"}, {"address": "a@b.example"}], "repeated"),
        ([{"address": f"{number}@b.example"} for number in range(1001)], "wrong_length"),
    ],
)
def test_what_is_no_party_is_said(mails: ExposedEntity, rita: Caller, parties: Any, code: str) -> None:
    answer = rita.post(MAILS, {"subject": "Offer", "to": parties})

    assert answer.status_code == 400
    assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [("/to", code)]


def test_an_appointment_takes_records_and_no_addresses(portico: None, rita: Caller) -> None:
    exposed("appointment", "appointments", "subject", "requiredattendees", "optionalattendees")
    answer = rita.post(
        "/api/sales/appointments",
        {
            "subject": "Lunch",
            "required": [{"type": "systemuser", "id": RITA}, {"type": "systemuser", "id": MAX}],
            "optional": [{"address": "a@b.example"}],
        },
    )
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/optional"]


def test_parties_are_under_the_row_rules_of_their_entities(mails: ExposedEntity, rita: Caller) -> None:
    only_rule(MINE, segment="accounts")
    mine = an_account(ownerid=Reference("systemuser", RITA)).rpartition("/")[2]
    other = an_account(ownerid=Reference("systemuser", MAX)).rpartition("/")[2]

    def post(id: str) -> Any:
        return rita.post(MAILS, {"subject": "Offer", "to": [{"type": "account", "id": id}]})

    assert post(mine).status_code == 200
    outside, unknown = post(other), post(NOBODY)
    assert outside.status_code == unknown.status_code == 400
    assert outside.json()["errors"][0]["code"] == unknown.json()["errors"][0]["code"] == "unknown_target"


def test_the_caller_may_be_the_sender(mails: ExposedEntity, rita: Caller) -> None:
    create = Endpoint.objects.get(entity=mails, kind="create")
    Input.objects.filter(endpoint=create, name="from").delete()
    Binding.objects.filter(endpoint=create, attribute="from").update(source="user", value="id")

    answer = rita.post(MAILS, {"subject": "Offer"})

    assert answer.status_code == 200, answer.content
    email = rita.get(f"{MAILS}/{answer.json()['id']}").json()
    assert [(party["type"], party["id"]) for party in email["from"]] == [("systemuser", RITA)]


def test_pages_have_parties_and_a_row_rule_reads_them_too(mails: ExposedEntity, rita: Caller) -> None:
    only_rule(MINE, segment="emails")
    ada = a_contact()
    path = a_mail(to=(Party(Reference("contact", ada)),), ownerid=Reference("systemuser", RITA))
    a_mail(ownerid=Reference("systemuser", MAX))

    assert [party["id"] for party in rita.get(path).json()["to"]] == [ada]
    page = rita.get("/api/sales/queries/emails").json()["data"]
    assert [[party["id"] for party in row["to"]] for row in page] == [[ada]]


def test_expressions_see_parties(mails: ExposedEntity, rita: Caller) -> None:
    read = Endpoint.objects.get(entity=mails, kind="read")
    Column.objects.create(
        endpoint=read, name="names", expression="join(record.to.map(one, one.name), ', ')", position=20
    )
    parties = tuple(Party(Reference("contact", a_contact(firstname=name))) for name in ("Ada", "Bo"))

    assert rita.get(a_mail(to=parties)).json()["names"] == "Ada Lovelace, Bo Lovelace"


def test_the_document_describes_parties_and_bodies_fit_it(mails: ExposedEntity, rita: Caller) -> None:
    document = rita.get("/api/openapi.json").json()
    create = document["paths"][MAILS]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schema = {**create, "components": document["components"]}
    party = {"type": "contact", "id": NOBODY}
    for right in ([], [party], [{**party, "address": "a@b.example"}], [{"address": "a@b.example"}]):
        jsonschema.validate({"subject": "x", "to": right}, schema)
    wrongs: tuple[Any, ...] = (NOBODY, [NOBODY], [{"type": "team", "id": NOBODY}], [{}])
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"subject": "x", "to": wrong}, schema)
    path = a_mail(to=(Party(Reference("contact", a_contact())),))
    answered = document["paths"][f"{MAILS}/{{id}}"]["get"]["responses"]["200"]["content"]["application/json"]
    jsonschema.validate(rita.get(path).json(), {**answered["schema"], "components": document["components"]})


def test_everything_about_them_is_ready(mails: ExposedEntity) -> None:
    configuration = load()
    of_entity = [one for one in configuration.endpoints.values() if one.entity is not None]
    made = [one for one in of_entity if one.entity is not None and one.entity.segment == "emails"]
    assert made
    for endpoint in made:
        findings = check(endpoint, configuration, Metadata(get_platform()))
        assert [str(one.message) for one in findings if one.severity is Severity.BLOCKING] == []

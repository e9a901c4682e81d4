"""Party lists from end to end: the same in front of the CRM in the box and in front of Dataverse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from crmbox.demo.people import CLARA_CUSTOMER
from crmclient import Party, Reference
from designer.loading import load
from designer.models import Binding, Column, Endpoint, ExposedEntity, Input
from designer.overview import forget
from designer.platform import get_platform
from designer.readiness import Metadata, check
from tests.callers import Caller
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import settings_for
from tests.row_rules import only_rule
from tests.runtime.accounts import ACCOUNTS, NOBODY
from tests.runtime.associations import RITA
from tests.runtime.test_caller_kinds_matrix import local
from tests.runtime.test_party_lists import LISTS, MAILS, a_contact, a_mail, exposed, shown

pytestmark = pytest.mark.processes

OUTSIDER = "someone@elsewhere.example"
OUTSIDE = shown(None, None, None, OUTSIDER)
TAKES_PART = """
<link-entity name="activityparty" from="activityid" to="activityid" link-type="any">
  <filter>
    <condition attribute="partyid" operator="eq" value="{}"/>
    <condition attribute="participationtypemask" operator="in"><value>1</value><value>2</value></condition>
  </filter>
</link-entity>"""


@pytest.fixture(params=["in the box", "Dataverse"])
def mails(portico: None, request: pytest.FixtureRequest, settings: Any) -> Iterator[ExposedEntity]:
    if request.param == "Dataverse":
        failing: Failing = request.getfixturevalue("failing")
        settings.PORTICO = {**settings.PORTICO, **settings_for(failing.server)}
    get_platform.cache_clear()
    forget()
    for segment in ("accounts", "contacts"):
        only_rule("", segment=segment)
    yield exposed("email", "emails", "subject", *LISTS)
    get_platform.cache_clear()
    forget()


def findings(key: str) -> list[str]:
    configuration = load()
    [endpoint] = [one for one in configuration.endpoints.values() if one.definition.key == key]
    return [str(finding.message) for finding in check(endpoint, configuration, Metadata(get_platform()))]


def party(id: str) -> Party:
    return Party(Reference("contact", id))


def test_parties_stay_until_a_call_or_their_record_says_otherwise(mails: ExposedEntity, rita: Caller) -> None:
    ada = a_contact()
    recipients = [{"type": "contact", "id": ada}, {"address": OUTSIDER}]
    sender = {"type": "systemuser", "id": RITA, "address": "rita@contoso.example"}
    answer = rita.post(MAILS, {"subject": "Offer", "from": [sender], "to": recipients})
    assert answer.status_code == 200, answer.content
    path = f"{MAILS}/{answer.json()['id']}"

    assert rita.patch(path, {"cc": [{"address": OUTSIDER}], "bcc": recipients}).status_code == 204
    both = [shown("contact", ada, "Ada Lovelace"), OUTSIDE]
    mail = rita.get(path).json()
    assert mail["from"] == [shown("systemuser", RITA, "Rita Rep", "rita@contoso.example")]
    assert (mail["to"], mail["cc"], mail["bcc"]) == (both, [OUTSIDE], both)

    get_platform().delete("contact", ada)
    assert rita.get(path).json()["to"] == [OUTSIDE]
    # What is left of her is not sent along.
    assert rita.patch(path, {"cc": []}).status_code == 204
    mail = rita.get(path).json()
    assert (mail["to"], mail["cc"], mail["bcc"]) == ([OUTSIDE], [], [OUTSIDE])
    assert rita.delete(path).status_code == 204


def test_mails_are_listed_by_who_takes_part(mails: ExposedEntity, rita: Caller) -> None:
    ada, bo = a_contact(), a_contact()
    a_mail(to=(party(ada), Party(address=OUTSIDER)), subject="To")
    a_mail(**{"from": (party(ada),), "to": (party(ada),)}, subject="From and to")
    a_mail(cc=(party(ada),), to=(party(bo),), subject="Cc")
    listed = Endpoint.objects.get(kind="paginated-query", name="emails")
    links = TAKES_PART.format(ada)
    listed.settings = {
        **listed.settings,
        "query": '<fetch><entity name="email"><attribute name="activityid"/><attribute name="subject"/>'
        f'<attribute name="to"/><order attribute="subject"/><filter>{links}</filter></entity></fetch>',
    }
    listed.save()
    Column.objects.filter(endpoint=listed).exclude(attribute__in=("subject", "to")).delete()

    assert findings("sales.paginated-query.emails") == []
    page = rita.get("/api/sales/queries/emails").json()["data"]
    her = shown("contact", ada, "Ada Lovelace")
    assert page == [{"subject": "From and to", "to": [her]}, {"subject": "To", "to": [her, OUTSIDE]}]


def test_a_row_rule_lets_those_read_who_take_part(mails: ExposedEntity, rita: Caller) -> None:
    only_rule(f"<filter>{TAKES_PART.format('@user.id')}</filter>", segment="emails")
    mine = a_mail(to=(Party(Reference("systemuser", RITA)),))
    other = a_mail(cc=(Party(Reference("systemuser", RITA)),), to=(party(a_contact()),))

    assert findings("sales.emails.read") == []
    assert [rita.get(path).status_code for path in (mine, other)] == [200, 404]
    assert rita.patch(mine, {"to": []}).status_code == 204
    assert rita.get(mine).status_code == 404


def test_records_of_a_list_have_parties(mails: ExposedEntity, rita: Caller) -> None:
    create = Endpoint.objects.get(kind="create", entity__segment="accounts")
    of_account = "email_regardingobjectid_account"
    made = Input.objects.create(
        endpoint=create, position=90, name="mails", type="List", relationship=of_account
    )
    for position, (name, type) in enumerate((("subject", "String"), ("to", "PartyList"))):
        Input.objects.create(endpoint=create, parent=made, position=position, name=name, type=type)
        Binding.objects.create(endpoint=create, parent=made, position=position, attribute=name, value=name)
    assert findings("sales.accounts.create") == []

    def post(to: dict[str, str]) -> Any:
        return rita.post(ACCOUNTS, {"name": "Contoso", "mails": [{"subject": "Offer", "to": [to]}]})

    assert post({"address": OUTSIDER}).status_code == 200
    for type in ("contact", "team"):
        [error] = post({"type": type, "id": NOBODY}).json()["errors"]
        assert (error["pointer"], error["code"]) == ("/mails/0/to", "unknown_target")


@pytest.mark.parametrize(
    ("source", "value", "parties"),
    [
        ("constant", [{"address": OUTSIDER}], [OUTSIDE]),
        ("expression", f'[{{"address": "{OUTSIDER}"}}]', [OUTSIDE]),
        (
            "expression",
            '[{"type": "systemuser", "id": user.id}]',
            [shown("systemuser", RITA, "Rita Rep")],
        ),
    ],
)
def test_parties_may_come_from_the_endpoint(
    mails: ExposedEntity, rita: Caller, source: str, value: Any, parties: list[Any]
) -> None:
    create = Endpoint.objects.get(entity=mails, kind="create")
    Input.objects.filter(endpoint=create, name="from").delete()
    Binding.objects.filter(endpoint=create, attribute="from").update(source=source, value=value)

    assert findings("sales.emails.create") == []
    id = rita.post(MAILS, {"subject": "Offer"}).json()["id"]
    assert rita.get(f"{MAILS}/{id}").json()["from"] == parties


def test_a_contact_who_calls_is_the_sender(mails: ExposedEntity, rita: Caller) -> None:
    create = Endpoint.objects.get(entity=mails, kind="create")
    Endpoint.objects.filter(pk=create.pk).update(caller_types=["contact"])
    Input.objects.filter(endpoint=create, name="from").delete()
    Binding.objects.filter(endpoint=create, attribute="from").update(source="user", value="id")

    answer = local(caller_type_id="contact", record=CLARA_CUSTOMER).post(MAILS, {"subject": "Offer"})

    assert answer.status_code == 200, answer.content
    [sender] = rita.get(f"{MAILS}/{answer.json()['id']}").json()["from"]
    assert (sender["type"], sender["id"]) == ("contact", CLARA_CUSTOMER)


def test_try_it_takes_parties_as_json(mails: ExposedEntity, dora: Client) -> None:
    from tests.designer.test_studio_try import _try

    create = Endpoint.objects.get(entity=mails, kind="create")
    sent = _try(dora, create, body__subject="Offer", body__to=f'[{{"address": "{OUTSIDER}"}}]')
    assert OUTSIDER in sent.context["outcome"].calls[-1].request
    for wrong in ("x", "{}", "["):
        form = _try(dora, create, body__subject="Offer", body__to=wrong).context["form"]
        assert form.errors["body__to"] == ["Must be an array of parties."]

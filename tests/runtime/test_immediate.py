"""An edit of the configuration applies to the very next request, whatever way it is made."""

from __future__ import annotations

from django.db import connection

from crmbox.metadata import change
from crmclient.metadata import Attribute, AttributeType
from designer.models import Binding, Endpoint, ExposedEntity, Input, Module, Role
from designer.platform import get_platform
from tests.callers import Caller

ACCOUNTS = "/api/sales/accounts"


def _create() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def test_a_new_input_is_accepted_by_the_next_request(rita: Caller) -> None:
    body = {"name": "With a site", "website": "https://example.org"}
    assert rita.post(ACCOUNTS, body).status_code == 400
    Input.objects.create(endpoint=_create(), name="website", type="String", max_length=200)
    Binding.objects.create(endpoint=_create(), attribute="websiteurl", source="input", value="website")
    answer = rita.post(ACCOUNTS, body)
    assert answer.status_code == 200, answer.content
    record = get_platform().retrieve("account", answer.json()["id"], ("websiteurl",))
    assert record.values["websiteurl"] == "https://example.org"


def test_a_removed_role_refuses_the_next_request(rita: Caller) -> None:
    assert rita.post(ACCOUNTS, {"name": "Before"}).status_code == 200
    _create().roles.remove(Role.objects.get(name="sales-rep"))
    assert rita.post(ACCOUNTS, {"name": "After"}).status_code == 403


def test_bulk_and_raw_edits_count_too(rita: Caller) -> None:
    assert rita.post(ACCOUNTS, {"name": "A"}).status_code == 200
    Endpoint.objects.filter(pk=_create().pk).update(segment="companies")
    assert rita.post(ACCOUNTS, {"name": "A"}).status_code == 404
    assert rita.post("/api/sales/companies", {"name": "A"}).status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("UPDATE designer_endpoint SET segment = 'firms' WHERE id = %s", [_create().pk])
    assert rita.post("/api/sales/companies", {"name": "A"}).status_code == 404
    assert rita.post("/api/sales/firms", {"name": "A"}).status_code == 200


def test_a_renamed_module_moves_its_endpoints(rita: Caller) -> None:
    Module.objects.filter(segment="sales").update(segment="vertrieb")
    assert rita.post(ACCOUNTS, {"name": "A"}).status_code == 404
    assert rita.post("/api/vertrieb/accounts", {"name": "A"}).status_code == 200


def test_rows_made_in_a_shell_are_an_endpoint_at_once(rita: Caller) -> None:
    module = Module.objects.create(segment="helpdesk", title="Help desk")
    exposed = ExposedEntity.objects.create(module=module, segment="cases", entity="incident")
    endpoint = Endpoint.objects.create(kind="create", entity=exposed)
    Input.objects.create(endpoint=endpoint, name="subject", type="String", required=True)
    Binding.objects.create(endpoint=endpoint, attribute="title", source="input", value="subject")
    Input.objects.create(endpoint=endpoint, name="customer", type="EntityReference", required=True)
    Binding.objects.create(endpoint=endpoint, attribute="customerid", source="input", value="customer")
    account = rita.post(ACCOUNTS, {"name": "Customer"}).json()["id"]
    answer = rita.post(
        "/api/helpdesk/cases", {"subject": "It broke", "customer": {"type": "account", "id": account}}
    )
    assert answer.status_code == 200, answer.content
    assert get_platform().retrieve("incident", answer.json()["id"], ("title",)).values["title"] == "It broke"


def test_constants_user_values_and_expressions_reach_the_record(rita: Caller) -> None:
    Binding.objects.create(
        endpoint=_create(), attribute="description", source="constant", value="From the portal"
    )
    Binding.objects.create(endpoint=_create(), attribute="emailaddress1", source="user", value="email")
    Binding.objects.create(
        endpoint=_create(),
        attribute="websiteurl",
        source="expression",
        value="'https://' + input.name + '.example'",
    )
    answer = rita.post(ACCOUNTS, {"name": "acme"})
    assert answer.status_code == 200, answer.content
    columns = ("description", "emailaddress1", "websiteurl")
    values = get_platform().retrieve("account", answer.json()["id"], columns).values
    assert values["description"] == "From the portal"
    assert "@" in str(values["emailaddress1"])
    assert values["websiteurl"] == "https://acme.example"


def test_a_new_attribute_on_the_platform_can_be_bound_at_once(rita: Caller) -> None:
    with change() as metadata:
        metadata.create_attributes("account", [Attribute("new_loyalty", AttributeType.INTEGER)])
    Input.objects.create(endpoint=_create(), name="loyalty", type="Integer")
    Binding.objects.create(endpoint=_create(), attribute="new_loyalty", source="input", value="loyalty")
    answer = rita.post(ACCOUNTS, {"name": "Loyal", "loyalty": 7})
    assert answer.status_code == 200, answer.content
    assert (
        get_platform().retrieve("account", answer.json()["id"], ("new_loyalty",)).values["new_loyalty"] == 7
    )

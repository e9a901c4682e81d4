"""Who gets what status where: every endpoint of the demo, called by everybody whom the demo knows.

Bodies are empty, and files are good ones: who may call a create is told of what it lacks (400). Cases and
profiles are Clara's.
"""

from __future__ import annotations

import io
import json
from itertools import product

import pytest
from django.core.management import call_command

from crmbox.demo.people import CLARA_CUSTOMER, FIRST_ACCOUNT
from designer.definitions import EndpointDefinition
from designer.documents.document_reader import read
from designer.kinds import KINDS
from project.demo import CONFIGURATION
from tests.callers import Caller, account
from tests.runtime.portal import CLARAS

WHO = ("rep", "manager", "agent", "customer", "customer2", None)
#                                       rep manager agent customer customer2 nobody
TABLE = """
GET    /optionsets/priorities                         200 200 200 200 200 200
GET    /api/context                                   200 200 200 200 200 401

POST   /api/sales/accounts                            400 400 403 403 403 401
GET    /api/sales/accounts/{id}                       200 200 403 403 403 401
PATCH  /api/sales/accounts/{id}                       204 204 403 403 403 401
PUT    /api/sales/accounts/{id}                       204 204 403 403 403 401
DELETE /api/sales/accounts/{id}                       403 428 403 403 403 401
POST   /api/sales/accounts/{id}/actions/approve       403 400 403 403 403 401
GET    /api/sales/accounts/{id}/files/contract        404 404 403 403 403 401
POST   /api/sales/accounts/{id}/files/contract        200 200 403 403 403 401
GET    /api/sales/accounts/{id}/files/notes           200 200 403 403 403 401
POST   /api/sales/accounts/{id}/files/notes           200 200 403 403 403 401
GET    /sales/accounts/optionsets/industries          200 200 200 200 200 200
POST   /api/sales/leads                               400 400 400 400 400 400
POST   /api/sales/actions/ping                        400 400 400 403 403 401
GET    /api/sales/queries/account                     400 400 403 403 403 401
GET    /api/sales/queries/account-contacts            400 400 403 403 403 401
GET    /api/sales/queries/accounts                    200 200 403 403 403 401
GET    /api/sales/queries/contact-names               200 200 403 403 403 401
GET    /api/sales/queries/pipeline                    200 200 403 403 403 401

GET    /api/service/cases/{id}                        403 403 200 403 403 401
PATCH  /api/service/cases/{id}                        403 403 204 403 403 401
PUT    /api/service/cases/{id}                        403 403 204 403 403 401
GET    /api/service/cases/{id}/files/notes            403 403 200 403 403 401
POST   /api/service/cases/{id}/files/notes            403 403 200 403 403 401
GET    /api/service/queries/cases                     403 403 200 403 403 401

POST   /api/portal/cases                              403 403 403 400 400 401
GET    /api/portal/cases/{id}                         403 403 403 200 404 401
POST   /api/portal/cases/{id}/actions/close           403 403 403 200 404 401
GET    /api/portal/cases/{id}/files/attachments       403 403 403 200 404 401
POST   /api/portal/cases/{id}/files/attachments       403 403 403 200 404 401
PATCH  /api/portal/profile/{id}                       403 403 403 204 404 401
PUT    /api/portal/profile/{id}                       403 403 403 204 404 401
GET    /api/portal/queries/my-profile                 403 403 403 200 200 401
GET    /api/portal/queries/my-cases                   403 403 403 200 200 401
GET    /api/portal/queries/company-cases              403 403 403 200 200 401
GET    /api/portal/queries/articles                   200 200 200 200 200 200
"""
ROWS = {
    (method, path): [int(status) for status in statuses]
    for method, path, *statuses in (line.split() for line in TABLE.splitlines() if line.strip())
}
RECORDS = {"accounts": FIRST_ACCOUNT, "cases": CLARAS, "profile": CLARA_CUSTOMER}
DOCUMENT = read(CONFIGURATION.read_bytes())


def path_of(endpoint: EndpointDefinition) -> str:
    segment = endpoint.segment or endpoint.exposure
    return KINDS[endpoint.kind].path_of(module=endpoint.module, segment=segment, name=endpoint.name)


def status(caller: Caller, method: str, path: str) -> int:
    for segment, id in RECORDS.items():
        path = path.replace(f"/{segment}/{{id}}", f"/{segment}/{id}")
    if method == "POST" and "/files/" in path:
        named = 'attachment; filename="a.pdf"'
        sent = caller.post(path, b"%PDF-1.7\n", content_type="application/pdf", content_disposition=named)
        return int(sent.status_code)
    body: dict[str, object] | None = {} if method in {"POST", "PATCH", "PUT"} else None
    return int(caller.request(method, path, body).status_code)


def test_the_table_has_every_endpoint_of_the_demo() -> None:
    calls = {
        (method, path_of(endpoint))
        for endpoint in DOCUMENT.endpoints
        for method in KINDS[endpoint.kind].methods
    }
    assert calls | {("GET", "/api/context")} == set(ROWS)


@pytest.mark.parametrize("who", WHO)
def test_everybody_gets_what_the_table_says(portico: None, who: str | None) -> None:
    caller = Caller() if who is None else account(who)
    column = WHO.index(who)
    expected = {row: statuses[column] for row, statuses in ROWS.items()}
    # What changes nothing comes first: a case that is closed takes no file.
    order = sorted(ROWS, key=lambda row: (row[1].endswith("/close"), row[0] == "DELETE"))
    assert {row: status(caller, *row) for row in order} == {row: expected[row] for row in order}


@pytest.mark.parametrize(
    ("account_name", "module"), list(product(("customer", "customer2"), ("sales", "service")))
)
def test_customers_are_shown_nothing_of_other_modules(portico: None, account_name: str, module: str) -> None:
    schema = account(account_name).get(f"/api/schema?module={module}").json()
    public = {"sales.leads"} if module == "sales" else set()
    assert {entity["name"] for entity in schema["entities"] if _is_callable(entity)} == public
    assert schema["queries"] == []


def _is_callable(entity: dict[str, dict[str, dict[str, object]]]) -> bool:
    return any(operation["enabled"] for operation in entity["operations"].values())


# What readiness warns of is meant so: the demo shows what is for anyone, and what a manager alone may do.
MEANT = {
    ("option-set.priorities", "option-set-public"),
    ("sales.accounts.delete", "delete-without-row-rule"),
    ("sales.accounts.local-option-set.industries", "option-set-public"),
    ("sales.accounts.upload.notes", "upload-without-types"),
    ("sales.leads.create", "anonymous-write"),
}


def test_readiness_warns_of_nothing_in_the_demo_but_of_what_is_meant(portico: None) -> None:
    out = io.StringIO()
    call_command("checkconfig", "--json", stdout=out)
    findings = json.loads(out.getvalue())["findings"]
    assert {finding["severity"] for finding in findings} == {"warning"}
    assert {(finding["subject"], finding["rule"]) for finding in findings} == MEANT

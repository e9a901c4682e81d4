"""How many requests each kind of operation makes to Dataverse, counted where they arrive."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crmbox.demo.people import FIRST_ACCOUNT
from designer.models import Column, Endpoint, Module
from designer.platform import get_platform
from project.metadata_store import DatabaseStore
from tests.callers import account
from tests.chosen_platform import serving_with
from tests.dataverse.conftest import Failing
from tests.runtime import keys
from tests.runtime.accounts import ACCOUNTS, an_account
from tests.runtime.associations import RITA, a_team, associations, path
from tests.runtime.portal import CLARAS, CLARAS_FILE, files

pytestmark = pytest.mark.processes

PDF = b"%PDF-1.4\n"
ACCOUNT = f"{ACCOUNTS}/{FIRST_ACCOUNT}"
ROWS = 30
LIST = """<fetch><entity name="account"><attribute name="name"/><attribute name="new_contract"/>
  <filter><condition attribute="name" operator="like" value="{wanted}"/></filter>
  <order attribute="name"/></entity></fetch>"""
# A fault that only counts.
COUNTED = {"path": "/api/data/", "times": None}


class Counted:
    """`calls(…)` is how many requests the platform gets while something is done."""

    def __init__(self, failing: Failing) -> None:
        self.failing = failing

    def calls(self, do: Callable[[], Any]) -> int:
        self.failing.arm(COUNTED)
        answer = do()
        assert answer.status_code < 300, answer.content
        [count] = self.failing.struck()
        return count


@pytest.fixture
def counted(portico: None, failing: Failing, settings: Any) -> Iterator[Counted]:
    store = DatabaseStore("https://contoso.example/")
    platform = failing.platform(store=store)
    platform.local_revision_sql = store.revision_sql
    with serving_with(platform, settings):
        yield Counted(failing)


# What an operation costs once its endpoint has been called, and who calls is known.
STEADY: dict[str, tuple[int, str, str, Any]] = {
    "an option set": (0, "GET", "/optionsets/priorities", None),
    "a local option set": (0, "GET", "/sales/accounts/optionsets/industries", None),
    "the user context": (0, "GET", "/api/context", None),
    "a read": (1, "GET", ACCOUNT, None),
    "a create": (1, "POST", ACCOUNTS, {"name": "Counted"}),
    "a create with a list": (1, "POST", ACCOUNTS, {"name": "Counted", "contacts": [{"lastName": "One"}]}),
    "a create with the longest list": (
        1,
        "POST",
        ACCOUNTS,
        {"name": "Counted", "contacts": [{"lastName": f"Number {number}"} for number in range(20)]},
    ),
    "an update": (1, "PATCH", ACCOUNT, {"phone": "1"}),
    # The file, and the id that the column holds from now on.
    "an upload to a column": (2, "POST", f"{ACCOUNT}/files/contract", PDF),
    # The row, if it may be seen, with what the column holds; and the file's bytes.
    "a download from a column": (2, "GET", f"{ACCOUNT}/files/contract", None),
    # The record, the note, and its file.
    "an upload to notes": (3, "POST", f"{ACCOUNT}/files/notes", PDF),
    "a list of notes": (2, "GET", f"{ACCOUNT}/files/notes", None),
    "a multi query": (1, "GET", "/api/sales/queries/pipeline", None),
    "a single query": (1, "GET", f"/api/sales/queries/account?accountId={FIRST_ACCOUNT}", None),
    "a paginated query, counted": (1, "GET", "/api/sales/queries/accounts", None),
    "a global action": (1, "POST", "/api/sales/actions/ping", {"message": "Hello"}),
    "an action on a record": (1, "POST", f"{ACCOUNT}/actions/approve", {"comment": "Yes"}),
}
SENT = {"content_type": "application/pdf", "content_disposition": 'attachment; filename="a.pdf"'}


@pytest.mark.parametrize("kind", STEADY)
def test_a_steady_operation_makes_so_many_requests(kind: str, counted: Counted) -> None:
    expected, method, path, body = STEADY[kind]
    max = account("manager")
    # The demo's account has no contract of its own.
    max.request("POST", f"{ACCOUNT}/files/contract", PDF, **SENT)
    max.get("/api/context")

    def ask() -> Any:
        return max.request(method, path, body, **(SENT if body is PDF else {}))

    ask()

    assert counted.calls(ask) == expected


def test_a_download_from_notes_asks_for_the_note_and_whether_its_record_is_reached_in_one_request(
    counted: Counted,
) -> None:
    """The record under its row rule, the note, the note again, and its bytes were four."""
    clara, file = account("customer"), f"{files(CLARAS)}/{CLARAS_FILE}"
    assert account("customer2").get(file).status_code == 404
    clara.get(file)

    assert counted.calls(lambda: clara.get(file)) == 2


def test_a_delete_is_one_request(counted: Counted) -> None:
    max = account("manager")
    max.delete(an_account(), if_match="*")
    place = an_account()

    assert counted.calls(lambda: max.delete(place, if_match="*")) == 1


def test_an_association_is_one_request(counted: Counted) -> None:
    associations()
    max, place = account("manager"), path(a_team("Counted"), RITA)
    max.request("PUT", place)

    assert counted.calls(lambda: max.delete(place)) == 1
    assert counted.calls(lambda: max.request("PUT", place)) == 1


@pytest.mark.parametrize("person", ["manager", "rep"])
def test_an_upsert_is_one_request_whatever_the_callers_row_rule(person: str, counted: Counted) -> None:
    keys.upserts()
    caller, place = account(person), keys.path(keys.a_number())
    caller.request("PUT", keys.path(keys.a_number()), {"name": "First"})

    assert counted.calls(lambda: caller.request("PUT", place, {"name": "First"})) == 1
    assert counted.calls(lambda: caller.request("PUT", place, {"name": "Second"})) == 1


def test_a_read_by_key_is_one_request(counted: Counted) -> None:
    keys.upserts()
    keys.reads()
    rita, place = account("rep"), keys.path(keys.a_number())
    rita.request("PUT", place, {"name": "First"})
    rita.get(place)

    assert counted.calls(lambda: rita.get(place)) == 1


@pytest.mark.parametrize(
    ("person", "expected"),
    # Of a user, who it is; and what is configured of such callers. A record's columns hold both.
    [("rep", 2), ("customer", 1)],
)
def test_a_caller_and_their_context_are_asked_for_once_a_minute(
    person: str, expected: int, counted: Counted
) -> None:
    # The first caller of a kind brings what the endpoint is described by.
    account("manager" if person == "rep" else "customer2").get("/api/context")
    caller = account(person)

    assert counted.calls(lambda: caller.get("/api/context")) == expected
    assert counted.calls(lambda: caller.get("/api/context")) == 0
    assert counted.calls(lambda: account(person).get("/api/context")) == 0


def test_a_list_with_a_file_column_asks_for_all_its_files_together(counted: Counted) -> None:
    """A list of 30 rows asked 31 times: for the rows, and for each row's file."""
    names = _accounts_with_files()
    max = account("manager")
    max.get("/api/sales/queries/empty-files")

    assert counted.calls(lambda: max.get("/api/sales/queries/files")) == 2
    rows = max.get("/api/sales/queries/files").json()
    assert counted.calls(lambda: max.get("/api/sales/queries/files")) == 1

    assert [(row["name"], row["newContract"]["fileName"], row["newContract"]["size"]) for row in rows] == [
        (name, f"{name}.pdf", len(PDF) + at) for at, name in enumerate(names)
    ]


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 404, "body": '{"error":{"code":"0x8006088a","message":"No such segment."}}'},
        {"status": 403, "body": '{"error":{"code":"0x80040220","message":"prvReadFileAttachment"}}'},
    ],
)
def test_where_files_cannot_be_listed_each_is_asked_for_and_the_list_no_more(
    fault: dict[str, Any], counted: Counted
) -> None:
    names = _accounts_with_files()
    max = account("manager")
    max.get("/api/sales/queries/empty-files")
    counted.failing.arm({"path": "/fileattachments", "times": None, **fault}, COUNTED)

    rows = max.get("/api/sales/queries/files").json()

    assert [row["newContract"]["fileName"] for row in rows] == [f"{name}.pdf" for name in names]
    assert counted.failing.struck() == [1, 1 + ROWS]


def _accounts_with_files() -> list[str]:
    """Names of new accounts with a contract each, listed by `files`; `empty-files` lists none."""
    platform, mark = get_platform(), uuid.uuid4().hex[:8]
    names = [f"{mark} {at:02}" for at in range(ROWS)]
    for at, name in enumerate(names):
        id = platform.create("account", {"name": name}).id
        content = io.BytesIO(PDF + b"x" * at)
        platform.upload(
            "account", id, "new_contract", content, file_name=f"{name}.pdf", content_type="application/pdf"
        )
    for name, wanted in (("files", f"{mark}%"), ("empty-files", "nobody")):
        endpoint = Endpoint.objects.create(
            kind="multi-query",
            module=Module.objects.get(segment="sales"),
            name=name,
            settings={"query": LIST.format(wanted=wanted)},
        )
        for at, attribute in enumerate(("name", "new_contract")):
            Column.objects.create(endpoint=endpoint, attribute=attribute, position=at)
    return names

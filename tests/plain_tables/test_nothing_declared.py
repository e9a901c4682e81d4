"""A platform that declares nothing: what needs something is found beforehand, and the rest is served."""

from __future__ import annotations

import io

import pytest

from crmclient import Create, Platform, Reference
from crmclient.conventions import Conventions
from crmclient.errors import InvalidQuery, RecordNotFound, UnknownProcess, UnknownRelationship, Unsupported
from crmclient.query.ast import Aggregate, Column, Link, Page, Query
from designer.loading import load
from designer.readiness import Checker, Metadata
from runtime.callers.platform_users import platform_users
from tests.callers import account
from tests.plain_tables.platform import PlainTables

NOBODY = "00000000-0000-4000-8000-00000000dead"
FIRM = Query("firm", (Column("title"),))


def blocked(tables: PlainTables) -> dict[str, set[tuple[str, str]]]:
    """The blocking findings of each endpoint and user property: rule and field."""
    findings: dict[str, set[tuple[str, str]]] = {}
    for finding in Checker(load(), Metadata(tables)).everything():
        if finding.is_blocking:
            findings.setdefault(finding.subject, set()).add((finding.rule, finding.field))
    return findings


def test_each_lack_is_found_at_its_field(nothing_declared: PlainTables) -> None:
    findings = blocked(nothing_declared)

    assert findings["plain.firms.create"] >= {
        ("platform-users", "bindings.keeper.value"),
        ("platform-users", "entity.row_rule.0"),
        ("platform-batches", "inputs.persons.type"),
    }
    assert ("platform-users", "inputs.persons.bindings.keeper.value") in findings["plain.firms.create"]
    assert findings["plain.firms.read"] == {("platform-users", "entity.row_rule.0")}
    assert findings["plain.firms.update"] == {
        ("platform-users", "entity.row_rule.0"),
        ("platform-users", "inputs.persons.bindings.keeper.value"),
        ("user-property-broken", "inputs.persons.bindings.keeper.value"),
        ("platform-batches", "inputs.persons.type"),
    }
    assert findings["plain.paginated-query.firms"] == {
        ("platform-pages", "settings.page_size"),
        ("platform-users", "settings.query"),
    }
    assert ("file-column", "settings.attribute") in findings["plain.firms.download.contract"]
    assert findings["plain.global-action.ping"] == {("process-unknown", "settings.process")}
    assert ("relationship-unknown", "settings.relationship") in findings["plain.firms.associate.friends"]
    assert ("platform-upserts", "settings.key") in findings["plain.firms.upsert.number"]
    assert findings["user property me"] == {("user-property-users", "kind")}
    assert "plain.anyone.read" not in findings


def test_what_no_check_found_is_served(nothing_declared: PlainTables) -> None:
    firm = nothing_declared.create("firm", {"title": "Mine"}).id
    person = nothing_declared.create("person", {"family": "Byron", "employer": Reference("firm", firm)}).id
    caller = account("rep")

    answer = caller.get(f"/api/plain/anyone/{person}")

    assert (answer.status_code, answer.json()) == (200, {"family": "Byron"})


def test_no_endpoint_is_misconfigured_unforeseen(nothing_declared: PlainTables) -> None:
    findings, caller = blocked(nothing_declared), account("rep")

    for endpoint in load().endpoints.values():
        path = endpoint.path.replace("{id}", NOBODY).replace("{relatedId}", NOBODY).replace("{value}", "F-1")
        for method in endpoint.kind.methods:
            answer = caller.request(method, path, None if method in ("GET", "DELETE") else {})
            if answer.status_code == 503:
                assert endpoint.definition.key in findings, answer.content
            else:
                assert answer.status_code < 500, answer.content


def test_the_platforms_users_are_nobody(nothing_declared: PlainTables) -> None:
    assert dict(platform_users(nothing_declared)) == {}
    answer = account("rep").get(f"/api/plain/firms/{NOBODY}")
    assert answer.status_code == 404


@pytest.fixture
def bare() -> Platform:
    return PlainTables(conventions=Conventions())


@pytest.mark.parametrize(
    "query",
    [
        Query("firm", links=(Link("person", "employer", "firm_key", "p"),)),
        Query("firm", (Column("firm_key", "n", Aggregate.COUNT),)),
        Query("firm", (Column("title"),), distinct=True),
    ],
)
def test_a_query_with_what_is_not_declared_is_refused(bare: Platform, query: Query) -> None:
    with pytest.raises(InvalidQuery):
        bare.query(query)


@pytest.mark.parametrize("page", [Page(size=1, token="x"), Page(total=True)])
def test_a_page_that_is_not_declared_is_refused(bare: Platform, page: Page) -> None:
    with pytest.raises(InvalidQuery):
        bare.query(FIRM, page)


def test_first_rows_are_answered_all_the_same(bare: Platform) -> None:
    for name in ("One", "Two"):
        bare.create("firm", {"title": name})

    page = bare.query(FIRM, Page(size=1))

    assert [row["title"] for row in page.rows] == ["One"]


def test_everything_else_that_is_lacking_says_so(bare: Platform) -> None:
    firm = bare.create("firm", {"title": "One"})
    assert firm.version is None
    for refused in (
        lambda: bare.batch([Create("firm", {"title": "x"})]),
        lambda: bare.upsert("firm", {"number": "1"}, {"title": "x"}),
        lambda: bare.upload("firm", firm.id, "title", io.BytesIO(), file_name="a", content_type="b"),
        lambda: bare.download("firm", firm.id, "title"),
        lambda: bare.who(),
    ):
        with pytest.raises(Unsupported):
            refused()
    with pytest.raises(UnknownProcess):
        bare.execute("Ping", {})
    with pytest.raises(UnknownRelationship):
        bare.associate("firm", firm.id, "firm_boss", firm.id)
    with pytest.raises(RecordNotFound):
        bare.user(firm.id)
    assert (dict(bare.processes()), list(bare.security_roles())) == ({}, [])

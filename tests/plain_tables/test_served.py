"""The whole service over plain tables: nothing of it knows Dataverse's names."""

from __future__ import annotations

from typing import Any

import pytest

from crmbox.demo.people import MAX_MANAGER, RITA_REP
from designer.loading import load
from designer.models import ExposedEntity, Role
from designer.readiness import Checker, Metadata
from tests.callers import Caller, account
from tests.plain_tables.platform import PlainTables
from tests.row_rules import ruled

FIRMS, PERSONS = "/api/plain/firms", "/api/plain/persons"
NOBODY = "00000000-0000-4000-8000-00000000dead"


@pytest.fixture
def rita(tables: PlainTables) -> Caller:
    return account("rep")


@pytest.fixture
def max(tables: PlainTables) -> Caller:
    return account("manager")


def made(caller: Caller, path: str, **body: Any) -> str:
    """The path of a new record."""
    answer = caller.post(path, body)
    assert answer.status_code == 200, answer.content
    return f"{path}/{answer.json()['id']}"


def test_everything_is_ready(tables: PlainTables) -> None:
    findings = list(Checker(load(), Metadata(tables)).everything())

    assert [finding for finding in findings if finding.is_blocking] == []


def test_a_record_is_created_read_changed_and_deleted(rita: Caller) -> None:
    path = made(rita, FIRMS, title="Ünïque Wool", staff=12, turnover="99.95", since="2020-02-29", line=1)

    read = rita.get(path)
    assert read.json() == {
        "id": path.rpartition("/")[2],
        "title": "Ünïque Wool",
        "staff": 12,
        "turnover": 99.95,
        "since": "2020-02-29",
        "line": 1,
        "stage": 0,
        "boss": None,
        "keeper": {"id": RITA_REP, "name": "Rita Rep"},
    }
    assert rita.patch(path, {"staff": 13, "line": None}).status_code == 204
    assert {name: rita.get(path).json()[name] for name in ("staff", "line", "title")} == {
        "staff": 13,
        "line": None,
        "title": "Ünïque Wool",
    }
    assert rita.delete(path).status_code == 204
    assert rita.get(path).status_code == 404


def test_a_record_is_written_and_read_by_its_key(rita: Caller, max: Caller) -> None:
    path = f"{FIRMS}/keys/number/F-1"
    first = rita.request("PUT", path, {"title": "First", "staff": 3})
    assert (first.status_code, first.json()["created"]) == (200, True), first.content
    second = rita.request("PUT", path.lower(), {"title": "Second"}, if_match=first["ETag"])
    assert (second.status_code, second.json()) == (200, {"id": first.json()["id"], "created": False})
    assert rita.get(path).json() == {"title": "Second", "staff": 3}
    assert rita.request("PUT", path, {"title": "x"}, if_none_match="*").status_code == 412
    # Who is not its keeper does not reach it.
    for answer in (max.get(path), max.request("PUT", path, {"title": "Third"})):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert rita.get(path).json()["title"] == "Second"


def test_records_that_keep_no_versions_are_changed_with_their_firm(rita: Caller, max: Caller) -> None:
    firm = made(rita, FIRMS, title="Wool", persons=[{"family": "Ada"}, {"family": "Bo"}])
    id = firm.rpartition("/")[2]
    ids_by_family = {
        one["family"]: one["id"]
        for one in rita.get("/api/plain/queries/persons").json()["data"]
        if (one["employer"] or {}).get("id") == id
    }
    others = made(max, PERSONS, family="Cy", employer=made(max, FIRMS, title="His").rpartition("/")[2])
    sent = {
        "add": [{"family": "Di"}],
        "change": [{"id": ids_by_family["Ada"], "family": "Eve"}],
        "remove": [ids_by_family["Bo"]],
    }
    for wrong in (others.rpartition("/")[2], NOBODY):
        answer = rita.patch(firm, {"persons": {**sent, "change": [{"id": wrong, "family": "x"}]}})
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "unknown_target")
    assert rita.patch(firm, {"persons": sent}).status_code == 204
    left = {
        one["family"]: (one["employer"] or {}).get("id")
        for one in rita.get("/api/plain/queries/persons").json()["data"]
    }
    # A platform that deletes no persons along with their firm unties them.
    assert left == {"Di": id, "Eve": id, "Bo": None}


def test_wrong_values_are_named(rita: Caller) -> None:
    answer = rita.post(FIRMS, {"title": "x" * 161, "staff": -1, "line": 9})

    assert answer.status_code == 400
    assert {(error["pointer"], error["code"]) for error in answer.json()["errors"]} >= {
        ("/title", "too_long"),
    }


def test_a_lookup_points_at_what_its_caller_reaches(rita: Caller, max: Caller) -> None:
    firm, others = made(rita, FIRMS, title="Mine"), made(max, FIRMS, title="His")
    ids = [path.rpartition("/")[2] for path in (firm, others)]

    person = made(rita, PERSONS, given="Ada", family="Lovelace", employer=ids[0])

    assert rita.get(person).json()["employer"] == {"id": ids[0], "name": "Mine"}
    assert rita.get(person).json()["called"] == "Ada Lovelace"
    for id in (ids[1], NOBODY):
        answer = rita.post(PERSONS, {"family": "Byron", "employer": id})
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "unknown_target")


def test_a_row_rule_keeps_others_out_of_read_list_update_and_delete(rita: Caller, max: Caller) -> None:
    mine, his = made(rita, FIRMS, title="Mine"), made(max, FIRMS, title="His")

    listed = rita.get("/api/plain/queries/firms").json()
    assert [row["title"] for row in listed["data"]] == ["Mine"]
    assert rita.get(mine).status_code == 200
    for answer in (rita.get(his), rita.patch(his, {"staff": 1}), rita.delete(his)):
        assert answer.status_code == 404
    assert max.get(his).json()["staff"] is None


def test_entries_by_role_are_a_union_on_other_platforms_too(rita: Caller, max: Caller) -> None:
    mine, his = made(rita, FIRMS, title="Mine"), made(max, FIRMS, title="His")
    shared = made(max, FIRMS, title="Shared")
    firms = ExposedEntity.objects.get(segment="firms")
    entry = firms.row_rule.get()
    entry.roles.set([Role.objects.create(name="nobodys")])
    assert [rita.get(path).status_code for path in (mine, his, shared)] == [404, 404, 404]
    assert rita.post(FIRMS, {"title": "New"}).status_code == 403

    ruled(firms, '<filter><condition attribute="title" operator="eq" value="Shared"/></filter>')
    assert [rita.get(path).status_code for path in (mine, his, shared)] == [404, 404, 200]
    assert rita.patch(shared, {"title": "Taken"}).status_code == 403
    entry.roles.set(Role.objects.exclude(name="nobodys"))
    assert [rita.get(path).status_code for path in (mine, his, shared)] == [200, 404, 200]
    listed = rita.get("/api/plain/queries/firms").json()
    assert {row["title"] for row in listed["data"]} == {"Mine", "Shared"}
    ruled(firms, "", *(role.name for role in Role.objects.exclude(name="nobodys")))
    assert [rita.get(path).status_code for path in (mine, his, shared)] == [200, 200, 200]
    assert rita.patch(his, {"staff": 1}).status_code == 204


def test_a_write_may_not_give_a_record_away(rita: Caller) -> None:
    for path in (made(rita, FIRMS, title="Mine"), made(rita, PERSONS, family="Lovelace")):
        answer = rita.patch(path, {"keeper": MAX_MANAGER})

        assert (answer.status_code, answer.json()["code"]) == (403, "outside_row_rule")
        assert rita.get(path).json()["keeper"]["id"] == RITA_REP
        assert rita.patch(path, {"keeper": RITA_REP}).status_code == 204


def test_versions_guard_writes_where_records_have_them(rita: Caller) -> None:
    path = made(rita, FIRMS, title="Mine")
    first = rita.get(path).headers["ETag"]
    second = rita.patch(path, {"staff": 1}, if_match=first)

    assert second.status_code == 204
    assert second.headers["ETag"].strip('"') == rita.get(path).headers["ETag"].strip('"').partition(".")[0]
    assert rita.patch(path, {"staff": 2}, if_match=first).status_code == 412
    assert rita.delete(path, if_match=first).status_code == 412
    assert rita.delete(path, if_match=second.headers["ETag"]).status_code == 204


def test_records_without_versions_have_a_tag_of_their_content(rita: Caller) -> None:
    path = made(rita, PERSONS, given="Ada", family="Lovelace")
    tag = rita.get(path).headers["ETag"]

    assert rita.get(path, if_none_match=tag).status_code == 304
    changed = rita.patch(path, {"given": "Augusta"})
    assert changed.status_code == 204
    assert "ETag" not in changed.headers
    assert rita.get(path, if_none_match=tag).status_code == 200
    assert rita.get(path).json()["called"] == "Augusta Lovelace"
    for answer in (rita.patch(path, {"given": "A"}, if_match=tag), rita.delete(path, if_match=tag)):
        assert (answer.status_code, answer.json()["code"]) == (400, "if_match_unsupported")
    assert rita.patch(path, {"given": "A"}, if_match="*").status_code == 204
    assert rita.delete(path, if_match="*").status_code == 204


def test_the_document_offers_if_match_where_it_is_taken(rita: Caller) -> None:
    paths = rita.get("/api/openapi.json").json()["paths"]

    def headers(path: str) -> set[str]:
        return {one["name"] for one in paths[path]["patch"]["parameters"] if one["in"] == "header"}

    assert "If-Match" in headers("/api/plain/firms/{id}")
    assert "If-Match" not in headers("/api/plain/persons/{id}")
    assert "412" not in paths["/api/plain/persons/{id}"]["patch"]["responses"]


def test_a_list_is_walked_page_by_page_in_its_order(rita: Caller) -> None:
    names = [f"Firm {number:02}" for number in range(7)]
    for name in reversed(names):
        made(rita, FIRMS, title=name)

    seen, path = [], "/api/plain/queries/firms?pageSize=3"
    while path:
        page = rita.get(path).json()
        seen += [row["title"] for row in page["data"]]
        path = f"/api/plain/queries/firms?pageSize=3&cursor={page['cursor']}" if page["cursor"] else ""

    assert seen == names


def test_a_record_is_created_with_its_children_or_not_at_all(rita: Caller, tables: PlainTables) -> None:
    made(rita, FIRMS, title="Family", persons=[{"family": "Lovelace"}, {"family": "Byron"}])

    listed = rita.get("/api/plain/queries/persons").json()["data"]
    assert {(row["family"], row["employer"]["name"]) for row in listed} == {
        ("Lovelace", "Family"),
        ("Byron", "Family"),
    }
    answer = rita.post(FIRMS, {"title": "Family", "persons": [{"family": "x"}, {"family": "y" * 51}]})
    assert answer.status_code == 400
    assert len(rita.get("/api/plain/queries/firms").json()["data"]) == 1


def test_a_caller_is_told_of_their_own_record(rita: Caller) -> None:
    assert rita.get("/api/context").json() == {"user": {"me": RITA_REP, "label": "Rita Rep"}}


def test_who_is_away_is_nobody(rita: Caller, tables: PlainTables) -> None:
    tables.update("member", RITA_REP, {"away": True})

    answer = rita.get("/api/context")

    assert (answer.status_code, answer.json()["code"]) == (403, "no_platform_user")

"""`?sql=`: the platform's own subset of T-SQL, over the wire."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from tests.webapi.crm import ANNOTATED, Crm


@dataclass
class Traders:
    """Accounts of one test: A to E, with revenues 1 to 4 and none for E; A and B have a contact."""

    crm: Crm
    group: str

    def ask(self, statement: str, **options: Any) -> Any:
        text = statement.replace("{group}", self.group)
        return self.crm.get("accounts", params={"sql": text}, **options)

    def names(self, condition: str) -> str:
        """The names of those that fulfil a condition, in order."""
        answer = self.ask(
            f"SELECT a.name FROM account a WHERE a.sic = '{self.group}' AND ({condition}) ORDER BY a.name"
        )
        return "".join(row["name"] for row in answer["value"])


@pytest.fixture(scope="module")
def traders(crm: Crm) -> Traders:
    group = uuid.uuid4().hex[:12]
    contact = crm.create("contacts", {"lastname": f"Wool {group}"})
    for number, name in enumerate("ABCDE", 1):
        values: dict[str, Any] = {"name": name, "sic": group, "creditlimit": 2}
        if name != "E":
            values["revenue"] = number
        if name in "AB":
            values["primarycontactid@odata.bind"] = f"contacts({contact})"
        crm.create("accounts", values)
    return Traders(crm, group)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a.revenue = 2", "B"),
        ("a.revenue <> 2", "ACD"),
        ("a.revenue != 2", "ACD"),
        ("NOT a.revenue = 2", "ACD"),
        ("NOT (a.revenue > 1 AND a.revenue < 4)", "AD"),
        ("NOT (a.revenue = 1 OR a.revenue = 2)", "CD"),
        ("3 > a.revenue", "AB"),
        ("a.revenue IN (1, 4, 9)", "AD"),
        ("a.revenue NOT IN (1, 4)", "BC"),
        ("a.revenue BETWEEN 2 AND 3", "BC"),
        ("a.revenue NOT BETWEEN 2 AND 3", "AD"),
        ("a.revenue IS NULL", "E"),
        ("a.revenue IS NOT NULL", "ABCD"),
        ("a.name LIKE '[A-C]'", "ABC"),
        ("a.name NOT LIKE '[A-C]'", "DE"),
        ("a.name = N'b'", "B"),
        ("a.revenue > a.creditlimit", "CD"),
        ("NOT a.revenue > a.creditlimit", "AB"),
        ("a.createdon >= DATEADD(day, -1, GETUTCDATE())", "ABCDE"),
        ("a.createdon < DATEADD(month, -1, GETUTCDATE())", ""),
        ("a.createdon > GETDATE()", ""),
        ("a.revenue = -1 OR a.revenue = 1.0", "A"),
        ("[a].[revenue] = 1 AND (a.name = 'A' OR (a.name = 'B' AND a.name = 'C'))", "A"),
        ("a.name = 'A'' OR 1=1 --'", ""),
    ],
)
def test_conditions_hold_as_in_sql(traders: Traders, condition: str, expected: str) -> None:
    assert traders.names(condition) == expected


def test_columns_have_their_names_or_those_they_are_given(traders: Traders) -> None:
    [row] = traders.ask(
        "SELECT a.name, a.revenue AS turnover, c.lastname, a.primarycontactid, a.parentaccountid "
        "FROM account AS a INNER JOIN contact c ON c.contactid = a.primarycontactid "
        "WHERE a.sic = '{group}' AND a.name = 'A'"
    )["value"]

    assert row["lastname"] == f"Wool {traders.group}"
    assert (row["name"], row["turnover"], row["_parentaccountid_value"]) == ("A", 1, None)
    assert uuid.UUID(row["_primarycontactid_value"])


def test_left_joins_keep_those_without(traders: Traders) -> None:
    statement = (
        "SELECT a.name, c.lastname FROM account a {join} JOIN contact c ON a.primarycontactid = c.contactid "
        "WHERE a.sic = '{group}' ORDER BY c.lastname, a.name DESC"
    )

    assert len(traders.ask(statement.replace("{join}", "INNER"))["value"]) == 2
    assert [row["name"] for row in traders.ask(statement.replace("{join}", "LEFT"))["value"]] == list("EDCBA")


def test_groups_are_counted_and_summed(traders: Traders) -> None:
    answer = traders.ask(
        "SELECT c.lastname AS contact, COUNT(*) AS many, COUNT(a.revenue) AS known, SUM(a.revenue) AS total, "
        "MIN(a.revenue) AS least, MAX(a.revenue) AS most, AVG(a.revenue) AS mean "
        "FROM account a LEFT JOIN contact c ON a.primarycontactid = c.contactid "
        "WHERE a.sic = '{group}' GROUP BY c.lastname ORDER BY many DESC"
    )

    rows = [
        [row[name] for name in ("contact", "many", "known", "total", "least", "most", "mean")]
        for row in answer["value"]
    ]
    assert rows == [[None, 3, 2, 7, 3, 4, 3.5], [f"Wool {traders.group}", 2, 2, 3, 1, 2, 1.5]]


def test_a_count_alone_needs_no_group(traders: Traders) -> None:
    answer = traders.ask("SELECT COUNT(DISTINCT primarycontactid) c FROM account WHERE sic = '{group}'")

    assert answer["value"] == [{"c": 1}]


def test_an_order_names_a_selected_column_before_those_of_the_tables(traders: Traders) -> None:
    """Both tables have `createdon`: as in T-SQL, the column that is shown under this name is meant."""
    answer = traders.ask(
        "SELECT a.name, c.createdon FROM account a INNER JOIN contact c ON a.primarycontactid = c.contactid "
        "WHERE a.sic = '{group}' ORDER BY createdon, a.name DESC"
    )

    assert [row["name"] for row in answer["value"]] == ["B", "A"]


@pytest.mark.parametrize(
    ("top", "end", "expected"),
    [
        ("TOP 2", "", "ED"),
        ("TOP 0", "", ""),
        ("DISTINCT TOP (2)", "", "ED"),
        ("", "OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", "DC"),
        ("", "OFFSET 4 ROWS", "A"),
        ("", "OFFSET 9 ROWS FETCH NEXT 2 ROWS ONLY", ""),
    ],
)
def test_parts_of_a_result(traders: Traders, top: str, end: str, expected: str) -> None:
    answer = traders.ask(f"SELECT {top} name FROM account WHERE sic = '{{group}}' ORDER BY name DESC {end}")

    assert "".join(row["name"] for row in answer["value"]) == expected
    assert "@odata.nextLink" not in answer


def test_pages_follow_each_other(traders: Traders) -> None:
    prefer = {"Prefer": "odata.maxpagesize=2"}
    page = traders.ask("SELECT name FROM account WHERE sic = '{group}' ORDER BY name", headers=prefer)
    pages = [[row["name"] for row in page["value"]]]
    while link := page.get("@odata.nextLink"):
        page = traders.crm.get(link, headers=prefer)
        pages.append([row["name"] for row in page["value"]])

    assert pages == [["A", "B"], ["C", "D"], ["E"]]


def test_labels_come_when_asked_for(traders: Traders) -> None:
    [row] = traders.ask("SELECT TOP 1 statecode FROM account WHERE sic = '{group}'", headers=ANNOTATED)[
        "value"
    ]

    assert row == {"statecode": 0, "statecode@OData.Community.Display.V1.FormattedValue": "Active"}


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM account",
        "SELECT a.* FROM account a",
        "SELECT name FROM account UNION SELECT name FROM account",
        "SELECT name FROM account WHERE name IN (SELECT name FROM account)",
        "WITH a AS (SELECT name FROM account) SELECT name FROM a",
        "SELECT name FROM account GROUP BY name HAVING COUNT(*) > 1",
        "SELECT UPPER(name) FROM account",
        "SELECT name FROM account WHERE UPPER(name) = 'A'",
        "SELECT name FROM account WHERE revenue + 1 = 2",
        "SELECT CASE WHEN name = 'A' THEN 1 END AS x FROM account",
        "SELECT name FROM account CROSS JOIN contact",
        "SELECT a.name FROM account a RIGHT JOIN contact c ON a.primarycontactid = c.contactid",
        "SELECT TOP 5 PERCENT name FROM account",
        "SELECT name, ROW_NUMBER() OVER (ORDER BY name) AS n FROM account",
        "SELECT name AS title FROM account ORDER BY 'title'",
        "SELECT name FROM account WHERE createdon > DATEADD(day, '²', GETUTCDATE())",
        "DELETE FROM account",
        "UPDATE account SET name = 'x'",
        "DROP TABLE account",
    ],
)
def test_what_is_no_part_of_the_subset_is_named(crm: Crm, statement: str) -> None:
    status, _, message = crm.error("GET", "accounts", params={"sql": statement})

    assert (status, "in sql" in message) == (501, True), message


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT", "cannot be read|FROM"),
        ("SELECT name", "FROM"),
        ("SELECT name FROM account; DELETE FROM account", "one statement"),
        ("SELECT nope FROM account", "nope"),
        ("SELECT name FROM nothing", "nothing"),
        ("SELECT lastname FROM contact", "address"),
        ("SELECT x.name FROM account a", "'x'"),
        ("SELECT name, name FROM account", "called 'name'"),
        ("SELECT a.name FROM account a JOIN account a ON a.accountid = a.accountid", "called 'a'"),
        ("SELECT createdon FROM account a JOIN contact c ON a.primarycontactid = c.contactid", "Ambiguous"),
        ("SELECT name, COUNT(*) AS n FROM account", "GROUP BY"),
        ("SELECT name FROM account WHERE revenue = 'much'", "revenue"),
        ("SELECT name FROM account WHERE createdon > DATEADD(year, 99999, GETUTCDATE())", "no date"),
        ("SELECT name FROM account WHERE name = 'A", "cannot be read"),
        ("SELECT name FROM account WHERE " + "(" * 3000 + "name = 'A'" + ")" * 3000, "deep|read"),
        ("SELECT name FROM account WHERE " + "NOT " * 60 + "name = 'A'", "deep"),
    ],
)
def test_what_is_wrong_is_said(crm: Crm, statement: str, said: str) -> None:
    status, _, message = crm.error("GET", "accounts", params={"sql": statement})

    assert status == 400, message
    assert any(part in message for part in said.split("|")), message


def test_other_options_do_not_go_along(crm: Crm) -> None:
    status, _, message = crm.error("GET", "accounts?$top=1", params={"sql": "SELECT name FROM account"})

    assert (status, "$top" in message) == (400, True)

"""Cached answers: asked for once, shared by whoever may share, ended by time, edits and our own writes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families
from pytest_django.fixtures import Settings

from crmbox.demo import people
from crmclient import Reference
from designer.models import (
    Binding,
    Column,
    Endpoint,
    ExposedEntity,
    Input,
    Module,
    Precondition,
    Role,
    UserProperty,
)
from designer.platform import get_platform
from tests.callers import Caller, account
from tests.row_rules import by_roles, only_rule
from tests.runtime.accounts import ACCOUNTS, an_account
from tests.runtime.issuers import Provider, issuer_row
from tests.runtime.queries import a_query, accounts, body, where

ON = {"seconds": 60}
MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'


def cached(kind: str = "multi", inside: str = "", **given: Any) -> str:
    """The path of a cached query for accounts whose name begins with Kept."""
    kept = where('attribute="name" operator="like" value="Kept%"')
    return warm(a_query(kind, accounts(kept + inside), cache=ON, **given))


def warm(path: str) -> str:
    """The same path, once the process has noticed that there is something to cache."""
    assert Caller().get("/optionsets/priorities").status_code == 200
    return path


def renamed(id: str, name: str) -> None:
    """Past the service: nothing ends what is cached."""
    get_platform().update("account", id, {"name": name})


def status(answer: Any) -> str:
    return re.sub(r"ttl=\d+", "ttl=…", answer["Cache-Status"])


@pytest.fixture
def kept(portico: None) -> str:
    """The id of an account of Rita's that cached queries find."""
    return an_account(name="Kept", ownerid=Reference("systemuser", people.RITA_REP)).rpartition("/")[2]


def test_an_answer_is_asked_for_once_and_says_how_old_it_is(rita: Caller, kept: str) -> None:
    path = cached()
    first = rita.get(path)
    assert status(first) == "Portico; fwd=uri-miss; stored"
    assert not first.has_header("Age")
    renamed(kept, "Kept elsewhere")
    second = rita.get(path)
    assert status(second) == "Portico; hit; ttl=…"
    assert second.content == first.content
    assert 0 <= int(second["Age"]) <= 60
    assert second["Cache-Control"] == first["Cache-Control"] == "private, no-cache"
    assert second["Content-Type"] == first["Content-Type"]


def test_metrics_say_what_the_cache_has_saved(rita: Caller, kept: str) -> None:
    def counted() -> dict[str, float]:
        families = text_string_to_metric_families(Client().get("/metrics").content.decode())
        samples = [one for family in families for one in family.samples if "cached_answers_total" in one.name]
        sums = dict.fromkeys(("asked", "hit"), 0.0)
        for sample in samples:
            sums[sample.labels["outcome"]] = sums.get(sample.labels["outcome"], 0.0) + sample.value
        return sums

    path = cached()
    before = counted()
    for _ in range(3):
        rita.get(path)
    after = counted()
    assert {name: after[name] - before[name] for name in ("asked", "hit")} == {"asked": 1, "hit": 2}


def test_an_endpoint_that_caches_nothing_says_nothing_of_a_cache(rita: Caller, kept: str) -> None:
    answer = rita.get(a_query("multi", accounts()))
    assert not answer.has_header("Cache-Status")
    assert not answer.has_header("Age")


def test_a_hit_takes_one_query_in_all(rita: Caller, kept: str) -> None:
    path = cached()
    rita.get(path)
    with CaptureQueriesContext(connection) as queries:
        assert status(rita.get(path)) == "Portico; hit; ttl=…"
    assert len(queries) == 1, queries.captured_queries


def test_a_write_asks_for_no_more_while_nothing_is_cached(rita: Caller) -> None:
    rita.post(ACCOUNTS, {"name": "Warm"})
    with CaptureQueriesContext(connection) as queries:
        assert rita.post(ACCOUNTS, {"name": "Steady"}).status_code == 200
    assert not [query for query in queries.captured_queries if "writegeneration" in query["sql"]]


@pytest.mark.parametrize("write", ["create", "update", "delete"])
def test_an_own_write_ends_the_answers_of_its_entity_at_once(
    rita: Caller, max: Caller, kept: str, write: str
) -> None:
    path = cached()
    before = body(rita, path)
    assert [row["name"] for row in before] == ["Kept"]
    do: dict[str, Callable[[], Any]] = {
        "create": lambda: rita.post(ACCOUNTS, {"name": "Kept too"}),
        "update": lambda: rita.patch(f"{ACCOUNTS}/{kept}", {"name": "Kept anew"}),
        "delete": lambda: max.delete(f"{ACCOUNTS}/{kept}", if_match="*"),
    }
    assert do[write]().status_code in (200, 204)
    after = rita.get(path)
    assert status(after) == "Portico; fwd=uri-miss; stored"
    expected = {"create": ["Kept", "Kept too"], "update": ["Kept anew"], "delete": []}
    assert sorted(row["name"] for row in after.json()) == expected[write]


def test_a_write_to_another_entity_leaves_answers_alone(rita: Caller, kept: str) -> None:
    path = cached()
    exposed = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="persons", entity="contact"
    )
    row = Endpoint.objects.create(kind="create", entity=exposed)
    Input.objects.create(endpoint=row, name="name", type="String", required=True)
    Binding.objects.create(endpoint=row, attribute="lastname", source="input", value="name")
    rita.get(path)
    answer = rita.post("/api/sales/persons", {"name": "Somebody"})
    assert answer.status_code == 200, answer.content
    assert status(rita.get(path)) == "Portico; hit; ttl=…"


@pytest.mark.parametrize("column", ["parentcustomerid", "parentcustomeridname"])
def test_a_lookups_name_ends_with_a_write_to_the_record_it_names(
    rita: Caller, kept: str, column: str
) -> None:
    named = where('attribute="lastname" operator="eq" value="Kept"')
    columns = f'<attribute name="{column}"/>'
    query = f'<fetch><entity name="contact">{columns}{named}</entity></fetch>'
    path = warm(a_query("multi", query, cache=ON))
    get_platform().create("contact", {"lastname": "Kept", "parentcustomerid": Reference("account", kept)})
    rita.get(path)
    assert "Kept" in str(body(rita, path))
    assert rita.patch(f"{ACCOUNTS}/{kept}", {"name": "Renamed"}).status_code == 204
    assert "Renamed" in str(body(rita, path))


# What makes a record found or not, or come first or last, and belongs to another record: its contact.
_OF_A_KNOWN_CONTACT = (
    '<filter><link-entity name="contact" from="contactid" to="primarycontactid" link-type="any">'
    '<filter><condition attribute="lastname" operator="eq" value="Known"/></filter></link-entity></filter>'
)
_WITH_A_KNOWN_NAME = where('attribute="primarycontactid" operator="like" value="%Known%"')
_CALLED_KNOWN = where('attribute="primarycontactidname" operator="eq" value="A Known"')


@pytest.mark.parametrize(
    "rule", [_OF_A_KNOWN_CONTACT, _WITH_A_KNOWN_NAME, _CALLED_KNOWN], ids=["link", "name", "column"]
)
@pytest.mark.parametrize("place", ["query", "row rule", "row rule of a read"])
def test_an_answer_ends_with_a_write_to_a_record_that_decides_who_reads_it(
    rita: Caller, kept: str, rule: str, place: str
) -> None:
    contact = get_platform().create("contact", {"firstname": "A", "lastname": "Known"}).id
    get_platform().update("account", kept, {"primarycontactid": Reference("contact", contact)})
    persons = _writable_persons()
    if place == "query":
        path = cached(inside=rule)
    else:
        only_rule(rule)
        path = cached() if place == "row rule" else warm(_cached_read(kept))
    found = rita.get(path)
    assert found.status_code == 200
    assert "Kept" in found.content.decode()
    assert rita.patch(f"{persons}/{contact}", {"name": "Forgotten"}).status_code == 204
    after = rita.get(path)
    assert "Kept" not in after.content.decode(), after["Cache-Status"]


@pytest.mark.parametrize("attribute", ["primarycontactid", "primarycontactidname"])
def test_an_order_by_name_ends_with_a_write_to_a_record_with_such_a_name(
    rita: Caller, kept: str, attribute: str
) -> None:
    platform = get_platform()
    persons, contacts = _writable_persons(), {}
    for name in ("Kept A", "Kept B"):
        contacts[name] = platform.create("contact", {"lastname": name}).id
        platform.create("account", {"name": name, "primarycontactid": Reference("contact", contacts[name])})
    path = cached(
        inside=where('attribute="primarycontactid" operator="not-null"') + f'<order attribute="{attribute}"/>'
    )
    assert [row["name"] for row in body(rita, path)] == ["Kept A", "Kept B"]
    assert rita.patch(f"{persons}/{contacts['Kept A']}", {"name": "Kept C"}).status_code == 204
    assert [row["name"] for row in body(rita, path)] == ["Kept B", "Kept A"]


def _writable_persons() -> str:
    """The path of contacts, whose last name callers may change."""
    exposed = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="persons", entity="contact"
    )
    row = Endpoint.objects.create(kind="update", entity=exposed)
    Input.objects.create(endpoint=row, name="name", type="String", required=True)
    Binding.objects.create(endpoint=row, attribute="lastname", source="input", value="name")
    return "/api/sales/persons"


def _cached_read(id: str) -> str:
    """The path of an account, of which nothing but the name is read, from the cache."""
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    row.columns.exclude(attribute="name").delete()
    Endpoint.objects.filter(pk=row.pk).update(settings={"cache": ON})
    return f"{ACCOUNTS}/{id}"


def test_an_answers_time_ends_it(rita: Caller, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = cached()
    rita.get(path)
    renamed(kept, "Kept later")
    now, steady = time.time() + 60.5, time.monotonic() + 60.5
    monkeypatch.setattr(time, "time", lambda: now)
    monkeypatch.setattr(time, "monotonic", lambda: steady)
    assert body(rita, path) == [{"name": "Kept later"}]


def test_an_edit_of_the_endpoint_ends_its_answers(rita: Caller, kept: str) -> None:
    path = cached()
    assert body(rita, path) == [{"name": "Kept"}]
    Column.objects.create(endpoint=Endpoint.objects.get(name="tested"), attribute="name", name="title")
    assert body(rita, path) == [{"title": "Kept"}]


def test_an_edit_of_the_row_rule_ends_answers(rita: Caller, kept: str) -> None:
    path = cached()
    assert len(body(rita, path)) == 1
    only_rule('<filter><condition attribute="name" operator="eq" value="None"/></filter>')
    assert body(rita, path) == []


def test_callers_share_what_depends_on_none_of_them(rita: Caller, max: Caller, kept: str) -> None:
    path = cached()
    assert status(rita.get(path)) == "Portico; fwd=uri-miss; stored"
    assert status(max.get(path)) == "Portico; hit; ttl=…"


def test_callers_share_by_the_roles_that_row_rules_name(
    rita: Caller, max: Caller, aya: Caller, kept: str
) -> None:
    other = '<filter><condition attribute="name" operator="eq" value="Other"/></filter>'
    by_roles([("", ["sales-rep"]), (other, [])])
    path = cached()
    assert len(body(rita, path)) == 1
    assert body(aya, path) == []
    assert status(aya.get(path)) == "Portico; hit; ttl=…"
    assert len(body(rita, path)) == 1


def test_a_rule_about_the_user_keeps_every_caller_apart(rita: Caller, max: Caller, kept: str) -> None:
    only_rule(MINE)
    path = cached()
    assert len(body(rita, path)) == 1
    assert body(max, path) == []
    assert status(max.get(path)) == "Portico; hit; ttl=…"
    assert len(body(rita, path)) == 1


def test_a_column_about_the_user_keeps_every_caller_apart(rita: Caller, max: Caller, kept: str) -> None:
    path = cached(
        columns=({"attribute": "name"}, {"name": "mine", "expression": "string(user.id)"}),
    )
    mine = [body(caller, path)[0]["mine"] for caller in (rita, max, rita)]
    assert mine == [people.RITA_REP, people.MAX_MANAGER, people.RITA_REP]


def test_parameters_and_page_sizes_have_answers_of_their_own(rita: Caller, kept: str) -> None:
    an_account(name="Kept 2")
    query = accounts(where('attribute="name" operator="eq" value="@name"'))
    path = warm(a_query("multi", query, {"name": "name", "type": "String"}, cache=ON))
    for name in ("Kept", "Kept 2", "Kept"):
        assert body(rita, f"{path}?name={name}") == [{"name": name}]
    pages = cached("paginated", name="pages")
    rita.get(pages)
    for size in (1, 2, 1):
        assert len(body(rita, f"{pages}?pageSize={size}")["data"]) == size


def test_pages_and_their_cursors_are_shared_like_the_answers_they_stand_in(
    rita: Caller, max: Caller, kept: str
) -> None:
    an_account(name="Kept 2")
    path = cached("paginated")
    first = body(rita, f"{path}?pageSize=1")
    assert body(max, f"{path}?pageSize=1") == first
    second = f"{path}?pageSize=1&cursor={first['cursor']}"
    assert len(body(max, second)["data"]) == 1
    assert status(rita.get(second)) == "Portico; hit; ttl=…"


def test_a_cursor_of_callers_who_share_nothing_is_worthless_to_others(
    rita: Caller, max: Caller, kept: str
) -> None:
    an_account(name="Kept 2", ownerid=Reference("systemuser", people.RITA_REP))
    only_rule(MINE)
    path = cached("paginated")
    cursor = body(rita, f"{path}?pageSize=1")["cursor"]
    assert rita.get(f"{path}?pageSize=1&cursor={cursor}").status_code == 200
    assert max.get(f"{path}?pageSize=1&cursor={cursor}").status_code == 400


def test_lists_that_are_cached_have_tags_that_are_compared_without_asking(rita: Caller, kept: str) -> None:
    path = cached()
    tag = rita.get(path)["ETag"]
    renamed(kept, "Kept elsewhere")
    held = rita.get(path, if_none_match=tag)
    assert (held.status_code, held.content, held["ETag"]) == (304, b"", tag)
    assert status(held) == "Portico; hit; ttl=…"
    assert held.has_header("Age")
    assert rita.get(path, if_none_match='"other"').status_code == 200


def test_a_read_keeps_the_tag_that_writes_compare(rita: Caller, kept: str) -> None:
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    row.settings = {**row.settings, "cache": ON}
    row.save()
    path = warm(f"{ACCOUNTS}/{kept}")
    first = rita.get(path)
    assert status(first) == "Portico; fwd=uri-miss; stored"
    second = rita.get(path)
    assert status(second) == "Portico; hit; ttl=…"
    assert (second.content, second["ETag"]) == (first.content, first["ETag"])
    assert rita.get(path, if_none_match=first["ETag"]).status_code == 304
    assert rita.patch(path, {"name": "Kept anew"}, if_match=first["ETag"]).status_code == 204
    assert rita.get(path, if_none_match=first["ETag"]).status_code == 200


def test_whoever_may_not_call_is_given_nothing_that_is_kept(
    rita: Caller, aya: Caller, anonymous: Caller, kept: str
) -> None:
    path = cached()
    row = Endpoint.objects.get(name="tested")
    row.roles.add(Role.objects.get(name="sales-rep"))
    rita.get(path)
    rita.get(path)
    assert status(rita.get(path)) == "Portico; hit; ttl=…"
    assert aya.get(path).status_code == 403
    assert anonymous.get(path).status_code == 401


def test_a_role_that_is_taken_away_is_missed_at_once(rita: Caller, kept: str) -> None:
    path = cached()
    rita.get(path)
    Endpoint.objects.get(name="tested").roles.add(Role.objects.get(name="support"))
    assert rita.get(path).status_code == 403


def test_refusals_are_not_kept(rita: Caller, kept: str) -> None:
    path = cached()
    row = Endpoint.objects.get(name="tested")
    Precondition.objects.create(endpoint=row, expression="1 > 2", status=409, message="Closed.")
    assert rita.get(path).status_code == 409
    Precondition.objects.all().delete()
    assert rita.get(path).status_code == 200


def test_nothing_found_is_an_answer_too(rita: Caller, kept: str) -> None:
    query = accounts(where('attribute="name" operator="eq" value="Nobody"'))
    path = warm(a_query("single", query, cache=ON))
    assert rita.get(path).status_code == 204
    again = rita.get(path)
    assert (again.status_code, status(again)) == (204, "Portico; hit; ttl=…")


def test_wrong_parameters_are_refused_as_ever(rita: Caller, kept: str) -> None:
    path = cached()
    rita.get(path)
    assert rita.get(f"{path}?unknown=1").status_code == 400


def test_two_tokens_of_one_caller_with_other_claims_share_nothing(portico: None, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["127.0.0.1"]}
    provider = Provider()
    issuer_row(
        provider, {"claim": "roles", "as_named": True}, caller_type="service", readable_claims=["city"]
    )
    for name, city in (("Kept A", "Arles"), ("Kept B", "Bern")):
        an_account(name=name, address1_city=city)
    path = cached(inside=where('attribute="address1_city" operator="eq" value="@user.claims.city"'))
    Endpoint.objects.filter(name="tested").update(caller_types=["service"])
    try:
        for city, name in (("Arles", "Kept A"), ("Bern", "Kept B"), ("Arles", "Kept A")):
            assert body(Caller(provider.token(city=city)), path) == [{"name": name}]
    finally:
        provider.stop()


def test_a_user_property_that_has_changed_gives_another_answer(
    rita: Caller, kept: str, a_minute_later: Callable[[], None]
) -> None:
    UserProperty.objects.create(name="City", kind="field", attribute="jobtitle")
    users = get_platform()
    users.update("systemuser", people.RITA_REP, {"jobtitle": "Arles"})
    an_account(name="Kept A", address1_city="Arles")
    an_account(name="Kept B", address1_city="Bern")
    query = accounts(where('attribute="address1_city" operator="eq" value="@user.City"'))
    path = warm(a_query("multi", query, cache={"seconds": 3600}))
    assert body(rita, path) == [{"name": "Kept A"}]
    users.update("systemuser", people.RITA_REP, {"jobtitle": "Bern"})
    a_minute_later()
    assert body(rita, path) == [{"name": "Kept B"}]


def test_the_document_says_what_cached_answers_carry(rita: Caller, kept: str) -> None:
    cached()
    a_query("multi", accounts(), name="uncached")
    described = rita.get("/api/openapi.json").json()["paths"]
    answers = [described[f"/api/sales/queries/{name}"]["get"]["responses"] for name in ("tested", "uncached")]
    assert set(answers[0]["200"]["headers"]) == {"ETag", "Age", "Cache-Status"}
    assert "headers" not in answers[1]["200"]
    assert [("304" in answer) for answer in answers] == [True, False]


def test_a_cached_list_of_files_is_described_as_it_is_answered(rita: Caller) -> None:
    notes = Endpoint.objects.get(kind="download", name="notes", entity__segment="accounts")
    notes.settings = {**notes.settings, "cache": ON}
    notes.save()
    path = warm(f"/api/sales/accounts/{people.FIRST_ACCOUNT}/files/notes")
    tag = rita.get(path)["ETag"]
    assert rita.get(path, if_none_match=tag).status_code == 304
    described = rita.get("/api/openapi.json").json()["paths"]["/api/sales/accounts/{id}/files/notes"]["get"]
    assert set(described["responses"]["200"]["headers"]) == {"ETag", "Age", "Cache-Status"}
    assert "304" in described["responses"]


def test_the_user_context_has_a_tag(rita: Caller, max: Caller) -> None:
    tag = rita.get("/api/context")["ETag"]
    assert rita.get("/api/context", if_none_match=tag).status_code == 304
    assert max.get("/api/context", if_none_match=tag).status_code == 200


@pytest.mark.parametrize(
    ("changes", "ended"),
    [([], True), (["account"], True), (["contact"], False), (["contact", "account"], True)],
)
def test_an_action_ends_what_it_says_that_it_changes(
    rita: Caller, kept: str, changes: list[str], ended: bool
) -> None:
    row = Endpoint.objects.get(kind="global-action", name="ping")
    row.settings = {**row.settings, "changes": changes}
    row.save()
    path = cached()
    rita.get(path)
    assert rita.post("/api/sales/actions/ping", {"message": "hello"}).status_code == 200
    assert status(rita.get(path)) == f"Portico; {'fwd=uri-miss; stored' if ended else 'hit; ttl=…'}"


def test_an_action_on_a_record_ends_what_is_read_of_it(rita: Caller, max: Caller, kept: str) -> None:
    row = Endpoint.objects.get(kind="action", name="approve")
    row.settings = {**row.settings, "changes": ["annotation"]}
    row.save()
    path = cached()
    rita.get(path)
    assert max.post(f"{ACCOUNTS}/{kept}/actions/approve", {"comment": "Fine"}).status_code == 200
    assert status(rita.get(path)) == "Portico; fwd=uri-miss; stored"


def test_callers_ask_for_fresh_data_where_they_may(rita: Caller, kept: str) -> None:
    path = cached()
    rita.get(path)
    renamed(kept, "Kept later")
    assert status(rita.get(path, cache_control="no-cache")) == "Portico; hit; ttl=…"
    row = Endpoint.objects.get(name="tested")
    row.settings = {**row.settings, "cache": {**ON, "fresh": True}}
    row.save()
    rita.get(path)
    renamed(kept, "Kept last")
    fresh = rita.get(path, cache_control="max-age=0, no-cache")
    assert status(fresh) == "Portico; fwd=request; stored"
    assert fresh.json() == [{"name": "Kept last"}]
    after = rita.get(path)
    assert (status(after), after.json()) == ("Portico; hit; ttl=…", fresh.json())


def test_browsers_keep_what_is_for_everybody_where_that_is_ticked(kept: str) -> None:
    query = accounts(where('attribute="name" operator="like" value="Kept%"'))

    def said(name: str, access: dict[str, Any], **settings: Any) -> tuple[str, str | None]:
        path = a_query("multi", query, name=name, cache={**ON, **settings})
        Endpoint.objects.filter(name=name).update(**access)
        warm(path)
        caller = account("rep") if access["authentication_required"] else Caller()
        answers = [caller.get(path) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0]["Cache-Control"] == answers[1]["Cache-Control"]
        return answers[1]["Cache-Control"], answers[1].get("Vary")

    ticked = ("public, max-age=60, stale-while-revalidate=6", None)
    private = ("private, no-cache", "Authorization")
    anonymous, signed_in = {"authentication_required": False}, {"authentication_required": True}
    only_rule("")
    assert said("open", anonymous, downstream=True) == ticked
    assert said("unticked", anonymous) == private
    assert said("closed", signed_in, downstream=True) == private

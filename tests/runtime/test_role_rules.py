"""Row rules by role: a caller reaches the union of the entries that are its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmbox.demo import people
from crmclient import Guid, Reference
from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query
from designer.configuration import Endpoint as Configured
from designer.definitions import EndpointDefinition, ExposedEntityDefinition
from designer.definitions import RowRuleEntry as Entry
from designer.kinds.queries import MultiQuerySettings
from designer.models import Binding, Endpoint, ExposedEntity, Input, Module, RowRuleEntry, UserProperty
from designer.platform import get_platform
from runtime.callers.caller import Caller as Known
from runtime.context.user_context import UserContext
from runtime.request_context import Exchange
from runtime.steps.rules import rule_of_entity
from tests.callers import Caller
from tests.row_rules import by_roles, only_rule, ruled
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account, endpoint
from tests.runtime.queries import a_query, accounts, body, where
from tests.runtime.test_row_rules import same

REP, MANAGER = "sales-rep", "sales-manager"
MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'
NAMED = '<filter><condition attribute="name" operator="eq" value="{}"/></filter>'


def owned(owner: Guid, **values: Any) -> str:
    return an_account(ownerid=Reference("systemuser", owner), **values)


def narrowed(caller: Caller, path: str) -> int:
    return int(caller.get(path).status_code)


def test_a_caller_is_under_the_union_of_the_entries_of_its_roles_and_everyones(
    rita: Caller, max: Caller
) -> None:
    mine = owned(people.RITA_REP, name="Mine")
    manager = owned(people.AYA_AGENT, name="Manager")
    all_see = owned(people.AYA_AGENT, name="Everyone")
    hidden = owned(people.AYA_AGENT, name="Hidden")
    by_roles([(MINE, [REP]), (NAMED.format("Manager"), [MANAGER]), (NAMED.format("Everyone"), [])])
    assert [narrowed(rita, path) for path in (mine, manager, all_see, hidden)] == [200, 404, 200, 404]
    assert [narrowed(max, path) for path in (mine, manager, all_see, hidden)] == [404, 200, 200, 404]
    assert same(rita.get(hidden), rita.get(f"{ACCOUNTS}/{NOBODY}"))


def test_a_caller_without_an_entry_of_its_own_reaches_nothing(rita: Caller, max: Caller) -> None:
    path = an_account(name="Listed")
    listed = a_query("multi", accounts(where('attribute="name" operator="eq" value="Listed"')))
    by_roles([("", [MANAGER])])
    assert same(rita.get(path), rita.get(f"{ACCOUNTS}/{NOBODY}"))
    assert rita.patch(path, {"phone": "1"}, if_match="*").status_code == 404
    assert rita.delete(path, if_match="*").status_code in (403, 404)
    assert body(rita, listed) == []
    created = rita.post(ACCOUNTS, {"name": "New"})
    assert (created.status_code, created.json()["code"]) == (403, "outside_row_rule")
    assert max.get(path).status_code == 200
    assert body(max, listed) == [{"name": "Listed"}]
    assert max.patch(path, {"phone": "1"}, if_match="*").status_code == 204


def test_a_rule_that_cannot_be_read_lets_nobody_reach_a_record(rita: Caller) -> None:
    """Only SQL writes such a rule. Without it, queries of the module would find every record."""
    path = an_account(name="Listed")
    listed = a_query("multi", accounts(where('attribute="name" operator="eq" value="Listed"')))
    assert body(rita, listed) == [{"name": "Listed"}]
    by_roles([(MINE, [REP])])
    RowRuleEntry.objects.update(filter="<filter")
    assert body(rita, listed) == []
    assert rita.get(path).status_code in (404, 503)


def test_all_records_of_a_role_take_the_filter_away_and_any_write_is_inside(
    rita: Caller, max: Caller
) -> None:
    path = owned(people.RITA_REP)
    by_roles([(MINE, [REP]), ("", [MANAGER])])
    update = endpoint("update")
    Input.objects.create(endpoint=update, name="owner", type="EntityReference")
    Binding.objects.create(endpoint=update, attribute="ownerid", value="owner")
    moved = {"owner": {"type": "systemuser", "id": people.AYA_AGENT}}
    refused = rita.patch(path, moved, if_match="*")
    assert (refused.status_code, refused.json()["code"]) == (403, "outside_row_rule"), refused.content
    assert max.patch(path, moved, if_match="*").status_code == 204
    assert rita.get(path).status_code == 404


def test_a_property_that_a_caller_lacks_empties_its_own_entry_only(rita: Caller) -> None:
    UserProperty.objects.create(name="fax", kind="field", attribute="address1_fax")
    seen, hidden = an_account(name="Seen"), an_account(name="Hidden")
    lacking = '<filter><condition attribute="name" operator="ne" value="@user.fax"/></filter>'
    by_roles([(lacking, [REP]), (NAMED.format("Seen"), [])])
    assert [narrowed(rita, path) for path in (seen, hidden)] == [200, 404]
    by_roles([(lacking, [REP])])
    assert [narrowed(rita, path) for path in (seen, hidden)] == [404, 404]


def test_anonymous_callers_are_under_everyones_entries(rita: Caller, anonymous: Caller) -> None:
    seen, hidden = an_account(name="Seen"), an_account(name="Hidden")
    read = endpoint("read")
    read.roles.clear()
    Endpoint.objects.filter(pk=read.pk).update(authentication_required=False)
    by_roles([(NAMED.format("Seen"), []), ("", [REP])])
    assert [narrowed(anonymous, path) for path in (seen, hidden)] == [200, 404]
    assert [narrowed(rita, path) for path in (seen, hidden)] == [200, 200]
    by_roles([("", [REP])])
    assert [narrowed(anonymous, path) for path in (seen, hidden)] == [404, 404]


def test_an_endpoint_narrows_the_union_for_every_role(rita: Caller, max: Caller) -> None:
    path = owned(people.RITA_REP, name="Kept")
    by_roles([(MINE, [REP]), ("", [MANAGER])])
    Endpoint.objects.filter(pk=endpoint("read").pk).update(row_rule=NAMED.format("Other"))
    assert (narrowed(rita, path), narrowed(max, path)) == (404, 404)


def test_a_lookup_points_at_what_the_caller_reaches_by_its_roles(rita: Caller, max: Caller) -> None:
    path = an_account()
    contacts = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="people", entity="contact"
    )
    ruled(contacts, "", MANAGER)
    sent = {"primaryContactId": people.FIRST_CONTACT}
    refused = rita.patch(path, sent, if_match="*")
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "unknown_target")
    assert max.patch(path, sent, if_match="*").status_code == 204


def test_links_and_fetchers_apply_entries_by_role_where_it_is_ticked(rita: Caller, max: Caller) -> None:
    contact = get_platform().create("contact", {"firstname": "Ada", "lastname": "X"})
    an_account(name="Linked", primarycontactid=Reference("contact", contact.id))
    contacts = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="people", entity="contact"
    )
    ruled(contacts, "", MANAGER)
    query = accounts(
        where('attribute="name" operator="eq" value="Linked"')
        + '<link-entity name="contact" from="contactid" to="primarycontactid" link-type="outer" alias="c">'
        '<attribute name="fullname" alias="contact"/></link-entity>'
    )
    path = a_query("single", query, linked_row_rules=True)
    assert body(rita, path) == {"name": "Linked", "contact": None}
    assert body(max, path) == {"name": "Linked", "contact": "Ada X"}


@pytest.mark.parametrize(
    ("roles", "status"), [([REP], 200), ([], 200), ([MANAGER], 403)], ids=["own", "everyone", "other"]
)
def test_a_create_is_inside_when_an_entry_of_the_caller_has_it(
    rita: Caller, roles: list[str], status: int
) -> None:
    by_roles([(NAMED.format("Inside"), roles), (NAMED.format("Other"), [])])
    assert rita.post(ACCOUNTS, {"name": "Inside"}).status_code == status
    assert rita.post(ACCOUNTS, {"name": "Outside"}).status_code == 403


def test_the_owner_that_the_platform_fills_in_counts_for_the_entry_of_a_role(
    rita: Caller, max: Caller
) -> None:
    """Where nothing binds an owner, the service's own user is it."""
    of_service = '<filter><condition attribute="ownerid" operator="eq" value="{}"/></filter>'
    by_roles([(of_service.format(get_platform().who()), [REP]), (MINE, [MANAGER])])
    active = '<filter><condition attribute="statecode" operator="eq" value="0"/></filter>'
    assert rita.post(ACCOUNTS, {"name": "Of the service"}).status_code == 200
    assert max.post(ACCOUNTS, {"name": "Of the service"}).status_code == 403
    by_roles([(active, [REP]), (active.replace('"0"', '"1"'), [MANAGER])])
    assert rita.post(ACCOUNTS, {"name": "Active"}).status_code == 200
    assert max.post(ACCOUNTS, {"name": "Active"}).status_code == 403


def test_one_call_of_the_platform_reads_under_entries_as_under_one_filter(
    rita: Caller, django_assert_num_queries: Any
) -> None:
    path = owned(people.RITA_REP)
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def asked() -> int:
        rita.get(path)
        with CaptureQueriesContext(connection) as queries:
            assert rita.get(path).status_code == 200
        return len(queries)

    only_rule(MINE)
    before = asked()
    by_roles([(MINE, [REP]), (NAMED.format("x"), []), ("", [MANAGER])])
    assert asked() == before
    by_roles([("", [REP])])
    assert asked() == before


_ROLES = ("a", "b", "c", "d")
_FILTERS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "0": lambda row: row["numberofemployees"] == 0,
    "1": lambda row: row["numberofemployees"] == 1,
    "2": lambda row: row["numberofemployees"] == 2,
    "": lambda row: True,
}


def _entry(value: str, roles: frozenset[str]) -> Entry:
    if not value:
        return Entry(roles=tuple(roles), all_records=True)
    rule = f'<filter><condition attribute="numberofemployees" operator="eq" value="{value}"/></filter>'
    return Entry(roles=tuple(roles), filter=rule)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rules=st.lists(
        st.lists(
            st.tuples(st.sampled_from(list(_FILTERS)), st.frozensets(st.sampled_from(_ROLES), max_size=2)),
            max_size=4,
        ),
        min_size=1,
        max_size=2,
    ),
    roles=st.frozensets(st.sampled_from((*_ROLES, "other"))),
)
def test_what_a_caller_gets_is_the_union_for_any_entries_and_roles(
    portico: None, rules: list[list[tuple[str, frozenset[str]]]], roles: frozenset[str]
) -> None:
    """Several exposures of one entity in a module: each has its union, and all must hold."""
    from django.http import HttpRequest

    platform = get_platform()
    ids = [platform.create("account", {"name": "U", "numberofemployees": at % 4}).id for at in range(4)]
    exposures = tuple(
        ExposedEntityDefinition(
            module="m", segment=f"s{at}", entity="account", row_rule=tuple(_entry(*one) for one in rule)
        )
        for at, rule in enumerate(rules)
    )
    definition = EndpointDefinition(kind="multi-query", module="m", name="q", settings=MultiQuerySettings())
    rule = rule_of_entity(Configured(definition, exposures=exposures), "account", platform)
    exchange = Exchange(HttpRequest(), UserContext((), platform))
    exchange.caller = Known("t", "t", roles=roles)
    own = Condition("accountid", Operator.IN, tuple(ids))
    wanted = rule.filter(exchange) if rule else None
    filter = Filter((own,) if wanted is None else (own, wanted))
    query = Query("account", (Column("accountid"), Column("numberofemployees")), filter)
    visible_ids = {row["accountid"] for row in platform.query(query, Page(size=50)).rows}

    def reached(row: dict[str, Any]) -> bool:
        return all(
            not entries
            or any((not named or named & roles) and _FILTERS[value](row) for value, named in entries)
            for entries in rules
        )

    assert visible_ids == {id for at, id in enumerate(ids) if reached({"numberofemployees": at % 4})}
    for id in ids:
        platform.delete("account", id)

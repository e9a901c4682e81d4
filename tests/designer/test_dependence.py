"""What findings may change when what endpoints share changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from django.test import Client

from designer.configuration import Configuration
from designer.configuration import Endpoint as ServedEndpoint
from designer.definitions import AccessDefinition, ExposedEntityDefinition
from designer.endpoint_facts.concerned_endpoints import concerned
from designer.loading import load
from designer.models import Endpoint, ExposedEntity, Role, UserProperty
from designer.overview import Overview, forget, overview
from designer.platform import get_platform
from designer.readiness import Metadata
from designer.readiness.registry import ENDPOINT_RULES
from designer.readiness.subjects import EndpointSubject, Surroundings
from tests.designer.studio import change_url, filled, page, send
from tests.row_rules import by_roles, only_rule

MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'


def test_a_user_property_concerns_endpoints_that_a_rule_about_the_user_guards(portico: None) -> None:
    rule = '<filter><condition attribute="name" operator="eq" value="@user.fullName"/></filter>'
    only_rule(rule, segment="leads")
    before = load()
    UserProperty.objects.create(name="fax", kind="field", attribute="address1_fax")
    is_concerned = concerned(before, load())
    by_key = {endpoint.definition.key: is_concerned(endpoint) for endpoint in before.endpoints.values()}
    assert by_key["sales.leads.create"]
    assert not by_key["sales.accounts.delete"]


def test_a_user_property_concerns_endpoints_that_reach_a_guarded_entity_by_a_link(portico: None) -> None:
    rule = '<filter><condition attribute="fullname" operator="eq" value="@user.fullName"/></filter>'
    only_rule(rule, segment="leads")
    query = Endpoint.objects.filter(kind="multi-query", module__segment="sales").first()
    assert query is not None
    linked = '<link-entity name="lead" from="parentaccountid" to="accountid" alias="people"/>'
    text = f'<fetch><entity name="account"><attribute name="name"/>{linked}</entity></fetch>'
    Endpoint.objects.filter(pk=query.pk).update(
        title="Plain", description="", settings={**query.settings, "query": text}
    )
    before = load()
    UserProperty.objects.create(name="fax", kind="field", attribute="address1_fax")
    is_concerned = concerned(before, load())
    assert is_concerned(before.endpoints[query.pk])


def test_another_role_concerns_endpoints_that_compare_with_the_callers_roles(portico: None) -> None:
    read = Endpoint.objects.get(kind="read", entity__segment="accounts")
    read.preconditions.create(expression="user.roles.size() > 0", message="No", position=90)
    before = load()
    Role.objects.create(name="auditor")
    is_concerned = concerned(before, load())
    by_key = {endpoint.definition.key: is_concerned(endpoint) for endpoint in before.endpoints.values()}
    assert by_key["sales.accounts.read"]
    assert not by_key["sales.accounts.delete"]


def test_what_people_read_of_a_caller_type_concerns_no_endpoint(portico: None) -> None:
    before = load()
    described = [
        caller_type.model_copy(update={"title": "Other", "description": "Other"})
        for caller_type in before.caller_types
    ]
    of_accounts = [
        caller_type.model_copy(update={"entity": "account"}) if caller_type.name == "contact" else caller_type
        for caller_type in before.caller_types
    ]
    assert not any(map(concerned(before, replace(before, caller_types=tuple(described))), _endpoints(before)))
    assert all(map(concerned(before, replace(before, caller_types=tuple(of_accounts))), _endpoints(before)))


def _endpoints(configuration: Configuration) -> list[ServedEndpoint]:
    found = list(configuration.endpoints.values())
    assert found
    return found


def _judged_again(before: Overview, after: Overview) -> set[str]:
    """The endpoints whose findings are new ones; where there are none, nobody can tell."""
    return {
        endpoint.definition.key
        for id, endpoint in after.configuration.endpoints.items()
        if after.by_endpoint[id] is not before.by_endpoint.get(id)
    }


def test_a_row_rule_has_those_judged_again_that_it_counts_for(dora: Client) -> None:
    row = ExposedEntity.objects.get(module__segment="sales", segment="leads")
    rule = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'
    only_rule(rule, segment="leads", module="sales")
    # Something is to be said of it, whatever the rule of another entity is.
    read = Endpoint.objects.get(kind="read", entity__segment="accounts")
    Endpoint.objects.filter(pk=read.pk).update(authentication_required=False)
    before = overview()
    assert before.by_endpoint[read.pk]
    data = filled(page(dora, change_url(row)))
    data["row_rule-0-filter"] = rule.replace("eq-userid", "ne-userid")
    assert send(dora, change_url(row), data).status_code == 302
    judged = _judged_again(before, overview())
    assert {key for key in judged if "leads" not in key} == set()


class _Watched(ExposedEntityDefinition):
    """Notes that its row rule is read."""

    readers: ClassVar[set[str]] = set()
    judging: ClassVar[str] = ""

    def __getattribute__(self, name: str) -> Any:
        if name == "row_rule":
            _Watched.readers.add(_Watched.judging)
        return super().__getattribute__(name)


def _watched(exposed: ExposedEntityDefinition) -> ExposedEntityDefinition:
    return _Watched.model_construct(**{name: getattr(exposed, name) for name in type(exposed).model_fields})


def test_rules_that_read_row_rules_say_so(portico: None) -> None:
    """What the others have found is kept when only a row rule has changed."""
    by_roles([("", ["sales-rep"])])
    configuration = load()
    surroundings = Surroundings(configuration, Metadata(get_platform()))
    _Watched.readers.clear()
    for id, endpoint in configuration.endpoints.items():
        for access in (
            AccessDefinition(),
            AccessDefinition(authentication_required=False),
            endpoint.definition.access,
        ):
            definition = endpoint.definition.model_copy(update={"access": access})
            own = None if endpoint.entity is None else _watched(endpoint.entity)
            exposures = tuple(map(_watched, endpoint.exposures))
            watched = replace(endpoint, definition=definition, entity=own, exposures=exposures)
            for rule in ENDPOINT_RULES:
                _Watched.judging = rule.id
                list(rule.find(EndpointSubject(id, watched, surroundings)))
    declared = {rule.id for rule in ENDPOINT_RULES if rule.reads_row_rules}
    assert len(_Watched.readers) > 12
    assert _Watched.readers - declared == set()


def test_what_is_kept_when_a_row_rule_changes_is_what_judging_anew_says(dora: Client) -> None:
    row = ExposedEntity.objects.get(module__segment="sales", segment="accounts")
    wrong = '<filter><condition attribute="no_such" operator="eq" value="1"/></filter>'
    Endpoint.objects.filter(entity=row, kind="delete").update(enabled=False)
    Endpoint.objects.filter(entity=row, kind="read").update(authentication_required=False)
    for filter in ("", MINE, wrong, MINE.replace("eq-userid", "ne-userid"), ""):
        only_rule(filter, module="sales")
        kept = overview()
        forget()
        assert overview().by_endpoint == kept.by_endpoint

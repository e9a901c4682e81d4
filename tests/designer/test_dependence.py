"""What findings may change when what endpoints share changes."""

from __future__ import annotations

from designer.dependence import concerned
from designer.loading import load
from designer.models import UserProperty
from tests.row_rules import only_rule


def test_a_user_property_concerns_endpoints_that_a_rule_about_the_user_guards(portico: None) -> None:
    rule = '<filter><condition attribute="name" operator="eq" value="@user.fullName"/></filter>'
    only_rule(rule, segment="leads")
    before = load()
    UserProperty.objects.create(name="fax", kind="field", attribute="address1_fax")
    is_concerned = concerned(before, load())
    found = {endpoint.definition.key: is_concerned(endpoint) for endpoint in before.endpoints.values()}
    assert found["sales.leads.create"]
    assert not found["sales.accounts.delete"]

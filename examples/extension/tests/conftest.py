"""Endpoints that use what the package adds, in the demo of Portico."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from driving import CONTACTS, KIND

from designer.models import Binding, Column, Endpoint, ExposedEntity, Input, Module, Role


@pytest.fixture
def create(portico: None) -> Endpoint:
    """The demo's endpoint that creates accounts, which takes the address of a website, too."""
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    Input.objects.create(endpoint=row, name="site", type="Url", position=50)
    Binding.objects.create(endpoint=row, attribute="websiteurl", value="site", position=50)
    return row


@pytest.fixture
def counts(portico: None) -> Endpoint:
    """An endpoint that counts the contacts of an account."""
    row: Endpoint = Endpoint.objects.create(
        kind=KIND,
        entity=ExposedEntity.objects.get(segment="accounts", module__segment="sales"),
        name="contacts",
        settings={"relationship": CONTACTS},
    )
    row.roles.add(Role.objects.get(name="sales-rep"))
    return row


@pytest.fixture
def daring(dora: Client) -> Client:
    """Dora, who may also call for real."""
    User.objects.get(username="designer").user_permissions.add(
        Permission.objects.get(codename="call_for_real")
    )
    return dora


@pytest.fixture
def by_site(portico: None) -> str:
    """A query with a parameter of the type."""
    query = (
        '<fetch><entity name="account"><attribute name="name"/><filter>'
        '<condition attribute="websiteurl" operator="eq" value="@site"/></filter></entity></fetch>'
    )
    row = Endpoint.objects.create(
        kind="multi-query",
        module=Module.objects.get(segment="sales"),
        name="by-site",
        settings={"query": query},
    )
    Input.objects.create(endpoint=row, name="site", type="Url", required=True)
    Column.objects.create(endpoint=row, attribute="name")
    return "/api/sales/queries/by-site"

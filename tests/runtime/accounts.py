"""Accounts made and looked at behind the API's back."""

from __future__ import annotations

from typing import Any

from crmclient import Value
from designer.models import Endpoint
from designer.platform import get_platform

ACCOUNTS = "/api/sales/accounts"
NOBODY = "00000000-0000-4000-8000-000000000000"


def an_account(**values: Value) -> str:
    """The path of a new account."""
    return f"{ACCOUNTS}/{get_platform().create('account', {'name': 'Contoso', **values}).id}"


def stored(path: str, *columns: str) -> Any:
    """The values of the account at `path`; the value itself where one column is asked for."""
    values = get_platform().retrieve("account", path.rpartition("/")[2], columns).values
    return values[columns[0]] if len(columns) == 1 else values


def endpoint(kind: str) -> Endpoint:
    """The demo's endpoint of accounts of that kind."""
    return Endpoint.objects.get(kind=kind, entity__segment="accounts")

"""Built-in kinds that a test adds, and what they are tried on: the accounts of the demo's module *sales*."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from designer.kinds import KINDS, OperationKind
from designer.models import Endpoint, ExposedEntity, Role
from designer.overview import overview
from runtime.operations import OPERATIONS, Operation
from runtime.serving.served import current
from tests.callers import Caller


@contextmanager
def built_in(
    kind: OperationKind, operation: type[Operation], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The kind is there during the block, which may store endpoints of it."""
    monkeypatch.setitem(KINDS, kind.name, kind)
    monkeypatch.setitem(OPERATIONS, kind.name, operation)
    yield
    # What this process has cached must name no kind that goes now.
    Endpoint.objects.filter(kind=kind.name).delete()
    overview()
    current()


def accounts() -> ExposedEntity:
    return ExposedEntity.objects.get(segment="accounts", module__segment="sales")


def endpoint_of(kind: OperationKind, **values: Any) -> Endpoint:
    """An endpoint of the kind on accounts, for sales representatives."""
    row: Endpoint = Endpoint.objects.create(kind=kind.name, entity=accounts(), **values)
    row.roles.add(Role.objects.get(name="sales-rep"))
    return row


def created(caller: Caller, **values: str) -> str:
    """The id of an account that the caller creates."""
    answer = caller.post("/api/sales/accounts", values)
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])

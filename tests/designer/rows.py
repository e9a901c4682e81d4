"""Rows as tests need them, without the demo."""

from __future__ import annotations

from typing import Any

from designer.models import Binding, Endpoint, ExposedEntity, Input, Module, Role


def endpoint(segment: str = "things", *, entity: str = "account", **values: Any) -> Endpoint:
    """A create endpoint at /api/shop/{segment} that sets `name`."""
    module, _ = Module.objects.get_or_create(segment="shop")
    exposed, _ = ExposedEntity.objects.get_or_create(
        module=module, segment=segment, defaults={"entity": entity}
    )
    made: Endpoint = Endpoint.objects.create(**{"kind": "create", "entity": exposed, **values})
    Input.objects.create(endpoint=made, name="name", required=True)
    Binding.objects.create(endpoint=made, attribute="name", value="name")
    return made


def role(name: str = "buyer") -> Role:
    made, _ = Role.objects.get_or_create(name=name)
    return made

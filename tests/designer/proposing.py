"""Protected parts, and people who propose, approve and publish."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from designer.documents.document_writer import export, to_bytes
from designer.history.recording import record_outside
from designer.loading import load
from designer.models import Endpoint, Proposal, Protection
from designer.proposals.new_proposals import content_digest
from tests.designer.studio import change_url, filled, page


def member(name: str, group: str) -> Client:
    user = User.objects.create_user(name, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def protect(group: str = "sales", *, needs_approval: bool = False) -> None:
    record_outside()
    Protection.objects.update_or_create(group=group, defaults={"needs_approval": needs_approval})


def create_endpoint() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts", entity__module__segment="sales")


def save(client: Client, row: Any, **changes: Any) -> Any:
    """Send the page of `row` with changes; None leaves a field out, as an unticked box."""
    data = filled(page(client, change_url(row))) | changes
    return client.post(change_url(row), {name: value for name, value in data.items() if value is not None})


def live() -> bytes:
    """What is configured, drafts included."""
    return to_bytes(export(load()))


def document(change: Callable[[dict[str, dict[str, Any]]], object]) -> bytes:
    """The present configuration with a change to its endpoints by key."""
    data = json.loads(live())
    keyed = {one.key: at for at, one in enumerate(export(load()).endpoints)}
    change({key: data["endpoints"][at] for key, at in keyed.items()})
    return json.dumps(data).encode()


def newest() -> Proposal:
    return Proposal.objects.latest("pk")


def step(client: Client, proposal: Proposal, name: str, **data: Any) -> Any:
    """Press the button `name` on the proposal's page, as it is now."""
    pressed = {name: content_digest(Proposal.objects.get(pk=proposal.pk)), **data}
    return client.post(reverse("studio:proposal", args=[proposal.pk]), pressed, follow=True)


def upload(raw: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("c.json", raw)

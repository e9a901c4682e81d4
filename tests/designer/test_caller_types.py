"""Caller types in the configuration: who may change them, and where they stand in documents and versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from designer.access_control.access_matrix import widens
from designer.definitions import AccessDefinition
from designer.documents.applied_plan import apply
from designer.documents.document_reader import read
from designer.documents.document_writer import export, to_bytes
from designer.documents.plan import plan
from designer.history.recording import Author, recording
from designer.history.restoration import document_at, restore
from designer.history.write_access import WriteAccessRefused
from designer.loading import load
from designer.models import CallerType, Endpoint, ExposedEntity, UserProperty, Version
from tests.designer.studio import add_url, change_url, filled, page, send

pytestmark = pytest.mark.usefixtures("portico")

LIST = "admin:designer_callertype_changelist"


def _member(group: str) -> Client:
    user = User.objects.create_user(f"a-{group.lower()}", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _create() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts", entity__module__segment="sales")


@pytest.mark.parametrize(
    ("group", "status"), [("Viewer", 403), ("Designer", 403), ("Publisher", 403), ("Administrator", 200)]
)
def test_caller_types_are_the_administrators(group: str, status: int) -> None:
    client = _member(group)
    assert client.get(reverse(LIST)).status_code == status
    assert client.get(add_url("callertype")).status_code == status


def test_an_administrator_adds_a_type_and_a_designer_gives_it_a_property() -> None:
    client = _member("Administrator")
    added = client.post(add_url("callertype"), {"name": "partner", "entity": "lead", "title": "Partner"})
    assert added.status_code == 302, added.context["adminform"].form.errors
    offered = page(_member("Designer"), f"{add_url('userproperty')}?caller_type=partner")
    attributes = dict(offered.context["adminform"].form.fields["attribute"].choices)
    assert "companyname" in attributes
    assert "domainname" not in attributes


def test_what_is_there_from_the_start_cannot_be_deleted_or_renamed() -> None:
    client = _member("Administrator")
    row = CallerType.objects.get(name="contact")
    url = reverse("admin:designer_callertype_delete", args=[row.pk])
    assert client.post(url, {"post": "yes"}).status_code == 403
    data = filled(page(client, change_url(row))) | {"name": "customer", "title": "Customer"}
    assert client.post(change_url(row), data).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.title) == ("contact", "Customer")


def test_an_import_of_caller_types_needs_an_administrator() -> None:
    wanted = read(
        b'{"format": 2, "caller_types": [{"name": "partner", "entity": "lead", "title": "Partner"}]}'
    )
    made = plan(export(load()), wanted)
    publisher = Author("petra", may_change_write_access=True)
    with pytest.raises(WriteAccessRefused, match="administrator"), recording(publisher):
        apply(made, wanted)
    with recording(Author("ada", may_administer=True)):
        apply(made, wanted)
    assert CallerType.objects.filter(name="partner").exists()


def test_a_document_that_says_nothing_of_caller_types_changes_none() -> None:
    CallerType.objects.create(name="partner")
    CallerType.objects.filter(name="contact").update(title="Customer")
    made = plan(export(load()), read(b'{"format": 2}'))
    assert [change.key for change in made.changes if change.collection.field == "caller_types"] == []


def test_an_unchanged_configuration_says_nothing_of_caller_types() -> None:
    assert "caller_types" not in json.loads(to_bytes(export(load())))


def test_a_document_brings_types_properties_and_who_is_admitted(tmp_path: Any) -> None:
    CallerType.objects.create(name="partner", entity="lead", title="Partner")
    UserProperty.objects.create(caller_type_id="partner", name="Email", attribute="emailaddress1")
    Endpoint.objects.filter(pk=_create().pk).update(caller_types=["partner", "user"])
    document = export(load())
    file = tmp_path / "configuration.json"
    file.write_bytes(to_bytes(document))
    UserProperty.objects.filter(caller_type__name="partner").delete()
    Endpoint.objects.filter(pk=_create().pk).update(caller_types=["user"])
    CallerType.objects.filter(name="partner").delete()
    call_command("importconfig", str(file))
    assert export(load()) == document


def test_what_admits_no_type_is_imported_again() -> None:
    """Whom anybody may call has no types, and a draft may have none yet. The studio saves both."""
    publisher = Author("petra", may_change_write_access=True)
    with recording(publisher):
        made = Endpoint.objects.create(
            kind="option-set",
            name="more",
            settings={"option_set": "new_priority"},
            authentication_required=False,
            caller_types=[],
        )
    wanted = export(load())
    with recording(publisher):
        made.delete()
    restore(wanted, publisher)
    assert Endpoint.objects.get(name="more").caller_types == []
    assert to_bytes(export(load())) == to_bytes(wanted)


def test_a_version_brings_a_caller_type_back() -> None:
    administrator = Author("ada", may_change_write_access=True, may_administer=True)
    with recording(administrator):
        CallerType.objects.create(name="partner", title="Partner")
    version = Version.objects.latest("id")
    with recording(administrator):
        CallerType.objects.filter(name="partner").delete()
    restore(document_at(version.pk), administrator)
    assert CallerType.objects.get(name="partner").title == "Partner"


def test_a_property_is_unique_by_type_and_name() -> None:
    UserProperty.objects.create(caller_type_id="contact", name="jobTitle", attribute="jobtitle")
    with pytest.raises(IntegrityError):
        UserProperty.objects.create(caller_type_id="contact", name="jobTitle")


def test_a_property_is_not_renamed_to_another_one(dora: Client) -> None:
    one, other = UserProperty.objects.filter(caller_type__name="user")[:2]
    data = filled(page(dora, change_url(one))) | {"name": other.name}
    answer = send(dora, change_url(one), data)
    message = "The caller type has a user property with this name already."
    assert answer.context["adminform"].form.errors == {"name": [message]}


def test_an_exposed_entity_is_not_renamed_to_another_one(dora: Client) -> None:
    one, other = ExposedEntity.objects.filter(module__segment="sales")[:2]
    data = filled(page(dora, change_url(one))) | {"segment": other.segment}
    answer = send(dora, change_url(one), data)
    message = "The module has an entity with this segment already."
    assert answer.context["adminform"].form.errors == {"segment": [message]}


def test_a_new_endpoint_admits_users_alone_and_one_that_was_there_services_too() -> None:
    assert Endpoint().caller_types == ["user"]
    assert set(AccessDefinition().caller_types) == {"service", "user"}


def test_admitting_more_types_is_a_publishers_and_fewer_a_designers() -> None:
    row = _create()
    Endpoint.objects.filter(pk=row.pk).update(caller_types=["service", "user"])
    with recording(Author(may_change_write_access=True)):
        row.title = "Create"
        row.save(update_fields=["title"])
    for types, refused in ((["contact", "service", "user"], True), (["user"], False)):
        try:
            with recording(Author("dora")):
                Endpoint.objects.filter(pk=row.pk).update(caller_types=types)
        except WriteAccessRefused:
            assert refused
        else:
            assert not refused


def test_admitting_more_types_is_a_widening() -> None:
    users, customers = (AccessDefinition(caller_types=types) for types in (("user",), ("contact", "user")))
    assert widens(users, customers)
    assert not widens(customers, users)


def test_the_page_of_an_endpoint_says_whom_it_admits(dora: Client) -> None:
    row = _create()
    Endpoint.objects.filter(pk=row.pk).update(caller_types=["service", "user"])
    data = filled(page(dora, change_url(row)))
    assert set(data["caller_types"]) == {"service", "user"}

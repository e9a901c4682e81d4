"""*Explain a token* of callers who would register: the endpoint is judged, and nobody is registered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from crmclient.query.ast import Column, Query
from designer.models import Endpoint, Precondition
from designer.platform import get_platform
from runtime.callers.issuers.registration import Registration
from runtime.callers.refusal_counts import RefusalCount
from tests.designer.test_studio_issuers import explained, failures, member, new_contact
from tests.runtime.issuers import Provider
from tests.runtime.test_issuer_records import LINKING, registering


@pytest.fixture
def root(portico: None) -> Client:
    return member("Administrator")


@pytest.fixture
def provider(portico: None, settings: Settings) -> Iterator[Provider]:
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["127.0.0.1"]}
    server = Provider()
    yield server
    server.stop()


def contacts() -> int:
    return len(get_platform().query(Query("contact", (Column("contactid"),))).rows)


def outcome(client: Client, token: str) -> tuple[str, str, str]:
    """Of the step *Record*: what was found, and, where it failed, the field that its setting links to."""
    result, _expected, explanation = explained(client, token)["Record"]
    return result, explanation, failures(client, token).get("Record", ("", ""))[1]


REGISTERED = "The caller would be registered."


def test_a_registration_is_judged_by_its_endpoint_and_nobody_is_registered(
    root: Client, provider: Provider
) -> None:
    row = registering(provider)
    good = provider.token(family_name="Lovelace", email="ada@contoso.example")
    before = contacts()
    result, explanation, _setting = outcome(root, good)
    assert (result, REGISTERED in explanation) == ("✔ passed", True)
    assert (contacts(), Registration.objects.count()) == (before, 0)
    result, explanation, setting = outcome(root, provider.token(email="ada@contoso.example"))
    assert (result, setting) == ("✖ failed", "#id_registration_inputs")
    assert "The token has no claim “family_name”, which the input “name” requires." in explanation
    result, explanation, setting = outcome(root, provider.token(family_name=["Love", "lace"]))
    assert (result, setting) == ("✖ failed", "#id_registration_inputs")
    assert "The claim “family_name” does not fit the input “name”." in explanation
    result, explanation, _setting = outcome(root, provider.token(family_name="L" * 5000))
    assert (result, "The claim “family_name” does not fit" in explanation) == ("✖ failed", True)
    made = Endpoint.objects.get(entity__module__segment="partners")
    # What the platform requires is judged, too, where the endpoint does not ask for it.
    made.inputs.update(required=False)
    made.save()
    result, explanation, _setting = outcome(root, provider.token())
    assert (result, "no claim “family_name”, which the input “name” requires" in explanation) == (
        "✖ failed",
        True,
    )
    row.registration_inputs = row.registration_inputs[1:]
    row.save()
    _result, explanation, _setting = outcome(root, good)
    assert "The input “name” is required, and no claim is written for it." in explanation
    Endpoint.objects.filter(pk=made.pk).update(enabled=False)
    result, explanation, setting = outcome(root, good)
    assert (result, setting) == ("✖ failed", "#id_registration_endpoint")
    assert "There is no enabled endpoint partners.people.create." in explanation
    assert (contacts(), Registration.objects.count()) == (before, 0)


def test_an_address_that_nobody_has_verified_is_said_to_register_nobody(
    root: Client, provider: Provider
) -> None:
    changes = {
        "record_claim": "email",
        "record_attribute": "emailaddress1",
        "record_verified": "email_verified",
    }
    registering(provider, **changes)
    claims: dict[str, Any] = {"email": "new@contoso.example", "family_name": "New"}
    result, explanation, setting = outcome(root, provider.token(email_verified=False, **claims))
    assert (result, "The caller is refused." in explanation) == ("✖ failed", True)
    assert setting == "#id_record_verified"
    assert outcome(root, provider.token(email_verified=True, **claims))[0] == "✔ passed"


def test_a_precondition_of_the_registering_endpoint_is_judged_too(root: Client, provider: Provider) -> None:
    registering(provider)
    made = Endpoint.objects.get(entity__module__segment="partners")
    Precondition.objects.create(
        endpoint=made, expression="input.name != 'Eve'", status=409, message="Not for Eve."
    )
    assert outcome(root, provider.token(family_name="Ada"))[0] == "✔ passed"
    result, explanation, setting = outcome(root, provider.token(family_name="Eve"))
    assert (result, "Not for Eve." in explanation, setting) == ("✖ failed", True, "#id_registration_endpoint")


def test_a_registration_that_would_be_refused_beforehand_is_explained(
    root: Client, provider: Provider
) -> None:
    row = registering(provider, registration_an_hour=1, **LINKING)
    claims: dict[str, Any] = {"email": "twin@contoso.example", "email_verified": True, "family_name": "Twin"}
    twin = new_contact("twin@contoso.example")
    result, explanation, _setting = outcome(root, provider.token(**claims))
    assert (result, f"The record {twin} would be linked" in explanation) == ("✔ passed", True)
    new_contact("twin@contoso.example")
    result, explanation, setting = outcome(root, provider.token(**claims))
    assert (result, "Several records" in explanation) == ("✖ failed", True)
    assert setting == "#id_registration_link_attribute"
    gone = "11111111-2222-4333-8444-555566667777"
    Registration.objects.create(issuer=row.issuer, subject="ada", entity="contact", record=gone, done=True)
    result, explanation, _setting = outcome(root, provider.token(**claims))
    assert (result, "somebody has deleted the record" in explanation) == ("✖ failed", True)
    result, explanation, setting = outcome(root, provider.token(sub="eve", family_name="Eve"))
    assert (result, setting) == ("✖ failed", "#id_registration_an_hour")
    assert not RefusalCount.objects.exists()

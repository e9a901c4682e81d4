"""A studio that nobody could sign in to does not start, or says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from project.checks import TAG
from project.environment import load

SOUND = {
    "STUDIO_OIDC_ISSUER": "https://login.example",
    "STUDIO_OIDC_CLIENT_ID": "studio",
    "STUDIO_OIDC_GROUPS": {"crm-team": ("Designer",)},
}

pytestmark = pytest.mark.django_db


def found(settings: Any, **values: Any) -> list[str | None]:
    settings.PORTICO = {**settings.PORTICO, **values}
    return [message.id for message in run_checks(tags=[TAG])]


def test_sound_settings_start(settings: Any) -> None:
    assert found(settings, **SOUND) == []


@pytest.mark.parametrize("name", ["STUDIO_OIDC_CLIENT_ID", "STUDIO_OIDC_GROUPS"])
def test_a_provider_needs_a_client_and_groups(settings: Any, name: str) -> None:
    assert found(settings, **{**SOUND, name: {} if name.endswith("GROUPS") else ""}) == ["portico.E016"]


def test_a_provider_is_asked_over_https_in_production(settings: Any) -> None:
    settings.DEVELOPMENT = False
    assert "portico.E015" in found(settings, **{**SOUND, "STUDIO_OIDC_ISSUER": "http://login.example"})


def test_the_scopes_must_ask_for_an_id_token(settings: Any) -> None:
    assert found(settings, **SOUND, STUDIO_OIDC_SCOPES="profile") == ["portico.E017"]


def test_a_group_that_the_studio_lacks_is_a_warning(settings: Any) -> None:
    assert found(settings, **{**SOUND, "STUDIO_OIDC_GROUPS": {"a": ("Desinger",)}}) == ["portico.W003"]


def test_passwords_are_switched_off_only_where_there_is_another_way(settings: Any) -> None:
    User.objects.create_superuser("glass", password="a long one of its own")
    assert found(settings, STUDIO_LOCAL_LOGIN=["glass"]) == ["portico.E018"]
    assert found(settings, **SOUND, STUDIO_LOCAL_LOGIN=["glass"]) == []


def test_an_emergency_account_that_cannot_log_in_is_a_warning(settings: Any) -> None:
    assert found(settings, **SOUND, STUDIO_LOCAL_LOGIN=["glass"]) == ["portico.W004"]


@pytest.mark.parametrize("table", ["[]", "7", '"a"', '{"a": 1}', '{"a": []}', '{"a": [1]}', "{"])
def test_a_group_table_of_another_shape_stops_the_start(table: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="STUDIO_OIDC_GROUPS"):
        load({"STUDIO_OIDC_GROUPS": table})


def test_a_group_table_takes_one_group_or_several() -> None:
    table = json.dumps({"a": "Viewer", "b": ["Designer", "Publisher"]})
    assert load({"STUDIO_OIDC_GROUPS": table})["STUDIO_OIDC_GROUPS"] == {
        "a": ("Viewer",),
        "b": ("Designer", "Publisher"),
    }

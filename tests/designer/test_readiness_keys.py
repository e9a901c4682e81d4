"""Readiness of endpoints that find a record by an alternate key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from crmclient import Platform
from crmclient.conventions import Conventions
from crmclient.dataverse.conventions import CONVENTIONS
from crmclient.metadata import AlternateKey, Attribute, AttributeType, Entity
from designer.configuration import Endpoint
from designer.readiness import Finding, Metadata, check
from designer.readiness.fixes import fix_for
from designer.readiness.subjects import EndpointSubject, Surroundings
from tests.designer.judged import BOUND, EXPOSED, Catalogue, an_input, configured, create, read

CODE = AlternateKey("thing_code", ("code",))
PAIR = AlternateKey("thing_pair", ("code", "unitid"))
PHOTO = AlternateKey("thing_photo", ("photo",))
SECRET = AlternateKey("thing_secret", ("secret",))


class _Keyed(Catalogue):
    """Where things have keys."""

    def __init__(self, *keys: AlternateKey, conventions: Conventions = CONVENTIONS) -> None:
        super().__init__(conventions=conventions)
        self._keys = keys

    def entities(self) -> Mapping[str, Entity]:
        by_name = dict(super().entities())
        return {**by_name, "thing": replace(by_name["thing"], keys=self._keys)}

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        by_name = dict(super().attributes(entity))
        if entity == "thing":
            by_name["code"] = Attribute("code", AttributeType.STRING, max_length=10)
            by_name["serial"] = Attribute("serial", AttributeType.STRING, max_length=10, updatable=False)
        return by_name


def upsert(key: str = CODE.name, **values: Any) -> Endpoint:
    return create(kind="upsert", name="code", settings={"key": key}, **values)


def findings(
    endpoint: Endpoint, *keys: AlternateKey, conventions: Conventions = CONVENTIONS
) -> list[Finding]:
    platform: Any = _Keyed(*keys, conventions=conventions)
    typed_platform: Platform = platform
    return check(endpoint, configured(endpoint), Metadata(typed_platform))


def blocking(*args: Any, **options: Any) -> list[tuple[str, str]]:
    return [(one.rule, one.field) for one in findings(*args, **options) if one.is_blocking]


def test_what_is_whole_has_none() -> None:
    for key in (CODE, PAIR):
        assert blocking(upsert(key.name), key) == []
        by_key = read("name", name="code").definition.model_copy(update={"kind": "read-by-key"})
        endpoint = create(
            **{**by_key.model_dump(), "settings": {"key": key.name}, "columns": [{"attribute": "name"}]}
        )
        assert blocking(endpoint, key) == []


@pytest.mark.parametrize(
    ("key", "alternate_keys", "sentence"),
    [
        ("", (), "thing has no alternate key. Define one on the platform."),
        ("gone", (), "thing has no alternate key. Define one on the platform."),
        ("", (CODE, PAIR), "Choose the alternate key."),
        ("gone", (CODE,), "thing has no alternate key “gone”. Choose another."),
    ],
)
def test_the_key_is_one_of_the_entity(
    key: str, alternate_keys: tuple[AlternateKey, ...], sentence: str
) -> None:
    [finding] = [one for one in findings(upsert(key), *alternate_keys) if one.is_blocking]
    assert (finding.rule, finding.field, str(finding.message)) == ("key-unknown", "settings.key", sentence)


def test_the_only_key_is_offered_as_the_fix() -> None:
    endpoint = upsert("")
    platform: Any = _Keyed(CODE)
    metadata = Metadata(platform)
    [finding] = [one for one in check(endpoint, configured(endpoint), metadata) if one.is_blocking]
    subject = EndpointSubject(1, endpoint, Surroundings(configured(endpoint), metadata))
    fix = fix_for(finding, subject)
    assert fix is not None
    assert fix.changes == {"settings.key": CODE.name}


def test_a_key_that_no_path_can_hold() -> None:
    assert blocking(upsert(PHOTO.name), PHOTO) == [("key-attributes", "settings.key")]


def test_a_key_whose_value_nobody_reads() -> None:
    [finding] = [one for one in findings(upsert(SECRET.name), SECRET) if one.is_blocking]
    assert (finding.rule, str(finding.message)) == (
        "key-attributes",
        "The platform does not return the value of “secret”, which is needed here. Choose another.",
    )


def test_the_path_alone_sets_the_key() -> None:
    bound = upsert(bindings=(BOUND, {"attribute": "code", "source": "constant", "value": "A"}))
    assert blocking(bound, CODE) == [("key-bound", "bindings.code.attribute")]


def test_what_only_a_create_may_set() -> None:
    bound = upsert(bindings=(BOUND, {"attribute": "serial", "source": "constant", "value": "A"}))
    assert blocking(bound, CODE) == [("key-update-only", "bindings.serial.attribute")]


def test_what_the_platform_requires_is_bound() -> None:
    assert ("required-attribute-unbound", "bindings.name") in blocking(upsert(inputs=(), bindings=()), CODE)
    name = AlternateKey("thing_name", ("name",))
    assert blocking(upsert(name.name, inputs=(), bindings=()), name) == []


def test_a_default_means_nothing() -> None:
    endpoint = upsert(inputs=(an_input(required=False, default="x"),))
    rules = {one.rule for one in findings(endpoint, CODE)}
    assert {"input-default-partial", "required-attribute-optional"} <= rules


def test_a_platform_that_writes_no_record_by_its_key() -> None:
    bare = replace(CONVENTIONS, abilities=frozenset())
    assert ("platform-upserts", "settings.key") in blocking(upsert(), CODE, conventions=bare)


def test_any_caller_may_write_any_record() -> None:
    assert "write-without-roles" in {one.rule for one in findings(upsert(), CODE)}


def test_keys_is_a_reserved_word() -> None:
    reserved = create(kind="upsert", name="keys", settings={"key": CODE.name})
    assert ("path-segment", "name") in blocking(reserved, CODE)
    exposed = EXPOSED.model_copy(update={"segment": "keys"})
    assert ("path-segment", "segment") in blocking(create(entity=exposed), CODE)

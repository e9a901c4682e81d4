"""Readiness of issuers: their callers' records can be found."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from designer.definitions import (
    Algorithm,
    ClaimInputDefinition,
    InputDefinition,
    IssuerDefinition,
    KeysDefinition,
    RecordDefinition,
    RegistrationDefinition,
)
from designer.readiness import Checker
from tests.designer.judged import BOUND, NAME, configured, create, metadata

LINKED = RegistrationDefinition(link_claim="email", link_attribute="pin")


@pytest.mark.parametrize("path", [".sub", ".", "..sub", "realm..roles", "sub."])
def test_a_path_with_a_dot_too_many_is_no_path_of_a_claim(path: str) -> None:
    record = RecordDefinition(claim=path, attribute="systemuserid")
    issuer = IssuerDefinition(name="acme", issuer="https://acme.example", record=record)
    messages = [str(finding.message) for finding in Checker(configured(), metadata()).issuer(issuer)]
    assert [f"“{path}” is not a path of a claim" in message for message in messages].count(True) == 1


@pytest.mark.parametrize(
    ("record", "place"),
    [
        (RecordDefinition(claim="sub", attribute="pin"), "record.attribute"),
        (
            RecordDefinition(claim="sub", missing="register", registration=LINKED),
            "record.registration.link_attribute",
        ),
    ],
)
def test_a_record_is_not_found_by_what_the_platform_never_answers(
    record: RecordDefinition, place: str
) -> None:
    issuer = IssuerDefinition(name="acme", issuer="https://acme.example", record=record)
    findings = Checker(configured(), metadata()).issuer(issuer)
    assert "The platform does not return the value of “pin”, which is needed here. Choose another." in [
        str(finding.message) for finding in findings if finding.field == place
    ]


KEYS: dict[str, PublicKeyTypes] = {
    "RSA": rsa.generate_private_key(65537, 2048).public_key(),
    "P-256": ec.generate_private_key(ec.SECP256R1()).public_key(),
    "P-384": ec.generate_private_key(ec.SECP384R1()).public_key(),
    "Ed25519": ed25519.Ed25519PrivateKey.generate().public_key(),
    "X25519": x25519.X25519PrivateKey.generate().public_key(),
}


def _pem(name: str) -> str:
    return KEYS[name].public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _said_of_algorithms(algorithms: tuple[Algorithm, ...], *keys: str) -> list[str]:
    issuer = IssuerDefinition(
        name="acme",
        issuer="https://acme.example",
        audiences=("api",),
        algorithms=algorithms,
        keys=KeysDefinition(source="pem", pem="\n".join(map(_pem, keys))),
    )
    findings = Checker(configured(), metadata()).issuer(issuer)
    return [str(finding.message) for finding in findings if finding.field == "algorithms"]


@pytest.mark.parametrize(
    ("algorithm", "key", "fitting"),
    [
        ("RS256", "P-256", "ES256"),
        ("ES256", "P-384", "ES384"),
        ("ES256", "RSA", "RS256, RS384, RS512, PS256, PS384, PS512"),
        ("PS256", "Ed25519", "EdDSA"),
    ],
)
def test_an_algorithm_that_the_public_key_is_not_for_refuses_every_token(
    algorithm: Algorithm, key: str, fitting: str
) -> None:
    assert _said_of_algorithms((algorithm,), key) == [
        "No chosen algorithm fits the public keys, so every token is refused. "
        f"Choose one of these: {fitting}."
    ]


def test_one_public_key_that_an_algorithm_fits_is_enough() -> None:
    assert _said_of_algorithms(("RS256",), "P-256", "RSA") == []
    assert _said_of_algorithms(("ES384", "EdDSA"), "P-384") == []
    assert _said_of_algorithms(("EdDSA",), "Ed25519") == []


def test_a_public_key_that_signs_nothing_is_told() -> None:
    assert _said_of_algorithms(("EdDSA",), "X25519") == [
        "No algorithm fits the public keys, so every token is refused. Write RSA, EC or Ed25519 keys."
    ]


def _said_of_inputs(endpoint_input: InputDefinition, *inputs: ClaimInputDefinition) -> list[str]:
    endpoint = create(inputs=(NAME, endpoint_input), bindings=(BOUND,))
    key = endpoint.definition.key
    registration = RegistrationDefinition(endpoint=key, inputs=inputs)
    record = RecordDefinition(claim="sub", missing="register", registration=registration)
    issuer = IssuerDefinition(name="acme", issuer="https://acme.example", record=record)
    findings = Checker(configured(endpoint), metadata()).issuer(issuer)
    return [str(finding.message) for finding in findings if finding.field == "record.registration.inputs"]


def test_an_input_that_registration_needs_and_no_claim_gives_is_found() -> None:
    name = ClaimInputDefinition(input=NAME.name, claim="name")
    required = InputDefinition(name="city", required=True)
    said = "requires the input “city”, and no claim gives it: no record can be made. Name its claim."
    assert [said in message for message in _said_of_inputs(required, name)] == [True]
    assert _said_of_inputs(required, name, ClaimInputDefinition(input="city", claim="address.city")) == []
    assert _said_of_inputs(required.model_copy(update={"default": "Berlin"}), name) == []
    assert _said_of_inputs(required.model_copy(update={"required": False}), name) == []

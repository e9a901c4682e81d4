"""Issuers: whose tokens are accepted, and what their claims say of a caller."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from designer.definition import Definition, SetOf, in_one_order

KeySource: TypeAlias = Literal["discovery", "jwks", "pem"]
ClaimShape: TypeAlias = Literal["any", "array", "words", "commas", "text"]
WithoutRecord: TypeAlias = Literal["refuse", "continue", "register"]

# Signatures that a public key verifies: with them a token can never be signed by what everybody may read.
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]

# Where a template has the tenant's name.
TENANT = "{tenantid}"
# A longer one would keep tokens alive that their issuer has ended.
LONGEST_LEEWAY = 600
MOST_REGISTRATIONS = 100_000


class KeysDefinition(Definition):
    """Where an issuer's public keys are.

    `discovery`: its OpenID configuration names them; `url` is that document's address, empty for the usual
    one under the issuer's own. `jwks`: the key set is at `url`. `pem`: they are in `pem`, one after another.
    """

    source: KeySource = "discovery"
    url: str = ""
    pem: str = ""


class RequiredClaimDefinition(Definition):
    """`claim`, a path, has one of `values`; without values it only has to be there."""

    claim: str
    values: SetOf[str] = ()


class GrantDefinition(Definition):
    """A value of a claim, and a role that it means."""

    value: str
    role: str


class RoleRuleDefinition(Definition):
    """Roles out of one claim. `claim` is a path; `shape` says how its values are written.

    `as_named`: each value is a role's name. Otherwise `grants` says which roles a value means.
    """

    claim: str
    shape: ClaimShape = "any"
    as_named: bool = False
    grants: tuple[GrantDefinition, ...] = ()


class ClaimInputDefinition(Definition):
    """An input of the endpoint that registers callers, and the claim, a path, that it is given."""

    input: str
    claim: str


class RegistrationDefinition(Definition):
    """How a caller without a record gets one. An existing record is linked, or the Create endpoint `endpoint`
    makes one.

    `link_claim` and `link_attribute`: a record whose attribute has the claim's value is linked, if the claim
    `link_verified` says that the value is verified. Empty: none is linked. `an_hour` is the most records that
    are made or linked for one issuer in an hour.
    """

    endpoint: str = ""
    inputs: tuple[ClaimInputDefinition, ...] = ()
    link_claim: str = ""
    link_attribute: str = ""
    link_verified: str = "email_verified"
    an_hour: Annotated[int, Field(ge=0, le=MOST_REGISTRATIONS)] = 600


class RecordDefinition(Definition):
    """Which record a caller is: one of the caller type `type`, whose `attribute` has the value of `claim`.

    `claim` empty: callers have no record. `attribute` empty: the claim holds the record's id. `verified`
    names a claim that has to say that the value is verified. `missing`: what becomes of a caller who has no
    record.
    """

    type: str = "user"
    claim: str = ""
    attribute: str = ""
    ignore_case: bool = False
    verified: str = ""
    missing: WithoutRecord = "refuse"
    registration: RegistrationDefinition = RegistrationDefinition()


class IssuerDefinition(Definition):
    """One issuer. `name` is what people call it; `issuer` is the token's `iss`, exactly.

    An `issuer` with `{tenantid}` in it stands for one issuer for each of `tenants`.
    `roles_expression` is CEL over `claims` and `record`, and gives a role or a list of roles.
    `readable_claims` are the paths of the claims that the configuration's expressions may read.
    """

    name: str
    issuer: str
    tenants: SetOf[str] = ()
    enabled: bool = True
    description: str = ""
    keys: KeysDefinition = KeysDefinition()
    audiences: SetOf[str] = ()
    algorithms: Annotated[tuple[Algorithm, ...], AfterValidator(in_one_order)] = ("RS256",)
    leeway: Annotated[int, Field(ge=0, le=LONGEST_LEEWAY)] = 60
    required_claims: tuple[RequiredClaimDefinition, ...] = ()
    roles: SetOf[str] = ()
    role_rules: tuple[RoleRuleDefinition, ...] = ()
    roles_expression: str = ""
    record: RecordDefinition = RecordDefinition()
    readable_claims: SetOf[str] = ()

    @property
    def is_template(self) -> bool:
        return TENANT in self.issuer

    @property
    def names(self) -> tuple[str, ...]:
        """Return every value of `iss` that the definition stands for."""
        if not self.is_template:
            return (self.issuer,)
        return tuple(self.issuer.replace(TENANT, tenant) for tenant in self.tenants)

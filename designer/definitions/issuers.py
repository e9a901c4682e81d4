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
# In seconds. A longer leeway would keep tokens alive that their issuer has ended.
LONGEST_LEEWAY = 600
MOST_REGISTRATIONS = 100_000


class KeysDefinition(Definition):
    """Where an issuer's public keys are, by `source`:

    `discovery`: where its OpenID configuration says. `url` is the address of that document; empty: the usual
    path under the issuer's own address. `jwks`: in the key set at `url`. `pem`: in the text `pem`, one after
    another.
    """

    source: KeySource = "discovery"
    url: str = ""
    pem: str = ""


class RequiredClaimDefinition(Definition):
    """A claim that a token must have. `claim` is its path; without `values` it may have any value."""

    claim: str
    values: SetOf[str] = ()


class GrantDefinition(Definition):
    """A role that callers get whose claim has the value `value`."""

    value: str
    role: str


class RoleRuleDefinition(Definition):
    """A rule that reads roles from one claim. `claim` is its path; `shape` says how its values are written.

    With `as_named`, each value is a role's name. Otherwise `grants` says which roles each value gives.
    """

    claim: str
    shape: ClaimShape = "any"
    as_named: bool = False
    grants: tuple[GrantDefinition, ...] = ()


class ClaimInputDefinition(Definition):
    """An input of the endpoint that registers callers, and the path of the claim whose value it gets."""

    input: str
    claim: str


class RegistrationDefinition(Definition):
    """How a caller without a record gets one: an existing record is linked to it, or a new one is created.

    A record is linked if its attribute `link_attribute` has the value of the claim `link_claim`, and the
    claim `link_verified` says that the value is verified; empty: no record is linked. `endpoint` is the key
    of the Create endpoint that creates a record, with `inputs`. `an_hour` is the highest number of records
    that are created or linked for one issuer in an hour.
    """

    endpoint: str = ""
    inputs: tuple[ClaimInputDefinition, ...] = ()
    link_claim: str = ""
    link_attribute: str = ""
    link_verified: str = "email_verified"
    an_hour: Annotated[int, Field(ge=0, le=MOST_REGISTRATIONS)] = 600


class RecordDefinition(Definition):
    """How the record of a caller is found: the caller has the type `type`, and `attribute` of its record has
    the value of the claim `claim`.

    `claim` empty: callers have no record. `attribute` empty: the claim holds the record's id. `verified` is
    the path of a claim that must say that the value is verified; empty: none must. `missing` says what
    happens to a caller whose record is not found: it is refused, goes on without a record, or is registered.
    """

    type: str = "user"
    claim: str = ""
    attribute: str = ""
    ignore_case: bool = False
    verified: str = ""
    missing: WithoutRecord = "refuse"
    registration: RegistrationDefinition = RegistrationDefinition()


class IssuerDefinition(Definition):
    """An issuer whose tokens are accepted. `name` is what people call it; `issuer` is exactly the `iss` of
    its tokens.

    An `issuer` with `{tenantid}` in it stands for one issuer for each of `tenants`. `leeway` is in seconds.
    `roles` are given to every caller. `roles_expression` is CEL over `claims` and `record` whose result is a
    role or a list of roles. `readable_claims` are the paths of the claims that expressions of the
    configuration may read.
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
        """Whether the definition stands for one issuer for each tenant."""
        return TENANT in self.issuer

    @property
    def names(self) -> tuple[str, ...]:
        """Return every value of `iss` that the definition stands for."""
        if not self.is_template:
            return (self.issuer,)
        return tuple(self.issuer.replace(TENANT, tenant) for tenant in self.tenants)

"""Issuers: what they hold makes sense, and what their rules name is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.conf import settings

from crmclient.metadata import Attribute, AttributeType
from crmclient.outbound import check_url
from designer.definitions import TENANT
from designer.readiness.expressions import faults
from designer.readiness.registry import Found, blocking_for_issuers, warning_for_issuers
from designer.readiness.rules.column_rules import not_returned
from designer.readiness.samples import UNKNOWN, sample_of_row
from designer.readiness.subjects import IssuerSubject
from designer.sentences import Sentence as _
from designer.token_issuers.claim_paths import WrongPath, names_mail, path_parts
from designer.token_issuers.public_keys import algorithms_of, pem_keys, refuse_private_keys

# Types of attributes that a claim, which is a text, can be compared with.
_MATCHED = (AttributeType.STRING, AttributeType.MEMO, AttributeType.UNIQUEIDENTIFIER)


@blocking_for_issuers("issuer-name")
def issuer_is_its_own(subject: IssuerSubject) -> Found:
    """Find an `iss` that cannot be right, tenants that do not fit it, and an `iss` that two enabled issuers
    have.
    """
    definition = subject.definition
    if not definition.issuer or definition.issuer != definition.issuer.strip():
        yield _("Write the issuer exactly as it stands in “iss”, without spaces around it."), "issuer"
    if definition.issuer == settings.SIMPLE_JWT["ISSUER"]:
        yield (
            _("“%(issuer)s” is this service's own issuer. Write another.", issuer=definition.issuer),
            "issuer",
        )
    if definition.is_template and not definition.tenants:
        yield _("The issuer has %(tenant)s in it. Name at least one tenant.", tenant=TENANT), "tenants"
    if definition.tenants and not definition.is_template:
        yield (
            _(
                "The issuer lists tenants, but its “iss” has no %(tenant)s. Remove the tenants.",
                tenant=TENANT,
            ),
            "tenants",
        )
    for other in subject.surroundings.configuration.issuers:
        if other.name != definition.name and definition.enabled and other.enabled:
            # An issuer with tenants has one name, a value of `iss`, for each of them.
            for iss in sorted(set(other.names) & set(definition.names)):
                yield _("The issuer “%(other)s” has “%(iss)s” too.", other=other.name, iss=iss), "issuer"


@warning_for_issuers("issuer-in-environment")
def environment_wins(subject: IssuerSubject) -> Found:
    """Find that the setting ISSUERS has the same `iss`, so that the issuer of the studio has no effect."""
    for name in sorted(set(subject.definition.names) & set(settings.PORTICO["ISSUERS"])):
        yield (
            _(
                "The setting ISSUERS has “%(iss)s” too, and wins: what is set up here is not used. Take the "
                "entry out of ISSUERS, or disable this issuer.",
                iss=name,
            ),
            "issuer",
        )


@blocking_for_issuers("issuer-keys")
def keys_can_be_found(subject: IssuerSubject) -> Found:
    """Find public keys that cannot be read, and addresses that they cannot be fetched from."""
    keys = subject.definition.keys
    try:
        # Whatever the source is: everybody who may see the configuration sees what is pasted.
        refuse_private_keys(keys.pem)
        if keys.source == "pem":
            pem_keys(keys.pem)
    except ValueError as error:
        yield str(error), "keys.pem"
        return
    if keys.source == "pem":
        return
    if keys.source == "jwks" and not keys.url:
        yield _("Write the address of the key set."), "keys.url"
        return
    try:
        check_url(keys.url or subject.definition.issuer, insecure=settings.DEVELOPMENT)
    except ValueError:
        message = _("Write an absolute https address without a user name or password.")
        yield message, "keys.url" if keys.url else "issuer"


@blocking_for_issuers("issuer-accepted")
def something_is_accepted(subject: IssuerSubject) -> Found:
    """Find that no audience or no algorithm is named, so that every token is refused."""
    definition = subject.definition
    if not definition.audiences:
        yield _("Name at least one audience: a token for anybody else is not for this service."), "audiences"
    if not definition.algorithms:
        yield _("Choose at least one algorithm."), "algorithms"


@blocking_for_issuers("issuer-algorithms")
def algorithms_fit_the_keys(subject: IssuerSubject) -> Found:
    """Find that none of the public keys can verify a signature of a chosen algorithm."""
    keys, chosen = subject.definition.keys, subject.definition.algorithms
    if keys.source != "pem" or not chosen:
        return
    try:
        fitting = dict.fromkeys(algorithm for key in pem_keys(keys.pem) for algorithm in algorithms_of(key))
    except ValueError:
        # Another rule says that they cannot be read.
        return
    if not fitting:
        message = _(
            "No algorithm fits the public keys, so every token is refused. Write RSA, EC or Ed25519 keys."
        )
        yield message, "algorithms"
    elif fitting.keys().isdisjoint(chosen):
        yield (
            _(
                "No chosen algorithm fits the public keys, so every token is refused. Choose one of these: "
                "%(fitting)s.",
                fitting=", ".join(fitting),
            ),
            "algorithms",
        )


@blocking_for_issuers("issuer-claims")
def paths_are_paths(subject: IssuerSubject) -> Found:
    """Find paths of claims that are not well formed."""
    for path, field in _claim_paths(subject):
        try:
            path_parts(path)
        except WrongPath as error:
            yield str(error), field


@blocking_for_issuers("issuer-roles")
def expression_compiles(subject: IssuerSubject) -> Found:
    """Find mistakes in the expression that gives roles. It reads the claims and the record of the caller."""
    text = subject.definition.roles_expression
    if text.strip():
        record = subject.attributes
        samples = {"claims": UNKNOWN, "record": sample_of_row(record) if record else UNKNOWN}
        for fault in faults(text, samples):
            yield _("The expression: %(fault)s", fault=fault), "roles_expression"


@warning_for_issuers("issuer-role-unknown")
def roles_exist(subject: IssuerSubject) -> Found:
    """Find roles that the issuer gives and that do not exist."""
    definition = subject.definition
    named_roles = [(role, "roles") for role in definition.roles]
    named_roles += [
        (grant.role, f"role_rules.{position}.grants")
        for position, rule in enumerate(definition.role_rules)
        for grant in rule.grants
    ]
    for role, field in named_roles:
        if role not in subject.surroundings.roles:
            yield _("There is no role “%(role)s”. Add it, or write another.", role=role), field


@warning_for_issuers("issuer-role-rule-empty")
def rules_give_roles(subject: IssuerSubject) -> Found:
    """Find role rules that give no role, whatever the claim holds."""
    for position, rule in enumerate(subject.definition.role_rules):
        if not rule.as_named and not rule.grants:
            message = _(
                "The rule for “%(claim)s” gives no role. Name values with their roles.", claim=rule.claim
            )
            yield message, f"role_rules.{position}.grants"


@blocking_for_issuers("issuer-record")
def record_can_be_found(subject: IssuerSubject) -> Found:
    """Find why the records of the issuer's callers cannot be found by a claim."""
    record = subject.definition.record
    type = subject.caller_type
    if type is None:
        yield _("There is no caller type “%(type)s”.", type=record.type), "record.type"
        return
    if not record.claim:
        if record.missing == "register":
            yield _("Name the claim that a registered caller is found by."), "record.claim"
        return
    if not subject.entity:
        # The type `user` has no records on a platform without users. What reads the caller's user says so.
        if not type.is_of_users:
            message = _("Callers of the type “%(type)s” have no record. Empty the claim.", type=record.type)
            yield message, "record.claim"
        return
    if record.attribute:
        yield from _findings_of_attribute(
            subject.attributes, subject.entity, record.attribute, "record.attribute"
        )
    if names_mail(record.claim) and not record.verified:
        yield _sentence_on_unverified(record.claim), "record.verified"


@warning_for_issuers("issuer-record-optional")
def callers_have_their_records(subject: IssuerSubject) -> Found:
    """Find issuers whose callers may have no record.

    Row rules such as “my cases” would find nothing for them, and no answer would say why.
    """
    record = subject.definition.record
    if not subject.entity or not _may_call(subject):
        return
    if not record.claim:
        yield (
            _(
                "Callers of this issuer have no record. Row rules and queries that compare with “@user” "
                "values find nothing for them. Name the claim of the record, or choose a caller type "
                "without records."
            ),
            "record.claim",
        )
    elif record.missing == "continue":
        yield (
            _(
                "Callers without a record go on. Row rules and queries that compare with “@user” values find "
                "nothing for them. Refuse them, unless you mean it so."
            ),
            "record.missing",
        )


def _may_call(subject: IssuerSubject) -> bool:
    """Whether an endpoint that is served admits the issuer's callers by their type."""
    endpoints = (
        configured_endpoint.definition
        for configured_endpoint in subject.surroundings.configuration.endpoints.values()
    )
    return any(
        endpoint.enabled
        and endpoint.access.authentication_required
        and subject.definition.record.type in endpoint.access.caller_types
        for endpoint in endpoints
    )


@blocking_for_issuers("issuer-registration")
def registration_can_work(subject: IssuerSubject) -> Found:
    """Find why callers without a record cannot get one, where the issuer registers them."""
    record, rules = subject.definition.record, subject.definition.record.registration
    if record.missing != "register":
        return
    if not rules.endpoint and not rules.link_claim:
        yield (
            _("Choose the endpoint that makes the record, or a claim to link one by."),
            "record.registration.endpoint",
        )
    if rules.endpoint:
        yield from _findings_of_endpoint(subject)
    if rules.link_claim:
        place = "record.registration.link_attribute"
        if not rules.link_attribute:
            yield _("Choose the attribute that has the claim's value."), place
        elif subject.entity:
            yield from _findings_of_attribute(subject.attributes, subject.entity, rules.link_attribute, place)
        if not rules.link_verified:
            yield _sentence_on_unverified(rules.link_claim), "record.registration.link_verified"
        if not record.attribute:
            message = _("Choose the attribute that says whose a record is: a linked record has it set.")
            yield message, "record.attribute"


@warning_for_issuers("issuer-registration-links-nothing")
def linking_needs_one_tenant(subject: IssuerSubject) -> Found:
    """Find that no record is linked, because the tokens come from several tenants."""
    rules = subject.definition.record.registration
    registers = subject.definition.record.missing == "register"
    if registers and rules.link_claim and len(subject.definition.names) > 1:
        yield (
            _("No record is linked, because the issuer has several tenants: each could name any address."),
            "record.registration.link_claim",
        )


def _findings_of_endpoint(subject: IssuerSubject) -> Found:
    """Yield what is wrong with the endpoint that makes the records of registered callers."""
    rules, place = subject.definition.record.registration, "record.registration.endpoint"
    endpoints = subject.surroundings.configuration.endpoints.values()
    endpoint = next(
        (candidate for candidate in endpoints if candidate.definition.key == rules.endpoint), None
    )
    if endpoint is None:
        yield _("There is no endpoint “%(endpoint)s”.", endpoint=rules.endpoint), place
        return
    if not endpoint.kind.makes_new_records:
        yield _("“%(endpoint)s” does not create records. Choose a Create.", endpoint=rules.endpoint), place
        return
    if not endpoint.definition.enabled:
        yield _("Enable the endpoint “%(endpoint)s”.", endpoint=rules.endpoint), place
    if subject.entity and endpoint.entity is not None and endpoint.entity.entity != subject.entity:
        yield (
            _(
                "“%(endpoint)s” creates records of %(made)s, but the callers' records are of %(entity)s.",
                endpoint=rules.endpoint,
                made=endpoint.entity.entity,
                entity=subject.entity,
            ),
            place,
        )
    inputs = {candidate.name: candidate for candidate in endpoint.definition.inputs}
    given = {claim_input.input for claim_input in rules.inputs}
    for name, definition in inputs.items():
        if definition.required and definition.default is None and name not in given:
            message = _(
                "“%(endpoint)s” requires the input “%(input)s”, and no claim gives it: no record can be "
                "made. Name its claim.",
                endpoint=rules.endpoint,
                input=name,
            )
            yield message, "record.registration.inputs"
    for claim_input in rules.inputs:
        if claim_input.input not in inputs:
            message = _(
                "“%(endpoint)s” has no input “%(input)s”.", endpoint=rules.endpoint, input=claim_input.input
            )
            yield message, "record.registration.inputs"


def _findings_of_attribute(attributes: Mapping[str, Attribute], entity: str, name: str, field: str) -> Found:
    """Yield why a claim cannot be compared with the attribute `name` of `entity`. `field`: where it is
    chosen.
    """
    attribute = attributes.get(name)
    if attribute is None:
        yield _("%(entity)s has no attribute “%(attribute)s”.", entity=entity, attribute=name), field
    elif attribute.type not in _MATCHED:
        yield _("“%(attribute)s” is not a text attribute. Choose a text attribute.", attribute=name), field
    elif not attribute.readable:
        yield not_returned(name), field


def _sentence_on_unverified(claim: str) -> _:
    """Return the sentence about an e-mail claim without a claim that says that the address is verified."""
    return _(
        "“%(claim)s” can be anybody's e-mail address. Name the claim that says that it is verified.",
        claim=claim,
    )


def _claim_paths(subject: IssuerSubject) -> Iterator[tuple[str, str]]:
    """Yield the claim paths of the issuer, each with its field."""
    definition = subject.definition
    for rule in definition.required_claims:
        yield rule.claim, "required_claims"
    for position, role_rule in enumerate(definition.role_rules):
        yield role_rule.claim, f"role_rules.{position}.claim"
    for path in definition.readable_claims:
        yield path, "readable_claims"
    record, rules = definition.record, definition.record.registration
    optional = (
        (record.claim, "record.claim"),
        (record.verified, "record.verified"),
        (rules.link_claim, "record.registration.link_claim"),
        (rules.link_verified, "record.registration.link_verified"),
    )
    yield from ((path, field) for path, field in optional if path)
    for claim_input in rules.inputs:
        yield claim_input.claim, "record.registration.inputs"

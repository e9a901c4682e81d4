"""Which types of caller an endpoint admits, and whether each of them has what it reads of its callers."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from crmclient.query.resolving.prepared_queries import Needs
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES
from designer.names import OWN_RECORD, RESERVED_PROPERTIES
from designer.readiness.registry import USER_PROPERTY_RULES, Found, blocking, warning
from designer.readiness.rules.expression_rules import expressions_of
from designer.readiness.rules.query_rules import QUERY, needs_of_query
from designer.readiness.rules.step_rules import Origin, needs_of_fetcher, needs_of_row_rules
from designer.readiness.subjects import EndpointSubject, UserPropertySubject
from designer.sentences import Sentence as _
from designer.token_issuers.claim_paths import leads_into

_FIELD = "caller_types"
# The resolver that reads issuers, by its name among the entry points.
STANDARD_RESOLVER = "standard"
# Members of `user` that every caller has, whatever the type.
_OF_EVERY_CALLER = RESERVED_PROPERTIES | {OWN_RECORD, "teams"}


@blocking("caller-type-unknown")
def caller_types_exist(subject: EndpointSubject) -> Found:
    """Find caller types of the endpoint that do not exist."""
    for name in subject.definition.access.caller_types:
        if name not in subject.surroundings.caller_types:
            yield _("There is no caller type “%(name)s”. Take it out of the endpoint.", name=name), _FIELD


@blocking("caller-types-none")
def somebody_is_admitted(subject: EndpointSubject) -> Found:
    """Find that callers need a token, but no caller type is admitted."""
    access = subject.definition.access
    if access.authentication_required and not access.caller_types:
        yield _("The endpoint admits no type of caller. Choose at least one."), _FIELD


@warning("caller-type-properties", row_rules=True)
def callers_have_what_is_read(subject: EndpointSubject) -> Found:
    """Find user properties that callers of an admitted type lack.

    Another rule finds properties that no caller type has.
    """
    reads = dict.fromkeys((*_user_properties_compared(subject), *_user_properties_used(subject)))
    existing = subject.surroundings.user_properties.keys() | {OWN_RECORD}
    for type in _admitted_types(subject):
        properties = subject.surroundings.properties_of_type(type)
        lacking: dict[Origin, list[str]] = {}
        for origin, name in reads:
            if name not in properties and name in existing:
                lacking.setdefault(origin, []).append(name)
        for origin, names in lacking.items():
            yield origin.finding(
                _(
                    "Callers of the type “%(type)s” lack %(names)s: what is compared with it matches nothing "
                    "for them, and what is written from it fails. Add it to the type, or do not admit the "
                    "type.",
                    type=type,
                    names=", ".join(f"@user.{name}" for name in sorted(set(names))),
                )
            )


@warning("caller-type-claims", row_rules=True)
def callers_have_the_claims_that_are_read(subject: EndpointSubject) -> Found:
    """Find claims that conditions read and that no issuer of an admitted caller type lets them read."""
    if settings.PORTICO["USER_RESOLVER"] != STANDARD_RESOLVER:
        # A resolver of a package says itself which claims there are.
        return
    # In the order of the form, each once.
    reads = dict.fromkeys(
        (origin, path) for origin, needs in _needs_of_caller(subject) for path in needs.claims
    )
    for type in _admitted_types(subject):
        readable = [
            path
            for issuer in subject.surroundings.configuration.issuers
            if issuer.enabled and issuer.record.type == type
            for path in issuer.readable_claims
        ]
        lacking: dict[Origin, list[str]] = {}
        for origin, path in reads:
            # Who may read a claim may read its parts, too.
            if not any(leads_into(path, readable_path) for readable_path in readable):
                lacking.setdefault(origin, []).append(path)
        for origin, paths in lacking.items():
            yield origin.finding(
                _(
                    "Callers of the type “%(type)s” have no claim %(names)s that endpoints may read: what is "
                    "compared with it matches nothing for them. Add it to the readable claims of an issuer "
                    "of this type, or do not admit the type.",
                    type=type,
                    names=", ".join(f"@user.claims.{path}" for path in sorted(set(paths))),
                )
            )


@blocking("user-property-broken", row_rules=True)
def properties_can_be_read(subject: EndpointSubject) -> Found:
    """Find user properties that the endpoint reads and that have findings of their own."""
    of_type = subject.surroundings.properties_by_type
    reads = dict.fromkeys((*_user_properties_compared(subject), *_user_properties_used(subject)))
    for origin, name in reads:
        for type in subject.definition.access.caller_types:
            user_property = of_type.get(type, {}).get(name)
            if user_property is not None and _is_broken(
                UserPropertySubject(user_property, subject.surroundings)
            ):
                yield origin.finding(
                    _(
                        "The user property “%(name)s” of the type “%(type)s” cannot be read: its page says "
                        "why. Correct the property, or use another.",
                        name=name,
                        type=type,
                    )
                )


@warning("caller-type-no-users", row_rules=True)
def callers_are_platform_users(subject: EndpointSubject) -> Found:
    """Find conditions on the platform user, where an admitted caller type has none."""
    origins = dict.fromkeys(origin for origin, needs in _needs_of_caller(subject) if needs.user)
    for type in _admitted_types(subject):
        if not subject.surroundings.caller_types[type].is_of_users:
            for origin in origins:
                yield origin.finding(
                    _(
                        "The query compares with the platform user that calls, but callers of the type "
                        "“%(type)s” are no platform users: it matches nothing for them. Compare with a user "
                        "property instead, or do not admit the type.",
                        type=type,
                    )
                )


def _admitted_types(subject: EndpointSubject) -> Iterator[str]:
    """Yield the existing caller types that the endpoint admits; none where callers need no token."""
    access = subject.definition.access
    if access.authentication_required:
        yield from (name for name in access.caller_types if name in subject.surroundings.caller_types)


def _is_broken(subject: UserPropertySubject) -> bool:
    """Whether any rule finds something wrong with the user property."""
    return any(True for rule in USER_PROPERTY_RULES for _finding in rule.find(subject))


def _needs_of_caller(subject: EndpointSubject) -> Iterator[tuple[Origin, Needs]]:
    """Yield what the row rules, the query and the data fetchers need of the caller, each with its place."""
    yield from needs_of_row_rules(subject)
    yield Origin(QUERY), needs_of_query(subject)
    for fetcher in subject.definition.fetchers:
        yield Origin(f"fetchers.{fetcher.name}.query"), needs_of_fetcher(subject, fetcher.name)


def _user_properties_compared(subject: EndpointSubject) -> Iterator[tuple[Origin, str]]:
    """Yield the places of conditions that compare with user properties, with the name of each property."""
    for origin, needs in _needs_of_caller(subject):
        yield from ((origin, name) for name in needs.user_values)


def _user_properties_used(subject: EndpointSubject) -> Iterator[tuple[Origin, str]]:
    """Yield the places of bindings and expressions that read a user property, with the name of the
    property.
    """
    # A property that no admitted type has is a blocking finding of the binding.
    bound = [
        (f"bindings.{binding.attribute}.value", binding)
        for binding in subject.bindings
        if binding.source != "user" or binding.value in subject.admitted_properties
    ]
    for parent in subject.inputs:
        place = f"inputs.{parent.name}.bindings"
        bound += [(f"{place}.{binding.attribute}.value", binding) for binding in parent.bindings]
    yield from ((Origin(place), str(binding.value)) for place, binding in bound if binding.source == "user")
    for expression in expressions_of(subject):
        try:
            names = Expression(expression.text, ENDPOINT_NAMES).members("user") or ()
        except ExpressionError:
            continue
        origin = Origin(expression.field)
        yield from ((origin, name) for name in names if name not in _OF_EVERY_CALLER)

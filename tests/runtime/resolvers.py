"""User resolvers as an application would supply them."""

from __future__ import annotations

from django.contrib.auth.models import User

from runtime.callers.caller import Caller, Claims, Identity
from runtime.callers.recognition import Recognition


def everyone_is_support(claims: Claims) -> Identity:
    return Identity(roles=frozenset({"support"}))


def nobody(claims: Claims) -> Identity | None:
    return None


def everyone_is_support_with_options(
    claims: Claims, roles: frozenset[str] = frozenset({"support"}), **options: object
) -> Identity:
    """A resolver of the older form that its own application calls with more."""
    return Identity(roles=roles)


def identity_of_customers(claims: Claims, context: Recognition) -> Identity:
    return Identity(roles=frozenset({"support"} if "user" in context.types else ()))


def names(claims: Claims, context: Recognition) -> str:
    return "support"


def customers(claims: Claims, context: Recognition) -> Caller | None:
    """Every account is a contact, whose id is kept with the account; what is no contact is refused."""
    user = User.objects.get(pk=claims["sub"])
    entity = context.types["contact"].entity
    record = context.platform.retrieve(entity, user.first_name, ())
    return Caller(
        issuer=claims["iss"],
        subject=claims["sub"],
        type="contact",
        record=record.id,
        claims={"org": {"tenant": 7}},
    )

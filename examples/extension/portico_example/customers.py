"""A user resolver: customers of one issuer are contacts, found by an address that the issuer has verified."""

from __future__ import annotations

from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query
from runtime.callers.caller import Caller, Claims
from runtime.callers.recognition import Recognition
from runtime.callers.refusals import without_record
from runtime.callers.resolver import resolve as resolve_as_usual

CUSTOMERS = "https://customers.example"


def resolve(claims: Claims, context: Recognition) -> Caller | None:
    if claims["iss"] != CUSTOMERS:
        return resolve_as_usual(claims, context)
    address = claims.get("email") if claims.get("email_verified") is True else None
    if not isinstance(address, str):
        raise without_record(claims["iss"], "contact", "address_not_verified")
    entity = context.types["contact"].entity
    id = context.platform.entities()[entity].primary_id
    by_address = Filter((Condition("emailaddress1", Operator.EQ, (address,)),))
    rows = context.platform.query(Query(entity, (Column(id),), by_address), Page(size=2)).rows
    if len(rows) != 1:
        raise without_record(claims["iss"], "contact", "several_records" if rows else "no_record")
    return Caller(
        issuer=claims["iss"],
        subject=claims["sub"],
        roles=frozenset({"customer"}),
        type="contact",
        record=str(rows[0][id]),
        claims={"email": address},
    )

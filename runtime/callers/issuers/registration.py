"""Callers without a record get one, once: a record is linked to them, or a Create endpoint makes it.

A row for (`iss`, `sub`) with the record's id is written before the platform is asked. Whatever breaks off in
between, and however many requests come at once, the same record is meant.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Mapping
from typing import Any, Protocol

from django.db import IntegrityError, models, transaction
from django.utils.translation import gettext_lazy as _

from crmclient import Guid, Platform, new_guid
from crmclient.errors import PlatformError, PlatformFailure
from crmclient.sentences import for_log
from designer.definitions import IssuerDefinition, RegistrationDefinition
from runtime.callers.caller import Caller, Claims
from runtime.callers.issuers.claim_paths import claim_at
from runtime.callers.issuers.issuer import Issuer
from runtime.callers.issuers.records import RecordSearch, RecordSource, is_linked, is_verified
from runtime.callers.refusals import RefusedCaller, without_record
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem

logger = logging.getLogger("portico.issuers")

_HOUR = dt.timedelta(hours=1)


class Registration(models.Model):
    """The record that was registered for a caller of an issuer.

    With `done`, the platform has the record, or the link to it.
    """

    issuer = models.CharField(_("issuer"), max_length=500)
    subject = models.CharField(_("subject"), max_length=255)
    entity = models.CharField(_("entity"), max_length=128)
    record = models.UUIDField(_("record"))
    linked = models.BooleanField(_("linked"), default=False)
    done = models.BooleanField(_("done"), default=False)
    made_at = models.DateTimeField(_("registered"), auto_now_add=True)

    class Meta:
        verbose_name = _("registration")
        verbose_name_plural = _("registrations")
        ordering = ("-made_at",)
        default_permissions = ("view", "delete")
        constraints = (
            models.UniqueConstraint(fields=("issuer", "subject"), name="registration_of_subject"),
            models.UniqueConstraint(fields=("entity", "record"), name="registration_of_record"),
        )
        indexes = (models.Index(fields=("issuer", "made_at"), name="registration_made_at"),)

    def __str__(self) -> str:
        return f"{self.issuer}: {self.entity} {self.record}"


class Registrar(Protocol):
    """Runs a Create endpoint for a caller. The runtime's serving floor implements it, above this one."""

    def create(self, endpoint: str, inputs: Mapping[str, Any], record: Guid, caller: Caller) -> None:
        """Create the record with the id `record`. Do nothing when it exists already.

        Raises Problem, PlatformError, and LookupError where there is no such endpoint.
        """
        ...


_registrar: Registrar | None = None


def provide(registrar: Registrar) -> None:
    """Set the registrar that runs endpoints. Called once, at start."""
    global _registrar
    _registrar = registrar


def find_registered(issuer: Issuer, claims: Claims, source: RecordSource) -> RecordSearch | None:
    """Return the record that was registered for the caller earlier, as the platform has it; None without
    one.
    """
    row = Registration.objects.filter(issuer=issuer.name, subject=claims["sub"], done=True).first()
    if row is None or row.entity != source.entity:
        return None
    return source.find_by_id(str(row.record), issuer.record_columns)


def register(issuer: Issuer, claims: Claims, source: RecordSource, platform: Platform) -> Guid:
    """Register the caller, and return the id of its record. Raises RefusedCaller, and PlatformFailure."""
    definition = issuer.definition
    rules = definition.record.registration
    row = Registration.objects.filter(issuer=issuer.name, subject=claims["sub"]).first()
    if row is None:
        _check_limit(issuer, rules)
        row = _new_row(issuer, claims, source)
    elif row.done:
        return _registered_record(row, issuer, source)
    try:
        if row.linked:
            _link(row, definition, claims, platform)
        else:
            _create(row, issuer, claims)
    except (Problem, LookupError, Misconfigured, PlatformError) as error:
        if isinstance(error, PlatformFailure | RefusedCaller):
            raise
        logger.warning(
            "A caller could not be registered: %s",
            error.code if isinstance(error, Problem) else for_log(error),
            extra={"issuer": issuer.name, "endpoint": rules.endpoint},
        )
        raise without_record(issuer.name, definition.record.type, "registration_failed") from error
    Registration.objects.filter(pk=row.pk).update(done=True)
    logger.info("A caller was registered.", extra={"issuer": issuer.name, "linked": row.linked})
    return str(row.record)


def foreseen_record(issuer: Issuer, claims: Claims, source: RecordSource) -> Guid | None:
    """Return the id of the record that `register` would give to the caller; None when the endpoint would
    create one.

    Writes nothing. Raises RefusedCaller when the caller would be refused before the endpoint is run.
    """
    row = Registration.objects.filter(issuer=issuer.name, subject=claims["sub"]).first()
    if row is None:
        _check_limit(issuer, issuer.definition.record.registration)
        return _record_to_link_or_create(issuer, claims, source)
    if row.done:
        return _registered_record(row, issuer, source)
    # A registration that has begun and not ended. A record to link exists already; the id of a record to
    # create is only reserved.
    return str(row.record) if row.linked else None


def inputs_and_caller(issuer: Issuer, claims: Claims) -> tuple[dict[str, Any], Caller]:
    """Return the inputs for the Create endpoint, and the caller that it runs as. A missing claim gives no
    input.
    """
    values_by_input = {
        rule.input: claim_at(claims, rule.claim) for rule in issuer.definition.record.registration.inputs
    }
    caller = Caller(
        issuer=issuer.name, subject=claims["sub"], type=issuer.definition.record.type, claims=claims
    )
    return {name: value for name, value in values_by_input.items() if value is not None}, caller


def _registered_record(row: Registration, issuer: Issuer, source: RecordSource) -> Guid:
    """Return the record of a registration that is done. Raises RefusedCaller when the record is gone or
    inactive.

    This process found no record for the caller before. So either another process has registered the caller
    since then, or somebody has deleted the record. A deleted record is not created again.
    """
    search = source.find_by_id(str(row.record), issuer.record_columns)
    if row.entity != source.entity or not search.rows:
        raise without_record(issuer.name, issuer.definition.record.type, "record_gone")
    if search.is_inactive:
        raise without_record(issuer.name, issuer.definition.record.type, "record_inactive")
    return str(row.record)


def _check_limit(issuer: Issuer, rules: RegistrationDefinition) -> None:
    """Raise RefusedCaller when as many callers have registered within an hour as the rules allow."""
    since = dt.datetime.now(dt.UTC) - _HOUR
    # All tenants of a template count together: the limit keeps callers from filling the platform.
    recent = Registration.objects.filter(issuer__in=issuer.definition.names, made_at__gt=since)
    if recent.count() >= rules.an_hour:
        raise without_record(issuer.name, issuer.definition.record.type, "registration_limit")


def _new_row(issuer: Issuer, claims: Claims, source: RecordSource) -> Registration:
    """Insert the row of a caller, with the record to link or the id of the record to create. Return it, or
    the row that another request of the caller has inserted meanwhile. Raises RefusedCaller.
    """
    record = _record_to_link_or_create(issuer, claims, source)
    row = Registration(
        issuer=issuer.name,
        subject=claims["sub"],
        entity=source.entity,
        record=record or new_guid(),
        linked=record is not None,
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        # Another request of the same caller was first, or another caller has just been given the record.
        stored_row = Registration.objects.filter(issuer=row.issuer, subject=row.subject).first()
        if stored_row is None:
            raise without_record(issuer.name, issuer.definition.record.type, "record_taken") from None
        return stored_row
    return row


def _record_to_link_or_create(issuer: Issuer, claims: Claims, source: RecordSource) -> Guid | None:
    """Return the id of the existing record to link to the caller; None when the endpoint has to create one.

    Raises RefusedCaller when several records match, and when a record has to be created but no endpoint does
    it.
    """
    record = _record_to_link(issuer, claims, source)
    if record is None and not issuer.definition.record.registration.endpoint:
        raise without_record(issuer.name, issuer.definition.record.type, "no_record")
    return record


def _record_to_link(issuer: Issuer, claims: Claims, source: RecordSource) -> Guid | None:
    """Return the id of the existing record to link to the caller; None when a record has to be created.

    Raises RefusedCaller when several records match.
    """
    definition, rules = issuer.definition.record, issuer.definition.record.registration
    if not rules.link_claim or len(issuer.definition.names) != 1:
        return None
    value = claim_at(claims, rules.link_claim)
    if not isinstance(value, str) or not value or not is_verified(claims, rules.link_verified):
        return None
    search = source.find_by_value(rules.link_attribute, value, (definition.attribute,), ignore_case=True)
    # Inactive ones are nobody's: they may be what duplicates were merged from.
    open_rows = [row for position, row in enumerate(search.rows) if position not in search.inactive]
    if len(open_rows) > 1:
        raise without_record(issuer.name, definition.type, "several_records")
    if not open_rows or is_linked(open_rows[0], definition.attribute):
        return None
    record = str(open_rows[0][search.primary_id])
    is_taken = Registration.objects.filter(entity=source.entity, record=record).exists()
    return None if is_taken else record


def _link(row: Registration, definition: IssuerDefinition, claims: Claims, platform: Platform) -> None:
    """Write the claim that identifies the caller into the record, so that it is found by the claim from now
    on.
    """
    record_definition = definition.record
    value = claim_at(claims, record_definition.claim)
    if record_definition.attribute and isinstance(value, str):
        platform.update(row.entity, str(row.record), {record_definition.attribute: value})


def _create(row: Registration, issuer: Issuer, claims: Claims) -> None:
    """Let the configured endpoint create the record of a caller. Raises what the registrar raises."""
    if _registrar is None:
        raise RuntimeError("nobody has been provided to run endpoints")
    inputs, caller = inputs_and_caller(issuer, claims)
    _registrar.create(issuer.definition.record.registration.endpoint, inputs, str(row.record), caller)

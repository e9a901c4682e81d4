"""Who could call an endpoint that writes when it was last enabled. No part of the configuration."""

from __future__ import annotations

from django.db import models

from designer.names import TYPES_BEFORE_TYPES


class EnabledAccess(models.Model):
    """Who could call when an endpoint or path was last enabled, and which records those callers reached.

    `roles` holds pairs of a role's row id and its name: a renamed role has other callers. `caller_types` are
    names, which never change. `creates_outside_row_rule`: callers could make records that they may not reach.
    `reaches_all_records`: no row rule of the entity or of the endpoint hid records from any caller.
    `all_records_roles`: the roles, as in `roles`, whose callers reached every record although others did not.
    Both are None where this was not noted.
    """

    authentication_required = models.BooleanField()
    roles = models.JSONField(default=list)
    caller_types = models.JSONField(default=list, db_default=TYPES_BEFORE_TYPES)
    creates_outside_row_rule = models.BooleanField(default=False)
    reaches_all_records = models.BooleanField(null=True, default=None)
    all_records_roles = models.JSONField(null=True, default=None)

    class Meta:
        abstract = True


class EndpointAccess(EnabledAccess):
    """The access of an endpoint, by its row id, which is never given twice: it holds whatever its path
    becomes.
    """

    endpoint = models.BigIntegerField(unique=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"endpoint {self.endpoint}"


class PathAccess(EnabledAccess):
    """The access of one method of a path: it holds for any endpoint that is made there later."""

    method = models.CharField(max_length=10)
    path = models.CharField(max_length=400)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=("method", "path"), name="designer_pathaccess_place")]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

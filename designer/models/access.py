"""Who could call an endpoint that writes when it was last enabled. No part of the configuration."""

from __future__ import annotations

from django.db import models


class EnabledAccess(models.Model):
    """`roles` holds pairs of a role's row id and its name: a renamed role has other callers.

    `creates_outside_row_rule`: its callers could make records that they may not reach.
    """

    authentication_required = models.BooleanField()
    roles = models.JSONField(default=list)
    creates_outside_row_rule = models.BooleanField(default=False)

    class Meta:
        abstract = True


class EndpointAccess(EnabledAccess):
    """Of an endpoint, by its row's id, which is never given twice: it holds whatever its path becomes."""

    endpoint = models.BigIntegerField(unique=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"endpoint {self.endpoint}"


class PathAccess(EnabledAccess):
    """Of one method of a path: it holds whichever endpoint is made there later."""

    method = models.CharField(max_length=10)
    path = models.CharField(max_length=400)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=("method", "path"), name="designer_pathaccess_place")]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

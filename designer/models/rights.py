"""Permissions of the studio that belong to no table."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class StudioRights(models.Model):
    """No table: only the permissions."""

    class Meta:
        managed = False
        default_permissions = ()
        verbose_name = _("studio rights")
        permissions = (
            ("restore", _("Can restore versions and releases")),
            ("import_configuration", _("Can import a configuration")),
            ("change_write_access", _("Can change who may call endpoints that write")),
            ("refresh_metadata", _("Can fetch the platform's metadata anew")),
            ("call_for_real", _("Can try endpoints and run queries for real")),
        )

    def __str__(self) -> str:
        return str(self._meta.verbose_name)

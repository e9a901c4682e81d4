"""Calls that were tried for real: each is made once, and its answer can be looked at again for a while."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models.fields import ExactJSONDecoder, ExactJSONEncoder


class TriedCall(models.Model):
    """One call, by the token of the form that it was sent with. Whoever makes the row makes the call.

    `account` is a user name, `endpoint` a row id. `sent` is the form as it was sent, encoded as in a URL;
    `files` names its files with their sizes in bytes. `outcome` is null until the call has ended.
    """

    token = models.UUIDField(primary_key=True)
    account = models.CharField(max_length=150)
    endpoint = models.BigIntegerField()
    made_at = models.DateTimeField(_("made at"), auto_now_add=True, db_index=True)
    sent = models.TextField()
    files = models.TextField(blank=True)
    outcome = models.JSONField(null=True, encoder=ExactJSONEncoder, decoder=ExactJSONDecoder)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.token)

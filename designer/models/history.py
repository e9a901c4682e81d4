"""Versions of the configuration: an append-only log, and the state that it has come to."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models.fields import ExactJSONDecoder, ExactJSONEncoder


class Version(models.Model):
    """One change of the configuration, made by one save, import, restore or command.

    `account` is a name and no reference, because accounts may be deleted.
    """

    class Origin(models.TextChoices):
        START = "start", _("As it was when versions began")
        STUDIO = "studio", _("Studio")
        IMPORT = "import", _("Import")
        RESTORE = "restore", _("Restore")
        COMMAND = "command", _("Command")
        PROPOSAL = "proposal", _("Proposal")
        OUTSIDE = "outside", _("Outside the studio")

    made_at = models.DateTimeField(_("made at"), auto_now_add=True, db_index=True)
    account = models.CharField(_("account"), max_length=150, blank=True)
    origin = models.CharField(_("origin"), max_length=20, choices=Origin.choices)
    note = models.CharField(_("note"), max_length=500, blank=True)
    effect = models.CharField(_("effect"), max_length=20)

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ("-id",)
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"#{self.pk}"


class ItemChange(models.Model):
    """The change of one item of the document by one version: JSON forms, null where the item
    does not exist.
    """

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="changes")
    collection = models.CharField(max_length=40)
    key = models.CharField(max_length=400)
    before = models.JSONField(null=True, encoder=ExactJSONEncoder, decoder=ExactJSONDecoder)
    after = models.JSONField(null=True, encoder=ExactJSONEncoder, decoder=ExactJSONDecoder)

    class Meta:
        ordering = ("id",)
        default_permissions = ()
        indexes = [models.Index(fields=("collection", "key"), name="designer_itemchange_key")]

    def __str__(self) -> str:
        return f"{self.collection} {self.key}"


class RecordedItem(models.Model):
    """One item as the last version left it.

    `facts`: the platform's metadata about it when it was recorded.
    """

    collection = models.CharField(max_length=40)
    key = models.CharField(max_length=400)
    digest = models.CharField(max_length=64)
    content = models.JSONField(encoder=ExactJSONEncoder, decoder=ExactJSONDecoder)
    facts = models.JSONField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=("collection", "key"), name="designer_recordeditem_key")
        ]

    def __str__(self) -> str:
        return f"{self.collection} {self.key}"


class RecordedRevision(models.Model):
    """The one row: the configuration's revision that the last version left."""

    number = models.BigIntegerField(default=0)
    token = models.CharField(max_length=40, default="")

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"revision {self.number}"

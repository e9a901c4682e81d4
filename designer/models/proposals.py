"""Protections, and proposals: changes that wait until somebody publishes them."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models.fields import ExactJSONDecoder, ExactJSONEncoder

# The levels of protection, as the audit log and the page of them say.
FREE, PROTECTED, APPROVED = "free", "protected", "approved"


class Protection(models.Model):
    """What `group` serves changes only by a proposal.

    `group` is the segment of a module; empty: everything. Protections belong to this system, and are no part
    of documents.
    """

    group = models.CharField(max_length=63, unique=True, blank=True)
    needs_approval = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ("group",)
        default_permissions = ("change",)

    def __str__(self) -> str:
        return self.group or str(_("everything"))

    @property
    def level(self) -> str:
        return APPROVED if self.needs_approval else PROTECTED


class Proposal(models.Model):
    """A change of the configuration that waits until somebody publishes it.

    `document` is what is proposed, `base` what it started from: JSON of the whole configuration or, with
    `module`, of that module and the roles that it names. `digest` is that of `base`. `approved` is the digest
    of what was approved: an approval does not count for later changes. Accounts are names, because they may
    be deleted. `editors` are the accounts that have ever edited the proposal, whatever has become of their
    edits. `version` is the version that publishing made. `named` holds what the document has from values
    of the environment. `reading_digest` is the SHA-256 of the secret with which applications read the
    proposed configuration; empty while nobody has asked for one. `earlier` is the JSON of what the last edit
    replaced, to undo it; empty before the first one.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        APPROVED = "approved", _("Approved")
        PUBLISHED = "published", _("Published")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        GONE_BACK = "gone-back", _("Taken back")

    title = models.CharField(_("title"), max_length=200)
    description = models.TextField(_("description"), blank=True)
    state = models.CharField(
        _("state"), max_length=20, choices=State.choices, default=State.OPEN, db_index=True
    )
    module = models.CharField(_("module"), max_length=63, blank=True)
    base = models.TextField(editable=False)
    document = models.TextField(editable=False)
    digest = models.CharField(max_length=64, editable=False)
    named = models.JSONField(default=dict, encoder=ExactJSONEncoder, decoder=ExactJSONDecoder)
    reading_digest = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    earlier = models.TextField(blank=True, default="", db_default="", editable=False)
    account = models.CharField(_("opened by"), max_length=150, blank=True)
    opened_at = models.DateTimeField(_("opened at"), auto_now_add=True)
    edited_by = models.CharField(_("edited by"), max_length=150, blank=True)
    edited_at = models.DateTimeField(_("edited at"), auto_now_add=True)
    editors = models.JSONField(default=list, db_default=[], editable=False)
    approved = models.CharField(max_length=64, blank=True)
    approved_by = models.CharField(_("approved by"), max_length=150, blank=True)
    closed_by = models.CharField(_("closed by"), max_length=150, blank=True)
    closed_at = models.DateTimeField(_("closed at"), null=True)
    version = models.BigIntegerField(null=True)

    class Meta:
        verbose_name = _("proposal")
        verbose_name_plural = _("proposals")
        ordering = ("-id",)
        default_permissions = ("view", "add")
        permissions = (
            ("approve_proposal", _("Can approve proposals")),
            ("publish_proposal", _("Can publish proposals and take them back")),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.title}".strip()

    @property
    def authors(self) -> frozenset[str]:
        """The accounts that have opened or edited the proposal. Empty for an account that is unknown."""
        # A release that does not know `editors` may have stored the last edit.
        return frozenset((self.account, self.edited_by, *self.editors))

    @property
    def is_open(self) -> bool:
        """Whether the proposal may still be edited, published or withdrawn."""
        return self.state in (self.State.OPEN, self.State.APPROVED)

"""The tables of the service as a whole: a remote platform's metadata, and which process does which job."""

from __future__ import annotations

from django.db import models


class Organisation(models.Model):
    """A remote platform by the digest of its URL. `revision` changes with every refresh that brings news."""

    digest = models.CharField(max_length=64, primary_key=True)
    revision = models.CharField(max_length=32)
    refreshed = models.DateTimeField(null=True)

    class Meta:
        db_table = "portico_organisation"

    def __str__(self) -> str:
        return self.digest


class MetadataDocument(models.Model):
    """One document of an organisation's metadata, as `crmclient.dataverse.metadata` writes it."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    content = models.TextField()

    class Meta:
        db_table = "portico_metadata_document"
        constraints = [
            models.UniqueConstraint(fields=["organisation", "name"], name="portico_metadata_document_name")
        ]

    def __str__(self) -> str:
        return self.name


class MetadataRefresh(models.Model):
    """The last refresh of the metadata that somebody asked for in the studio. There is one row at most.

    `holder` has the claim to the job while the refresh runs; without that claim, and without `ended`, its
    process is gone. `asked` are the keys of the parts that the platform is being asked for; `done` of `total`
    parts have come. `outcome` is what `project.refresh_runs` writes at the end.
    """

    id = models.PositiveSmallIntegerField(primary_key=True)
    holder = models.CharField(max_length=32)
    account = models.CharField(max_length=150)
    address = models.CharField(max_length=45)
    started = models.DateTimeField()
    asked = models.JSONField(default=list)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    ended = models.DateTimeField(null=True)
    outcome = models.JSONField(null=True)

    class Meta:
        db_table = "portico_metadata_refresh"

    def __str__(self) -> str:
        return f"{self.account}: {self.started}"


class Claim(models.Model):
    """A job that one process at a time does: `holder` has it until `until`."""

    name = models.CharField(max_length=40, primary_key=True)
    holder = models.CharField(max_length=32, default="")
    until = models.DateTimeField()

    class Meta:
        db_table = "portico_claim"

    def __str__(self) -> str:
        return self.name

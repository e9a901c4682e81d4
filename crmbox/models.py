"""The engine's own tables. An entity's records are in a table of its own, which the engine makes itself."""

from __future__ import annotations

from django.db import models


class Revision(models.Model):
    """The one row that every unit of work reads and every write changes.

    `metadata_token` is random: after a rolled-back change, the number may come again with other content.
    """

    id = models.SmallIntegerField(primary_key=True)
    metadata_number = models.BigIntegerField(default=0)
    metadata_token = models.CharField(max_length=32)
    row_version = models.BigIntegerField(default=0)

    class Meta:
        db_table = "crm_revision"

    def __str__(self) -> str:
        return self.metadata_token


class Definition(models.Model):
    """One entity (with its attributes, keys and relationships) or one global option set, as JSON.

    `token` is that of the metadata change which wrote it: a process reads again only definitions with another
    token.
    """

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=10)
    name = models.CharField(max_length=128)
    token = models.CharField(max_length=32)
    document = models.TextField()

    class Meta:
        db_table = "crm_definition"
        constraints = [models.UniqueConstraint(fields=["kind", "name"], name="crm_definition_name")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class File(models.Model):
    """One file of a file or image column. It is `attached` when the record's column points at it."""

    id = models.CharField(max_length=36, primary_key=True)
    entity = models.CharField(max_length=128)
    record = models.CharField(max_length=36)
    attribute = models.CharField(max_length=128)
    attached = models.BooleanField(default=False)
    begun_at = models.DateTimeField()

    class Meta:
        db_table = "crm_file"
        indexes = [
            models.Index(fields=["record"], name="crm_file_record"),
            models.Index(fields=["begun_at"], name="crm_file_unattached", condition=models.Q(attached=False)),
        ]

    def __str__(self) -> str:
        return self.id


class Deletion(models.Model):
    """A deleted record, which delta links of the Web API report for some days."""

    id = models.BigAutoField(primary_key=True)
    entity = models.CharField(max_length=128)
    record = models.CharField(max_length=36)
    row_version = models.BigIntegerField()
    deleted_at = models.DateTimeField()

    class Meta:
        db_table = "crm_deletion"
        indexes = [
            models.Index(fields=["entity", "row_version"], name="crm_deletion_entity"),
            models.Index(fields=["deleted_at"], name="crm_deletion_at"),
        ]

    def __str__(self) -> str:
        return f"{self.entity} {self.record}"


class Block(models.Model):
    """One block of a file's bytes, when files are kept in the database."""

    id = models.BigAutoField(primary_key=True)
    file = models.CharField(max_length=36)
    number = models.IntegerField()
    content = models.BinaryField()

    class Meta:
        db_table = "crm_file_block"
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="crm_file_block_number")]

    def __str__(self) -> str:
        return f"{self.file} {self.number}"

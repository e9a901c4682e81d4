"""The metadata of a remote platform in the service's own database."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Mapping, Sequence

from django.db import models, transaction

from project.models import MetadataDocument, Organisation


class DatabaseStore:
    """Implements `crmclient.dataverse.metadata.store.MetadataStore` for the organisation at `url`."""

    def __init__(self, url: str) -> None:
        self._organisation = hashlib.sha256(url.rstrip("/").lower().encode()).hexdigest()

    @property
    def revision_sql(self) -> str:
        """A scalar SQL expression for the result of `revision`; NULL before `revision` was first asked."""
        # The digest is made of hexadecimal digits alone.
        return f"(SELECT revision FROM portico_organisation WHERE digest = '{self._organisation}')"  # noqa: S608

    def revision(self) -> str:
        return self._organisation_row().revision

    def refreshed(self) -> dt.datetime | None:
        return self._organisation_row().refreshed

    def names(self) -> Sequence[str]:
        return list(self._documents().values_list("name", flat=True))

    def load(self, name: str) -> bytes | None:
        text = self._documents().filter(name=name).values_list("content", flat=True).first()
        return None if text is None else text.encode()

    def save(self, name: str, document: bytes) -> None:
        MetadataDocument.objects.update_or_create(
            organisation=self._organisation, name=name, defaults={"content": document.decode()}
        )

    def replace(self, documents: Mapping[str, bytes]) -> None:
        """Replace all documents, and begin a new revision."""
        with transaction.atomic():
            self._documents().delete()
            MetadataDocument.objects.bulk_create(
                MetadataDocument(organisation=self._organisation, name=name, content=content.decode())
                for name, content in documents.items()
            )
            self._note(revision=uuid.uuid4().hex)

    def confirm(self) -> None:
        """Note that the documents were found to be the present ones."""
        self._note()

    def _note(self, **changes: str) -> None:
        """Note the time of a refresh, and further `changes` of the organisation's row."""
        changed = {"refreshed": dt.datetime.now(dt.UTC), **changes}
        Organisation.objects.update_or_create(
            digest=self._organisation,
            defaults=changed,
            create_defaults={"revision": uuid.uuid4().hex, **changed},
        )

    def _organisation_row(self) -> Organisation:
        """Return the row of the organisation, which is created at first."""
        row, _ = Organisation.objects.get_or_create(
            digest=self._organisation, defaults={"revision": uuid.uuid4().hex}
        )
        return row

    def _documents(self) -> models.QuerySet[MetadataDocument]:
        return MetadataDocument.objects.filter(organisation=self._organisation)

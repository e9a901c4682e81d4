"""Importing a document: read, plan, apply, all or nothing."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from designer.documents.applying import apply
from designer.documents.plan import Plan, plan
from designer.documents.reading import read
from designer.documents.writing import export
from designer.loading import load


def import_document(raw: bytes, delete: Collection[str] = (), *, dry_run: bool = False) -> Plan:
    """Import, or only try to: a dry run does all of it and takes it back, so that it finds every problem.

    `delete` names the groups in which what the document lacks is removed. Raises DocumentError; nothing has
    changed then.
    """
    wanted = read(raw)
    with transaction.atomic():
        planned = plan(export(load()), wanted, delete)
        apply(planned, wanted)
        if dry_run:
            transaction.set_rollback(True)
    return planned

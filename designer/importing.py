"""Importing a document: read, plan, judge, apply, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection

from designer.definitions import ConfigurationDocument
from designer.documents.judging import Judgement, judge
from designer.documents.plan import Plan, plan
from designer.documents.reading import read
from designer.history.recording import Author
from designer.history.restoring import carry_out


def preview(raw: bytes, delete: Collection[str] = ()) -> Judgement:
    """What importing would lead to. Writes nothing and holds no lock.

    `delete` names the groups in which what the document lacks is removed. Raises DocumentError for what is no
    document.
    """
    return judge(_planned(read(raw), delete))


def import_document(
    raw: bytes, delete: Collection[str], author: Author, *, allow_broken: bool = False
) -> Judgement:
    """Make the configuration as the document says, as one version.

    Raises DocumentError; that is Refused where the document would bring in what cannot be served, and
    `allow_broken` does not say that it may. Nothing has changed then.
    """
    wanted = read(raw)
    return carry_out(_planned(wanted, delete), wanted, author, allow_broken=allow_broken)


def _planned(
    wanted: ConfigurationDocument, delete: Collection[str]
) -> Callable[[ConfigurationDocument], Plan]:
    return lambda now: plan(now, wanted, delete)

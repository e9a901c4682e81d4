"""Importing a document: read, plan, judge, apply, all or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from designer.definitions import ConfigurationDocument
from designer.documents.environment_values import Names
from designer.documents.folder_reading import read_folder
from designer.documents.judging import Judgement, judge
from designer.documents.plan import Plan, plan
from designer.documents.reading import read_named
from designer.environment import remember, supply
from designer.history.recording import Author
from designer.history.restoring import all_groups, carry_out


class Source(NamedTuple):
    """A document, and the groups in which what it lacks goes.

    `delete` names groups that there must be; `removes` some that there may be, None all of them.
    """

    document: ConfigurationDocument
    delete: Collection[str] = ()
    removes: Collection[str] | None = ()
    names: Names | None = None

    @classmethod
    def of_document(
        cls, raw: bytes, delete: Collection[str] = (), given: Mapping[str, str] | None = None
    ) -> Source:
        """Of a JSON document; `given` supplies values that it names. Raises DocumentError."""
        document, names = read_named(raw, supply(given))
        return cls(document, delete, names=names)

    @classmethod
    def of_folder(
        cls, folder: Path, delete: Collection[str] = (), given: Mapping[str, str] | None = None
    ) -> Source:
        """As `of_document`, of a folder. Raises OSError, too."""
        read = read_folder(folder, supply(given))
        return cls(read.document, delete, read.removes, read.names)

    def plan(self, now: ConfigurationDocument) -> Plan:
        """Raises DocumentError for a group of `delete` that does not exist."""
        groups = all_groups(now)
        removes = groups if self.removes is None else set(groups) & set(self.removes)
        return plan(now, self.document, {*self.delete, *removes})


def preview(raw: bytes, delete: Collection[str] = ()) -> Judgement:
    """What importing would lead to. Writes nothing and holds no lock.

    `delete` names the groups in which what the document lacks is removed. Raises DocumentError for what is no
    document.
    """
    return preview_source(Source.of_document(raw, delete))


def preview_source(source: Source) -> Judgement:
    """As `preview`, of a document that has been read."""
    return judge(source.plan, with_calls=True)


def import_document(
    raw: bytes,
    delete: Collection[str],
    author: Author,
    *,
    allow_broken: bool = False,
    allow_failing_calls: bool = False,
) -> Judgement:
    """Make the configuration as the document says, as one version.

    Raises DocumentError; that is Refused where the document would bring in what cannot be served or fail an
    example call, and neither `allow_broken` nor `allow_failing_calls` says that it may. Nothing has changed
    then.
    """
    return import_source(
        Source.of_document(raw, delete),
        author,
        allow_broken=allow_broken,
        allow_failing_calls=allow_failing_calls,
    )


def import_source(
    source: Source,
    author: Author,
    *,
    allow_broken: bool = False,
    allow_failing_calls: bool = False,
    expected_version: int | None = None,
) -> Judgement:
    """As `import_document`, of a document that has been read.

    Raises DocumentError also where the newest version is not `expected_version`: somebody has changed what
    the document was made for.
    """
    judged = carry_out(
        source.plan,
        source.document,
        author,
        allow_broken=allow_broken,
        with_calls=True,
        allow_failing_calls=allow_failing_calls,
        expected_version=expected_version,
    )
    if source.names is not None:
        remember(source.document, source.names.values, source.names.uses(source.document))
    return judged

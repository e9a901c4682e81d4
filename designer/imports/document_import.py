"""Importing a document: read, plan, judge, apply, all or nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from designer.definitions import ConfigurationDocument
from designer.documents.document_reader import read_named
from designer.documents.environment_values import Names
from designer.documents.folder_reader import read_folder
from designer.documents.judgement import Judgement, judge
from designer.documents.keys import COLLECTIONS, without_items
from designer.documents.plan import Change, Plan, plan
from designer.documents.problems import DocumentError, PartlyRead
from designer.history.items import ItemKey
from designer.history.recording import Author
from designer.history.restoration import all_groups, carry_out
from designer.imports.import_report import later_changes
from designer.imports.stored_values import remember, value_sources
from designer.platform import get_platform
from designer.readiness import Finding, Metadata
from designer.sentences import Sentence, at_place


class Source(NamedTuple):
    """A document to import, and the groups in which an import removes what the document lacks.

    The groups in `delete` must exist; those in `removes` need not. `removes` is None for all groups. The
    items in `keep` stay as they are, whatever the document says of them; None keeps all whose later changes
    the document would take back. Of the lists `unseen`, which whoever imports may not see, nothing is
    removed.
    """

    document: ConfigurationDocument
    delete: Collection[str] = ()
    removes: Collection[str] | None = ()
    names: Names | None = None
    keep: Collection[ItemKey] | None = ()
    unseen: Collection[str] = ()

    @classmethod
    def of_document(
        cls, raw: bytes, delete: Collection[str] = (), given: Mapping[str, str] | None = None
    ) -> Source:
        """Read a JSON document. `given` has the values that it names. Raises DocumentError."""
        with _adding_problems_of_rest():
            document, names = read_named(raw, value_sources(given))
        return cls(document, delete, names=names)

    @classmethod
    def of_folder(
        cls, folder: Path, delete: Collection[str] = (), given: Mapping[str, str] | None = None
    ) -> Source:
        """Read a folder as `of_document` reads a document. Also raises OSError."""
        with _adding_problems_of_rest():
            read = read_folder(folder, value_sources(given))
        return cls(read.document, delete, read.removes, read.names)

    def plan(self, now: ConfigurationDocument) -> Plan:
        """Return the plan that leads from `now` to the document.

        Raises DocumentError for a group of `delete` that does not exist.
        """
        groups = all_groups(now)
        removes = groups if self.removes is None else set(groups) & set(self.removes)
        full = plan(now, self.document, {*self.delete, *removes})
        full = replace(full, changes=tuple(map(self._without_removal_of_unseen, full.changes)))
        keep = self.keep
        if keep is None:
            keep = {undone.item for undone in later_changes(full)}
        return full.keeping(keep)

    def _without_removal_of_unseen(self, change: Change) -> Change:
        """Return the change or, if it removes an item of `unseen`, one that only mentions the item."""
        is_removal_of_unseen = change.after is None and change.collection.field in self.unseen
        return replace(change, confirmed=False) if is_removal_of_unseen else change


@contextmanager
def _adding_problems_of_rest() -> Iterator[None]:
    """Where a document can be read only in part, also report what is wrong with the part that was read.

    An author then sees all problems at once. Raises DocumentError with all of them.
    """
    try:
        yield
    except PartlyRead as error:
        raise DocumentError([*error.problems, *_problems_of_rest(error)]) from error


def _problems_of_rest(partly: PartlyRead) -> Iterator[str]:
    """Yield what is wrong with the part of a document that could be read."""
    metadata = Metadata(get_platform())
    for query in partly.queries:
        yield from query.unknown_names(metadata)
    try:
        judged = judge(lambda now: plan(now, partly.rest), with_calls=partly.is_as_meant, gaps=partly.gaps)
    except DocumentError as error:
        # Nothing can be judged beside what is configured now, which cannot be read either.
        yield from error.problems
        return
    yield from judged.problems
    yield from _findings_about(judged.blocking, partly.rest)
    yield from judged.failed_call_sentences()


def _findings_about(findings: Iterable[Finding], document: ConfigurationDocument) -> Iterator[Sentence]:
    """Yield the findings about items of the document, each with its place."""
    subjects = {collection.subject(key) for collection in COLLECTIONS for key in collection.items(document)}
    for finding in findings:
        if finding.subject in subjects:
            place = f"{finding.subject} {finding.field}".strip()
            yield at_place(place, finding.message)


def preview(raw: bytes, delete: Collection[str] = ()) -> Judgement:
    """Return what importing the document would lead to. Writes nothing and holds no lock.

    `delete` names the groups in which what the document lacks is removed. Raises DocumentError when the
    document cannot be read.
    """
    return preview_source(Source.of_document(raw, delete))


def preview_source(source: Source) -> Judgement:
    """Do as `preview`, for a document that has been read."""
    return judge(source.plan, with_calls=True)


def import_document(
    raw: bytes,
    delete: Collection[str],
    author: Author,
    *,
    allow_broken: bool = False,
    allow_failing_calls: bool = False,
) -> Judgement:
    """Make the configuration equal to the document, as one version.

    Raises DocumentError: Refused when the document would bring in what cannot be served (unless
    `allow_broken`) or fail an example call (unless `allow_failing_calls`). Nothing has changed then.
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
    """Do as `import_document`, for a document that has been read.

    Also raises DocumentError when the newest version is not `expected_version`: somebody has changed the
    configuration that the document was made for.
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
        _remember_names(source.document, source.names, judged.plan.kept)
    return judged


def _remember_names(document: ConfigurationDocument, names: Names, kept: Collection[Change]) -> None:
    """Store which values the import has taken from names. Items that stayed as they are keep theirs."""
    kept_items = {change.item for change in kept}
    uses = [use for use in names.uses(document) if (use.collection, use.key) not in kept_items]
    used_names = {use.name for use in uses}
    values = [value for value in names.values if value.name in used_names]
    remember(without_items(document, kept_items), values, uses)

"""Uploads and downloads: which files they mean."""

from __future__ import annotations

from designer.kinds.file_sizes import size_in_words
from designer.kinds.files import FileSettings, UploadSettings
from designer.readiness.registry import Found, blocking_of, warning_of
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@blocking_of(FileSettings, "file-column")
def files_are_somewhere(subject: EndpointSubject, settings: FileSettings) -> Found:
    """Find that the place of the files is not chosen, or does not exist: a file column, or the notes of the
    record.
    """
    if not subject.entity:
        return
    if settings.notes:
        if settings.attribute:
            yield _("Choose a file column or notes, not both."), "settings.attribute"
        entity = subject.metadata.entities().get(subject.entity)
        platform_has_notes = subject.metadata.conventions.notes is not None
        if entity is not None and not (entity.has_notes and platform_has_notes):
            yield _("%(entity)s has no notes on the platform.", entity=subject.entity), "settings.notes"
        return
    if not settings.attribute:
        yield _("Choose a file column, or notes."), "settings.attribute"
        return
    attribute = subject.metadata.attributes(subject.entity).get(settings.attribute)
    if not subject.lacks_entity and (attribute is None or not attribute.type.holds_file):
        yield (
            _(
                "%(entity)s has no file column “%(attribute)s”.",
                entity=subject.entity,
                attribute=settings.attribute,
            ),
            "settings.attribute",
        )


@warning_of(UploadSettings, "upload-size")
def the_platform_takes_the_size(subject: EndpointSubject, settings: UploadSettings) -> Found:
    """Find uploads that may be larger, in bytes, than the file column holds."""
    if not settings.attribute or not subject.entity:
        return
    attribute = subject.metadata.attributes(subject.entity).get(settings.attribute)
    if attribute is not None and attribute.max_size is not None and attribute.max_size < settings.max_size:
        yield (
            _(
                "“%(attribute)s” holds files of at most %(max_size)s.",
                max_size=size_in_words(attribute.max_size),
                attribute=settings.attribute,
            ),
            "settings.max_size",
        )

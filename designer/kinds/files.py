"""Files of a record: those of a file or image column, or the attachments of its notes."""

from __future__ import annotations

import re
from typing import Annotated, Any

from django.utils.translation import gettext_noop as _
from pydantic import Field, field_validator

from crmclient.query.other_attributes import AttributeChange, ChangedKeys
from designer.definition import SetOf
from designer.kinds.file_sizes import MEGABYTE, FileSize
from designer.kinds.operation_kind import STEPS, OperationKind, Place, Scope
from designer.kinds.pickers import FILE_COLUMN
from designer.kinds.settings import CachedSettings, EndpointSettings
from designer.sentences import Sentence

# As large as a file of Dataverse; how large one may be here is the operator's to say, with UPLOAD_LIMIT.
LARGEST_FILE = 10 * 1024 * MEGABYTE

_EXTENSION = re.compile(r"[a-z0-9][a-z0-9_+-]{0,19}")
_CONTENT_TYPE = re.compile(r"[a-z]+/(\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,99})")


class FileSettings(EndpointSettings):
    """The files of an endpoint: those of the column `attribute` or, with `notes`, the attachments of
    notes.
    """

    attribute: Annotated[str, FILE_COLUMN] = Field(
        "", title=_("File column"), description=_("The file or image column. Leave it empty for notes.")
    )
    notes: bool = Field(
        False,
        title=_("Notes"),
        description=_("Use the attachments of the record's notes instead of a column."),
    )

    @property
    def own_attributes(self) -> tuple[str, ...]:
        """The file column; none for notes."""
        return (self.attribute,) if self.attribute else ()

    def with_attribute(self, entity: str, change: AttributeChange) -> tuple[EndpointSettings, ChangedKeys]:
        """Return the settings with the file column after the change, and no changed keys of a query."""
        return self.model_copy(update={"attribute": change.name(entity, self.attribute)}), {}


class UploadSettings(FileSettings):
    """`max_size` is in bytes; empty lists allow any file.

    A file must satisfy both lists where both are given, by its name or declared type and by its content.
    """

    max_size: Annotated[int, FileSize()] = Field(
        10 * MEGABYTE,
        ge=1,
        le=LARGEST_FILE,
        title=_("Largest size"),
        description=_(
            "The largest file that callers may send, such as 10 MB or 500 KB. The setting "
            "UPLOAD_LIMIT limits all files."
        ),
    )
    extensions: SetOf[str] = Field(
        (),
        title=_("Extensions"),
        description=_(
            "The extensions that are allowed, separated by commas, such as pdf, docx. If you "
            "name none, all are allowed."
        ),
    )
    content_types: SetOf[str] = Field(
        (),
        title=_("Content types"),
        description=_(
            "The content types that are allowed, separated by commas, such as "
            "application/pdf, image/*. If you name none, all are allowed."
        ),
    )

    @property
    def writes_notes(self) -> bool:
        """Whether each file becomes a note about the record."""
        return self.notes

    @field_validator("extensions", mode="before")
    @classmethod
    def _check_extensions(cls, value: Any) -> Any:
        return _checked_words(
            value, _EXTENSION, _("“%(word)s” is not an extension, such as pdf"), leading="."
        )

    @field_validator("content_types", mode="before")
    @classmethod
    def _check_content_types(cls, value: Any) -> Any:
        return _checked_words(
            value, _CONTENT_TYPE, _("“%(word)s” is not a content type, such as application/pdf or image/*")
        )


class DownloadSettings(FileSettings, CachedSettings):
    @property
    def reads_notes(self) -> bool:
        """Whether answers are read from the notes about the record."""
        return self.notes

    @property
    def item(self) -> str:
        """The name of the path parameter for one of the listed files; empty where files have no paths."""
        # A column holds one file, which has no path of its own.
        return "fileId" if self.notes else ""


def _checked_words(value: Any, pattern: re.Pattern[str], refusal: str, leading: str = "") -> Any:
    """Return the texts in lower case, without `leading` at their beginning.

    Raises ValueError with `refusal`, about `%(word)s`, for a text that `pattern` does not match.
    """
    # What is no list of texts is left to pydantic, which refuses it.
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        return value
    words = tuple(text.strip().lower().removeprefix(leading) for text in value)
    for word in words:
        if not pattern.fullmatch(word):
            raise ValueError(Sentence(refusal, word=word))
    return words


UPLOAD = OperationKind(
    name="upload",
    label=_("Upload"),
    summary=_("Takes a file for a column of a record, or for a new note of it."),
    scope=Scope.ENTITY,
    methods=("POST",),
    path="/api/{module}/{segment}/{id}/files/{name}",
    settings=UploadSettings,
    takes_files=True,
    sections=STEPS,
    place=Place.FILES,
)

DOWNLOAD = OperationKind(
    name="download",
    label=_("Download"),
    summary=_(
        "Returns the file of a column of a record, or lists the files of the record's notes "
        "and returns each of them."
    ),
    scope=Scope.ENTITY,
    methods=("GET",),
    path="/api/{module}/{segment}/{id}/files/{name}",
    settings=DownloadSettings,
    sections=STEPS,
    place=Place.FILES,
)

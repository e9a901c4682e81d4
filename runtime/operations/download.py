"""Download: `GET /api/{module}/{endpoint}/{id}/files/{name}` → 200 or 206 bytes.

Of notes, that is a list, and `GET …/files/{name}/{fileId}` answers each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from django.http.response import HttpResponseBase
from django.utils.translation import gettext_noop

from crmclient import Platform
from designer.configuration import Endpoint
from designer.kinds.files import DownloadSettings
from runtime.files.download_answers import send_current, send_thumbnail
from runtime.files.stores import ColumnStore, NoteStore, store_of
from runtime.http.problems import FieldError
from runtime.http.query_string import invalid_parameters
from runtime.http.rendering import json_response, refuse_unacceptable
from runtime.operations.base import Description, Operation
from runtime.operations.message_language import language_parameter, read_parameters_and_language
from runtime.request_context import Exchange


class DownloadOperation(Operation):
    kind: ClassVar[str] = "download"
    answers_json: ClassVar[bool] = False

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.store = store_of(self.settings(DownloadSettings), endpoint, platform)
        self._sizes = _SIZES if isinstance(self.store, ColumnStore) and self.store.is_image else ()

    def run(self, exchange: Exchange) -> HttpResponseBase:
        """Answer the bytes of a file, the small copy of an image, or the list of a record's notes."""
        if self._wanted_size(exchange) == THUMBNAIL:
            return send_thumbnail(exchange, self.platform, self.store.find(exchange))
        if isinstance(self.store, NoteStore) and not exchange.file:
            refuse_unacceptable(exchange.request.META.get("HTTP_ACCEPT"))
            return json_response(self.store.attachments(exchange))
        return send_current(exchange, self.platform, self.store.find)

    def _wanted_size(self, exchange: Exchange) -> str:
        """Return which copy of an image the caller wants, one of `_SIZES`; empty for the image itself. Raises
        Problem 400.
        """
        names = (SIZE,) if self._sizes else ()
        size = read_parameters_and_language(self.endpoint.definition, exchange, names).get(SIZE, "")
        if size and size not in self._sizes:
            allowed = " or ".join(self._sizes)
            raise invalid_parameters([FieldError("not_allowed", f"Must be {allowed}.", parameter=SIZE)])
        return size

    def hold_back(self, silent: Platform, exchange: Exchange) -> None:
        super().hold_back(silent, exchange)
        # Which note is meant has to be looked up; a list of them is the answer itself.
        if isinstance(self.store, NoteStore) and not exchange.file:
            self.store = replace(self.store, platform=silent)

    def describe(self) -> Description:
        if isinstance(self.store, NoteStore):
            return Description(
                success=(200, {"type": "array", "items": _NOTE}, "The files of the record's notes."),
                parameters=language_parameter(self.endpoint.definition),
                headers=self.cache_headers(),
                problems=self.store.steps.problems(
                    {400: ("invalid_id", "invalid_parameter"), 422: ("too_many_records",)}
                ),
            )
        return self.describe_item()

    def describe_item(self) -> Description:
        return Description(
            success=(200, {"type": "string", "format": "binary"}, "The file."),
            media="*/*",
            others={206: "The range of it that was asked for."},
            parameters=(
                *_CONDITIONS,
                *((_SIZE,) if self._sizes else ()),
                *language_parameter(self.endpoint.definition),
            ),
            headers={
                **self.cache_headers(),
                "ETag": "Stands for the file's bytes.",
                "Content-Disposition": "Always an attachment, with the file's name.",
                "Accept-Ranges": "bytes",
            },
            problems=self.store.steps.problems(
                {
                    400: ("invalid_id", "invalid_parameter"),
                    416: ("range_not_satisfiable",),
                    502: ("file_lost",),
                }
            ),
        )


SIZE, THUMBNAIL = "size", "thumbnail"
_SIZES = ("full", THUMBNAIL)
_SIZE: dict[str, Any] = {
    "name": SIZE,
    "in": "query",
    "description": gettext_noop(
        "`thumbnail` for the image made small, whole: at most 144 pixels wide and high."
    ),
    "schema": {"type": "string", "enum": list(_SIZES), "default": "full"},
}
_NOTE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "fileName": {"type": "string"},
        "contentType": {"type": "string"},
        "size": {"type": "integer", "description": "In bytes."},
        "createdOn": {"type": "string", "format": "date-time"},
    },
    "required": ["id", "fileName", "contentType", "size", "createdOn"],
    "additionalProperties": False,
}
_CONDITIONS: tuple[dict[str, Any], ...] = (
    {
        "name": "Range",
        "in": "header",
        "description": gettext_noop("One range of bytes, answered with 206: bytes=0-1023"),
        "schema": {"type": "string"},
    },
    {
        "name": "If-Range",
        "in": "header",
        "description": gettext_noop("The ETag that the range is meant of; of another file, all is sent."),
        "schema": {"type": "string"},
    },
)

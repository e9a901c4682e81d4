"""Upload: `POST /api/{module}/{endpoint}/{id}/files/{name}`.

Answers 200 `{"id", "fileName", "contentType", "size"}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext_noop

from crmclient import Platform
from designer.configuration import Endpoint
from designer.kinds.file_sizes import size_in_words
from designer.kinds.files import UploadSettings
from runtime.files.allowed_files import Allowed
from runtime.files.stores import store_of
from runtime.files.upload_bodies import PART, receive
from runtime.http.rendering import json_response
from runtime.http.request_record import record_of
from runtime.operations.base import Description, Operation
from runtime.operations.message_language import language_parameter, read_parameters_and_language
from runtime.request_context import Exchange, ReceivedFile
from runtime.values.fields import Field


class UploadOperation(Operation):
    kind: ClassVar[str] = "upload"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        chosen = self.settings(UploadSettings)
        self.store = store_of(chosen, endpoint, platform)
        self.is_of_notes = chosen.notes
        limits = (chosen.max_size, settings.PORTICO["UPLOAD_LIMIT"], self.store.max_size)
        largest = min(limit for limit in limits if limit is not None)
        self.allowed = Allowed(largest, chosen.extensions, chosen.content_types)

    def run(self, exchange: Exchange) -> HttpResponse:
        """Store the file, and answer its id, name, type and size."""
        file = self._received(exchange)
        id = self.store.put(exchange, file)
        return json_response(
            {"id": id, "fileName": file.name, "contentType": file.content_type, "size": file.size}
        )

    def body_digest(self, exchange: Exchange) -> str:
        return self._received(exchange).digest

    def _received(self, exchange: Exchange) -> ReceivedFile:
        """Return the file in the body, which is read once.

        Receiving it does not use up the request's time: the deadline moves by as long as it takes. Raises
        Problem 400 for a wrong parameter or id in the address.
        """
        if exchange.received is None:
            # What is wrong in the address is refused before the sender has sent a large file in vain.
            read_parameters_and_language(self.endpoint.definition, exchange)
            exchange.check_record_id()
            with exchange.transfer():
                exchange.received = receive(exchange.request, self.allowed)
            record_of(exchange.request).uploaded = exchange.received.size
        return exchange.received

    def _sentences_about_files(self) -> Iterator[str]:
        """Yield sentences for the OpenAPI document about the files that are allowed."""
        yield f"At most {size_in_words(self.allowed.max_size)}."
        if self.allowed.extensions:
            yield f"Ends in .{', .'.join(self.allowed.extensions)}."
        if self.allowed.content_types:
            yield f"Of type {', '.join(self.allowed.content_types)}."

    def _file_field(self) -> Field:
        """Return the part of the form that holds the file, as an input of the endpoint."""
        return Field(
            name=PART,
            type="File",
            schema={"type": "string", "format": "binary", "maxLength": self.allowed.max_size},
            description=" ".join(self._sentences_about_files()),
            required=True,
        )

    def describe(self) -> Description:
        answer = {
            "type": "object",
            "properties": {
                "id": {"type": "string", "format": "uuid", "description": "The file's id."},
                "fileName": {"type": "string"},
                "contentType": {"type": "string"},
                "size": {"type": "integer", "description": "In bytes."},
            },
            "required": ["id", "fileName", "contentType", "size"],
            "additionalProperties": False,
        }
        return Description(
            success=(200, answer, "The file is stored."),
            fields=(self._file_field(),),
            # A body of bytes without a form is accepted, too, but not documented: generators of clients
            # cannot deal with two media types for one request.
            bodies={"multipart/form-data": _FORM},
            parameters=(
                *(() if self.is_of_notes else (_IF_MATCH,)),
                *language_parameter(self.endpoint.definition),
            ),
            problems=self.store.steps.problems(
                {
                    400: (
                        "malformed_body",
                        "invalid_file_name",
                        "invalid_id",
                        "invalid_parameter",
                        "invalid_if_match",
                    ),
                    **({} if self.is_of_notes else {409: ("state_conflict",), 412: ("version_mismatch",)}),
                    411: ("length_required",),
                    413: ("too_large",),
                    415: ("unsupported_file_type", "unsupported_encoding"),
                    422: ("platform_refused",),
                }
            ),
        )


_FORM = {
    "type": "object",
    "properties": {PART: {"type": "string", "format": "binary", "description": "The only part."}},
    "required": [PART],
    "additionalProperties": False,
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "description": gettext_noop(
        "The ETag of the file to take the place of, or `*` for any. Another file is 412."
    ),
    "schema": {"type": "string"},
}

"""The body of `POST /api/admin/proposals`, which opens a proposal."""

from __future__ import annotations

from typing import Any

import jiter
from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from designer.documents.document_reader import LARGEST_DOCUMENT
from designer.documents.problems import DocumentError
from designer.imports.document_import import Source
from designer.models import Proposal
from designer.proposals.new_proposals import open_copy, open_source
from runtime.http.bodies import escape, malformed, read_body, refuse_other_media
from runtime.http.problems import FieldError, Problem
from runtime.http.rendering import render


class NewProposal(BaseModel):
    """Of a `document`, removing what it lacks in the modules of `delete`; or a copy of the `module`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str = Field(min_length=1, max_length=200)
    description: str = ""
    module: str = ""
    document: dict[str, Any] | None = None
    delete: list[str] = Field(default_factory=list)

    @classmethod
    def of(cls, request: HttpRequest) -> NewProposal:
        """Read the proposal in a request's body.

        Raises Problem 400 `malformed_body`, `invalid_input` naming every wrong field, 411, 413, 415.
        """
        sent = _read(request)
        try:
            new = cls.model_validate(sent)
        except ValidationError as error:
            raise _invalid(_field_error(**detail) for detail in error.errors(include_url=False)) from error
        if (new.document is None) is not bool(new.module):
            raise _invalid(
                [FieldError("required", "Send either a document or the name of a module.", pointer="")]
            )
        if new.document is None and new.delete:
            raise _invalid(
                [FieldError("not_allowed", "Belongs to a document, which was not sent.", pointer="/delete")]
            )
        return new

    def open(self, account: str) -> Proposal:
        """Open the proposal in the name of `account`. Raises Problem 422 `invalid_document`."""
        texts = account, self.title, self.description
        try:
            if self.document is None:
                return open_copy(self.module, *texts)
            return open_source(Source.of_document(render(self.document), self.delete), *texts)
        except DocumentError as error:
            raise refused(error, "/module" if self.document is None else "/document") from error


def read_document(request: HttpRequest) -> bytes:
    """Return the whole body, which is a document. Raises Problem 400, 411, 413, 415."""
    refuse_other_media(request.META)
    return read_body(request, LARGEST_DOCUMENT)


def refused(error: DocumentError, pointer: str = "") -> Problem:
    """Return Problem 422 for a document that cannot be proposed."""
    errors = [FieldError("invalid_document", str(problem), pointer=pointer) for problem in error.problems]
    return Problem(422, "invalid_document", "The document cannot be proposed.", errors=errors)


def _read(request: HttpRequest) -> Any:
    raw = read_document(request)
    try:
        # Documents repeat a few thousand names.
        return jiter.from_json(raw, catch_duplicate_keys=True, cache_mode="none", float_mode="decimal")
    except ValueError as error:
        raise malformed(f"The body is not JSON as it should be: {error}.") from error


def _field_error(type: str, loc: tuple[int | str, ...], msg: str, **_: Any) -> FieldError:
    pointer = "".join(f"/{escape(str(step))}" for step in loc)
    if type == "extra_forbidden":
        return FieldError("unknown_property", "There is no such property.", pointer=pointer)
    if type == "missing":
        return FieldError("required", "Is required.", pointer=pointer)
    return FieldError("invalid_value", f"{msg}.", pointer=pointer)


def _invalid(errors: Any) -> Problem:
    return Problem(400, "invalid_input", "The input is not valid.", errors=tuple(errors))

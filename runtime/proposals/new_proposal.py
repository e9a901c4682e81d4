"""The body of `POST /api/admin/proposals`, which opens a proposal."""

from __future__ import annotations

from typing import Annotated, Any

import jiter
from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from designer.documents.document_reader import LARGEST_DOCUMENT
from designer.documents.problems import DocumentError
from designer.imports.document_import import Source
from designer.library_messages import problems_of, reason_of
from designer.models import Proposal
from designer.proposals.new_proposals import open_copy, open_source
from runtime.http.bodies import escape, malformed, read_body, refuse_other_media
from runtime.http.problems import FieldError, Problem
from runtime.http.rendering import render

_LONGEST = 200


class NewProposal(BaseModel):
    """The proposal to open: of a `document`, or of a copy of the module `module`.

    A document may also remove items: those of the modules in `delete` that it does not have.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST)]
    description: str = ""
    module: str = ""
    document: dict[str, Any] | None = None
    delete: list[str] = Field(default_factory=list)

    @classmethod
    def of(cls, request: HttpRequest) -> NewProposal:
        """Read the proposal in a request's body.

        Raises Problem 400 `malformed_body`, `invalid_input` naming every wrong field, 411, 413, 415.
        """
        sent = _read_json(request)
        try:
            new = cls.model_validate(sent)
        except ValidationError as error:
            raise _invalid_input(_field_error(detail) for detail in problems_of(error)) from error
        if with_nul := [name for name in ("title", "description") if "\0" in getattr(new, name)]:
            raise _invalid_input(
                FieldError("invalid_character", "Must not hold NUL characters.", pointer=f"/{name}")
                for name in with_nul
            )
        # Exactly one of the two has to be sent.
        if (new.document is None) is not bool(new.module):
            raise _invalid_input(
                [FieldError("required", "Send either a document or the name of a module.", pointer="")]
            )
        if new.document is None and new.delete:
            raise _invalid_input(
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
            raise refusal_of(error, "/module" if self.document is None else "/document") from error


def read_document(request: HttpRequest) -> bytes:
    """Return the whole body, which is a document. Raises Problem 400, 411, 413, 415."""
    refuse_other_media(request.META)
    return read_body(request, LARGEST_DOCUMENT)


def refusal_of(error: DocumentError, pointer: str = "") -> Problem:
    """Return Problem 422 for a document that cannot be proposed."""
    errors = [FieldError("invalid_document", str(problem), pointer=pointer) for problem in error.problems]
    return Problem(422, "invalid_document", "The document cannot be proposed.", errors=errors)


def _read_json(request: HttpRequest) -> Any:
    """Return the JSON of the body, with Decimal for numbers with a fraction. Raises Problem 400, 411, 413,
    415.
    """
    raw = read_document(request)
    try:
        # As in `read_object`: other modes would keep keys or texts of bodies in memory.
        return jiter.from_json(raw, catch_duplicate_keys=True, cache_mode="none", float_mode="decimal")
    except ValueError as error:
        raise malformed(f"The body is not JSON as it should be: {error}.") from error


def _field_error(detail: ErrorDetails) -> FieldError:
    """Return the error that pydantic reports of a field, in this service's words."""
    pointer = "".join(f"/{escape(str(step))}" for step in detail["loc"])
    match detail["type"]:
        case "extra_forbidden":
            return FieldError("unknown_property", "There is no such property.", pointer=pointer)
        case "missing":
            return FieldError("required", "Is required.", pointer=pointer)
        case "string_too_short" | "string_too_long":
            return FieldError("invalid_value", f"Must have 1 to {_LONGEST} characters.", pointer=pointer)
    reason = str(reason_of(detail))
    return FieldError("invalid_value", f"{reason[:1].upper()}{reason[1:]}.", pointer=pointer)


def _invalid_input(errors: Any) -> Problem:
    """Return the Problem 400 with these errors."""
    return Problem(400, "invalid_input", "The input is not valid.", errors=tuple(errors))

"""The small bodies of the token endpoints: a handful of texts, as JSON or as a form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import jiter
from django.http import QueryDict
from django.utils.http import parse_header_parameters
from rest_framework.request import Request

from runtime.problems import FieldError, Problem


@dataclass(frozen=True, slots=True)
class TextField:
    """A text that a body may hold; `longest` counts characters, `allowed` (if any) holds the only values."""

    name: str
    required: bool = True
    longest: int = 255
    allowed: tuple[str, ...] = ()

    def errors(self, values: Mapping[str, object]) -> Iterator[FieldError]:
        pointer = f"/{self.name}"
        value = values.get(self.name)
        if value is None or value == "":
            if self.required:
                yield FieldError("required", "This is required.", pointer)
        elif not isinstance(value, str):
            yield FieldError("wrong_type", "This must be a text.", pointer)
        elif len(value) > self.longest:
            yield FieldError("too_long", f"At most {self.longest} characters.", pointer)
        elif "\0" in value or _has_surrogate(value):
            yield FieldError("bad_characters", "This holds characters that no text may hold.", pointer)
        elif self.allowed and value not in self.allowed:
            yield FieldError("not_allowed", f"Allowed: {', '.join(self.allowed)}.", pointer)


def read_form(request: Request, fields: Sequence[TextField]) -> dict[str, str]:
    """The texts of the body by name. Raises Problem 400 naming all that is wrong, 415 for other types."""
    values, errors = _read(request)
    known = {field.name for field in fields}
    errors += [
        FieldError("unknown", "There is no such key here.", f"/{name}")
        for name in values
        if name not in known
    ]
    errors += [
        FieldError("unknown", "This takes no parameters.", parameter=name) for name in request.query_params
    ]
    for field in fields:
        errors.extend(field.errors(values))
    if errors:
        raise Problem(400, "invalid_input", "Some values are missing or wrong; see errors.", errors=errors)
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _read(request: Request) -> tuple[Mapping[str, object], list[FieldError]]:
    media_type, _ = parse_header_parameters(request.META.get("CONTENT_TYPE", ""))
    if media_type == "application/json":
        return _read_json(request.body), []
    if media_type == "application/x-www-form-urlencoded":
        form = QueryDict(request.body)
        repeated = [name for name, values in form.lists() if len(values) > 1]
        return form.dict(), [FieldError("repeated", "Give this once.", f"/{name}") for name in repeated]
    raise Problem(
        415, "unsupported_media_type", "Send application/json or application/x-www-form-urlencoded."
    )


def _read_json(body: bytes) -> Mapping[str, object]:
    try:
        value = jiter.from_json(body, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise Problem(400, "malformed_body", f"The body is not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise Problem(400, "malformed_body", "The body must be a JSON object.")
    return value


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)

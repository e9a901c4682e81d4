"""The bodies of the token endpoints: a few texts, as JSON or, as OAuth 2 libraries send them, as a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, QueryDict

from designer.definitions import InputDefinition
from designer.types import Limits
from runtime.http.bodies import malformed, read_body, read_object
from runtime.http.problems import FieldError
from runtime.http.query_string import read_parameters
from runtime.values.inputs import Inputs, invalid_input

FORM = "application/x-www-form-urlencoded"


def texts(*definitions: InputDefinition) -> Inputs:
    """Inputs that no attribute stands behind."""
    return Inputs(definitions, {defined.name: Limits.of(defined) for defined in definitions})


def read_form(request: HttpRequest, inputs: Inputs) -> Mapping[str, Any]:
    """The values of `inputs`. Raises Problem 400 naming all that is wrong, 413, 415."""
    read_parameters(request, ())
    is_form = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() == FORM
    return inputs.read(_fields(read_body(request)) if is_form else read_object(request))


def _fields(body: bytes) -> Mapping[str, str]:
    try:
        form = QueryDict(body.decode("ascii"))
    except UnicodeDecodeError as error:
        raise malformed("The form is not URL-encoded.") from error
    errors = [
        FieldError("repeated_key", "Must be given once.", pointer=f"/{name}")
        for name, values in form.lists()
        if len(values) > 1
    ]
    errors += [
        FieldError("invalid_character", "Must not hold NUL characters.", pointer=f"/{name}")
        for name, value in form.items()
        if "\0" in str(value)
    ]
    if errors:
        raise invalid_input(errors)
    return {name: str(value) for name, value in form.items()}

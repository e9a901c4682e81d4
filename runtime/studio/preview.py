"""Shows an endpoint as its callers would find it, without serving it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext

from crmclient.errors import PlatformError
from designer.configuration import Endpoint
from designer.platform import get_platform
from designer.platform_failures import failure_words
from designer.ports import CallField, Preview
from designer.sentences import said
from runtime.http.failures import Misconfigured
from runtime.http.rendering import render
from runtime.operations import OPERATIONS, Description
from runtime.studio.json_text import readable
from runtime.studio.samples import sample

_FILE = "application/octet-stream"


def preview(endpoint: Endpoint, base: str) -> Preview:
    """Compile the endpoint against the platform's metadata, as serving it would, and describe its calls.

    `base` is the address of the service. When the endpoint cannot be compiled, only `problem` is set.
    """
    if endpoint.problem is not None:
        return Preview(problem=said(endpoint.problem))
    try:
        described = OPERATIONS[endpoint.definition.kind](endpoint, get_platform()).describe()
    except PlatformError as error:
        return Preview(problem=failure_words(error))
    except (Misconfigured, ValueError) as error:
        return Preview(problem=said(str(error)))
    status, answer_schema, _ = described.success
    body_schema = described.body
    example = None if body_schema is None else sample(body_schema)
    return Preview(
        fields=tuple(_parameters(described)),
        body=readable(body_schema),
        sample=readable(example),
        status=status,
        answer=readable(answer_schema),
        answered="" if answer_schema is None else readable(sample(answer_schema)),
        # `bodies` are the request bodies that are not JSON: only uploads have them.
        takes_file=bool(described.bodies),
        curl=_curl(endpoint, base, described, example),
    )


def _parameters(described: Description) -> Iterator[CallField]:
    """Yield the values that a call takes: parameters first, then inputs in the body. Ids in the path are left
    out.
    """
    # Of a query, an input is one of the parameters, too. What is left of the inputs is sent in the body.
    inputs_by_name = {field.name: field for field in described.fields}
    for parameter in described.parameters:
        if parameter["in"] == "path":
            continue
        match = inputs_by_name.pop(parameter["name"], None)
        yield CallField(
            name=parameter["name"],
            place="header" if parameter["in"] == "header" else "query",
            schema=parameter.get("schema", {}),
            type=match.type if match else "",
            required=bool(parameter.get("required")),
            description=parameter.get("description", "") if match else _said(parameter),
        )
    for field in inputs_by_name.values():
        yield CallField(
            name=field.name,
            place="body",
            schema=field.schema,
            type=field.type,
            required=field.required,
            description=field.description,
        )


def _said(parameter: Mapping[str, Any]) -> str:
    """Return what the service's own parameter is for, in the reader's language. Documents have English."""
    text = parameter.get("description", "")
    # Without a text, gettext returns the head of the catalogue.
    return gettext(text) if text else ""


def _curl(endpoint: Endpoint, base: str, described: Description, example: Any) -> str:
    """Return a command line that calls the endpoint with example values."""
    method = endpoint.methods[0]
    query = {
        parameter["name"]: _query_value(sample(parameter.get("schema", {}), parameter["name"]))
        for parameter in described.parameters
        if parameter["in"] == "query" and parameter.get("required")
    }
    # Ids and keys are variables of the shell: nobody knows here which record is meant.
    path = endpoint.path.replace("{id}", "$ID").replace("{relatedId}", "$RELATED_ID")
    path = path.replace("{value}", "$VALUE")
    url = f"{base}{path}" + (f"?{urlencode(query)}" if query else "")
    parts = [f"curl -i -X {method} {_quoted(url)}"]
    if endpoint.definition.access.authentication_required:
        parts.append('-H "Authorization: Bearer $TOKEN"')
    if described.bodies:
        parts += [f"-H 'Content-Type: {_FILE}'", "-H 'Content-Disposition: attachment; filename=\"a.pdf\"'"]
        parts.append("--data-binary @a.pdf")
    elif example is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(render(example).decode())}"]
    return " \\\n  ".join(parts)


def _query_value(value: Any) -> str:
    """Return a value as it stands in a query string: the items of a list are separated by commas."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _quoted(url: str) -> str:
    """Return the URL in double quotes, in which a shell still replaces `$ID`.

    Segments have no other character that means something to a shell.
    """
    return f'"{url}"'

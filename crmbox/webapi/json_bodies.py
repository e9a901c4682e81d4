"""JSON of requests and answers, without loss: see `crmclient.exact_json`."""

from __future__ import annotations

from typing import Any

from crmbox.webapi.errors import bad_payload
from crmclient import exact_json


def parse(raw: bytes) -> Any:
    """Fractions become Decimal. Raises WebApiError for what is not JSON."""
    try:
        return exact_json.parse(raw)
    except ValueError as error:
        raise bad_payload(f"The body is not JSON: {error}") from None


def parse_object(raw: bytes) -> dict[str, Any]:
    """A JSON object. Raises WebApiError for anything else."""
    value = parse(raw)
    if not isinstance(value, dict):
        raise bad_payload("The body must be a JSON object.")
    return value

"""What a browser sends of the forms on the pages of a running server."""

from __future__ import annotations

import requests
from lxml import html


def sent_form(page: requests.Response, field: str, **given: str) -> dict[str, str]:
    """The values of the form of `page` that has `field`, with what was `given`."""
    document = html.document_fromstring(page.text)
    forms: list[html.FormElement] = document.forms  # type: ignore[attr-defined]  # not in the stubs
    (form,) = (form for form in forms if {"csrfmiddlewaretoken", field} <= set(form.fields))
    return dict(form.form_values()) | given

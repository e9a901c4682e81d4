"""Whether the problem that an endpoint answers is among those that OpenAPI names for it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.db import DatabaseError

from crmclient.errors import PlatformError


def judge_problem(answer: Any) -> None:
    """Fail for a status or code that is not documented. An endpoint that cannot be described has none."""
    # Not at the top: pytest loads this module with its plugins, before there are applications.
    from runtime.describe.documentation import documentation_of, refusals
    from runtime.http.problems import CONTENT_TYPE
    from runtime.http.request_record import record_of
    from runtime.serving.served import current

    if answer.headers.get("Content-Type") != CONTENT_TYPE:
        return
    key, code = record_of(answer.wsgi_request).endpoint, answer.json()["code"]
    # Where the platform or the database is away, nobody can say what is documented.
    with suppress(PlatformError, DatabaseError):
        served = current()
        for id, endpoint in served.configuration.endpoints.items():
            view: Any = served.view(id) if endpoint.definition.key == key else None
            operation = view and view.initkwargs.get("operation")
            if operation is None:
                continue
            descriptions = [operation.describe()]
            if endpoint.item_path is not None:
                descriptions.append(operation.describe_item())
            documented = [refusals(documentation_of(endpoint), one) for one in descriptions]
            codes = {named for one in documented for named in one.get(answer.status_code, ())}
            assert code in codes, (key, answer.status_code, code)

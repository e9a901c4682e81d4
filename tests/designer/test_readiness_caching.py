"""Cached answers that are not cached as somebody may think."""

from __future__ import annotations

import pytest

from designer.readiness import check
from tests.designer.judged import action, configured, create, metadata


@pytest.mark.parametrize(
    ("cache", "expression", "finding"),
    [
        ({"stale_seconds": 60}, "record.name", ("cache-off", "settings.cache.stale_seconds")),
        ({"seconds": 60}, "now", ("cache-now", "columns.c.expression")),
        ({"seconds": 60}, "today()", ("cache-now", "columns.c.expression")),
        ({"seconds": 60, "stale_seconds": 60}, "record.name", None),
        ({}, "now", None),
        ({"downstream": True}, "record.name", ("cache-downstream", "settings.cache.downstream")),
        # Its callers need a token.
        (
            {"seconds": 60, "downstream": True},
            "record.name",
            ("cache-downstream", "settings.cache.downstream"),
        ),
    ],
)
def test_what_may_not_be_meant_is_a_warning(
    cache: dict[str, int], expression: str, finding: tuple[str, str] | None
) -> None:
    columns = ({"attribute": "name"}, {"name": "c", "expression": expression})
    judged = create(kind="read", inputs=(), bindings=(), columns=columns, settings={"cache": cache})
    findings = check(judged, configured(judged), metadata())
    cache_findings = [(one.rule, one.field) for one in findings if one.rule.startswith("cache-")]
    assert cache_findings == ([finding] if finding else [])


@pytest.mark.parametrize(("changes", "is_found"), [((), False), (("thing",), False), (("thingg",), True)])
def test_a_process_changes_entities_that_exist(changes: tuple[str, ...], is_found: bool) -> None:
    judged = action("Paint", settings={"process": "Paint", "changes": changes})
    findings = [one for one in check(judged, configured(judged), metadata()) if one.rule == "action-changes"]
    assert [one.field for one in findings] == (["settings.changes"] if is_found else [])

"""PostgreSQL: triggers fired once a statement, so that a bulk edit raises the revision once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from designer.triggers.tables import KEPT_CHANGES

_TRANSITIONS = {
    "insert": "REFERENCING NEW TABLE AS now",
    "update": "REFERENCING OLD TABLE AS before NEW TABLE AS now",
    "delete": "REFERENCING OLD TABLE AS before",
    "truncate": "",
}
_ROWS = {
    "insert": "SELECT {column} AS endpoint FROM now",
    "update": "SELECT {column} AS endpoint FROM before UNION SELECT {column} FROM now",
    "delete": "SELECT {column} AS endpoint FROM before",
}

# The row's lock orders writers, so numbers grow in the order of the commits.
_RAISE = f"""
CREATE OR REPLACE FUNCTION designer_note_revision(endpoints bigint[], part text)
RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
    raised designer_revision;
BEGIN
    INSERT INTO designer_revision (id, number, token) VALUES (1, 1, replace(gen_random_uuid()::text, '-', ''))
    ON CONFLICT (id) DO UPDATE SET number = designer_revision.number + 1, token = excluded.token
    RETURNING * INTO raised;
    IF cardinality(endpoints) > {KEPT_CHANGES} THEN
        endpoints := ARRAY[NULL];
    END IF;
    INSERT INTO designer_change (number, token, endpoint, part)
    SELECT raised.number, raised.token, noted, designer_note_revision.part FROM unnest(endpoints) AS noted;
    -- By revision: ids have gaps where transactions were rolled back.
    DELETE FROM designer_change WHERE number <= raised.number - {KEPT_CHANGES};
END
$body$"""  # noqa: S608  a number of ours


def statements(tables: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the statements that install the triggers, and raise the revision once.

    `tables`: for each table, the column with the id of an endpoint; None: a row may concern any endpoint.
    """
    yield _RAISE
    for table, column in tables.items():
        for event, transition in _TRANSITIONS.items():
            trigger = f"{table}_{event}_raises_revision"
            yield _trigger_function(trigger, event, table, column)
            yield f"DROP TRIGGER IF EXISTS {trigger} ON {table}"
            yield (
                f"CREATE TRIGGER {trigger} AFTER {event.upper()} ON {table} {transition} "
                f"FOR EACH STATEMENT EXECUTE FUNCTION {trigger}()"
            )
    # The function of release 0.2, which had no parts.
    yield "DROP FUNCTION IF EXISTS designer_raise_revision(bigint[])"
    yield "SELECT designer_note_revision(ARRAY[NULL]::bigint[], NULL)"


def _trigger_function(name: str, event: str, table: str, column: str | None) -> str:
    """Return the statement that makes the function of one trigger. The arguments are those of
    `_body_of_function`.
    """
    return f"""
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    endpoints bigint[];
BEGIN
    {_body_of_function(event, table, column)}
    RETURN NULL;
END
$body$"""


def _body_of_function(event: str, table: str, column: str | None) -> str:
    """Return the statements of a trigger that note which endpoints a statement has changed. `column` has an
    endpoint's id; None: the table concerns all.
    """
    if event == "truncate":
        return "PERFORM designer_note_revision(ARRAY[NULL]::bigint[], NULL);"
    part = "NULL" if column else f"'{table}'"
    rows = _ROWS[event].format(column=column or "NULL::bigint")
    return (
        f"SELECT array_agg(DISTINCT endpoint) INTO endpoints FROM ({rows}) AS rows;\n"  # noqa: S608  ours
        f"    IF endpoints IS NOT NULL THEN PERFORM designer_note_revision(endpoints, {part}); END IF;"
    )

"""Rules for migrations (docs/deployment.md): what a release works with stays there while it is replaced.

Each operation is applied to the migrations' state, and the tables before and after it are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

# The last migrations of 0.2.0, with which the promise begins.
RELEASED = {"crm": "0001", "designer": "0009", "project": "0002", "runtime": "0004"}

# Constraints that refuse nothing which the release before writes, and why.
HARMLESS = {
    "designer_userproperty_name": "names were unique by themselves before, and are now within a caller type",
}

# What a column of one type can become without refusing what the other held.
WIDER = {("CharField", "TextField")}


@dataclass(frozen=True)
class Column:
    type: str
    length: int | None
    null: bool
    has_default: bool
    unique: bool

    @property
    def may_be_left_out(self) -> bool:
        return self.null or self.has_default


@dataclass(frozen=True)
class Table:
    columns: Mapping[str, Column]
    constraints: frozenset[str]
    indexes: frozenset[str]


def tables(state: ProjectState, app: str) -> dict[str, Table]:
    return {
        model._meta.db_table: Table(
            {str(field.column): _column(field) for field in model._meta.local_concrete_fields},
            frozenset(constraint.name for constraint in model._meta.constraints),
            frozenset(index.name for index in model._meta.indexes),
        )
        for model in state.apps.get_app_config(app).get_models(include_auto_created=True)
        if not model._meta.proxy
    }


def _column(field: models.Field[object, object]) -> Column:
    generated = field.db_default is not models.NOT_PROVIDED or isinstance(field, models.AutoField)
    return Column(
        field.get_internal_type(),
        field.max_length,
        field.null,
        generated,
        field.unique and not field.primary_key,
    )


def broken(app: str, migration: migrations.Migration, state: ProjectState) -> Iterator[str]:
    """Which rules a migration breaks, in words. `state` is that before it, and afterwards that after it."""
    there = tables(state, app).keys()
    for operation in migration.operations:
        # What the migration itself makes, nobody works with yet.
        before = {name: table for name, table in tables(state, app).items() if name in there}
        operation.state_forwards(app, state)
        after = tables(state, app)
        if isinstance(operation, migrations.SeparateDatabaseAndState) and not operation.database_operations:
            yield from _retired(before, after)
        else:
            yield from _changed(operation, before, after)


def _retired(before: Mapping[str, Table], after: Mapping[str, Table]) -> Iterator[str]:
    """Columns that stay in the database alone: nobody gives them a value any more."""
    for name, table in before.items():
        kept = after[name].columns if name in after else {}
        for column in table.columns.keys() - kept.keys():
            if name in after and not table.columns[column].may_be_left_out:
                yield f"{name}.{column} stays without a default: the new release cannot add rows"


def _changed(operation: Operation, before: Mapping[str, Table], after: Mapping[str, Table]) -> Iterator[str]:
    for name, old in before.items():
        if name not in after:
            yield f"the table {name} goes"
            continue
        new = after[name]
        for column in old.columns.keys() - new.columns.keys():
            yield f"{name}.{column} goes"
        for column in new.columns.keys() - old.columns.keys():
            if not new.columns[column].may_be_left_out:
                yield f"{name}.{column} is new, and needs db_default or null"
        for column in old.columns.keys() & new.columns.keys():
            yield from _narrowed(f"{name}.{column}", old.columns[column], new.columns[column])
        for constraint in sorted(new.constraints - old.constraints - HARMLESS.keys()):
            yield f"{name} gets the constraint {constraint}"
        for index in sorted(new.indexes - old.indexes):
            if not isinstance(operation, AddIndexConcurrently):
                yield f"{name} is locked while the index {index} is made: use AddIndexConcurrently"


def _narrowed(name: str, old: Column, new: Column) -> Iterator[str]:
    if old.type != new.type and (old.type, new.type) not in WIDER:
        yield f"{name} becomes another type"
    elif old.length is not None and new.length is not None and new.length < old.length:
        yield f"{name} becomes shorter"
    if old.null and not new.null:
        yield f"{name} may not be empty any more"
    if new.unique and not old.unique:
        yield f"{name} becomes unique"
    if old.has_default and not new.may_be_left_out:
        yield f"{name} loses its default"


LOADER = MigrationLoader(None)
NEWER = sorted((app, name) for app, name in LOADER.disk_migrations if name[:4] > RELEASED.get(app, "9999"))


@pytest.mark.parametrize(("app", "name"), NEWER, ids=[f"{app}.{name}" for app, name in NEWER])
def test_a_migration_leaves_the_release_before_what_it_works_with(app: str, name: str) -> None:
    state = LOADER.project_state((app, name), at_end=False)

    assert list(broken(app, LOADER.disk_migrations[app, name], state)) == []


BREAKING = {
    "a new column without a default": (
        migrations.AddField("module", "colour", models.CharField(max_length=9, default="red")),
        "designer_module.colour is new, and needs db_default or null",
    ),
    "a column that goes": (migrations.RemoveField("module", "title"), "designer_module.title goes"),
    "a column of another name": (
        migrations.RenameField("module", "title", "heading"),
        "designer_module.title goes",
    ),
    "a table that goes": (migrations.DeleteModel("Release"), "the table designer_release goes"),
    "a constraint": (
        migrations.AddConstraint("module", models.UniqueConstraint("title", name="one_title")),
        "designer_module gets the constraint one_title",
    ),
    "another type": (
        migrations.AlterField("module", "title", models.IntegerField()),
        "designer_module.title becomes another type",
    ),
    "a column that is retired without a default": (
        migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("module", "title")]),
        "designer_module.title stays without a default: the new release cannot add rows",
    ),
    "an index that locks": (
        migrations.AddIndex("module", models.Index("title", name="by_title")),
        "designer_module is locked while the index by_title is made: use AddIndexConcurrently",
    ),
}


@pytest.mark.parametrize(("operation", "said"), BREAKING.values(), ids=BREAKING.keys())
def test_a_migration_that_breaks_a_rule_is_found(operation: Operation, said: str) -> None:
    made = type("Migration", (migrations.Migration,), {"operations": [operation]})
    migration = made("9999_breaking", "designer")

    assert said in list(broken("designer", migration, LOADER.project_state()))

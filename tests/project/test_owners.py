"""Types and kinds own what is known about them: no other module asks which one it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from designer.kinds import KINDS, OperationKind
from designer.types import TYPES, InputType
from runtime.operations import OPERATIONS, Operation
from tests.servers import ROOT

OWNERS = ("designer/types/", "designer/kinds/", "runtime/operations/")
# These make endpoints of one kind, or are the page of one: they ask nothing of a kind that they are given.
MAKERS = {
    "designer/entity_exposure.py": "makes the endpoints of an entity that is exposed",
    "designer/studio/trying/fetcher_runs.py": "runs a data fetcher as a query",
    "designer/models/endpoints.py": "has the rows of option sets, which have a list of their own",
    "designer/studio/option_sets.py": "is the page of an option set",
}
NAMES = KINDS.keys() | TYPES.keys()


def modules() -> Iterator[tuple[str, ast.Module]]:
    """The modules of designer and runtime that own neither types nor kinds."""
    for folder in ("designer", "runtime"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(OWNERS) and "/migrations/" not in name:
                yield name, ast.parse(path.read_text(encoding="utf-8"))


def is_one(item: object) -> bool:
    """Whether it is a type, a kind or an operation, and not what is common to all of them."""
    if isinstance(item, (InputType, OperationKind)):
        return True
    return isinstance(item, type) and issubclass(item, (InputType, Operation)) and item not in BASES


BASES = {InputType, Operation}


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The module and name of each import of ours."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("designer.", "runtime.")):
            for alias in node.names:
                yield str(node.module), alias.name


def asked(tree: ast.Module) -> Iterator[str]:
    """The names of types and kinds that `….type` and `….kind` are compared with."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        parts = [node.left, *node.comparators]
        if any(isinstance(part, ast.Attribute) and part.attr in ("type", "kind") for part in parts):
            constants = (inner for part in parts for inner in ast.walk(part))
            yield from (
                one.value for one in constants if isinstance(one, ast.Constant) and one.value in NAMES
            )


def test_no_module_names_a_type_a_kind_or_an_operation() -> None:
    named = {
        (name, item)
        for name, tree in modules()
        if name not in MAKERS
        for module, item in imported(tree)
        if is_one(getattr(import_module(module), item, None))
    }
    assert named == set()


def test_no_module_compares_a_type_or_a_kind_with_a_name() -> None:
    assert {(name, given) for name, tree in modules() for given in asked(tree)} == set()


def test_those_that_make_endpoints_are_few_and_there() -> None:
    assert [name for name in MAKERS if not Path(ROOT / name).exists()] == []


def test_the_modules_that_are_looked_at_are_found() -> None:
    assert len(list(modules())) > 200
    assert asked_of("known.type == 'List'") == ["List"]
    assert asked_of("endpoint.kind in ('create', 'x')") == ["create"]
    assert is_one(TYPES["List"])
    assert is_one(OPERATIONS["create"])


def asked_of(text: str) -> list[str]:
    return list(asked(ast.parse(text)))


def settings_asked_for(tree: ast.Module) -> Iterator[str]:
    """The classes of settings that an object is asked to be of: by `isinstance`, `issubclass` or `case`."""
    for node in ast.walk(tree):
        classes: list[ast.expr] = []
        if isinstance(node, ast.MatchClass):
            classes = [node.cls]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            classes = node.args[1:]
        for inner in (inner for one in classes for inner in ast.walk(one)):
            name = getattr(inner, "id", getattr(inner, "attr", ""))
            if name.endswith("Settings"):
                yield name


def test_no_module_asks_whether_settings_are_those_of_a_kind() -> None:
    """Settings answer for themselves, or a rule is registered for them."""
    assert {(name, given) for name, tree in modules() for given in settings_asked_for(tree)} == set()


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(given, ReadSettings)",
        "isinstance(given, (str, kinds.ReadSettings))",
        "issubclass(kind.settings, ReadSettings)",
        "match given:\n    case kinds.ReadSettings(): pass",
    ],
)
def test_each_way_to_ask_for_settings_is_noticed(text: str) -> None:
    assert list(settings_asked_for(ast.parse(text))) == ["ReadSettings"]

"""The house as `docs/architecture.md` draws it. `pyproject.toml` says who may import whom."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import grimp

PARTS = ("project", "runtime", "designer", "crmclient", "crmbox")

ROOT = Path(__file__).parents[1]
# Names of Dataverse, and where they belong: its client, the CRM that stands in for it, and the demo's data.
OF_DATAVERSE = re.compile(r"versionnumber|systemuser|statecode|ownerid|fullname")
KNOWING_DATAVERSE = ("crmclient/dataverse/", "crmbox/", "project/demo_accounts.py")


def test_no_modules_import_each_other_in_a_circle() -> None:
    circles = {(package, *members) for package in _packages() for members in _circles(package)}
    assert circles == set()


def test_a_name_stands_for_at_most_two_modules_of_a_part() -> None:
    places = defaultdict(list)
    for module in sorted(_graph().modules):
        part, _, rest = module.partition(".")
        if rest and ".migrations." not in module:
            places[part, rest.rpartition(".")[2]].append(module)
    assert len(places) > 400
    assert [modules for modules in places.values() if len(modules) > 2] == []


def test_only_the_client_of_dataverse_knows_its_names() -> None:
    texts = dict(_sources())
    named = {path: set(OF_DATAVERSE.findall(text)) for path, text in texts.items()}
    assert len(named["crmclient/dataverse/conventions.py"]) == 5
    assert len(texts) > 500
    assert {
        path: names for path, names in named.items() if names and not path.startswith(KNOWING_DATAVERSE)
    } == {}


def _sources() -> Iterator[tuple[str, str]]:
    for part in PARTS:
        for path in sorted((ROOT / part).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text()


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PARTS, exclude_type_checking_imports=False)


def _packages() -> Iterator[str]:
    return (module for module in sorted(_graph().modules) if _graph().find_children(module))


def _circles(package: str) -> list[tuple[str, ...]]:
    """The names in `package` that import each other in a circle: modules, packages, and its `__init__`."""
    own = {package: "__init__"}
    for child in _graph().find_children(package):
        name = child.rpartition(".")[2]
        own |= dict.fromkeys({child, *_graph().find_descendants(child)}, name)
    imports: dict[str, set[str]] = {name: set() for name in own.values()}
    for module, name in own.items():
        imported = _graph().find_modules_directly_imported_by(module)
        imports[name] |= {own[other] for other in imported if other in own} - {name}
    return sorted({members for name in imports if len(members := _circle_of(name, imports)) > 1})


def _circle_of(name: str, imports: Mapping[str, set[str]]) -> tuple[str, ...]:
    """`name`, and all that it leads to and that lead back to it."""
    return tuple(sorted(other for other in _led_to(name, imports) if name in _led_to(other, imports)))


def _led_to(name: str, imports: Mapping[str, set[str]]) -> set[str]:
    modules: set[str] = set()
    ahead = [name]
    while ahead:
        new = imports[ahead.pop()] - modules
        modules |= new
        ahead += new
    return modules | {name}

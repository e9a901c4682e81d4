"""The house as `docs/architecture.md` draws it. `pyproject.toml` says who may import whom."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
IMPORT_RULES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
PARTS = tuple(IMPORT_RULES["root_packages"])
# Packages beside the product: they run it, try it or measure it, and are no part of it.
BESIDE = {"bench", "scripts", "tests"}
# Names of Dataverse, and where they belong: its client, the CRM that stands in for it, and the demo's data.
OF_DATAVERSE = re.compile(r"versionnumber|systemuser|statecode|ownerid|fullname")
TEXTS = {".css", ".html", ".js", ".json", ".md", ".po", ".py", ".toml", ".yaml", ".yml"}
KNOWING_DATAVERSE = ("crmclient/dataverse/", "crmbox/", "project/demo_accounts.py")


def test_every_part_has_its_import_rules() -> None:
    packages = {folder.parent.name for folder in ROOT.glob("*/__init__.py")}
    assert packages - BESIDE == set(PARTS), "root_packages in pyproject.toml"
    contracts = {contract["name"]: contract for contract in IMPORT_RULES["contracts"]}
    floors = set(contracts["Imports go one way"]["layers"])
    platforms = contracts["A platform knows crmclient alone"]
    assert set(platforms["source_modules"]) == set(PARTS) - floors
    assert set(platforms["forbidden_modules"]) == floors - {"crmclient"}
    known = contracts["Only project knows the platforms"]
    assert set(known["source_modules"]) == floors - {"project"}
    assert set(known["forbidden_modules"]) == set(PARTS) - floors


def test_the_image_holds_every_part() -> None:
    held = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(PARTS) <= held


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


def test_no_file_holds_both_sides_of_a_merge() -> None:
    texts = {path: path.read_text() for part in (*PARTS, "docs", "tests") for path in _texts(ROOT / part)}
    assert len(texts) > 1000
    assert [path for path, text in texts.items() if re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE)] == []


def _texts(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in TEXTS)


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

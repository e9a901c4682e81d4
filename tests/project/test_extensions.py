"""What packages offer is loaded once, and what cannot be used is told in a sentence, never by a traceback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from crmclient.extensions import Choice, Problem, Registry, UnusableExtension
from designer.expressions.functions import FUNCTIONS, Function
from designer.kinds import KINDS
from designer.platform import PLATFORMS, get_platform
from designer.types import TYPES
from project.checks import TAG, refuse_a_wrong_start
from project.extensions import load
from runtime.callers.tokens import RESOLVERS
from runtime.operations import OPERATIONS
from tests.packages import install
from tests.servers import ROOT, Site

GROUP = "portico.functions"
GOOD = "from designer.expressions.functions import Function\nHELLO = Function('hello', 'hello {}'.format)\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of Python's path. What is imported from it is forgotten at the end."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def functions() -> Registry[Function]:
    """A registry with one built-in function and one reserved name."""
    made: Registry[Function] = Registry(
        GROUP, "a function", lambda item: isinstance(item, Function), lambda item: item.name, {"size"}
    )
    made.register(Function("upper", str.upper))
    return made


def test_what_a_package_offers_is_there_by_its_name(path: Path) -> None:
    install(path, "greeting", {GROUP: {"hello": "greeting:HELLO"}}, {"greeting": GOOD})
    offered = functions()
    assert list(offered.load()) == []
    assert list(offered) == ["upper", "hello"]
    assert offered["hello"].call("Rita") == "hello Rita"


@pytest.mark.parametrize(
    ("module", "says", "remedy"),
    [
        ("import nothing_of_the_kind", "cannot be loaded: ModuleNotFoundError: No module named", "uninstall"),
        ("1 / 0", "cannot be loaded: ZeroDivisionError", "Correct the package"),
        ("def", "cannot be loaded: SyntaxError", "Correct the package"),
        ("OTHER = 1", "cannot be loaded: AttributeError", "Correct the package"),
        ("HELLO = 'hello'", "leads to 'hello', which is not a function", "Correct the package"),
        (GOOD.replace("'hello'", "'good day'"), "ValueError: a function cannot be called 'good day'", "Corr"),
        (GOOD.replace("'hello'", "'greet'"), "leads to a function called “greet”", "Give the entry point"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(path: Path, module: str, says: str, remedy: str) -> None:
    install(path, "greeting", {GROUP: {"hello": "greeting:HELLO"}}, {"greeting": module})
    offered = functions()
    (problem,) = offered.load()
    assert list(offered) == ["upper"]
    assert (problem.group, problem.name) == (GROUP, "hello")
    assert problem.text.startswith(
        "The entry point “hello” of portico.functions, in the package greeting 1.0,"
    )
    assert says in problem.text
    assert remedy in problem.remedy


@pytest.mark.parametrize("name", ["upper", "size"])
def test_the_name_of_a_built_in_one_is_refused(path: Path, name: str) -> None:
    module = GOOD.replace("'hello'", repr(name))
    install(path, "greeting", {GROUP: {name: "greeting:HELLO"}}, {"greeting": module})
    offered = functions()
    assert [problem.text for problem in offered.load()] == [
        f"The entry point “{name}” of portico.functions, in the package greeting 1.0, has the name of a "
        "built-in one."
    ]
    assert offered["upper"].call is str.upper


def test_a_name_of_two_packages_is_one_problem_that_names_both(path: Path) -> None:
    for package in ("greeting", "welcome"):
        install(path, package, {GROUP: {"hello": f"{package}:HELLO"}}, {package: GOOD})
    offered = functions()
    (problem,) = offered.load()
    assert problem == Problem(
        GROUP,
        "hello",
        "The entry point “hello” of portico.functions is in more than one package: greeting 1.0 and "
        "welcome 1.0.",
        "Uninstall all of these packages but one.",
    )
    assert "hello" not in offered


def test_one_package_that_is_broken_keeps_no_other_away(path: Path) -> None:
    install(path, "broken", {GROUP: {"broken": "broken:NOTHING"}}, {"broken": ""})
    install(path, "greeting", {GROUP: {"hello": "greeting:HELLO"}}, {"greeting": GOOD})
    offered = functions()
    assert [problem.name for problem in offered.load()] == ["broken"]
    assert "hello" in offered


def chosen() -> Choice[Callable[[Any], Any]]:
    made: Choice[Callable[[Any], Any]] = Choice("portico.resolvers", "a resolver")
    made.register("standard", "runtime.callers.resolver:resolve")
    return made


def test_only_the_item_that_is_named_is_imported(path: Path) -> None:
    points = {"everyone": "everyone:resolve", "broken": "broken:resolve"}
    modules = {"everyone": "def resolve(claims): return claims\n", "broken": "1 / 0"}
    install(path, "callers", {"portico.resolvers": points}, modules)
    choice = chosen()
    assert list(choice.problems()) == []
    assert choice.names() == ["broken", "everyone", "standard"]
    assert choice.find("everyone")("rita") == "rita"
    with pytest.raises(UnusableExtension, match=r"“broken” of portico.resolvers.*callers 1\.0.*ZeroDivision"):
        choice.find("broken")


def test_a_name_that_nobody_offers_is_told_with_those_there_are() -> None:
    with pytest.raises(UnusableExtension, match=r"There is no “anyone” in portico\.resolvers") as refused:
        chosen().find("anyone")
    assert "standard" in refused.value.remedy


def test_a_choice_that_is_no_function_is_refused(path: Path) -> None:
    install(path, "callers", {"portico.resolvers": {"one": "callers:ONE"}}, {"callers": "ONE = 1"})
    with pytest.raises(UnusableExtension, match="leads to 1, which is not a resolver"):
        chosen().find("one")


def test_a_choice_of_a_built_in_name_is_a_problem_also_when_it_is_not_chosen(path: Path) -> None:
    install(path, "callers", {"portico.resolvers": {"standard": "callers:one"}}, {"callers": "1 / 0"})
    assert [problem.name for problem in chosen().problems()] == ["standard"]


PLATFORM = """
from tests.plain_tables import PlainTables

class Older(PlainTables):
    thumbnail = property()

def whole(): return PlainTables()
def older(): return Older()
def nothing(): return None
def refusing(): raise OSError("TABLES names no file")
"""


def test_a_built_in_kind_without_an_operation_is_told_where_to_register_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(OPERATIONS, "create")
    load.cache_clear()
    try:
        (problem,) = load()
    finally:
        load.cache_clear()
    assert problem.text == "The built-in “create” of portico.kinds has no counterpart in portico.operations."
    assert problem.remedy.startswith("Register it in portico.operations, too")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("older", r"of type Older, which lacks thumbnail\."),
        ("nothing", r"of type NoneType, which lacks associate, attributes, .*who\."),
        ("refusing", r"The platform cannot be made: OSError: TABLES names no file\."),
    ],
)
def test_the_service_does_not_start_with_a_platform_that_is_none(
    path: Path, settings: Any, db: None, name: str, says: str
) -> None:
    points = {other: f"tables:{other}" for other in ("older", "nothing", "refusing")}
    install(path, "tables", {"portico.platforms": points}, {"tables": PLATFORM})
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": name}
    get_platform.cache_clear()
    try:
        with pytest.raises(SystemExit, match=rf"(?s)portico\.E021.*PLATFORM='{name}'.*{says}.*HINT"):
            refuse_a_wrong_start()
    finally:
        get_platform.cache_clear()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("older", r"of type Older, which lacks thumbnail\. Give it every member"),
        ("refusing", r"The platform cannot be made: OSError: TABLES names no file\. Correct what"),
    ],
)
def test_a_command_says_why_the_platform_cannot_be_made(
    path: Path, settings: Any, portico: None, name: str, says: str
) -> None:
    points = {other: f"tables:{other}" for other in ("older", "refusing")}
    install(path, "tables", {"portico.platforms": points}, {"tables": PLATFORM})
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": name}
    get_platform.cache_clear()
    try:
        with pytest.raises(CommandError, match=rf"PLATFORM='{name}': .*{says}"):
            call_command("checkconfig")
    finally:
        get_platform.cache_clear()


def test_the_service_does_not_start_with_a_new_built_in_platform_that_cannot_be_made(
    path: Path, settings: Any, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(path, "tables", {}, {"tables": PLATFORM})
    monkeypatch.setattr(PLATFORMS, "_built_in", dict(PLATFORMS._built_in))
    monkeypatch.setattr(PLATFORMS, "_names", dict(PLATFORMS._names))
    PLATFORMS.register("folder", "tables:refusing")
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": "folder"}
    get_platform.cache_clear()
    try:
        with pytest.raises(SystemExit, match=r"(?s)portico\.E021.*OSError: TABLES names no file\..*HINT"):
            refuse_a_wrong_start()
    finally:
        get_platform.cache_clear()


def test_the_service_starts_with_a_whole_platform_of_a_package(path: Path, settings: Any, db: None) -> None:
    install(path, "tables", {"portico.platforms": {"whole": "tables:whole"}}, {"tables": PLATFORM})
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": "whole"}
    get_platform.cache_clear()
    try:
        refuse_a_wrong_start()
        assert type(get_platform()).__name__ == "PlainTables"
    finally:
        get_platform.cache_clear()


@pytest.mark.parametrize(
    ("setting", "value", "hint"),
    [
        ("PLATFORM", "project.platform.embedded", "Write PLATFORM=embedded."),
        ("PLATFORM", "crmclient.embedded.platform.EmbeddedPlatform", "Write PLATFORM=embedded."),
        ("USER_RESOLVER", "runtime.callers.resolver.resolve", "Write USER_RESOLVER=standard."),
        ("USER_RESOLVER", "tests.runtime.resolvers.nobody", "entry point of portico.resolvers"),
    ],
)
def test_a_dotted_path_is_taken_and_warned_of(
    settings: Any, db: None, setting: str, value: str, hint: str
) -> None:
    settings.PORTICO = {**settings.PORTICO, setting: value}
    (message,) = run_checks(tags=[TAG])
    assert message.id == "portico.W002"
    assert hint in str(message.hint)


@pytest.mark.parametrize(
    ("setting", "names"),
    [("PLATFORM", ["configured", "dataverse", "embedded"]), ("USER_RESOLVER", ["standard"])],
)
def test_the_built_in_ones_can_be_named(settings: Any, db: None, setting: str, names: list[str]) -> None:
    choice: Choice[Any] = PLATFORMS if setting == "PLATFORM" else RESOLVERS
    assert set(names) <= set(choice.names())
    for name in choice.names():
        settings.PORTICO = {**settings.PORTICO, setting: name}
        # Dataverse is known, and has no address here.
        expected = ["portico.E023"] if name == "dataverse" else []
        assert [message.id for message in run_checks(tags=[TAG])] == expected


@pytest.mark.parametrize("registry", [TYPES, KINDS, OPERATIONS, FUNCTIONS])
def test_a_built_in_name_is_given_once(registry: Registry[Any]) -> None:
    with pytest.raises(ValueError, match="already"):
        registry.register(next(iter(registry.values())))


KIND = """
from designer.kinds.settings import EndpointSettings
from designer.kinds import OperationKind, Scope


class Settings(EndpointSettings):
    {setting}


COUNT = OperationKind("tally", "Tally", "Counts.", Scope.MODULE, ("GET",), "{path}", Settings)
"""


@pytest.mark.parametrize(
    ("setting", "path", "says"),
    [
        ("ratio: float = 1.0", "/api/{module}/counts/{name}", "ratio: no form field is known"),
        ("pass", "/counts/{module}/{name}", "is not one of the API. Begin it with /api/{module}/"),
        ("pass", "/api/{module}/{thing}", "has a placeholder that there is not: 'thing'"),
    ],
)
@pytest.mark.processes
def test_a_kind_that_the_studio_or_the_api_has_no_place_for_is_refused(
    empty_site: Site, tmp_path: Path, setting: str, path: str, says: str
) -> None:
    folder = tmp_path / "packages"
    points = {"portico.kinds": {"tally": "counting:COUNT"}}
    module = KIND.replace("{setting}", setting).replace("{path}", path)
    install(folder, "counting", points, {"counting": module})
    code, output = empty_site.run("check", PYTHONPATH=str(folder))
    assert code == 1
    assert "The entry point “tally” of portico.kinds, in the package counting 1.0, cannot be used:" in output
    assert says in output
    assert "counterpart" not in output
    assert "Traceback" not in output


@pytest.mark.processes
def test_the_service_refuses_to_start_with_a_package_that_it_cannot_use(
    empty_site: Site, tmp_path: Path
) -> None:
    folder = tmp_path / "packages"
    points = {"portico.types": {"Url": "broken:URL"}, "portico.kinds": {"tally": "alone:COUNT"}}
    alone = """
from designer.kinds import OperationKind, Scope
COUNT = OperationKind("tally", "Tally", "Counts.", Scope.MODULE, ("GET",), "/api/{module}/queries/{name}")
"""
    install(folder, "broken", points, {"broken": "import nothing_of_the_kind", "alone": alone})
    environment = {**empty_site.environment, "PYTHONPATH": str(folder)}
    for command in (["manage.py", "check"], ["-c", "import project.wsgi"]):
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "The entry point “Url” of portico.types, in the package broken 1.0," in done.stderr
        assert "“tally” of portico.kinds has no counterpart in portico.operations" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.processes
def test_a_platform_of_a_package_is_used_by_its_name(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    points = {"portico.platforms": {"plain": "tests.plain_tables:PlainTables"}}
    install(folder, "plain-tables", points)
    output = site.manage("check", PYTHONPATH=str(folder), PLATFORM="plain")
    assert "W002" not in output
    site.start(PYTHONPATH=str(folder), PLATFORM="plain").stop()
    # The demo's entities are not among its tables.
    code, output = site.run("checkconfig", PYTHONPATH=str(folder), PLATFORM="plain")
    assert (code, "The platform has no entity “account”." in output) == (1, True), output
    code, output = site.run("check", PLATFORM="plain")
    assert code == 1
    assert "There is no “plain” in portico.platforms." in output

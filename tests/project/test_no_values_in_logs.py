"""No value of a caller in any log, at any level: marked values come in by every way, and are looked for."""

from __future__ import annotations

import base64
import io
import json
import logging
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from crmclient.errors import DuplicateKey, PlatformError, Refused, Unavailable, UnexpectedAnswer
from crmclient.sentences import Sentence, for_log
from designer.models import Binding, Endpoint, Precondition
from designer.platform import get_platform
from project.logs import JsonFormatter
from project.platform import configured
from runtime.http.request_ids import HEADER
from runtime.models import ApiAccount
from runtime.serving import served
from tests.callers import Caller, account
from tests.runtime import forge

MARK = "mArKeD"
ROOT = Path(__file__).resolve().parents[2]
ACCOUNTS = "/api/sales/accounts"


class Marks(logging.Handler):
    """Keeps every line as the service would print it."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.setFormatter(JsonFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """The lines of every logger at DEBUG; none of them may hold a marked value at the end."""
    handler, root = Marks(), logging.getLogger()
    loggers = [
        root,
        *(logger for logger in root.manager.loggerDict.values() if isinstance(logger, logging.Logger)),
    ]
    before = [(logger, logger.level, logger.disabled, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
        logger.disabled, logger.propagate = False, True
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield handler.lines
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        for logger, level, disabled, propagate in before:
            logger.setLevel(level)
            logger.disabled, logger.propagate = disabled, propagate
    told = [line for line in handler.lines if MARK.lower() in line.lower()]
    assert not told, told[:3]


def own_loggers() -> list[str]:
    """Return the names of all loggers that the service's own modules make."""
    names = set()
    for part in ("crmclient", "crmbox", "designer", "runtime", "project"):
        for file in (ROOT / part).rglob("*.py"):
            module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            made = re.findall(r"^log(?:ger)? = logging\.getLogger\((.+)\)$", file.read_text(), re.MULTILINE)
            names |= {module if name == "__name__" else name.strip('"') for name in made}
    return sorted(names)


@pytest.mark.parametrize("name", own_loggers())
def test_lines_of_the_services_own_loggers_keep_their_words_and_fields(name: str) -> None:
    record = logging.LogRecord(name, logging.WARNING, "x.py", 1, "A privilege lacks.", None, None)
    record.privilege = "prvReadTeam"
    line = json.loads(JsonFormatter().format(record))
    assert (line["event"], line["privilege"]) == ("A privilege lacks.", "prvReadTeam")


def marked(name: str = "") -> str:
    return f"{MARK}-{name}"


PATHS = [
    f"/api/sales/accounts/{MARK}",
    f"/api/{MARK}",
    f"/api/sales/{MARK}/1/files/{MARK}",
    f"/{MARK}",
    f"/admin/{MARK}/",
    f"/optionsets/{MARK}",
    f"{ACCOUNTS}/00000000-0000-4000-8000-000000000000?{MARK}={MARK}",
    f"/optionsets/priorities?lcid={MARK}",
    f"/api/service/queries/cases?{MARK}={MARK}&pageSize={MARK}&cursor={MARK}",
    f"/api/schema/entities/{MARK}",
    f"/metrics?{MARK}",
]


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"])
def test_paths_queries_headers_and_hosts(lines: list[str], portico: None, method: str) -> None:
    rita = account("rep")
    for path in PATHS:
        rita.request(method, path, {MARK: marked("body")}, if_match=marked(), accept=f"text/{MARK}")
        rita.request(method, path, b"{" + MARK.encode(), idempotency_key=marked("key"), user_agent=MARK)
        rita.request(method, path, None, host=f"{MARK}_bad host", x_forwarded_for=MARK, referer=MARK)
    Client().post("/admin/login/", {"username": marked("user"), "password": marked("password")})
    Client(enforce_csrf_checks=True, headers={"Host": f"{MARK}!"}).post(f"/admin/{MARK}/")
    assert lines


def test_passwords_names_and_tokens(lines: list[str], portico: None) -> None:
    get_user_model().objects.create_user(marked("known"), password=marked("password"))
    user = get_user_model().objects.get(username=marked("known"))
    ApiAccount.objects.create(user=user)
    caller = account(marked("known"), marked("password"))
    caller.get("/api/context")
    for _ in range(12):
        Caller().post("/api/token", {"username": marked("known"), "password": marked("wrong")})
        Caller().post("/api/token", {"username": marked("unknown"), MARK: marked("key")})
    Caller().post("/api/token/refresh", {"refresh": marked("refresh")})
    for claims in (
        {"sub": marked()},
        {"aud": marked()},
        {"iss": marked()},
        {"exp": marked()},
        {"iss": f"https://a.example/?{MARK}"},
        {MARK: MARK, "exp": 1},
    ):
        Caller(forge.signed(forge.claims(**claims))).get("/api/context")
        Caller(forge.signed(forge.claims(**claims), headers={"kid": f"{MARK} key"})).get("/api/context")
    Caller(marked("token")).get("/api/context")
    for header in (f"Basic {base64.b64encode(MARK.encode()).decode()}", f"Bearer {MARK}.{MARK}.{MARK}"):
        Client(headers={"Authorization": header}).get("/api/context")
    assert any("caller refused" in line for line in lines)


def test_inputs_that_are_taken_and_that_are_wrong(lines: list[str], portico: None) -> None:
    rita = account("rep")
    created = rita.post(ACCOUNTS, {"name": marked("name")})
    assert created.status_code == 200
    own = f"{ACCOUNTS}/{created.json()['id']}"
    assert rita.get(own).status_code == 200
    rita.patch(own, {"name": marked("again")}, if_match="*")
    names = rita.get("/api/schema").json()
    assert names
    for endpoint in Endpoint.objects.filter(kind="create").select_related("entity__module"):
        inputs = list(endpoint.inputs.values_list("name", flat=True))
        entity = endpoint.entity
        assert entity is not None
        path = f"/api/{entity.module.segment}/{endpoint.segment or entity.segment}"
        for value in (marked(), [marked()], {MARK: marked()}, marked("long") * 10_000):
            rita.post(path, dict.fromkeys(inputs, value))
    for parameter in ("status", "from", "order", "search", "pageSize", "cursor"):
        rita.get(f"/api/service/queries/cases?{parameter}={MARK}")


def test_files(lines: list[str], portico: None) -> None:
    rita = account("rep")
    record = rita.post(ACCOUNTS, {"name": "Contoso"}).json()["id"]
    for endpoint in Endpoint.objects.filter(kind="upload").select_related("entity__module"):
        entity = endpoint.entity
        assert entity is not None
        path = f"/api/{entity.module.segment}/{entity.segment}/{record}/files/{endpoint.segment}"
        for name in (f"{MARK}.pdf", f"{MARK}.exe", f"../{MARK}", f"{MARK}\r\nx.pdf"):
            file = io.BytesIO(b"%PDF-" + MARK.encode())
            file.name = name
            Client(headers={"Authorization": f"Bearer {rita.token}"}).post(path, {"file": file, MARK: MARK})
            rita.post(
                path,
                MARK.encode(),
                content_type="application/pdf",
                content_disposition=f'x; filename="{name}"',
            )


EXPRESSIONS = [
    "int(input.name)",
    "input.name + 1",
    "div(input.name, '2', 2)",
    "input.name / 0",
    "{'a': 1}[input.name]",
    "timestamp(input.name)",
    "num(input.name)",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_that_fail(lines: list[str], portico: None, expression: str) -> None:
    rita = account("rep")
    create = Endpoint.objects.get(kind="create", entity__segment="accounts")
    Precondition.objects.create(endpoint=create, expression=f"{expression} == 1", status=409, position=0)
    rita.post(ACCOUNTS, {"name": marked("value")})
    Precondition.objects.filter(endpoint=create).delete()
    Binding.objects.filter(endpoint=create, attribute="name").update(source="expression", value=expression)
    assert rita.post(ACCOUNTS, {"name": marked("value")}).status_code >= 400
    assert any("has no value" in line for line in lines)


class FailingPlatform:
    """The real one, but for what it says to a create."""

    error: Exception = Exception()

    def __init__(self) -> None:
        self._platform = configured()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._platform, name)

    def create(self, *given: Any, **named: Any) -> Any:
        raise FailingPlatform.error from ValueError(f"chained {MARK}")


ERRORS = [
    Refused(f"refused {MARK}"),
    DuplicateKey("account", f"key {MARK}"),
    Unavailable(f"{MARK} is away"),
    UnexpectedAnswer(f"not of the protocol: {MARK}"),
    PlatformError(Sentence("“%(value)s” is odd", value=MARK)),
    RuntimeError(f"unforeseen {MARK}"),
    KeyError(MARK),
    UnicodeEncodeError("ascii", MARK, 0, 1, MARK),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_the_platforms_refusals_and_failures(
    lines: list[str], portico: None, settings: Any, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}.FailingPlatform"}
    get_platform.cache_clear()
    # What is served already asks the platform that it was made with.
    monkeypatch.setattr(served, "_served", None)
    FailingPlatform.error = error
    try:
        answer = account("rep").post(ACCOUNTS, {"name": marked("name")})
    finally:
        get_platform.cache_clear()
    assert answer.status_code >= 400
    told = [json.loads(line) for line in lines if answer[HEADER] in line]
    assert any(type(error).__name__ in json.dumps(line) for line in told)


def test_lines_and_warnings_of_libraries(lines: list[str]) -> None:
    logging.getLogger("urllib3.connectionpool").debug("%s://%s %s", "https", "host", f"/accounts({MARK})")
    logging.getLogger("django.security.DisallowedHost").error(f"Invalid HTTP_HOST header: {MARK}.")
    logging.getLogger("some.library").warning("it failed", extra={"value": MARK})
    warnings.warn(f"a value is odd: {MARK}", RuntimeWarning, stacklevel=1)
    told = [json.loads(line) for line in lines]
    assert "%s://%s %s" in {line["event"] for line in told}
    assert {line["logger"] for line in told} >= {
        "django.security.DisallowedHost",
        "some.library",
        "py.warnings",
    }


def test_metrics_hold_no_value(portico: None) -> None:
    rita = account("rep")
    for path in PATHS:
        rita.get(path)
    assert MARK not in Client().get("/metrics").content.decode()


def test_what_the_log_says_of_an_error_is_its_wording() -> None:
    inner = Sentence("there is no “%(name)s” in the data", name=MARK)
    assert for_log(ValueError(Sentence("no value: %(reason)s.", reason=inner))) == (
        "ValueError: no value: there is no “…” in the data."
    )
    assert for_log(ValueError(MARK)) == "ValueError"


def test_a_line_has_the_lists_and_tables_of_plain_values_that_come_along_and_no_objects() -> None:
    extras = {
        "entities": ["account"],
        "removed": {"Studio sessions": 2},
        "callers": [account],
        "of": {account: 1},
    }
    record = logging.getLogger("portico.x").makeRecord(
        "portico.x", logging.INFO, "", 1, "It is.", (), None, extra=extras
    )

    line = json.loads(JsonFormatter().format(record))

    assert line["entities"] == ["account"]
    assert line["removed"] == {"Studio sessions": 2}
    assert "callers" not in line
    assert "of" not in line

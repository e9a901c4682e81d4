"""Send one request by every module of a generated Python client: none may be broken when it is handed over.

Reads are sent as the account. Writes are sent with a token that nobody has, so that nothing is written: the
service refuses them once it has them, which shows that the module builds a request and reads its answer.
"""

from __future__ import annotations

import importlib
import inspect
import io
import pkgutil
import re
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

NOBODY = "nobody"
TOO_MANY = 429
_METHODS = ("get", "post", "put", "patch", "delete")


class Broken(Exception):
    """The text names each module that does not work, and why."""


def drive(package: Path, document: Mapping[str, Any], url: str, username: str, password: str) -> int:
    """How many modules have been driven, all of the package in the folder `package`. Raises Broken."""
    sys.path.insert(0, str(package.parent))
    try:
        return _Driver(package.name, document, url).drive(username, password)
    finally:
        sys.path.remove(str(package.parent))


class _Driver:
    def __init__(self, name: str, document: Mapping[str, Any], url: str) -> None:
        self._name = name
        self._examples = dict(_examples(document))
        self._client = importlib.import_module(f"{name}.client")
        self._types = importlib.import_module(f"{name}.types")
        self._url = url

    def drive(self, username: str, password: str) -> int:
        problems: list[str] = []
        modules = list(self._modules(problems))
        pair = self._tokens(modules, {"username": username, "password": password}, problems)
        for module in modules:
            if module.__name__.rpartition(".")[2].startswith("token"):
                continue
            try:
                self._send(module, pair.access)
            except Exception as error:
                problems.append(f"{module.__name__}: {type(error).__name__}: {error}")
        if problems:
            raise Broken("\n".join(problems))
        return len(modules)

    def _modules(self, problems: list[str]) -> Iterator[ModuleType]:
        """Those of operations; every other module of the package is imported, too."""
        package = importlib.import_module(self._name)
        for module_info in pkgutil.walk_packages(package.__path__, f"{self._name}."):
            try:
                module = importlib.import_module(module_info.name)
            except Exception as error:
                problems.append(f"{module_info.name}: {type(error).__name__}: {error}")
                continue
            if hasattr(module, "sync_detailed"):
                yield module

    def _tokens(self, modules: list[ModuleType], account: Mapping[str, str], problems: list[str]) -> Any:
        """A login and its renewal, by the client itself."""
        named = {module.__name__.rpartition(".")[2]: module for module in modules}
        try:
            pair = self._sent(named["token"], None, account).parsed
            return self._sent(named["token_refresh"], None, {"refresh": pair.refresh}).parsed
        except Exception as error:
            raise Broken("\n".join([*problems, f"tokens: {type(error).__name__}: {error}"])) from error

    def _send(self, module: ModuleType, token: str) -> None:
        is_read = module._get_kwargs(**self._given(module, None))["method"] == "get"
        answer = self._sent(module, token if is_read else NOBODY, None)
        status = int(answer.status_code)
        # What is asked for by an id that nobody has is not there, or not well said.
        if status >= 500 or (not is_read and status != 401):
            raise Broken(f"the service answers {status}: {answer.content[:200]!r}")
        # The generator makes nothing of YAML.
        if answer.parsed is None and "json" in answer.headers.get("Content-Type", ""):
            raise Broken(f"the client makes nothing of the answer {status}: {answer.content[:200]!r}")

    def _sent(self, module: ModuleType, token: str | None, content: Mapping[str, Any] | None) -> Any:
        client = (
            self._client.Client(self._url)
            if token is None
            else self._client.AuthenticatedClient(self._url, token)
        )
        while True:
            answer = module.sync_detailed(client=client, **self._given(module, content))
            # A service in production lets an address send so many wrong tokens a minute, and no more.
            if int(answer.status_code) != TOO_MANY:
                return answer
            time.sleep(int(answer.headers["Retry-After"]))

    def _given(self, module: ModuleType, content: Mapping[str, Any] | None) -> dict[str, Any]:
        """A value for each argument that must be given: ids of records, and a body that was not sent yet."""
        body = self._body(module, content)
        hints = get_type_hints(module._get_kwargs)
        given: dict[str, Any] = {
            name: uuid.UUID(int=0) if hints[name] is uuid.UUID else str(uuid.UUID(int=0))
            for name, parameter in inspect.signature(module._get_kwargs).parameters.items()
            if parameter.default is inspect.Parameter.empty and name != "body"
        }
        if body is not None:
            given["body"] = body
        return given

    def _body(self, module: ModuleType, content: Mapping[str, Any] | None) -> Any:
        hint = get_type_hints(module._get_kwargs).get("body")
        kind = next((kind for kind in getattr(hint, "__args__", (hint,)) if hasattr(kind, "from_dict")), None)
        if kind is None:
            return None
        if any(field.name == "file" for field in kind.__attrs_attrs__):
            return kind(file=self._types.File(io.BytesIO(b"%PDF-1.7\n"), "drive.pdf", "application/pdf"))
        return kind.from_dict(self._examples.get(_plain(kind.__name__), {}) if content is None else content)


def _examples(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a body may hold, by the name of its class in letters and digits alone."""
    for path in document["paths"].values():
        for method in _METHODS:
            content = path.get(method, {}).get("requestBody", {}).get("content", {})
            for media in content.values():
                if "$ref" in media["schema"] and "example" in media:
                    yield _plain(media["schema"]["$ref"].rpartition("/")[2]), media["example"]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())

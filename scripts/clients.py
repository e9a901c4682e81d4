"""Generate a TypeScript and a Python client of a running service, as the account may call it.

    make client ARGS="--url http://127.0.0.1:8000 --username rep --password demo --into var/clients"

TypeScript: types for openapi-fetch and its kin, by openapi-typescript (needs npm). Python: a package with a
function for each operation, by openapi-python-client.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import requests

from scripts.client_drive import Broken, drive
from scripts.npm import NotInstalled, packages
from scripts.running import Failed, run

ROOT = Path(__file__).resolve().parent.parent
OPENAPI_TYPESCRIPT = "openapi-typescript@7.13.0"
TYPESCRIPT = "typescript@5.9.3"


class GenerationError(Exception):
    """The text says what is missing."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--username", default="rep")
    parser.add_argument("--password", default="demo")
    parser.add_argument("--into", type=Path, default=ROOT / "var" / "clients")
    given = parser.parse_args(arguments)
    # The programs run in this folder, where a relative path would name another one.
    into: Path = given.into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    try:
        document = fetch(given.url, given.username, given.password, into)
        package = python(document, into / "portico_client")
        driven = drive(package, json.loads(document.read_bytes()), given.url, given.username, given.password)
        print(f"Python      {package}: each of its {driven} operations has been sent once")
        print(f"TypeScript  {typescript(document, into)}")
    except requests.ConnectionError:
        sys.exit(
            f"Nothing answers at {given.url}. Start the service with make run, or name another one: "
            'make client ARGS="--url https://api.example.org".'
        )
    except (Broken, GenerationError, Failed, requests.RequestException) as error:
        sys.exit(str(error))


def fetch(url: str, username: str, password: str, into: Path) -> Path:
    """The document as the account sees it, as a file in `into`."""
    answer = requests.post(f"{url}/api/token", json={"username": username, "password": password}, timeout=30)
    if answer.status_code == 401:
        raise GenerationError(
            f"{username} cannot log in at {url}. Name another account: "
            'make client ARGS="--username … --password …".'
        )
    answer.raise_for_status()
    token = {"Authorization": f"Bearer {answer.json()['access']}"}
    answer = requests.get(f"{url}/api/openapi.json", headers=token, timeout=60)
    answer.raise_for_status()
    document = into / "openapi.json"
    document.write_bytes(answer.content)
    return document


def python(document: Path, package: Path) -> Path:
    """The client as a package in the folder `package`, whose name is its own."""
    programs = Path(sys.executable).parent
    command = [str(programs / "openapi-python-client"), "generate", "--path", str(document)]
    # It formats with ruff, which stands beside it.
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"
    run([*command, "--output-path", str(package), "--meta", "none", "--overwrite"], package.parent, PATH=path)
    return package


def typescript(document: Path, into: Path) -> Path:
    """The types, in a file that `tsc --strict` takes."""
    try:
        tools = packages(OPENAPI_TYPESCRIPT, TYPESCRIPT) / "node_modules" / ".bin"
    except NotInstalled as error:
        raise GenerationError(f"npm brings openapi-typescript. {error}") from error
    types = into / "portico.d.ts"
    run([str(tools / "openapi-typescript"), str(document), "-o", str(types)], into)
    run([str(tools / "tsc"), "--strict", "--noEmit", str(types)], into)
    return types


if __name__ == "__main__":
    main()

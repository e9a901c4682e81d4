"""Count the modules of our own that two walks through the code touch, and list them.

    .venv/bin/python -m scripts.walks            the figures
    .venv/bin/python -m scripts.walks --list     and the modules

The walks are those of docs/architecture.md: `POST /api/sales/accounts`, and saving an endpoint in the studio.
Each is done once before, so that what happens once for a revision does not count. A module is touched when a
function of it runs. Everything happens in a database of its own, in a temporary folder.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OWN = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/walks.sqlite3"
        os.environ["PORTICO_MODE"] = "development"
        os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"
        os.environ.pop("CACHE_URL", None)
        _demo()
        for name, walk in (("POST /api/sales/accounts", _create()), ("save an endpoint", _save())):
            walk()
            modules = _touched(walk)
            print(f"{name}: {len(modules)} modules")
            if "--list" in arguments:
                print("".join(f"    {module}\n" for module in modules), end="")


def _demo() -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    from project import demo

    setup_test_environment()

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    call_command("migrate", verbosity=0)
    demo.load(demo.passwords(random=False), io.StringIO())


def _create() -> Callable[[], None]:
    from django.test import Client

    given = {"username": "rep", "password": "demo"}
    token = Client().post("/api/token", given, content_type="application/json").json()["access"]
    body = {"name": "Contoso", "phone": "+49 30 1234567", "revenue": 1250000, "industry": 1}

    def walk() -> None:
        answer = Client().post(
            "/api/sales/accounts",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        if answer.status_code != 200:
            raise SystemExit(f"The create answered {answer.status_code}: {answer.content.decode()}")

    return walk


def _save() -> Callable[[], None]:
    from django.contrib.auth.models import User
    from django.test import Client

    from designer.models import Endpoint
    from tests.designer.studio import change_url, filled, page, send

    studio = Client()
    designer = User.objects.get(username="designer")
    studio.force_login(designer, backend="django.contrib.auth.backends.ModelBackend")
    row = Endpoint.objects.get(module__segment="sales", kind="create", entity__segment="accounts")
    titles = iter(("First title", "Second title"))

    def walk() -> None:
        url = change_url(row)
        # The page is opened untouched: the walk is the save.
        profile = sys.getprofile()
        sys.setprofile(None)
        data = filled(page(studio, url)) | {"title": next(titles)}
        sys.setprofile(profile)
        answer = send(studio, url, data)
        if answer.status_code != 302:
            raise SystemExit("The studio did not save the endpoint.")

    return walk


def _touched(walk: Callable[[], None]) -> list[str]:
    """The names of our own modules in which a function ran during `walk`."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
    own = (Path(file).relative_to(ROOT) for file in files if file.startswith(f"{ROOT}/"))
    return sorted(".".join(path.with_suffix("").parts) for path in own if path.parts[0] in OWN)


if __name__ == "__main__":
    main(sys.argv[1:])

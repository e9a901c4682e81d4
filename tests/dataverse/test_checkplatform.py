"""`manage.py checkplatform`: each step names what is wrong, and what to do."""

from __future__ import annotations

import io
import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core.management import CommandError, call_command

from designer.overview import forget
from designer.platform import get_platform
from tests.dataverse.certificates import self_signed
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import platform_at, settings_for
from tests.servers import Server, Site, free_port

pytestmark = pytest.mark.processes

Checked = Callable[..., tuple[int, str]]


@pytest.fixture
def crm(failing: Failing) -> Iterator[Server]:
    yield failing.server
    deny(failing.server)


def deny(crm: Server, *privileges: str) -> None:
    body = {"faults": [], "denied": privileges}
    requests.put(f"{crm.url}/faults", json=body, timeout=30).raise_for_status()


@pytest.fixture
def checked(portico: None, crm: Server, settings: Any) -> Iterator[Checked]:
    """Exit code and output of the command in this process. Some tests start it as people do."""
    before = settings.PORTICO

    def run(*options: str, refreshed: bool = False, **more: str) -> tuple[int, str]:
        settings.PORTICO = {**before, **settings_for(crm), **more}
        get_platform.cache_clear()
        forget()
        if refreshed:
            call_command("refreshmetadata", stdout=io.StringIO())
            # A command of its own finds what was stored, and no more.
            get_platform.cache_clear()
            forget()
        output = io.StringIO()
        try:
            call_command("checkplatform", *options, stdout=output)
        except CommandError as error:
            return error.returncode, f"{output.getvalue()}{error}"
        return 0, output.getvalue()

    yield run
    get_platform.cache_clear()
    forget()


def test_each_step_is_told_where_all_is_well(site: Site, crm: Server) -> None:
    code, output = site.run("checkplatform", **settings_for(crm), CRM_IMPERSONATE="true")
    assert code == 0, output
    for words in (
        "good    network: ",
        "It asks for a token.",
        "good for 60 minutes",
        "who: ",
        " entities in ",
        "The service may act for users.",
        "good    read account: may be read.",
        "good    read incident: may be read.",
    ):
        assert words in output
    # The platform says whole seconds, and a busy machine may take one over the answer.
    assert re.search(r"good    clock: The clocks differ by \d seconds?\.", output)


def test_the_steps_are_json_for_scripts(checked: Checked) -> None:
    code, output = checked("--json")
    assert code == 0
    steps = json.loads(output)
    # The CRM server asks no security role of the service, and what the demo's processes need is not known.
    assert {step["name"] for step in steps if step["outcome"] != "good"} == {"who", "processes"}
    assert [step["name"] for step in steps][:4] == ["network", "address", "clock", "token"]


def test_a_service_without_a_security_role_is_told_what_that_means(checked: Checked, crm: Server) -> None:
    code, output = checked()
    assert code == 0
    assert "warning who: Portico Service has no security role of its own, or may not read" in output
    assert "assign a security role to the application user" in output

    platform = platform_at(crm)
    role = platform.security_roles()[0]
    service = platform.who()
    platform.associate("systemuser", service, "systemuserroles_association", role.id)
    try:
        _, output = checked()
    finally:
        platform.disassociate("systemuser", service, "systemuserroles_association", role.id)
    assert f"good    who: Portico Service, with {role.name}." in output


def test_an_application_that_is_no_user_there_is_told_to_be_added(checked: Checked, failing: Failing) -> None:
    stranger = {"error": {"code": "0x80072560", "message": "The user is not a member of the organization."}}
    body = json.dumps(stranger)
    failing.arm({"path": "/systemusers", "status": 403, "body": body, "times": None})

    code, output = checked()

    assert code == 1
    assert "Add the application as an application user there, with a security role." in output


def test_an_address_that_nobody_answers_at_is_named(checked: Checked, site: Site, crm: Server) -> None:
    port = free_port()
    nowhere = {**settings_for(crm), "CRM_URL": f"http://127.0.0.1:{port}/contoso"}
    code, output = site.run("checkplatform", **nowhere)
    assert code == 1
    assert f"127.0.0.1:{port} cannot be reached" in output
    assert "HTTPS_PROXY" in output
    assert "token" not in output
    code, output = checked(CRM_URL="https://no.such.host.invalid")
    assert code == 1
    assert "There is no address for no.such.host.invalid." in output


def test_a_server_that_is_no_organisation_is_named(checked: Checked, crm: Server) -> None:
    code, output = checked(CRM_URL=crm.url.removesuffix("/contoso") + "/other")
    assert code == 1
    assert "Without a token it answers 404, and should answer 401." in output
    assert "Set CRM_URL to the organisation's address" in output


def test_a_wrong_secret_is_named_with_its_application(checked: Checked, crm: Server) -> None:
    code, output = checked(CRM_CLIENT_SECRET="wrong")
    assert code == 1
    assert f"failed  token: {settings_for(crm)['CRM_CLIENT_ID']}: " in output
    assert "may have expired" in output
    assert "wrong" not in output.replace("is wrong", "")


@contextmanager
def untrusted(folder: Path) -> Iterator[str]:
    """The address of a server whose certificate nobody here trusts."""
    identity = self_signed()
    file = folder / "server.pem"
    file.write_bytes(identity.pem + identity.key_pem(None))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_certificate_that_is_not_trusted_is_told_from_no_connection(
    site: Site, crm: Server, tmp_path: Path
) -> None:
    with untrusted(tmp_path) as url:
        reached = {**settings_for(crm), "CRM_URL": url, "CRM_PRIVATE_ADDRESS": "1"}
        code, output = site.run("checkplatform", **reached)
    assert code == 1
    assert "The certificate of 127.0.0.1" in output
    assert "is not trusted" in output
    assert "REQUESTS_CA_BUNDLE" in output


@pytest.mark.parametrize("privilege", ["prvReadAccount", "prvReadEntity"])
def test_a_missing_privilege_is_named_with_where_to_add_it(
    checked: Checked, crm: Server, privilege: str
) -> None:
    deny(crm, privilege)
    code, output = checked()
    assert code == 1
    assert f"The application user lacks {privilege}." in output
    assert f"Add {privilege} to its security role" in output
    if privilege == "prvReadAccount":
        assert "good    read incident" in output


@pytest.mark.parametrize(
    "privilege",
    [
        *("prvReadCustomAPI", "prvReadOptionSet", "prvReadRelationship"),
        *("prvReadRole", "prvReadTeam", "prvReadQuery"),
    ],
)
def test_metadata_that_may_not_be_read_is_a_warning_that_names_the_privilege(
    checked: Checked, crm: Server, privilege: str
) -> None:
    deny(crm, privilege)
    code, output = checked(refreshed=True)
    assert code == 0, output
    assert f"The application user lacks {privilege}." in output
    assert f"Add {privilege} to its security role" in output
    assert "good    read account" in output


def test_the_crm_in_the_box_has_nothing_to_reach(site: Site) -> None:
    assert "there is nothing to reach" in site.manage("checkplatform")

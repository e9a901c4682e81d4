"""`manage.py checkplatform`: each step names what is wrong, and what to do."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from tests.dataverse.certificates import self_signed
from tests.dataverse.reaching import settings_for
from tests.servers import Server, Site, copied, free_port

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def crm(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("checked") / "data", "checked_crm") as site:
        yield site.start_crm(root="/contoso", CRM_SERVER_FAULTS="1")


@pytest.fixture
def settings(crm: Server) -> Iterator[dict[str, str]]:
    yield settings_for(crm)
    requests.put(f"{crm.url}/faults", json={"faults": [], "denied": []}, timeout=30).raise_for_status()


def checked(site: Site, settings: dict[str, str]) -> tuple[int, str]:
    return site.run("checkplatform", **settings)


def test_each_step_is_told_where_all_is_well(site: Site, settings: dict[str, str]) -> None:
    code, output = checked(site, {**settings, "CRM_IMPERSONATE": "true"})
    assert code == 0, output
    for words in (
        "good    network: ",
        "It asks for a token.",
        "good for 60 minutes",
        "good    who: ",
        " entities in ",
        "The service may act for users.",
        "good    read account: may be read.",
        "good    read incident: may be read.",
    ):
        assert words in output
    # The platform says whole seconds, and a busy machine may take one over the answer.
    assert re.search(r"good    clock: The clocks differ by \d seconds\.", output)


def test_the_steps_are_json_for_scripts(site: Site, settings: dict[str, str]) -> None:
    code, output = site.run("checkplatform", "--json", **settings)
    assert code == 0
    steps = json.loads(output[output.index("[") :])
    assert {step["outcome"] for step in steps} == {"good"}
    assert [step["name"] for step in steps][:4] == ["network", "address", "clock", "token"]


def test_an_address_that_nobody_answers_at_is_named(site: Site, settings: dict[str, str]) -> None:
    port = free_port()
    code, output = checked(site, {**settings, "CRM_URL": f"http://127.0.0.1:{port}/contoso"})
    assert code == 1
    assert f"127.0.0.1:{port} cannot be reached" in output
    assert "HTTPS_PROXY" in output
    assert "token" not in output
    code, output = checked(site, {**settings, "CRM_URL": "https://no.such.host.invalid"})
    assert code == 1
    assert "There is no address for no.such.host.invalid." in output


def test_a_server_that_is_no_organisation_is_named(site: Site, settings: dict[str, str], crm: Server) -> None:
    code, output = checked(site, {**settings, "CRM_URL": crm.url.removesuffix("/contoso") + "/other"})
    assert code == 1
    assert "Without a token it answers 404, and should answer 401." in output
    assert "Set CRM_URL to the organisation's address" in output


def test_a_wrong_secret_is_named_with_its_application(site: Site, settings: dict[str, str]) -> None:
    code, output = checked(site, {**settings, "CRM_CLIENT_SECRET": "wrong"})
    assert code == 1
    assert f"failed  token: {settings['CRM_CLIENT_ID']}: " in output
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
    site: Site, settings: dict[str, str], tmp_path: Path
) -> None:
    with untrusted(tmp_path) as url:
        code, output = checked(site, {**settings, "CRM_URL": url, "CRM_PRIVATE_ADDRESS": "1"})
    assert code == 1
    assert "The certificate of 127.0.0.1" in output
    assert "is not trusted" in output
    assert "REQUESTS_CA_BUNDLE" in output


@pytest.mark.parametrize("privilege", ["prvReadAccount", "prvReadEntity"])
def test_a_missing_privilege_is_named_with_where_to_add_it(
    site: Site, settings: dict[str, str], crm: Server, privilege: str
) -> None:
    body = {"faults": [], "denied": [privilege]}
    requests.put(f"{crm.url}/faults", json=body, timeout=30).raise_for_status()
    code, output = checked(site, settings)
    assert code == 1
    assert f"The application user lacks {privilege}." in output
    assert f"Add {privilege} to its security role" in output
    if privilege == "prvReadAccount":
        assert "good    read incident" in output


@pytest.mark.parametrize(
    "privilege", ["prvReadCustomAPI", "prvReadOptionSet", "prvReadRelationship", "prvReadRole"]
)
def test_metadata_that_may_not_be_read_is_a_warning_that_names_the_privilege(
    site: Site, settings: dict[str, str], crm: Server, privilege: str
) -> None:
    body = {"faults": [], "denied": [privilege]}
    requests.put(f"{crm.url}/faults", json=body, timeout=30).raise_for_status()
    site.manage("refreshmetadata", **settings)
    code, output = checked(site, settings)
    assert code == 0, output
    assert f"The application user lacks {privilege}." in output
    assert f"Add {privilege} to its security role" in output
    assert "good    read account" in output


def test_the_crm_in_the_box_has_nothing_to_reach(site: Site) -> None:
    assert "there is nothing to reach" in site.manage("checkplatform")

from __future__ import annotations

import signal
import socket

import pytest

from project.management.commands.serve import GRACE_SECONDS
from tests.servers import Site, until

pytestmark = pytest.mark.processes


def test_a_taken_port_is_refused_with_a_sentence(empty_site: Site) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, output = empty_site.run("serve", PORT=str(port))
    assert code == 1
    assert f"Port {port} on 127.0.0.1 is taken" in output
    assert "Traceback" not in output


def test_a_second_server_on_the_same_port_is_refused(site: Site) -> None:
    server = site.start()
    code, output = site.run("serve", PORT=server.url.rpartition(":")[2])
    assert code == 1
    assert "is taken by another program" in output


def test_the_start_prints_where_everything_is(site: Site) -> None:
    server = site.start()
    # It is printed by the main process, once that has seen a worker answer, as `start` has.
    until(lambda: "rep, manager, agent, customer, customer2" in server.output())
    for address in ("/admin/", "/api/docs", "/api/openapi.json"):
        assert server.url + address in server.output()
        assert server.request("GET", address).status_code == 200


def test_a_database_that_is_not_prepared_is_told_at_the_start_and_served_once_it_is(empty_site: Site) -> None:
    server = empty_site.start(until="/health/live")
    until(lambda: "It is not ready to serve yet." in server.output())
    assert "Run `manage.py prepare`." in server.output()
    assert "Demo accounts" not in server.output()
    refused = server.request("GET", "/optionsets/priorities")
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert refused.json()["detail"] == "The service's database is not ready for this release."
    empty_site.manage("prepare")
    assert server.request("GET", "/health/ready").status_code == 200
    assert server.request("GET", "/optionsets/priorities").status_code == 200
    assert "/optionsets/priorities" in server.request("GET", "/api/openapi.json").json()["paths"]


def test_the_start_names_no_accounts_of_a_demo_that_is_not_there(empty_site: Site) -> None:
    empty_site.manage("prepare", "--no-demo")
    server = empty_site.start()
    until(lambda: "/api/openapi.json" in server.output())
    assert "Demo accounts" not in server.output()


def test_the_crm_server_tells_at_the_start_that_the_database_is_not_prepared(empty_site: Site) -> None:
    words = "The database lacks migrations of this release. Run `manage.py prepare`."
    assert words in empty_site.start_crm().output()
    empty_site.manage("prepare")
    assert words not in empty_site.start_crm().output()


def test_a_body_may_be_as_long_as_its_limit_says(site: Site) -> None:
    server = site.start(BODY_LIMIT="4000000")
    answer = server.request("POST", "/api/sales/leads", json={"topic": "x" * 3_000_000})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    refused = server.request("POST", "/api/sales/leads", json={"topic": "x" * 4_000_000})
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")


def test_static_files_are_served_compressed_and_for_ever(site: Site) -> None:
    server = site.start()
    page = server.request("GET", "/").text
    address = page.split('rel="stylesheet" href="')[1].split('"')[0]
    answer = server.request("GET", address)
    assert answer.status_code == 200
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_every_worker_and_the_server(site: Site, sign: signal.Signals) -> None:
    server = site.start(WORKERS="2")
    server.process.send_signal(sign)
    # A worker that is still starting hears nothing: it is ended when the grace period is over.
    assert server.process.wait(GRACE_SECONDS + 5) == 0
    assert "Traceback" not in server.output()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(server.url.rpartition(":")[2]))) != 0

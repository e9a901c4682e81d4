from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from tests.deploy.containers import Deployment, Podman, image, network, podman, published
from tests.servers import ROOT, free_port, until

__all__ = ["image", "network", "podman"]

STAND_INS = """services:
  database: {volumes: ["/usr:/usr:ro"]}
  cache: {volumes: ["/usr:/usr:ro"]}
  proxy: {volumes: ["/usr:/usr:ro"]}
"""


@pytest.fixture(scope="module")
def deployment(podman: Podman, image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The whole of deploy/compose.yaml, once it is ready behind its proxy."""
    folder = tmp_path_factory.mktemp("deployment") / "deploy"
    shutil.copytree(ROOT / "deploy", folder, ignore=shutil.ignore_patterns("secrets", ".env"))
    # A busy machine may need longer for a start than callers would like to wait.
    proxy = folder / "caddy" / "Caddyfile"
    assert "lb_try_duration 30s" in proxy.read_text()
    proxy.write_text(proxy.read_text().replace("lb_try_duration 30s", "lb_try_duration 600s"))
    (folder / "stand-ins.yaml").write_text(STAND_INS)
    own = Deployment(folder, podman, f"portico{os.getpid()}", free_port(), free_port())
    try:
        own.compose("up", "--detach")
        with published(own.http, podman.network), published(own.https, podman.network):
            try:
                until(lambda: _is_ready(own))
            except AssertionError as error:
                raise AssertionError(own.logs()) from error
            yield own
    finally:
        own.compose("down", "--volumes", "--timeout", "5")


@pytest.fixture(scope="module")
def browser(deployment: Deployment) -> Iterator[requests.Session]:
    """Trusts the proxy's own authority, as docs/deployment.md says."""
    with requests.Session() as session:
        session.verify = str(authority(deployment))
        # Whatever the machine's own variables say of authorities and proxies.
        session.trust_env = False
        yield session


def authority(deployment: Deployment) -> Path:
    path = deployment.folder / "authority.crt"
    inside = "/data/caddy/pki/authorities/local/root.crt"
    path.write_text(deployment.compose("exec", "-T", "proxy", "cat", inside))
    return path


def _is_ready(deployment: Deployment) -> bool:
    with suppress(AssertionError, requests.RequestException), requests.Session() as session:
        session.verify = str(authority(deployment))
        session.trust_env = False
        return session.get(f"{deployment.url}/health/ready", timeout=60).status_code == 200
    return False

"""The files of deploy/ by the schemas and programs that they are written for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import compose_spec
import kubernetes_validate
import pytest
import yaml

from project.environment import SETTINGS
from tests.servers import ROOT

DEPLOY = ROOT / "deploy"
SECRETS = {"secret-key", "token-signing-key", "metrics-token", "database-url", "cache-url"}
NAMES = {setting.name for setting in SETTINGS}


def run(*command: str, cwd: Path = ROOT, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def manifests(folder: str) -> list[dict[str, Any]]:
    files = sorted((DEPLOY / "kubernetes" / folder).glob("*.yaml"))
    return [yaml.safe_load(file.read_text()) for file in files if file.name != "kustomization.yaml"]


def test_compose_follows_its_specification() -> None:
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (DEPLOY / "compose.yaml").read_text())
    document = yaml.safe_load(text)
    # It knows neither variables nor anchors: both are put in their places first.
    compose_spec.PyCompose.from_yaml(yaml.safe_dump(document)).validate()
    always = {name for name, service in document["services"].items() if "profiles" not in service}
    assert always == {"portico", "migrate", "database", "cache", "proxy"}
    assert set(document["services"]) - always == {"prometheus", "grafana"}


@pytest.mark.parametrize(
    "manifest", [*manifests("migration"), *manifests("service")], ids=lambda m: m["kind"]
)
def test_manifests_follow_the_schemas_of_kubernetes(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, "1.37", strict=True)


@pytest.mark.parametrize(
    "manifest", [*manifests("migration")[:1], manifests("service")[1]], ids=["Job", "Deployment"]
)
def test_pods_have_no_rights_and_a_read_only_root(manifest: dict[str, Any]) -> None:
    pod = manifest["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    for container in pod["containers"]:
        own = container["securityContext"]
        assert own["readOnlyRootFilesystem"] is True
        assert own["allowPrivilegeEscalation"] is False
        assert own["capabilities"] == {"drop": ["ALL"]}


def test_kustomize_puts_the_manifests_together(tmp_path: Path) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    folder = tmp_path / "deploy"
    shutil.copytree(DEPLOY, folder)
    run("./new-secrets", "kubernetes/settings/secrets", "db.example.org", "cache.example.org", cwd=folder)
    names = set()
    for part in ("migration", "service"):
        documents = list(yaml.safe_load_all(run("kubectl", "kustomize", str(folder / "kubernetes" / part))))
        for document in documents:
            kubernetes_validate.validate(document, "1.37", strict=True)
            assert document["metadata"]["namespace"] == "portico"
        kinds = {document["kind"]: document for document in documents}
        assert set(kinds["Secret"]["data"]) == SECRETS
        workload = kinds["Job" if part == "migration" else "Deployment"]
        pod = workload["spec"]["template"]["spec"]
        assert pod["containers"][0]["image"].startswith("registry.example.org/portico:")
        names.add((kinds["Secret"]["metadata"]["name"], kinds["ConfigMap"]["metadata"]["name"]))
        assert pod["volumes"][0]["secret"]["secretName"] == kinds["Secret"]["metadata"]["name"]
    # The migration and the service have the same settings.
    assert len(names) == 1


@pytest.mark.parametrize("path", ["portico.env", "systemd/portico.env", "kubernetes/settings/portico.env"])
def test_files_of_settings_name_settings_that_there_are(path: str) -> None:
    lines = (DEPLOY / path).read_text().splitlines()
    names = {
        line.partition("=")[0].removesuffix("_FILE") for line in lines if line and not line.startswith("#")
    }
    assert names
    assert names <= NAMES


def test_compose_sets_settings_that_there_are() -> None:
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert {name.removesuffix("_FILE") for name in document["services"]["portico"]["environment"]} <= NAMES


def test_secrets_are_random_and_made_once(tmp_path: Path) -> None:
    for _ in range(2):
        run("deploy/new-secrets", str(tmp_path / "secrets"))
    first = {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}
    run("deploy/new-secrets", str(tmp_path / "secrets"))
    assert {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()} == first
    assert set(first) >= SECRETS
    assert len(set(first.values())) == len(first)
    assert re.fullmatch(r"[\w-]{64}\n", first["secret-key"])
    assert first["database-password"].strip() in first["database-url"]
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_commands_beside_the_unit_read_its_settings_as_systemd_does(tmp_path: Path) -> None:
    groups = '{"crm-admins": ["Administrator"], "the team": ["Designer", "Publisher"]}'
    lines = (DEPLOY / "systemd" / "portico.env").read_text().splitlines()
    lines += ["", f"STUDIO_OIDC_GROUPS={groups}", "STUDIO_OIDC_NAME=Our own provider", "CRM_CLIENTS='[]'"]
    (tmp_path / "portico.env").write_text("\n".join(lines))
    run("deploy/new-secrets", str(tmp_path / "secrets"))
    asked = (
        "import json; from django.conf import settings; own = settings.PORTICO;"
        "print(json.dumps(own['STUDIO_OIDC_GROUPS'])); print(own['STUDIO_OIDC_NAME'])"
    )
    said = run("deploy/systemd/manage", "shell", "-v", "0", "-c", asked, SETTINGS=str(tmp_path))
    assert said.splitlines()[-2:] == [groups, "Our own provider"]


def test_the_systemd_unit_is_sound_and_confined(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "portico.service"
    text = (DEPLOY / "systemd" / "portico.service").read_text()
    # It looks for the program, which is somewhere else here.
    unit.write_text(text.replace("/opt/portico/.venv/bin/python", sys.executable))
    assert "portico.service" not in run("systemd-analyze", "verify", str(unit))
    run("systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit))

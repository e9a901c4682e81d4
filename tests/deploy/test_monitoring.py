"""deploy/monitoring against what the service really tells: each query of the dashboard and of the alerts."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from prometheus_client import CollectorRegistry

from crmbox.demo.people import FIRST_ACCOUNT
from project.observability.metrics import Metrics
from tests.dataverse.reaching import settings_for
from tests.servers import ROOT, Server, Site, copied, free_port, until

MONITORING = ROOT / "deploy/monitoring"
READ = f"/api/sales/accounts/{FIRST_ACCOUNT}"
UPLOAD = f"{READ}/files/notes"
# What Prometheus and its functions add.
ADDED = {"instance", "job", "le", "alertstate"}


def dashboard() -> list[tuple[str, str]]:
    """Each panel's title with each of its queries."""
    panels = json.loads((MONITORING / "grafana/portico.json").read_text())["panels"]
    return [(panel["title"], target["expr"]) for panel in panels for target in panel.get("targets", ())]


def alerts() -> list[tuple[str, str]]:
    rules = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"][0]["rules"]
    return [(rule["alert"], rule["expr"]) for rule in rules]


def labels_of_metrics() -> dict[str, set[str]]:
    """The labels of each series that the service may tell."""
    registry = CollectorRegistry()
    Metrics(registry)
    collectors: list[Any] = list(registry._collector_to_names)
    endings = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
    return {
        collector._name + ending: set(collector._labelnames)
        for collector in collectors
        for ending in endings[collector._type]
    }


@pytest.mark.parametrize(("title", "query"), [*dashboard(), *alerts()])
def test_queries_name_metrics_and_labels_that_there_are(title: str, query: str) -> None:
    labels_by_metric = labels_of_metrics()
    names = set(re.findall(r"\bportico_\w+", query))
    assert names <= labels_by_metric.keys()
    allowed = ADDED.union(*(labels_by_metric[name] for name in names))
    selectors = " ".join(re.findall(r"\{([^}]*)\}", query))
    groups = " ".join(re.findall(r"\bby \(([^)]*)\)", query))
    assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selectors)) | set(re.findall(r"\w+", groups)) <= allowed


def test_every_metric_is_on_the_dashboard() -> None:
    shown = " ".join(query for _, query in dashboard())
    for name in labels_of_metrics():
        assert re.sub("_(bucket|sum|count)$", "", name) in shown


def test_codes_that_are_told_of_at_once_are_counted_from_the_start() -> None:
    registry = CollectorRegistry()
    Metrics(registry)
    codes = {
        code
        for _, query in alerts()
        for selected in re.findall(r'increase\(portico_refusals_total\{code=~?"([^"]+)"', query)
        for code in selected.split("|")
    }
    assert "internal_error" in codes
    # A counter that begins with its first occurrence has not increased.
    for code in codes:
        told = registry.get_sample_value("portico_refusals_total", {"code": code, "reason": ""})
        assert (code, told) == (code, 0)


def test_annotations_name_labels_that_their_alerts_keep() -> None:
    for rule in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"][0]["rules"]:
        used = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        kept = re.match(r"\s*\(?(?:\w+\([\d.]+, )?sum by \(([^)]*)\)", rule["expr"])
        assert used <= (set(re.findall(r"\w+", kept[1])) if kept else {"instance"}), rule["alert"]


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed (Debian: prometheus)")
    return path


@pytest.mark.parametrize(
    "arguments", [("check", "rules", "alerts.yaml"), ("test", "rules", "alerts_test.yaml")], ids=" ".join
)
def test_rules_hold_what_they_promise(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [program("promtool"), *arguments], cwd=MONITORING, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def prometheus(folder: Path, server: Server) -> Iterator[str]:
    """A Prometheus with the configuration that is delivered, but for places and pace."""
    folder.mkdir()
    config = yaml.safe_load((MONITORING / "prometheus.yaml").read_text())
    config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
    config["rule_files"] = [str(MONITORING / "alerts.yaml")]
    (job,) = config["scrape_configs"]
    (folder / "token").write_text("monitoring")
    job["authorization"]["credentials_file"] = str(folder / "token")
    job["static_configs"] = [{"targets": [server.url.removeprefix("http://")]}]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    port = free_port()
    process = subprocess.Popen(
        [
            program("prometheus"),
            f"--config.file={folder / 'prometheus.yaml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(60)


def result(prometheus: str, query: str) -> list[Any]:
    """What Prometheus answers now; nothing while it starts."""
    try:
        answer = requests.get(f"{prometheus}/api/v1/query", params={"query": query}, timeout=30)
    except requests.ConnectionError:
        return []
    if answer.status_code == 503:
        return []
    assert answer.status_code == 200, answer.text
    samples: list[Any] = answer.json()["data"]["result"]
    return samples


def plain(query: str) -> str:
    """The query as Grafana sends it, with its variables filled in."""
    return query.replace("$__rate_interval", "5m").replace("$instance", ".*")


def drive(server: Server) -> int:
    """Something of everything that is counted; the status of an upload."""
    token = {"Authorization": f"Bearer {server.token('manager')}"}
    for _ in range(5):
        server.request("GET", READ, headers=token)
        server.request("GET", f"/api/sales/accounts/{uuid.uuid4()}", headers=token)
        server.request("GET", READ, headers={"Authorization": "Bearer a.b.c"})
    file = ("a.pdf", io.BytesIO(b"%PDF-1.7 " + bytes(1000)), "application/pdf")
    return server.request("POST", UPLOAD, files={"file": file}, headers=token).status_code


@pytest.fixture
def crm(_prepared: Site, tmp_path: Path) -> Iterator[Server]:
    with copied(_prepared, tmp_path / "crm", "monitoring_crm") as crm:
        yield crm.start_crm(root="/contoso", CRM_SERVER_FAULTS="1")


@pytest.mark.processes
def test_prometheus_answers_each_query_of_a_service_that_is_driven(
    site: Site, crm: Server, tmp_path: Path
) -> None:
    program("prometheus")
    server = site.start(
        **settings_for(crm), WORKERS="2", METRICS_TOKEN="monitoring", ADDRESS_RATE="0", CALLER_RATE="0"
    )
    with prometheus(tmp_path / "prometheus", server) as monitor:
        until(lambda: result(monitor, "up == 1"))
        assert drive(server) == 200
        for fault in ({"status": 429, "headers": {"Retry-After": "5"}}, {"status": 503}):
            always = {"path": "/api/data/", "times": None, **fault}
            requests.put(f"{crm.url}/faults", json={"faults": [always]}, timeout=30).raise_for_status()
            drive(server)

        def pending() -> set[str]:
            drive(server)
            return {row["metric"]["alertname"] for row in result(monitor, "ALERTS")}

        # Those that are told at once, and those that have to last.
        until(lambda: pending() >= {"PorticoPlatformThrottles", "PorticoPlatformAway", "PorticoRequestsFail"})
        silent = {query for _, query in dashboard() if not result(monitor, plain(query))}
        # Told only where too many ask at once, and where an endpoint caches: none of the demo does.
        rare = ("portico_platform_wait_seconds", "portico_cached_answers_total")
        assert all(any(name in query for name in rare) for query in silent), silent

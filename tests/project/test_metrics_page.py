"""docs/operations.md lists the metrics that there are."""

from __future__ import annotations

import re
from typing import Any

from prometheus_client import CollectorRegistry

from project.observability.metrics import Metrics
from tests.servers import ROOT


def test_the_page_lists_each_metric_with_its_labels() -> None:
    section = (ROOT / "docs/operations.md").read_text().partition("\n## Metrics\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`portico_[^|]*)\|([^|]*)\|[^|]+\|$", section, re.MULTILINE)
    listed = {
        name: tuple(re.findall(r"`(\w+)`", labels))
        for names, labels in rows
        for name in re.findall(r"`(\w+)`", names)
    }
    registry = CollectorRegistry()
    Metrics(registry)
    made: list[Any] = list(registry._collector_to_names)
    assert listed == {
        metric._name + ("_total" if metric._type == "counter" else ""): metric._labelnames for metric in made
    }

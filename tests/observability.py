"""What operators see of a running service: its metrics and its log."""

from __future__ import annotations

import json
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.servers import Server, until


class Figures:
    """A scrape, on a connection of its own: any of the processes may answer it."""

    def __init__(self, server: Server) -> None:
        families = text_string_to_metric_families(server.request("GET", "/metrics").text)
        self.samples = [sample for family in families for sample in family.samples]

    def sum(self, name: str, **labels: str) -> float:
        """The sum of the samples `portico_…` that have these labels."""
        return sum(
            sample.value
            for sample in self.samples
            if sample.name == f"portico_{name}" and labels.items() <= sample.labels.items()
        )


def lines(server: Server, **members: Any) -> list[dict[str, Any]]:
    """The JSON lines of the log with these members."""
    entries = [json.loads(line) for line in server.output().splitlines() if line.startswith("{")]
    return [line for line in entries if members.items() <= line.items()]


def requests_logged(server: Server, **members: Any) -> list[dict[str, Any]]:
    """The access log's lines with these members, of which there is one at least in a moment."""
    return until(lambda: lines(server, logger="portico.access", **members))

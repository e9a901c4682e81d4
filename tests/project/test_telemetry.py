"""OpenTelemetry: a trace for each request with the platform's calls in it, and metrics; nothing when off."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from crmbox.demo.people import FIRST_ACCOUNT
from runtime.http.request_ids import HEADER
from tests.collector import Collector, attributes
from tests.observability import lines, requests_logged
from tests.servers import ROOT, Site, until

READ = f"/api/sales/accounts/{FIRST_ACCOUNT}"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture
def collector() -> Iterator[Collector]:
    receiver = Collector()
    yield receiver
    receiver.stop()


@pytest.mark.processes
def test_a_request_is_a_span_with_the_platforms_calls(site: Site, collector: Collector) -> None:
    server = site.start(**collector.settings, WORKERS="2", ADDRESS_RATE="0", CALLER_RATE="0")
    token = {"Authorization": f"Bearer {server.token('manager')}"}
    sent = {**token, "traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "mine=anything"}
    answer = server.request("GET", READ, headers=sent)

    (span,) = until(lambda: collector.spans("GET sales.accounts.read"))
    assert span.trace_id.hex() == TRACE
    assert span.parent_span_id.hex() == PARENT
    assert span.trace_state == ""
    assert attributes(span) == {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "portico.endpoint": "sales.accounts.read",
        "portico.caller_type": "user",
    }
    assert span.kind == span.SPAN_KIND_SERVER
    calls = [call for call in collector.spans("platform call") if call.parent_span_id == span.span_id]
    assert calls
    for call in calls:
        assert call.trace_id == span.trace_id
        second = 1_000_000_000
        assert span.start_time_unix_nano - second < call.start_time_unix_nano < call.end_time_unix_nano
        assert call.end_time_unix_nano < span.end_time_unix_nano + second
    (line,) = requests_logged(server, request_id=answer.headers[HEADER])
    assert line["trace_id"] == TRACE
    assert line["platform_calls"] == len(calls)

    server.request("GET", READ)
    until(lambda: len(collector.spans("GET sales.accounts.read")) == 2)
    refused = collector.spans("GET sales.accounts.read")[-1]
    assert attributes(refused)["portico.code"] == "authentication_required"
    assert not refused.parent_span_id
    durations = until(lambda: list(collector.points("http.server.request.duration")))
    assert "portico.endpoint" in attributes(durations[0])


@pytest.mark.processes
def test_a_collector_that_is_away_is_one_line(site: Site, collector: Collector) -> None:
    settings = collector.settings
    collector.stop()
    server = site.start(**settings, OTEL_METRICS_EXPORTER="none", OTEL_EXPORTER_OTLP_TIMEOUT="1")
    for _ in range(10):
        assert server.request("GET", READ).status_code == 401
        until(lambda: lines(server, logger="portico.telemetry"))
    (line,) = lines(server, logger="portico.telemetry")
    assert line["event"].startswith("Traces are lost")
    assert len(lines(server, level="warning", logger="portico.telemetry")) == 1


def test_nothing_of_it_is_loaded_where_it_is_off() -> None:
    # Redis' client loads some of it by itself, where it is installed.
    names = "'opentelemetry.exporter', 'opentelemetry.sdk.trace', 'project.observability.telemetry'"
    text = "import project.wsgi, sys; print([name for name in (" + names + ") if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"import os; os.environ['PORTICO_MODE'] = 'development'; {text}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip().endswith("[]")

"""A collector of OpenTelemetry, which keeps what it is sent."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PATHS: dict[str, Any] = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}


class Collector:
    def __init__(self) -> None:
        self.received: list[Any] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.received.append(PATHS[self.path].FromString(body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def settings(self) -> dict[str, str]:
        """What has the service send everything here at once."""
        return {
            "OPENTELEMETRY": "1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self._server.server_port}",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "OTEL_METRIC_EXPORT_INTERVAL": "500",
        }

    def spans(self, name: str | None = None) -> list[Any]:
        """Those of that name, or all."""
        return [
            span
            for message in list(self.received)
            if isinstance(message, ExportTraceServiceRequest)
            for resource in message.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
            if name in (None, span.name)
        ]

    def points(self, name: str) -> Iterator[Any]:
        for message in list(self.received):
            if isinstance(message, ExportMetricsServiceRequest):
                for resource in message.resource_metrics:
                    for scope in resource.scope_metrics:
                        for metric in scope.metrics:
                            if metric.name == name:
                                yield from (metric.histogram or metric.sum).data_points

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def attributes(told: Any) -> dict[str, Any]:
    """Those of a span or a point."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in told.attributes}

"""Traces and metrics by OpenTelemetry, for OPENTELEMETRY=1: made of the records when requests are over.

So nothing of it is in a request's way. The variables of OpenTelemetry (`OTEL_…`) say where all goes, and how
much of it. Its packages are those of requirements-otel.txt, and are loaded by nobody else.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Mapping
from functools import cache
from multiprocessing.util import Finalize
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from crmclient.outages import Outage
from crmclient.tally import TimedCall
from runtime.http.request_record import RequestRecord

logger = logging.getLogger("portico.telemetry")

_NANO = 1_000_000_000
_PROPAGATOR = TraceContextTextMapPropagator()


class Telemetry:
    """Exports traces and metrics. It is made in the process that answers requests, because its threads export
    what is reported there.
    """

    def __init__(self) -> None:
        # Else the library would log each export that fails.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        name = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "portico"}
        resource = Resource.create({**name, "service.instance.id": str(uuid.uuid4())})
        self._tracer: trace.Tracer | None = None
        # What has to be stopped at the end.
        self._providers: list[TracerProvider | MeterProvider] = []
        if os.environ.get("OTEL_TRACES_EXPORTER") != "none":
            traces = TracerProvider(resource=resource, shutdown_on_exit=False)
            traces.add_span_processor(BatchSpanProcessor(_Spans()))
            self._tracer = traces.get_tracer("portico")
            self._providers.append(traces)
        readers = []
        if os.environ.get("OTEL_METRICS_EXPORTER") != "none":
            readers.append(PeriodicExportingMetricReader(_Figures()))
        figures = MeterProvider(readers, resource, shutdown_on_exit=False)
        self._providers.append(figures)
        meter = figures.get_meter("portico")
        self._duration = meter.create_histogram(
            "http.server.request.duration", "s", "Until the answer, the platform's time included."
        )
        self._calls = meter.create_counter("portico.platform.calls", "{call}", "Platform calls of requests.")
        self._platform = meter.create_counter("portico.platform.time", "s", "Spent on platform calls.")
        self._refusals = meter.create_counter("portico.refusals", "{problem}", "Problems answered.")
        self._uploads = meter.create_counter("portico.upload.size", "By", "Files received.")

    def end(self) -> None:
        """Send what is buffered, and stop."""
        for provider in self._providers:
            provider.shutdown()

    def tell(self, records: list[RequestRecord]) -> None:
        """Report records as metrics and traces."""
        # Timed calls have seconds of the monotonic clock, traces those of the wall clock.
        offset = time.time() - time.monotonic()
        for record in records:
            attributes = _attributes(record)
            self._measure(record, attributes)
            if self._tracer is not None:
                self._trace(self._tracer, record, attributes, offset)

    def _measure(self, record: RequestRecord, attributes: Mapping[str, Any]) -> None:
        """Add a request to the metrics."""
        self._duration.record(record.elapsed, attributes)
        endpoint = {"portico.endpoint": record.endpoint}
        if record.calls or record.seconds:
            self._calls.add(record.calls, endpoint)
            self._platform.add(record.seconds, endpoint)
        if record.code:
            self._refusals.add(1, {"portico.code": record.code, "portico.reason": record.reason})
        if record.uploaded is not None:
            self._uploads.add(record.uploaded, endpoint)

    def _trace(
        self, tracer: trace.Tracer, record: RequestRecord, attributes: Mapping[str, Any], offset: float
    ) -> None:
        """Send a request as a span, with a span inside it for each platform call. `offset` is the seconds by
        which the wall clock is ahead of the monotonic one.
        """
        began = round(record.started * _NANO)
        # Without `tracestate`: that is free text of the caller's.
        parent = _PROPAGATOR.extract({"traceparent": record.parent}) if record.parent else None
        span = tracer.start_span(
            f"{record.method} {record.endpoint}",
            parent,
            trace.SpanKind.SERVER,
            {**attributes, **_further_attributes(record)},
            start_time=began,
        )
        span_context = span.get_span_context()
        record.trace_id = trace.format_trace_id(span_context.trace_id)
        if span.is_recording():
            if record.status >= 500:
                span.set_status(trace.StatusCode.ERROR)
            context = trace.set_span_in_context(span)
            for timed_call in record.timed_calls or ():
                _trace_call(tracer, timed_call, context, offset)
        span.end(began + round(record.elapsed * _NANO))


def _trace_call(tracer: trace.Tracer, timed_call: TimedCall, context: Any, clock_offset: float) -> None:
    """Send one platform call as a span inside that of `context`."""
    began = round((timed_call.began + clock_offset) * _NANO)
    error_attributes = {"error.type": timed_call.failed} if timed_call.failed else {}
    span = tracer.start_span(
        "platform call", context, trace.SpanKind.CLIENT, error_attributes, start_time=began
    )
    if error_attributes:
        span.set_status(trace.StatusCode.ERROR)
    span.end(began + round(timed_call.seconds * _NANO))


def _attributes(record: RequestRecord) -> dict[str, Any]:
    """Return the attributes by which metrics are counted, and which each span has."""
    return {
        "http.request.method": record.method if record.method != "other" else "_OTHER",
        "http.response.status_code": record.status,
        "portico.endpoint": record.endpoint,
    }


def _further_attributes(record: RequestRecord) -> dict[str, Any]:
    """Return further attributes of a span. The request's id is left out, because the caller may have chosen
    it.
    """
    attributes = {
        "portico.caller_type": record.caller_type,
        "portico.code": record.code,
        "portico.reason": record.reason,
        "portico.platform_request_id": record.sent_correlation or "",
    }
    return {name: value for name, value in attributes.items() if value}


@cache
def _telemetry() -> Telemetry:
    """Return the exporter of this process."""
    telemetry = Telemetry()
    # After the ledger's own end.
    Finalize(None, telemetry.end, exitpriority=0)
    return telemetry


def tell(records: list[RequestRecord]) -> None:
    """Report records, as a reader of the ledger.

    The exporter is created with the first records, in their process.
    """
    _telemetry().tell(records)


class _Spans(OTLPSpanExporter):
    """Exports spans. An outage of the collector is logged once."""

    def __init__(self) -> None:
        super().__init__()
        self._outage = _outage("Traces")

    def export(self, spans: Any) -> SpanExportResult:
        result = super().export(spans)
        (self._outage.worked if result is SpanExportResult.SUCCESS else self._outage.failed)()
        return result


class _Figures(OTLPMetricExporter):
    """Exports metrics. An outage of the collector is logged once."""

    def __init__(self) -> None:
        super().__init__()
        self._outage = _outage("Metrics")

    def export(self, *args: Any, **kwargs: Any) -> MetricExportResult:
        result = super().export(*args, **kwargs)
        (self._outage.worked if result is MetricExportResult.SUCCESS else self._outage.failed)()
        return result


def _outage(lost_data: str) -> Outage:
    """Return the outage of the collector for some kind of data, such as `Traces`."""
    return Outage(
        logger,
        f"{lost_data} are lost: the collector of OpenTelemetry does not take them",
        f"{lost_data} are taken by the collector of OpenTelemetry again",
    )

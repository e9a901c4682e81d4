"""Processes that actions run."""

from __future__ import annotations

from designer.kinds.actions import ActionSettings
from designer.readiness.registry import Found, blocking
from designer.readiness.subjects import EndpointSubject


@blocking("process-unknown")
def process_exists(subject: EndpointSubject) -> Found:
    settings = subject.definition.settings
    if not isinstance(settings, ActionSettings):
        return
    if not settings.process:
        yield "Choose the process to run.", "settings.process"
    elif subject.metadata.process(settings.process) is None:
        yield f"The platform has no process “{settings.process}”.", "settings.process"


@blocking("process-bound-elsewhere")
def process_fits_its_place(subject: EndpointSubject) -> Found:
    settings = subject.definition.settings
    process = subject.metadata.process(settings.process) if isinstance(settings, ActionSettings) else None
    if process is None or process.entity == (subject.entity or None):
        return
    runs_on = f"runs on a record of {process.entity}" if process.entity else "runs on no record"
    yield f"“{process.name}” {runs_on}: choose another, or another kind or entity.", "settings.process"

"""Processes that actions run."""

from __future__ import annotations

from designer.kinds.actions import ActionSettings
from designer.readiness.registry import Found, blocking_of
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@blocking_of(ActionSettings, "process-unknown")
def process_exists(subject: EndpointSubject, settings: ActionSettings) -> Found:
    """Find a process that is not chosen, or that does not exist."""
    if not settings.process:
        yield _("Choose the process to run."), "settings.process"
    elif settings.process in subject.metadata.conventions.forbidden_processes:
        # The rule “process-forbidden” reports this.
        return
    elif subject.metadata.process(settings.process) is None:
        yield _("The platform has no process “%(process)s”.", process=settings.process), "settings.process"


@blocking_of(ActionSettings, "process-forbidden")
def process_may_be_run(subject: EndpointSubject, settings: ActionSettings) -> Found:
    """Find processes that no endpoint may run."""
    if settings.process in subject.metadata.conventions.forbidden_processes:
        yield (
            _(
                "“%(process)s” changes rights, metadata or any number of records. No endpoint may run it. "
                "Choose another process.",
                process=settings.process,
            ),
            "settings.process",
        )


@blocking_of(ActionSettings, "process-bound-elsewhere")
def process_fits_its_place(subject: EndpointSubject, settings: ActionSettings) -> Found:
    """Find processes that run on records of another entity, or on no record. Without an entity, they must run
    on none.
    """
    process = subject.metadata.process(settings.process)
    if process is None or subject.lacks_entity or process.entity == (subject.entity or None):
        return
    runs_on = (
        _("runs on a record of %(entity)s", entity=process.entity)
        if process.entity
        else _("runs on no record")
    )
    yield (
        _(
            "“%(name)s” %(runs_on)s: choose another, or another kind or entity.",
            name=process.name,
            runs_on=runs_on,
        ),
        "settings.process",
    )

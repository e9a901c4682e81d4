"""The wiring as an app: it brings the start-up checks, the commands and the pages that belong to no part."""

from __future__ import annotations

import gc

from django.apps import AppConfig


class Project(AppConfig):
    name = "project"
    verbose_name = "Portico"

    def ready(self) -> None:
        """Wire the parts together, once everything is loaded."""
        from crmclient import outages
        from designer import ports, refresh_runs
        from designer.platform_check import platform_check

        # Checks register themselves.
        from project import checks, extensions, platform_checks, sign_in_checks  # noqa: F401
        from project.observability.shared_outages import SharedOutages
        from project.platform_steps import platform_steps, why_no_steps
        from project.refresh_runs import refresh_runs as runs_of_all_processes
        from runtime.studio import StudioRuntime

        outages.tell_together(SharedOutages())
        extensions.load()
        platform_check.provide(platform_steps, why_no_steps)
        refresh_runs.provide(runs_of_all_processes)
        ports.provide(StudioRuntime())
        # All is imported: it is never garbage, and the workers that the server forks share its pages.
        gc.freeze()
        # `manage.py` has switched it off until here.
        gc.enable()

"""The wiring as an app: it brings the start-up checks, the commands and the pages that belong to no part."""

from __future__ import annotations

from django.apps import AppConfig


class Project(AppConfig):
    name = "project"
    verbose_name = "Portico"

    def ready(self) -> None:
        from designer import ports
        from project import checks, platform_checks  # noqa: F401  register themselves
        from runtime.studio import StudioRuntime

        ports.provide(StudioRuntime())

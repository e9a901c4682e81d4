"""The wiring as an app: it brings the start-up checks, the commands and the pages that belong to no part."""

from __future__ import annotations

from django.apps import AppConfig


class Project(AppConfig):
    name = "project"
    verbose_name = "Portico"

    def ready(self) -> None:
        from designer import ports

        # Checks register themselves.
        from project import checks, extensions, platform_checks, sign_in_checks  # noqa: F401
        from runtime.studio import StudioRuntime

        extensions.load()
        ports.provide(StudioRuntime())

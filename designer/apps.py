"""The designer as an app, and the app that gives the studio its look."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from unfold.apps import DefaultAppConfig as StudioLook

__all__ = ["Designer", "StudioLook"]


class Designer(AppConfig):
    name = "designer"
    verbose_name = "Designer"

    def ready(self) -> None:
        from designer import groups, triggers

        post_migrate.connect(triggers.put_back, sender=self)
        post_migrate.connect(groups.make_groups, sender=self)

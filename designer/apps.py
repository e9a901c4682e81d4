"""The designer as an app, and the app that gives the studio its look."""

from __future__ import annotations

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy
from unfold.apps import DefaultAppConfig as StudioLook

__all__ = ["Designer", "StudioLook"]


class Designer(AppConfig):
    name = "designer"
    verbose_name = gettext_lazy("Studio")

    def ready(self) -> None:
        """Register what has to hear of logins, commands and migrations, and give models their labels.

        The imports are here, because models can be imported only once all apps are loaded.
        """
        from designer import triggers
        from designer.access_control import groups
        from designer.audit import logins  # noqa: F401  hears of every login
        from designer.models.labels import label
        from designer.studio import audited_commands  # noqa: F401  hears what commands save

        label([*self.get_models(), *apps.get_app_config("auth").get_models()])

        post_migrate.connect(triggers.put_back, sender=self)
        post_migrate.connect(groups.make_groups, sender=self)

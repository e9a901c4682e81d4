from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EmbeddedPlatform(AppConfig):
    """The CRM in the box. Its system entities are put in place whenever migrations have run."""

    name = "crmbox"
    label = "crm"
    verbose_name = "Embedded platform"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the processes, and install the system's entities after each migration."""
        # Imported here, because Django imports this module before the apps are ready.
        from crmbox.demo.processes import approve, cancel_case, close_case, ping
        from crmbox.own_messages import MESSAGES
        from crmbox.processes import PROCESSES
        from crmbox.system.install import install_after_migrate

        PROCESSES.register(ping, approve, close_case, cancel_case, *MESSAGES)
        post_migrate.connect(install_after_migrate, sender=self)

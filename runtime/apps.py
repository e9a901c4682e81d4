"""The runtime as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class Runtime(AppConfig):
    name = "runtime"
    verbose_name = "API"

    def ready(self) -> None:
        """Register what other floors look for: routes, signals and labels."""
        from designer.models.labels import label
        from designer.uses import where_used
        from runtime.callers.former_roles import remember_from_now_on
        from runtime.callers.issuers import registration
        from runtime.callers.refusal_counts import count_from_now_on
        from runtime.callers.roles_held import held_by_callers
        from runtime.describe import page_views
        from runtime.describe.fragment_maker import watch_saves
        from runtime.proposals import proposal_views
        from runtime.serving import builtin_routes
        from runtime.serving.registrar import EndpointRegistrar

        where_used.register(held_by_callers)
        watch_saves()
        count_from_now_on()
        remember_from_now_on()
        registration.provide(EndpointRegistrar())
        builtin_routes.serve()
        page_views.serve()
        proposal_views.serve()
        label(self.get_models())
